"""Stopping hopeless runs with a schedule of their own: what it saves, what it does to the answer.

    python benchmarks/stopping.py --draws 8 --out out.json            # drawn laws, cosine schedule
    python benchmarks/stopping.py --on tinylm --draws 6 --out out.json
    python benchmarks/stopping.py --on prefixes --draws 16 --out out.json

A study is played by its journal, run after run, once without stopping and once with it: each run
tells losses on its way and may be stopped at each eighth of it. After each share of the budget the
answer is put beside the truth, and each run that was stopped beside the frontier of all runs.

Drawn: the laws of benchmarks/trunks.py, seven learning rates over a factor of 64, runs whose rate
falls to zero along a cosine. A rate has two effects on the way: what the run has learnt follows the
rate summed so far, and a high rate adds noise that its decay takes off again. So curves cross.
tinylm: its real runs of one seed without a fifth of them; losses on the way are the means of the
training loss over each eighth of a run. What is predicted is the best loss of each size at 2^26
tokens.

prefixes: no study is played. A few of tinylm's runs have finished, mostly good ones; of others
it is said from their prefix whether they are hopeless. Counted are runs that are within NEAR of the
best of their size and tokens and are called hopeless, and how many of those POOR above it are.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.special import stdtr
from trunks import LONGEST, STUDY, Truth, judge_sizes, opened, play, show

from lawsmith.curves.prefix import DF, Prefixes
from lawsmith.datasets.catalogue import FOLDER
from lawsmith.grid import Grid
from lawsmith.journal import Kind, make
from lawsmith.policies.actions import HOPELESS
from lawsmith.runs import State
from lawsmith.study import LiveStudy
from lawsmith.study.asking import looks, stops
from lawsmith.study.prefixes import STOPPED, points_of

WAYS = {"finish": "[policy]\nstop = false\n", "stop": "[policy]\nstop = true\n"}
RATES = "lr = [2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2]"
N_REPORTS = 60
N_SEEDS = 3
NEAR, POOR = 0.003, 0.1  # log loss above the best
FINISHED = (10, 14, 20, 40, 80)
WIDTHS = {104448: 48, 212992: 64, 430080: 96, 917504: 128, 1966080: 192, 4194304: 256}


class World(Protocol):
    """Where a study is played: its file, what runs come to, and how it is judged."""

    @property
    def text(self) -> str: ...

    def curve(self, config: Mapping[str, Any]) -> list[tuple[float, float]]:
        """(share, loss) on the way of a run."""
        ...

    def loss(self, config: Mapping[str, Any]) -> float: ...

    def judge(self, study: LiveStudy) -> dict[str, float]: ...


@dataclass(frozen=True)
class Cosine:
    """A drawn law whose runs have a cosine schedule.

    jump      log loss that the best rate adds before it decays
    own       SD of what a run has on its way alone; report: of each loss that is told
    """

    truth: Truth
    jump: float
    own: float = 0.002
    report: float = 0.003

    text = STUDY.replace("lr = [5e-4, 1e-3, 2e-3, 4e-3, 8e-3]", RATES)

    @classmethod
    def draw(cls, seed: int) -> Cosine:
        rng = np.random.default_rng([seed, 23])
        return cls(Truth.draw(seed), float(rng.uniform(0.03, 0.06)))

    def curve(self, config: Mapping[str, Any]) -> list[tuple[float, float]]:
        N, D, lr = (float(config[key]) for key in ("N", "D", "lr"))
        best = self.truth.rate * (N / 1e8) ** self.truth.drift
        jump = self.jump * (lr / best) ** 0.5 + self.truth.own(self.own, N, lr, D, 5.0)
        noise = np.log(self.loss(config) / self.truth.annealed(N, D, lr))
        found = []
        for u in np.linspace(0.02, 0.98, N_REPORTS).tolist():
            learnt, rate = u + np.sin(np.pi * u) / np.pi, 0.5 * (1.0 + np.cos(np.pi * u))
            spread = self.truth.own(self.report, N, lr, D, u)
            loss = self.truth.annealed(N, D * learnt, lr) * np.exp(jump * rate + noise + spread)
            found.append((u, float(loss)))
        return found

    def loss(self, config: Mapping[str, Any]) -> float:
        N, D, lr = (float(config[key]) for key in ("N", "D", "lr"))
        return self.truth.run(N, D, lr, on_trunk=False)

    def judge(self, study: LiveStudy) -> dict[str, float]:
        return self.truth.judge(study)


class Tinylm:
    """Real runs of one seed, from which every draw leaves a fifth out."""

    def __init__(self, draw: int) -> None:
        table = pd.read_csv(FOLDER / "tinylm.csv").dropna(subset=["loss", "curve"])
        self.held = table[table["D"] == LONGEST].groupby("N")["loss"].min()
        table = table[(table["seed"] == draw % N_SEEDS) & (table["D"] < LONGEST)]
        table = table[table["curve"].str.split().str.len() == 8]
        table = table.drop_duplicates(["N", "D", "lr", "batch"])
        table["lr"] = [float(f"{lr:.4g}") for lr in table["lr"]]
        rng = np.random.default_rng([draw, 3])
        kept = table[rng.random(len(table)) < 0.8]
        self.rows = {(r.N, r.D, r.lr, r.batch): r for r in kept.itertuples()}

    @property
    def text(self) -> str:
        models = "".join(f'[[model]]\nname = "w{w}"\nN = {N}\n' for N, w in WIDTHS.items())
        axes = [sorted({key[i] for key in self.rows}) for i in (1, 2, 3)]
        lines = f"[tokens]\nvalues = {axes[0]}\n[axes]\nlr = {axes[1]}\nbatch = {axes[2]}\n"
        budget = 0.06 * sum(6.0 * N * D for N, D, _, _ in self.rows)
        rest = f"[budget]\nflops = {budget:.3g}\n[law]\ntargets = [4.4e15]\n"
        return f'name = "tinylm"\n{models}{lines}{rest}'

    def row(self, config: Mapping[str, Any]) -> Any:
        return self.rows.get(tuple(config[key] for key in ("N", "D", "lr", "batch")))

    def curve(self, config: Mapping[str, Any]) -> list[tuple[float, float]]:
        losses = [float(text) for text in self.row(config).curve.split()]
        return [((i + 1) / 8.0, loss) for i, loss in enumerate(losses[:7])]

    def loss(self, config: Mapping[str, Any]) -> float:
        return float(self.row(config).loss)

    def judge(self, study: LiveStudy) -> dict[str, float]:
        return judge_sizes(study, self.held)


def run_one(study: LiveStudy, world: World, event: Mapping[str, Any]) -> None:
    """What a run tells on its way, and at its end; it may be stopped."""
    ledger, name, D = study.journal.ledger, event["trial"], float(event["config"]["D"])
    ledger.add(make(Kind.SUBMITTED, name, attempt=1, handle="drawn"))
    ledger.add(make(Kind.RUNNING, name, attempt=1))
    before = 0
    for share, loss in world.curve(event["config"]):
        ledger.add(make(Kind.REPORTED, name, tokens=share * D, loss=loss))
        behind = looks(ledger.trials[name], share * D)
        if behind > before:
            before = behind
            if wishes := stops(study, ledger, [name]):
                ledger.add(wishes[0])
                ledger.add(make(Kind.CANCELLED, name, trained=share * D))
                return
    ledger.add(make(Kind.FINISHED, name, loss=world.loss(event["config"])))


def stopped(study: LiveStudy, world: World) -> list[dict[str, float]]:
    """Runs that were stopped: when, what that saved, and how far their end was off.

    above   log of the loss that it would have had over the least of a finished run of no more
            compute, in the end: below 0, it would have been on the frontier
    """
    ledger, found = study.journal.ledger, []
    done = study.history(ledger).runs.of(State.DONE)
    C = study.grid.C[done.index]
    for trial in ledger.trials.values():
        if trial.reason == STOPPED and trial.report is not None:
            least = done.loss[trial.cost * (1.0 + 1e-9) >= C].min()
            above = float(np.log(world.loss(trial.config) / least))
            share = trial.report[0] / trial.D
            found.append({"above": above, "saved": trial.cost - trial.spend, "at": share})
    return found


def prefixes(draws: int) -> list[dict[str, Any]]:
    """What prefixes say of tinylm's runs after 2, 4, 6 and 7 eighths of them."""
    table = pd.read_csv(FOLDER / "tinylm.csv").dropna(subset=["loss", "curve"])
    table = table[(table["seed"] == 0) & (table["curve"].str.split().str.len() == 8)]
    curves = np.log([[float(x) for x in text.split()] for text in table["curve"]])
    end = np.log(table["loss"].to_numpy())
    best = np.log(table.groupby(["N", "D"])["loss"].transform("min").to_numpy())
    grid = Grid.from_columns({k: table[k].to_numpy(float) for k in ("N", "D", "lr", "batch")})
    at = points_of(grid, np.arange(len(grid)))
    weight = np.exp((best - end) / 0.05)
    found = []
    for n, eighths, draw in product(FINISHED, (2, 4, 6, 7), range(draws)):
        rng = np.random.default_rng(draw)
        done = rng.choice(len(end), n, replace=False, p=weight / weight.sum())
        a = curves[:, eighths - 1]
        model = Prefixes(at.take(done), a[done], end[done])
        others = rng.permutation(np.setdiff1d(np.arange(len(end)), done))[:400]
        others = others[model.covers(at.take(others))]
        mean, scale = model.predict(at.take(others), a[others])
        chance = stdtr(DF, (best[others] + np.log1p(NEAR) - mean) / scale)
        above, hopeless = (end - best)[others], chance < HOPELESS
        row = {"n": n, "eighths": eighths, "draw": draw, "proven": model.proven}
        row |= {"hopeless": int(hopeless.sum()), "wrong": int((hopeless & (above < NEAR)).sum())}
        row |= {"poor": int((above > POOR).sum()), "found": int((hopeless & (above > POOR)).sum())}
        found.append(row)
    return found


def show_prefixes(records: list[dict[str, Any]]) -> None:
    table = pd.DataFrame(records)
    print(table.groupby("eighths")["proven"].agg(["sum", "size"]))
    counts = ["hopeless", "wrong", "found", "poor"]
    print(table[table["proven"]].groupby("eighths")[counts].sum())
    print(table[table["proven"]].groupby(["n", "eighths"])[counts].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--on", choices=["drawn", "tinylm", "prefixes"], default="drawn")
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--out", type=Path, required=True)
    request = parser.parse_args()
    records: list[dict[str, Any]] = []
    if request.on == "prefixes":
        records = prefixes(request.draws)
        request.out.write_text(json.dumps(records, indent=1))
        show_prefixes(records)
        return
    for draw in range(request.first, request.first + request.draws):
        world: World = Cosine.draw(draw) if request.on == "drawn" else Tinylm(draw)
        for way in request.ways:
            with opened(world.text + WAYS[way]) as study:
                if isinstance(world, Tinylm):
                    leave_out(study, world)
                points = list(play(study, partial(run_one, study, world), world.judge))
            ends = stopped(study, world)
            record = {"draw": draw, "way": way, "points": points, "stopped": ends}
            records.append({**record, "budget": study.budget})
            print(draw, way, json.dumps(points[-1]), json.dumps(ends), flush=True)
            request.out.write_text(json.dumps(records, indent=1))
    show_stops(records, request.ways)


def leave_out(study: LiveStudy, world: Tinylm) -> None:
    """Exclude candidates that the table has no run of."""
    for config in study.candidates.configs:
        if world.row(config) is None:
            study.journal.ledger.add(make(Kind.EXCLUDED, match=dict(config), reason="no run"))


def show_stops(records: list[dict[str, Any]], ways: list[str]) -> None:
    for way in ways:
        own = [one for one in records if one["way"] == way]
        show(way, [one["points"] for one in own])
        ends = [(e, one["budget"]) for one in own for e in one["stopped"]]
        if ends:
            above = [e["above"] for e, _ in ends]
            saved = sum(e["saved"] / budget for e, budget in ends) / len(own)
            at = statistics.median(e["at"] for e, _ in ends)
            print(f"{way}: {len(ends)} stopped, at {at:.2f} of their way, saved {saved:.3f}")
            print(f"    least above the frontier {min(above):.4f}, median {np.median(above):.4f}")


if __name__ == "__main__":
    main()
