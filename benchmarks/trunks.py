"""Trunks against whole runs: the same budget, the same policy, drawn laws; error and width.

    python benchmarks/trunks.py --draws 8 --out out.json

Each draw is a law with a bowl in the learning rate, and trunks whose decays take some 3 % off. A
study is played on it three ways, without any process: every run from scratch (whole), runs that
share trunks and are known by their final losses alone (shared), and trunks that are run, with
their curves, and may be stopped (trunks). After each share of the budget the answer at the target
is put beside the truth, and each trunk that was stopped beside the frontier.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lawsmith.journal import Journal, Kind, Ledger, make
from lawsmith.runs import State
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.answer import answer_of
from lawsmith.study.asking import asked_events, propose
from lawsmith.study.hopeless import stops

STUDY = """
name = "drawn"
[[model]]
name = "a"
N = 1e7
[[model]]
name = "b"
N = 3e7
[[model]]
name = "c"
N = 1e8
[[model]]
name = "d"
N = 3e8
[tokens]
values = [2.5e8, 5e8, 1e9, 2e9, 4e9, 8e9]
[axes]
lr = [5e-4, 1e-3, 2e-3, 4e-3, 8e-3]
[budget]
flops = 3e19
[law]
targets = [1e21]
"""
WAYS = {"whole": "", "shared": "[cost]\ntrunk = true\n", "trunks": "[trunks]\nuse = true\n"}
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
DECAY, TARGET = 0.2, 1e21


@dataclass(frozen=True)
class Truth:
    """One draw; losses of runs with the noise of their own."""

    E: float
    A: float
    alpha: float
    B: float
    beta: float
    rate: float
    drift: float
    bowl: float
    gain: tuple[float, float, float]
    seed: int

    @classmethod
    def draw(cls, seed: int) -> Truth:
        rng = np.random.default_rng([seed, 11])
        gain = (rng.uniform(0.02, 0.045), rng.normal(0.0, 0.002), rng.normal(0.0, 0.002))
        return cls(
            E=float(rng.uniform(1.5, 1.9)),
            A=float(406.4 * np.exp(rng.normal(0.0, 0.3))),
            alpha=float(rng.normal(0.34, 0.02)),
            B=float(410.7 * np.exp(rng.normal(0.0, 0.3))),
            beta=float(rng.normal(0.28, 0.02)),
            rate=float(2e-3 * np.exp(rng.normal(0.0, 0.4))),
            drift=float(rng.normal(-0.2, 0.1)),
            bowl=float(0.015 * np.exp(rng.normal(0.0, 0.4))),
            gain=(float(gain[0]), float(gain[1]), float(gain[2])),
            seed=seed,
        )

    def annealed(self, N: Any, D: Any, lr: float | None) -> Any:
        """Without noise; at the best rate where none is given."""
        base = self.E + self.A * N**-self.alpha + self.B * D**-self.beta
        if lr is None:
            return base
        off = np.log(lr / (self.rate * (N / 1e8) ** self.drift))
        return base * np.exp(self.bowl * off**2)

    def best(self, C: float) -> float:
        N = np.geomspace(1e6, 1e12, 20_000)
        return float(self.annealed(N, C / (6.0 * N), None).min())

    def own(self, sd: float, *about: object) -> float:
        """A deviation that is the same for the same run."""
        digest = [self.seed, *(int(hash(x) % 2**31) for x in about)]
        return float(np.random.default_rng(digest).normal(0.0, sd))

    def run(self, N: float, D: float, lr: float, *, on_trunk: bool) -> float:
        """Runs of one trunk share most of their deviation."""
        shared = self.own(0.0015, N, lr) if on_trunk else self.own(0.0015, N, lr, D, 1.0)
        noise = shared + self.own(0.0005, N, lr, D)
        return float(self.annealed(N, D, lr) * np.exp(noise))

    def trunk(self, N: float, at: float, lr: float) -> float:
        D = at / (1.0 - DECAY)
        g, by_N, by_D = self.gain
        off = g + by_N * np.log(N / 1e8) + by_D * np.log(D / 1e9) + self.own(0.001, N, lr, 2.0)
        noise = self.own(0.0015, N, lr) + self.own(0.0005, N, lr, at, 3.0)
        return float(self.annealed(N, D, lr) * np.exp(off + noise))


def play(study: LiveStudy, truth: Truth, way: str) -> Iterator[dict[str, float]]:
    """The answer after each share of the budget."""
    ledger, shares = study.journal.ledger, list(SHARES)
    while shares:
        found = propose(study, ledger, 1)
        events = asked_events(study, ledger, found, by="run")
        for event in events:
            ledger.add(event)
        for event in events:
            run_one(study, truth, event, shared=way != "whole")
        share = ledger.spend / study.budget
        passed = [s for s in shares if share >= s - 1e-9]
        if passed or not found:
            yield point(study, truth, share)
        shares = [s for s in shares if s not in passed] if found else []


def run_one(study: LiveStudy, truth: Truth, event: dict[str, Any], *, shared: bool) -> None:
    """What a run tells on its way, and at its end; a trunk may be stopped at each quarter."""
    ledger, name, config = study.journal.ledger, event["trial"], event["config"]
    N, D, lr = (float(config[key]) for key in ("N", "D", "lr"))
    parent = ledger.trials.get(ledger.trials[name].parent)
    if parent is not None and parent.reason == "stopped":
        ledger.add(make(Kind.CANCELLED, name, trained=0.0))
        return
    if event.get("kind") != "trunk":
        ledger.add(make(Kind.FINISHED, name, loss=truth.run(N, D, lr, on_trunk=shared)))
        return
    start, quarter = event["branch_at"] or 0.0, 0
    ledger.add(make(Kind.SUBMITTED, name, attempt=1, handle="drawn"))
    ledger.add(make(Kind.RUNNING, name, attempt=1))
    for at in np.geomspace(start or D / 100.0, D, 30)[1:].tolist():
        ledger.add(make(Kind.REPORTED, name, tokens=at, loss=truth.trunk(N, at, lr)))
        for point in event["save_at"]:
            if point <= at and point not in ledger.trials[name].saved:
                ledger.add(make(Kind.SAVED, name, tokens=point))
        if int(4.0 * at / D) > quarter:
            quarter = int(4.0 * at / D)
            if quarter < 4 and (wish := stops(study, ledger, [name])):
                ledger.add(wish[0])
                ledger.add(make(Kind.CANCELLED, name, trained=at - start))
                return
    ledger.add(make(Kind.FINISHED, name, loss=truth.trunk(N, D, lr)))


def stopped(study: LiveStudy, truth: Truth) -> list[dict[str, float]]:
    """Trunks that were stopped: the share of their cost saved, and how far their decay was off.

    above   log of the loss that it would have had over the least of a run of no more compute, in
            the end and without noise: below 0, it would have been on the frontier
    """
    ledger, found = study.journal.ledger, []
    runs, grid = study.history(ledger).runs.of(State.DONE), study.grid
    lr = grid.columns["lr"][runs.index]
    off = np.log(lr / (truth.rate * (grid.N[runs.index] / 1e8) ** truth.drift))
    base = truth.annealed(grid.N[runs.index], grid.D[runs.index], None)
    loss, C = base * np.exp(truth.bowl * off**2), grid.C[runs.index]
    for trial in ledger.trials.values():
        if trial.kind == "trunk" and trial.reason == "stopped":
            N, D = float(trial.config["N"]), trial.D / (1.0 - DECAY)
            end = truth.annealed(N, D, float(trial.config["lr"]))
            least = loss[C <= 6.0 * N * D * (1.0 + 1e-9)].min()
            above = float(np.log(end / least))
            found.append({"above": above, "saved": trial.cost - trial.spend})
    return found


def point(study: LiveStudy, truth: Truth, share: float) -> dict[str, float]:
    found, best = answer_of(study, study.journal.ledger).answer, truth.best(TARGET)
    n = len(study.journal.ledger.trials)
    if found is None:
        return {"share": share, "n": n}
    told = found.forecasts[0]
    error, width = abs(np.log(told.loss / best)), 0.5 * np.log(told.high / told.low)
    holds = float(told.low <= best <= told.high)
    return {"share": share, "n": n, "error": float(error), "width": float(width), "holds": holds}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--out", type=Path, required=True)
    told = parser.parse_args()
    found: list[dict[str, Any]] = []
    for draw in range(told.first, told.first + told.draws):
        for way in told.ways:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "study.toml"
                file.write_text(STUDY + WAYS[way])
                study = open_study(file)
                study.journal = Journal(study.layout.journal, Ledger())
                points = list(play(study, Truth.draw(draw), way))
            ended = stopped(study, Truth.draw(draw))
            found.append({"draw": draw, "way": way, "points": points, "stopped": ended})
            print(draw, way, json.dumps(points[-1]), json.dumps(ended), flush=True)
            told.out.write_text(json.dumps(found, indent=1))
    for way in told.ways:
        own = [one["points"] for one in found if one["way"] == way]
        for s in SHARES:
            at = [next((p for p in ps if p["share"] >= s - 1e-9), ps[-1]) for ps in own]
            at = [p for p in at if "width" in p]
            if at:
                medians = {k: statistics.median(p[k] for p in at) for k in ("n", "error", "width")}
                holds = statistics.mean(p["holds"] for p in at)
                print(way, s, {k: round(v, 5) for k, v in medians.items()}, round(holds, 2))


if __name__ == "__main__":
    main()
