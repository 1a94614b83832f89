"""Sources of reports for tests: a table, a replay written to files, and a live study with runs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from lawsmith.analysis import FitOptions
from lawsmith.answer import Target
from lawsmith.cli import main
from lawsmith.datasets import Study, demo_study
from lawsmith.journal import Kind, make
from lawsmith.laws.catalogue import CHINCHILLA
from lawsmith.report import Record, Source, cards_of, report_html, table_source
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.asking import propose
from tests.answer.tables import study, sweep
from tests.conftest import no_charts

ATTACK = "<script>alert(1)</script>"
TRUTH = {"E": 1.69, "A": 406.4, "alpha": 0.34, "B": 410.7, "beta": 0.28}
STUDY = """\
name = "small"
seed = 1
constraints = ["tokens_per_param >= 5"]
tokens = { values = [5e8, 1e9, 2e9, 4e9, 8e9] }

[axes]
lr = [1e-3, 2e-3, 4e-3]
batch = [64, 128, 256]

[budget]
flops = 2e19

[law]
targets = [1e21]

[policy]
n_init = 6

[runner]
kind = "local"
command = ["/bin/false"]
"""
MODELS = "".join(
    f'[[model]]\nname = "{name}"\nN = {size:g}\n'
    for name, size in {"xs": 1e7, "s": 3e7, "m": 1e8}.items()
)


def table(law=CHINCHILLA, target=1e23, **more) -> Source:
    """A report on the synthetic demo study."""
    return table_of(demo_study(), law, target, **more)


def small_table(law=CHINCHILLA, target=1e23, **more) -> Source:
    """A report on 80 runs, which takes a moment."""
    return table_of(study(sweep()), law, target, **more)


def table_of(made: Study, law, target, **more) -> Source:
    targets = (Target(target), Target(6 * 7e9 * 1.4e11, 7e9, 1.4e11))
    options = FitOptions(law, targets=targets, **more)
    return table_source(made, options, targets, Record((f"lawsmith report {made.name}",)))


def with_found(source: Source, **more: object) -> Source:
    """The source with other things found."""
    return replace(source, findings=replace(source.findings, **more))


def replay_folder(folder: Path, *more: str) -> Path:
    """A short replay of a synthetic study, as `lawsmith replay --out` leaves it."""
    words = [
        "replay",
        "synthetic-demo",
        "--iterations",
        "18",
        "--n-init",
        "6",
        "--out",
        str(folder),
    ]
    words += more
    with no_charts():
        assert main(words) == 0
    return folder


# Drawn once for all tests of a source.
cards = cache(cards_of)
page = cache(report_html)


def live_study(folder: Path, *, n_runs: int, diverge: int = -1) -> LiveStudy:
    """A study in ``folder`` of which ``n_runs`` were made, one of them diverged if so wished."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.toml"
    head, rest = STUDY.split("\n[axes]", 1)
    file.write_text(f"{head}\n{MODELS}\n[axes]{rest}", encoding="utf-8")
    made = open_study(file)
    made.begin()
    for i in range(n_runs):
        run_one(made, diverged=i == diverge)
    return made


def run_one(made: LiveStudy, *, diverged: bool = False) -> str:
    """Ask for the next run and tell its loss; the trial's name."""
    ledger = made.read()
    events = propose(made, ledger, 1, by="hand")
    trial, config = events[0]["trial"], events[0]["config"]
    kind, loss = (Kind.DIVERGED, None) if diverged else (Kind.FINISHED, true_loss(config))
    made.journal.update(lambda _: [*events, make(kind, trial, loss=loss)])
    return str(trial)


def fail_one(made: LiveStudy, log: str) -> str:
    """A run that failed, with a log."""
    ledger = made.read()
    events = propose(made, ledger, 1)
    trial = str(events[0]["trial"])
    folder = made.layout.attempt(trial, 1)
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text(log, encoding="utf-8")
    told = {"reason": "crash", "detail": f"exit code 1 {ATTACK}"}
    made.journal.update(
        lambda _: [
            *events,
            make(Kind.SUBMITTED, trial, attempt=1, handle="1"),
            make(Kind.FAILED, trial, **told),
        ]
    )
    return trial


def true_loss(config) -> float:
    """Chinchilla's law with a bowl in the learning rate, and a little noise."""
    N, D = float(config["N"]), float(config["D"])
    smooth = TRUTH["E"] + TRUTH["A"] * N ** -TRUTH["alpha"] + TRUTH["B"] * D ** -TRUTH["beta"]
    off = np.log(float(config["lr"]) / (2e-3 * (N / 3e7) ** -0.3))
    rng = np.random.default_rng(list(json.dumps(dict(config)).encode()))
    return float(smooth * np.exp(0.02 * off**2 + 0.001 * rng.standard_normal()))
