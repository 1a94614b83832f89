"""Studies with trunks for tests, on the trainer of `benchmarks/toy_trainer.py`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from lawsmith.journal import Ledger, Trial
from lawsmith.runners.results import PROGRESS
from lawsmith.study import LiveStudy, open_study

TRAINER = Path(__file__).parents[2] / "benchmarks" / "toy_trainer.py"
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
