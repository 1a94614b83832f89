"""Trunks against whole runs: the same budget, the same policy; error and width of the answer.

    python benchmarks/trunks.py --draws 8 --out out.json          # drawn laws
    python benchmarks/trunks.py --on tinylm-wsd --draws 10 --out out.json
    python benchmarks/trunks.py --live examples/tinylm/live/wsd-*/study.toml --out out.json

A study is played three ways, without any process: every run from scratch (whole), runs that share
trunks and are known by their final losses alone (shared), and trunks that are run, with their
curves, and may be stopped (trunks). After each share of the budget the answer is put beside the
truth, and each trunk that was stopped beside the frontier.

Each draw is a law with a bowl in the learning rate, and trunks whose decays take some 3 % off; what
is predicted is the true best loss at the target. On tinylm-wsd candidates are the sizes up to 4.2M,
up to 2^25 tokens, with the losses of one of the table's two seeds. Draws 0 and 1 have all of them,
further ones lack a tenth of the (N, lr), so that they differ. What is predicted is the best loss of
each size at 2^26 tokens, 11M among them (medians over sizes; intervals of a further run).

With --live nothing is played: live studies of the same candidates are judged in the same way from
their journals, after each share of the budget that was trained.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from lawsmith.answer import Target, answer
from lawsmith.datasets.catalogue import FOLDER
from lawsmith.errors import LawsmithError
from lawsmith.journal import Journal, Kind, Ledger, make
from lawsmith.journal.events import check, parse
from lawsmith.runs import State
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.answer import answer_of
from lawsmith.study.asking import propose, stops
from lawsmith.study.trunks import along_of

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
WSD = """
name = "tinylm-wsd"
constraints = ["{constraint}"]
[[model]]
name = "w48"
N = 104448
[[model]]
name = "w64"
N = 212992
[[model]]
name = "w96"
N = 430080
[[model]]
name = "w128"
N = 917504
[[model]]
name = "w192"
N = 1966080
[[model]]
name = "w256"
N = 4194304
[tokens]
values = [2097152, 4194304, 8388608, 16777216, 33554432]
[axes]
lr = {rates}
[budget]
flops = 9e15
[law]
targets = [4.4e15]
"""
LONGEST, N_REPORTS, N_SEEDS = 2**26, 30, 2


class World(Protocol):
    """Where a study is played: its file, what runs and trunks come to, and how it is judged."""

    @property
    def text(self) -> str: ...

    def run(self, N: float, D: float, lr: float, *, on_trunk: bool) -> float: ...

    def trunk(self, N: float, at: float, lr: float) -> float: ...

    def end(self, N: float, D: float, lr: float) -> float:
        """The loss of a run, without noise where that can be known."""
        ...

    def judge(self, study: LiveStudy) -> dict[str, float]: ...


class Bundled:
    """tinylm-wsd's runs and curves of one seed; without a tenth of the (N, lr) from draw 2 on."""

    def __init__(self, draw: int) -> None:
        seed = draw % N_SEEDS
        runs, curves = (pd.read_csv(FOLDER / f"tinylm-wsd{s}.csv") for s in ("", "-curves"))
        mine = runs[(runs["seed"] == seed) & (runs["N"] < 1e7) & (runs["D"] < LONGEST)]
        self.held = best_at_longest()
        self.losses = mine.set_index(["N", "D", "lr"])["loss"].to_dict()
        self.curves = dict(iter(curves[curves["seed"] == seed].groupby(["N", "lr"])))
        pairs, rng = sorted({(N, lr) for N, _, lr in self.losses}), np.random.default_rng(draw)
        n = 0 if draw < N_SEEDS else len(pairs) // 10
        self.absent = [pairs[i] for i in rng.permutation(len(pairs))[:n].tolist()]

    @property
    def text(self) -> str:
        rates = sorted({lr for _, _, lr in self.losses})
        parts = []
        for low, high in ((0, 3e5), (3e5, 1e6), (1e6, 1e7)):
            some = [lr for N, _, lr in self.losses if low < N < high]
            parts.append((f"{low} <= N <= {high}", min(some), max(some)))
        constraint = " or ".join(f"({a} and {b / 1.01} <= lr <= {c * 1.01})" for a, b, c in parts)
        for N, lr in self.absent:
            constraint = f"({constraint}) and (N != {N} or lr < {lr / 1.01} or lr > {lr * 1.01})"
        return WSD.format(constraint=constraint, rates=rates)

    def run(self, N: float, D: float, lr: float, *, on_trunk: bool) -> float:
        return self.losses[N, D, lr]

    def trunk(self, N: float, at: float, lr: float) -> float:
        curve = self.curves[N, lr]
        return float(np.exp(np.interp(np.log(at), np.log(curve["D"]), np.log(curve["loss"]))))

    def end(self, N: float, D: float, lr: float) -> float:
        logs = np.log([[d, y] for (n, d, r), y in self.losses.items() if (n, r) == (N, lr)])
        logs = logs[np.argsort(logs[:, 0])]
        return float(np.exp(np.interp(np.log(D), logs[:, 0], logs[:, 1])))

    def judge(self, study: LiveStudy) -> dict[str, float]:
        return judge_sizes(study, self.held)


def best_at_longest() -> pd.Series[float]:
    """The best loss of each size of tinylm-wsd at its most tokens, by N."""
    runs = pd.read_csv(FOLDER / "tinylm-wsd.csv")
    return runs[runs["D"] == LONGEST].groupby("N")["loss"].min()


def judge_sizes(study: LiveStudy, held: pd.Series[float]) -> dict[str, float]:
    """What a study predicts of the best losses of some sizes at the most tokens, beside them."""
    ledger = study.journal.ledger
    history, along = study.history(ledger), along_of(study, ledger)
    targets = [Target(6.0 * N * LONGEST, float(N), float(LONGEST)) for N in held.index]
    told = along if along.curves else None
    pool = study.pool(history.pool)
    try:
        whole = answer(pool, history.pool_runs, targets, study="", level=0.95, along=told)
    except LawsmithError:
        return {}
    found = whole.forecasts
    low, high, loss = (np.array([getattr(f, k) for f in found]) for k in RUN)
    error = np.median(np.abs(np.log(loss / held)))
    holds = np.mean((low <= held) & (held <= high))
    width = np.median(0.5 * np.log(high / low))
    return {"error": float(error), "width": float(width), "holds": float(holds)}


RUN = ("run_low", "run_high", "loss")


@dataclass(frozen=True)
class Truth:
    """One draw; losses of runs with the noise of their own."""

    text = STUDY

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

    def end(self, N: float, D: float, lr: float) -> float:
        return float(self.annealed(N, D, lr))

    def judge(self, study: LiveStudy) -> dict[str, float]:
        found, best = answer_of(study, study.journal.ledger).answer, self.best(TARGET)
        if found is None:
            return {}
        told = found.forecasts[0]
        error, width = abs(np.log(told.loss / best)), 0.5 * np.log(told.high / told.low)
        holds = float(told.low <= best <= told.high)
        return {"error": float(error), "width": float(width), "holds": holds}

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


def play(
    study: LiveStudy,
    run: Callable[[Mapping[str, Any]], None],
    judge: Callable[[LiveStudy], dict[str, float]],
) -> Iterator[dict[str, float]]:
    """The answer after each share of the budget; ``run`` records what an asked run comes to."""
    ledger, shares = study.journal.ledger, list(SHARES)
    while shares:
        found = propose(study, ledger, 1)
        for event in found:
            ledger.add(event)
        for event in found:
            run(event)
        share = ledger.spend / study.budget
        passed = [s for s in shares if share >= s - 1e-9]
        if passed or not found:
            yield {"share": share, "n": len(ledger.trials), **judge(study)}
        shares = [s for s in shares if s not in passed] if found else []


@contextmanager
def opened(text: str) -> Iterator[LiveStudy]:
    """A study file as a live study whose journal is in memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(text)
        study = open_study(file)
        study.journal = Journal(study.layout.journal, Ledger())
        yield study


def run_one(study: LiveStudy, truth: World, event: Mapping[str, Any], *, shared: bool) -> None:
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
    for at in np.geomspace(start or D / 100.0, D, N_REPORTS)[1:].tolist():
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


def stopped(study: LiveStudy, truth: World) -> list[dict[str, float]]:
    """Trunks that were stopped: the share of their cost saved, and how far their decay was off.

    above   log of the loss that it would have had over the least of a run of no more compute, in
            the end and without noise: below 0, it would have been on the frontier
    """
    ledger, found = study.journal.ledger, []
    done = study.history(ledger).runs.of(State.DONE)
    rows = zip(*(study.grid.numbers(k)[done.index].tolist() for k in ("N", "D", "lr")), strict=True)
    loss, C = np.array([truth.end(*row) for row in rows]), study.grid.C[done.index]
    for trial in ledger.trials.values():
        if trial.kind == "trunk" and trial.reason == "stopped":
            N, D = float(trial.config["N"]), trial.D / (1.0 - DECAY)
            end = truth.end(N, D, float(trial.config["lr"]))
            least = loss[C <= 6.0 * N * D * (1.0 + 1e-9)].min()
            above = float(np.log(end / least))
            found.append({"above": above, "saved": trial.cost - trial.spend})
    return found


def trained(ledger: Ledger) -> float:
    """FLOPs that were trained; of runs under way what they told."""
    total = 0.0
    for trial in ledger.trials.values():
        if not trial.open:
            total += trial.spend
        elif trial.report is not None:
            total += trial.cost * (trial.report[0] - trial.start) / (trial.D - trial.start)
    return total


def judge_live(file: Path) -> Iterator[dict[str, float]]:
    """The answer of a live study after each share of its budget and at its end, by its journal."""
    study, held = open_study(file), best_at_longest()
    study.journal = Journal(study.layout.journal, Ledger())
    ledger, shares, share, judged = study.journal.ledger, list(SHARES), 0.0, 0.0
    for line in study.layout.journal.read_bytes().splitlines():
        event = parse(line)
        if event is None:
            continue  # the last line, if the journal was copied while it was written
        ledger.add(check(event, where=str(file)))
        share = trained(ledger) / study.budget
        if shares and share >= shares[0] - 1e-9:
            yield {"share": share, "n": len(ledger.trials), **judge_sizes(study, held)}
            shares, judged = [s for s in shares if s > share], share
    if share > judged:
        yield {"share": share, "n": len(ledger.trials), **judge_sizes(study, held)}


def show(way: str, own: list[list[dict[str, float]]]) -> None:
    """Medians over draws of the answer after each share of the budget."""
    for s in SHARES:
        at = [next((p for p in points if p["share"] >= s - 1e-9), points[-1]) for points in own]
        at = [p for p in at if "width" in p]
        if at:
            medians = {k: statistics.median(p[k] for p in at) for k in ("n", "error", "width")}
            holds = statistics.mean(p["holds"] for p in at)
            print(way, s, {k: round(v, 5) for k, v in medians.items()}, round(holds, 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--on", choices=["drawn", "tinylm-wsd"], default="drawn")
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--live", nargs="+", type=Path, metavar="STUDY.toml", default=[])
    parser.add_argument("--out", type=Path, required=True)
    told = parser.parse_args()
    found: list[dict[str, Any]] = []
    for file in told.live:
        points = list(judge_live(file))
        found.append({"study": file.parent.name, "points": points})
        for one in points:
            print(file.parent.name, json.dumps(one), flush=True)
        told.out.write_text(json.dumps(found, indent=1))
    if told.live:
        return
    for draw in range(told.first, told.first + told.draws):
        world: World = Truth.draw(draw) if told.on == "drawn" else Bundled(draw)
        for way in told.ways:
            with opened(world.text + WAYS[way]) as study:
                run = partial(run_one, study, world, shared=way != "whole")
                points = list(play(study, run, world.judge))
            ended = stopped(study, world)
            found.append({"draw": draw, "way": way, "points": points, "stopped": ended})
            print(draw, way, json.dumps(points[-1]), json.dumps(ended), flush=True)
            told.out.write_text(json.dumps(found, indent=1))
    for way in told.ways:
        show(way, [one["points"] for one in found if one["way"] == way])


if __name__ == "__main__":
    main()
