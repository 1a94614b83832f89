"""Studies of runs with a cosine schedule that tell losses on their way, of a known law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lawsmith.journal import Event, Kind, make
from lawsmith.study import LiveStudy, open_study

RATES = (2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
TEXT = f"""\
name = "scheduled"

[[model]]
name = "a"
N = 1e7

[[model]]
name = "b"
N = 3e7

[[model]]
name = "c"
N = 1e8

[tokens]
values = [2.5e8, 5e8, 1e9, 2e9, 4e9]

[axes]
lr = {list(RATES)}

[budget]
flops = 2e19

[law]
targets = [1e20]

[runner]
slots = 1
poll = 0.05
command = ["{{python}}", "-c", "raise SystemExit"]

[failures]
backoff = 0
"""


def scheduled_study(folder: Path, *changes: tuple[str, str]) -> LiveStudy:
    """The study in ``folder``, with each first string replaced by the second."""
    text = TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.toml"
    file.write_text(text, encoding="utf-8")
    return open_study(file)


@dataclass(frozen=True)
class Law:
    """A draw: ends with a bowl in the learning rate, and how runs come to them.

    A rate adds ``jump`` to the log loss on the way, at the best one, and its decay takes that off.
    ``lost`` is the SD of what a run has on its way for no reason, so that curves cross.
    """

    seed: int
    best: float = 2e-3
    bowl: float = 0.015
    jump: float = 0.045
    lost: float = 0.0

    @classmethod
    def draw(cls, seed: int, **fixed: float) -> Law:
        rng = np.random.default_rng([seed, 5])
        best, bowl = 2e-3 * np.exp(rng.normal(0.0, 0.4)), 0.015 * np.exp(rng.normal(0.0, 0.3))
        return cls(seed, float(best), float(bowl), float(rng.uniform(0.03, 0.06)), **fixed)

    def own(self, sd: float, *about: float) -> float:
        rng = np.random.default_rng([self.seed, *(int(1e6 * abs(np.log(x))) for x in about)])
        return float(rng.normal(0.0, sd))

    def off(self, N: float, lr: float) -> float:
        return float(np.log(lr / (self.best * (N / 3e7) ** -0.2)))

    def bare(self, N: float, D: float, lr: float) -> float:
        """The loss at the end, without noise."""
        base = 1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28
        return float(base * np.exp(self.bowl * self.off(N, lr) ** 2))

    def end(self, N: float, D: float, lr: float) -> float:
        return self.bare(N, D, lr) * np.exp(self.own(0.0015, N, D, lr))

    def on_way(self, N: float, D: float, lr: float, share: float) -> float:
        learnt = share + np.sin(np.pi * share) / np.pi
        rate = 0.5 * (1.0 + np.cos(np.pi * share))
        up = self.jump * np.exp(0.5 * self.off(N, lr)) + self.own(self.lost, N, lr, D, 2.0)
        spread = self.own(0.003, N, D, lr, share) + self.own(0.0015, N, D, lr)
        return self.bare(N, D * learnt, lr) * float(np.exp(up * rate + spread))

    def told(self, name: str, config: Mapping[str, Any], share: float = 1.0) -> list[Event]:
        """What a run tells up to a share of its way, and at its end if that is all of it."""
        N, D, lr = (float(config[key]) for key in ("N", "D", "lr"))
        found: list[Event] = [
            make(Kind.SUBMITTED, name, attempt=1, handle="local"),
            make(Kind.RUNNING, name, attempt=1),
        ]
        for u in np.arange(0.02, min(share, 0.98) + 1e-9, 0.02).tolist():
            loss = self.on_way(N, D, lr, u)
            found.append(make(Kind.REPORTED, name, tokens=u * D, loss=loss))
        if share >= 1.0:
            found.append(make(Kind.FINISHED, name, loss=self.end(N, D, lr)))
        return found


def asked(study: LiveStudy, name: str, row: int) -> Event:
    cost = float(study.grid.C[row])
    return make(Kind.ASKED, name, by="run", config=dict(study.candidates.configs[row]), cost=cost)


def row_at(study: LiveStudy, N: float, D: float, lr: float) -> int:
    grid = study.grid
    near = np.isclose(grid.N, N) & np.isclose(grid.D, D) & np.isclose(grid.numbers("lr"), lr)
    return int(np.flatnonzero(near)[0])


def finish_some(study: LiveStudy, law: Law, n: int) -> None:
    """Runs that have ended: random ones below 2e18 FLOPs, of all rates."""
    study.begin()
    rng = np.random.default_rng([law.seed, n])
    rows = rng.permutation(np.flatnonzero(study.grid.C < 1.5e18))[:n].tolist()
    events: list[Event] = []
    for i, row in enumerate(rows, start=1):
        event = asked(study, f"t{i:04d}", row)
        events += [event, *law.told(f"t{i:04d}", event["config"])]
    study.journal.update(lambda _: events)


def begin_run(study: LiveStudy, law: Law, row: int, share: float) -> str:
    """A run that has come to a share of its way; its name."""
    name = study.read().next_name()
    event = asked(study, name, row)
    told = law.told(name, event["config"], share)
    study.journal.update(lambda _: [event, *told])
    return name
