"""Studies with trunks for tests, on the trainer of `benchmarks/toy_trainer.py`."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lawsmith.journal import Event, Kind, Ledger, Trial, make
from lawsmith.runners.results import PROGRESS
from lawsmith.study import LiveStudy, open_study

TRAINER = Path(__file__).parents[2] / "benchmarks" / "toy_trainer.py"
TOY = runpy.run_path(str(TRAINER))
DECAY = 0.2
TEXT = """\
name = "trunks"

[[model]]
name = "a"
N = 1e7

[[model]]
name = "b"
N = 3e7

[tokens]
values = [2e8, 4e8, 8e8, 1.6e9]

[axes]
lr = [1e-3, 2e-3, 4e-3]

[budget]
flops = 4e17

[trunks]
use = true

[law]
targets = [1e19]

[runner]
slots = 2
poll = 0.05
command = ["{python}", "-I", "-S", "TRAINER", "--chunk", "2e7"]

[failures]
backoff = 0
"""


def trunk_study(folder: Path, *changes: tuple[str, str]) -> LiveStudy:
    """The study in ``folder``, with each first string replaced by the second."""
    text = TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.toml"
    file.write_text(text.replace("TRAINER", str(TRAINER)), encoding="utf-8")
    return open_study(file)


def chunks(study: LiveStudy, trial: Trial) -> Counter[tuple[float, float]]:
    """(from, to) in tokens of every chunk that a trial trained, as its own lines say."""
    found: Counter[tuple[float, float]] = Counter()
    for folder in sorted(study.layout.trial(trial.name).glob("[0-9]*")):
        at = 0.0
        path = folder / PROGRESS
        for line in path.read_text().splitlines() if path.exists() else ():
            told = json.loads(line)
            if "resumed" in told:
                at = told["resumed"]
            elif "tokens" in told:
                found[at, told["tokens"]] += 1
                at = told["tokens"]
    return found


def trained_flops(study: LiveStudy, ledger: Ledger) -> float:
    """6·N times the tokens of all chunks: the ledger, counted from the trainers' own lines."""
    total = 0.0
    for trial in ledger.trials.values():
        n = sum((stop - start) * k for (start, stop), k in chunks(study, trial).items())
        total += 6.0 * float(trial.config["N"]) * n
    return total


def told_by_toy(events: Sequence[Event]) -> list[dict[str, Any]]:
    """What the trainer would tell of trials that were asked for, without a process."""
    found = []
    for event in events:
        name, config = event["trial"], event["config"]
        N, D, lr = (float(config[key]) for key in ("N", "D", "lr"))
        if event.get("kind") != "trunk":
            found.append(make(Kind.FINISHED, name, loss=TOY["annealed"](N, D, lr)))
            continue
        start = event["branch_at"] or D / 50.0
        curve = [(at, TOY["on_trunk"](N, at, lr)) for at in np.geomspace(start, D, 20).tolist()]
        found += [make(Kind.REPORTED, name, tokens=at, loss=loss) for at, loss in curve[1:]]
        found.append(make(Kind.FINISHED, name, loss=curve[-1][1]))
    return found
