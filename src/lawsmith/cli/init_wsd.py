"""The files that `lawsmith init --wsd` writes: a study of trunks and decays, and a trainer for it.

Both work as they stand: the models are small, and the text is Python's own library. The trainer is
the recipe of docs/curves.md.
"""

from __future__ import annotations

TRAINER_FILE = "train.py"

STUDY = """\
# A live study with trunks (warm-up, stable, decay). Every key is explained in docs/study-file.md.
# It works as it stands, with torch: train.py beside it trains small models on Python's own library.
#   lawsmith check   what the budget buys        lawsmith plan    what it would teach
#   lawsmith run     start, or go on             lawsmith status  where it stands
name = "my-wsd-study"   # also the beginning of its jobs' names
seed = 0                # the same seed and losses give the same runs
compute = "6ND"

# The ladder. Every key beside name and N is an argument for the trainer.
[[model]]
name = "17K"
N = 16672
width = 32

[[model]]
name = "29K"
N = 28992
width = 64

[[model]]
name = "54K"
N = 53632
width = 128

[tokens]                # D, at the end of a decay
from = 32768
to = 1048576
n = 6                   # spaced in logs

[axes]                  # hyperparameters: a list, a range, or categories
lr = { from = 5e-4, to = 8e-3, n = 5 }

[trunks]
use = true              # one trunk at a constant rate for each model and lr; decays branch from it
decay = 0.2             # the share of a run's tokens that is its decay
stop = true             # stop a trunk that is hopeless, and return the rest of its cost

[budget]
flops = 5e11

[law]
targets = [3e12]        # predict the loss at these computes
# stop_when = "loss@3e12 within 1%"   # ask for no more runs once this is known

[runner]
kind = "local"          # local, slurm or ray
slots = 1               # runs at a time
command = ["{python}", "{study}/train.py"]   # it reads $LAWSMITH_CONFIG
timeout = "1h"

[results]
kind = "json"

[failures]
retries = 2             # of a trainer that crashes; a trunk goes on from its last checkpoint
backoff = "10s"
"""

TRAINER = '''\
"""Trains a trunk, an extension of one, or a branch that decays, as $LAWSMITH_CONFIG says."""

import json, math, os, pathlib, torch

run = json.load(open(os.environ["LAWSMITH_CONFIG"]))
folder, end, decay_from = pathlib.Path(run["folder"]), run["D"], math.inf
if run["kind"] != "trunk":
    decay_from = run["branch_at"] or 0.8 * end

# Your model and data: here the next byte from the eight before it, in Python's own library.
files = sorted(pathlib.Path(os.__file__).parent.glob("*.py"))
text = bytearray(b"".join(file.read_bytes() for file in files[:120]))
text = torch.frombuffer(text, dtype=torch.uint8).unfold(0, 9, 1)
torch.manual_seed(0)
text = text[torch.randperm(len(text))]
held_out, text = text[:16384], text[16384:]
layers = torch.nn.Embedding(256, 16), torch.nn.Flatten(), torch.nn.Linear(128, run["width"])
model = torch.nn.Sequential(*layers, torch.nn.ReLU(), torch.nn.Linear(run["width"], 256))
adam = torch.optim.AdamW(model.parameters(), lr=run["lr"], betas=(0.9, 0.95))
batch, warmup = 128, 4096  # in tokens


def loss_on(rows):
    return torch.nn.functional.cross_entropy(model(rows[:, :8].int()), rows[:, 8].long())


def tell(**line):
    with open(os.environ["LAWSMITH_PROGRESS"], "a") as file:
        file.write(json.dumps(line) + "\\n")


def save(tokens, name):  # beside its place, then renamed: a checkpoint is whole or not there
    torch.save((tokens, model.state_dict(), adam.state_dict()), folder / "part")
    (folder / "part").rename(folder / f"{name:.0f}.pt")
    tell(saved=name)


tokens, own = 0, sorted(folder.glob("*.pt"), key=lambda path: int(path.stem))
parent = run["parent"] and pathlib.Path(run["parent_folder"]) / f"{run['branch_at']:.0f}.pt"
if own or parent:  # its own last checkpoint, if an attempt before left one
    tokens, weights, moments = torch.load(own[-1] if own else parent)
    model.load_state_dict(weights), adam.load_state_dict(moments)
    tell(resumed=tokens)
while tokens < end:
    falling = (end - tokens) / (end - decay_from) if tokens >= decay_from else 1.0
    adam.param_groups[0]["lr"] = run["lr"] * min(1.0, tokens / warmup, falling)
    adam.zero_grad()
    loss_on(text[torch.arange(tokens, tokens + batch) % len(text)]).backward()
    adam.step()
    before, tokens = tokens, tokens + batch
    for point in {*run["save_at"], end} if run["kind"] == "trunk" else ():
        if before < point <= tokens:
            save(tokens, point)
    if before == 0 or int(8 * math.log2(tokens)) > int(8 * math.log2(before)):
        tell(tokens=tokens, loss=loss_on(held_out).item())
result = pathlib.Path(os.environ["LAWSMITH_RESULT"])
result.with_suffix(".new").write_text(json.dumps({"loss": loss_on(held_out).item()}))
result.with_suffix(".new").rename(result)
'''
