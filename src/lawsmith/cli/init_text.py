"""The study file that `lawsmith init` writes: it is valid as it stands, and every key is there."""

from __future__ import annotations

STUDY = """\
# A live study of lawsmith. `lawsmith docs study-file` explains every key.
#   lawsmith check   what the budget buys        lawsmith plan    what it would teach
#   lawsmith run     start, or go on             lawsmith status  where it stands
name = "my-study"       # also the beginning of its jobs' names
seed = 0                # the same seed and losses give the same runs
compute = "6ND"         # FLOPs of a run; or a formula of N, D and the models' arguments: "6*N*D"
constraints = [         # candidates must meet all; columns: N, D, C, tokens_per_param, model, axes
  "5 <= tokens_per_param <= 200",
  "C <= 1e21",
]

# The ladder. Every key beside name and N is an argument for the trainer: {layers} in the command.
[[model]]
name = "30M"
N = 30e6
layers = 8
width = 512

[[model]]
name = "100M"
N = 100e6
layers = 12
width = 768

[[model]]
name = "300M"
N = 300e6
layers = 24
width = 1024

[tokens]                # D: values = [...], or a range, or per_param = [5, 10, 20, 40]
from = 1e9
to = 32e9
n = 6                   # spaced in logs

[axes]                  # hyperparameters: a list, a range, or categories
lr = { from = 5e-4, to = 8e-3, n = 5 }
batch = [64, 128, 256, 512]
# optimizer = ["adamw", "muon"]
# dropout = { from = 0.0, to = 0.2, n = 3, scale = "linear" }

[budget]                # one of the two
flops = 3e20
# gpu_hours = 500       # needs [throughput]

# [throughput]
# flops_per_second = 2e14   # of one GPU, measured: 6ND of a short run over its GPU-seconds

# [cost]
# trunk = true          # a longer run goes on from a shorter one's trunk and pays the extension
# decay = 0.2           # share of a run's tokens that are its own learning-rate decay

[law]
name = "LC"             # LC, chinchilla, …: see lawsmith fit --help
targets = [1e22]        # predict the loss at these computes
# stop_when = "loss@1e22 within 1%"   # ask for no more runs once this is known

[policy]
name = "frontier"       # frontier, window or full
surrogate = "surface"   # or gp
# n_init = 10           # random cheap runs to begin with; the surface needs none

[runner]
kind = "local"          # local, slurm, ray or replay
slots = 1               # runs at a time
command = [             # no shell reads this; {…} are values of the run
  "{python}", "{study}/train.py", "--layers", "{layers}", "--width", "{width}",
  "--tokens", "{D}", "--lr", "{lr}", "--batch", "{batch}",
]
timeout = "12h"
# The trainer writes {"loss": 2.31} to $LAWSMITH_RESULT (written beside, then renamed), and may add
# lines {"tokens": 1e9, "loss": 2.9} to $LAWSMITH_PROGRESS on the way.

[results]
kind = "json"           # or regex (pattern, on log.txt), or csv (column, last row of file)
# diverged_above = 10.0

[failures]
retries = 2             # of a trainer that crashes; preempted runs are always tried again
backoff = "1min"
memory_class = ["model", "batch"]   # out of memory: leave alone what shares these values
"""
