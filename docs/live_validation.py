"""Bring the numbers and figures of docs/live-validation.md up to the journals (some minutes).

    python docs/live_validation.py

Reads the live studies in examples/tinylm/live, the bet and the runs around it in
examples/tinylm/results, and the bundled dense grid. Text between `<!-- made: NAME -->` and
`<!-- end -->` is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import altair as alt
import numpy as np
import pandas as pd
from tinylm import rows, with_blocks

from lawsmith import FitOptions, Target, analyse, charts, get_law, load
from lawsmith.charts.data.narrowing import Known
from lawsmith.charts.data.outlook import Seen
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.datasets import Study
from lawsmith.formats import count, flops, interval
from lawsmith.frontier import frontier
from lawsmith.journal import Event, Ledger, Stage, fold
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import Prediction, outlook
from lawsmith.study.exporting import csv_text, rows_of
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.study.schedule import live_surrogate

DOCS = Path(__file__).parent
TINYLM = DOCS.parent / "examples" / "tinylm"
NAMES = ("frontier-2", "frontier-5", "frontier-10", "window")
BUDGETS = (0.02, 0.05, 0.10)
PAUSE = 120.0  # seconds between two events after which nobody was at work


@dataclass(frozen=True)
class Live:
    """A live study and its events."""

    name: str
    study: LiveStudy
    events: tuple[Event, ...]

    @classmethod
    def read(cls, name: str) -> Live:
        folder = TINYLM / "live" / name
        lines = (folder / "journal.jsonl").read_text().splitlines()
        return cls(name, open_study(folder / "study.toml"), tuple(map(json.loads, lines)))

    @property
    def policy(self) -> str:
        return "Window (paper)" if self.study.spec.policy.name == "window" else "frontier"

    @cached_property
    def rounds(self) -> list[Ledger]:
        """The ledger after every round was told, without what was only asked for by then."""
        told = [event["event"] == "finished" for event in self.events] + [False]
        ends = [i for i in range(1, len(told)) if told[i - 1] and not told[i]]
        return [_settled(fold(self.events[:end])) for end in ends]

    def share(self, ledger: Ledger) -> float:
        return ledger.spend / float(self.study.grid.C.sum())

    @property
    def milestones(self) -> list[Ledger]:
        """The ledgers after the rounds that reached 2, 5 and 10 % of the grid, and the last."""
        shares = np.array([self.share(one) for one in self.rounds])
        last = len(shares) - 1
        reached = {int(np.argmax(shares >= b)) for b in BUDGETS if shares[-1] >= b}
        apart = {i for i in reached if shares[i] < 0.98 * shares[last]}  # from the last
        return [self.rounds[i] for i in sorted(apart | {last})]

    @property
    def minutes(self) -> float:
        times = [datetime.fromisoformat(event["time"]) for event in self.events]
        gaps = np.array([(b - a).total_seconds() for a, b in pairwise(times)])
        return float(gaps[gaps < PAUSE].sum() / 60)

    def seen(self, ledger: Ledger, compute: float) -> Seen:
        """What the study knew then of the loss at a compute."""
        history = self.study.history(ledger)
        pool, runs = self.study.pool(history.pool), history.pool_runs
        surrogate = live_surrogate(self.study.spec.policy.surrogate, seed=self.study.spec.seed)
        assert surrogate is not None
        posterior = surrogate.fit(pool, runs)
        law, seed = self.study.law, self.study.spec.seed
        found = outlook(pool, runs, posterior, law, [compute], seed=seed)
        return Seen(self.name, pool, runs, posterior, found)


def _settled(ledger: Ledger) -> Ledger:
    kept = {name: t for name, t in ledger.trials.items() if t.stage is Stage.FINISHED}
    return replace(ledger, trials=kept)


@dataclass(frozen=True)
class Forecast:
    """What a law, fitted to the runs of ``source``, said of the bet, with its 95 % interval."""

    law: str
    source: str
    loss: float
    interval: Interval


class Validation:
    """All that the page needs: the studies, the dense grid's laws, the bet."""

    def __init__(self) -> None:
        self.lives = [Live.read(name) for name in NAMES]
        self.bet = json.loads((TINYLM / "results" / "bet.json").read_text())
        self.dense = load("tinylm")
        self.compute = float(self.bet["C"])
        self.target = Target(self.compute, self.bet["N"], self.bet["D"])

    @cached_property
    def dense_law(self):
        options = FitOptions(law=get_law("LC"), targets=(Target(self.compute),))
        return analyse(self.dense, options)

    @cached_property
    def dense_loss(self) -> float:
        """What the law of the dense grid predicts at the compute of the bet."""
        return float(self.dense_law.predictions[0].loss)

    @cached_property
    def forecasts(self) -> list[Forecast]:
        return list(forecasts(self))

    @cached_property
    def moments(self) -> list[tuple[Live, float, Ledger, Prediction]]:
        """(study, share, ledger, prediction) at the budgets that each study reached."""
        found = []
        for live in self.lives:
            for ledger in live.milestones:
                (prediction,) = live.seen(ledger, self.compute).outlook.predictions
                found.append((live, live.share(ledger), ledger, prediction))
        return found


def studies(v: Validation) -> str:
    body = []
    for live in v.lives:
        last = live.rounds[-1]
        done = [t for t in last.trials.values()]
        body.append(
            [
                live.name,
                live.policy,
                f"{100 * live.study.budget / live.study.grid.C.sum():.0f} %",
                str(len(done)),
                str(len(live.rounds)),
                f"{flops(last.spend)} ({100 * live.share(last):.1f} %)",
                flops(max(t.cost for t in done)),
                f"{min(t.loss for t in done):.4f}",
                f"{live.minutes:.0f}",
            ]
        )
    head = ["study", "policy", "budget", "runs", "rounds", "spent", "largest run", "best loss"]
    return rows([*head, "minutes"], body)


def laws(v: Validation) -> str:
    body = []
    for live, share, ledger, p in v.moments:
        off = 100 * (p.loss / v.dense_loss - 1)
        body.append(
            [
                live.name,
                f"{100 * share:.1f} %",
                str(len(ledger.trials)),
                f"{p.loss:.3f}",
                f"{off:+.1f} %",
                f"{interval(p.pool.low, p.pool.high, '{:.2f}'.format)}"
                + _mark(p.pool.low <= v.dense_loss <= p.pool.high),
                f"{interval(p.truth.low, p.truth.high, '{:.2f}'.format)}"
                + _mark(p.truth.low <= v.bet["loss"] <= p.truth.high),
            ]
        )
    head = ["study", "after", "runs", "predicted", "off the dense law"]
    head += ["95 %, law of all runs", "95 %, true loss"]
    text = f"The law of the whole dense grid predicts {v.dense_loss:.3f}."
    return f"{text}\n\n{rows(head, body)}"


def _mark(inside: bool) -> str:
    return "" if inside else " **misses**"


def found(v: Validation) -> str:
    """How far the studies' best runs lie above the dense grid's frontier."""
    grid, loss = v.dense.grid, v.dense.runs.config_loss(len(v.dense.grid))
    points = frontier(grid, loss, ("C",))
    C, L = grid.C[points], loss[points]
    body = []
    for live, share, ledger, _ in v.moments:
        trials = list(ledger.trials.values())
        cost = np.array([t.cost for t in trials])
        got = np.array([t.loss for t in trials])
        above = [
            100 * (got[cost <= c * (1 + 1e-9)].min(initial=np.inf) / best - 1)
            for c, best in zip(C, L, strict=True)
        ]
        above = np.array([a for a in above if np.isfinite(a)])
        body.append(
            [
                live.name,
                f"{100 * share:.1f} %",
                f"{np.median(above):+.1f} %",
                f"{np.max(above):+.1f} %",
                f"{above[-1]:+.1f} %",
                f"{(above < 1).sum()} of {len(C)}",
            ]
        )
    head = ["study", "after", "median", "worst", "at the largest compute", "within 1 %"]
    return rows(head, body)


def forecasts(v: Validation) -> Iterator[Forecast]:
    """What each law predicted of the bet."""
    (dense,) = v.dense_law.predictions
    yield Forecast("L(C)", "dense grid", dense.loss, dense.run_interval)
    last = {live.name: (live, p) for live, _, _, p in v.moments}
    for live, p in last.values():
        yield Forecast("L(C)", live.name, p.loss, p.truth)
    sources = [("dense grid", v.dense)] + [(live.name, _table(live)) for live, _ in last.values()]
    for name, study in sources:
        options = FitOptions(law=get_law("chinchilla"), targets=(v.target,))
        (p,) = analyse(study, options).predictions
        yield Forecast("L(N, D)", name, p.loss, p.run_interval)


def _table(live: Live) -> Study:
    """The runs of a live study as a table, read as `lawsmith fit` reads one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        path.write_text(csv_text(rows_of(live.study, live.rounds[-1]), finished=True))
        return load(path)


def bet(v: Validation) -> str:
    loss = v.bet["loss"]
    body = [
        [
            f.law,
            f.source,
            f"{f.loss:.3f}",
            interval(f.interval.low, f.interval.high, "{:.2f}".format),
            f"{100 * (f.loss / loss - 1):+.1f} %",
            "yes" if f.interval.low <= loss <= f.interval.high else "**no**",
        ]
        for f in v.forecasts
    ]
    head = ["law", "from", "predicted", "95 %", "off", "inside"]
    text = (
        f"The run: N = {count(v.bet['N'])} (width {v.bet['width']}, depth {v.bet['depth']}), "
        f"D = {count(v.bet['D'])}, C = {flops(v.compute)} FLOPs, batch {v.bet['batch']}, learning "
        f"rate {v.bet['lr']:g}. **It came out at {loss:.4f}.**"
    )
    return f"{text}\n\n{rows(head, body)}"


def around(v: Validation) -> str:
    """The losses of the same size and tokens at other batches and learning rates."""
    runs = pd.concat(
        [
            pd.read_json(TINYLM / "results" / "around.jsonl", lines=True),
            pd.DataFrame([v.bet]),
        ]
    )
    runs["lr"] = [float(f"{lr:.4g}") for lr in runs["lr"]]
    cells = runs.groupby(["batch", "lr"])["loss"].agg(["mean", "size", "var"])
    table = cells["mean"].unstack("lr")
    body = [
        [str(batch), *("" if np.isnan(loss) else f"{loss:.4f}" for loss in table.loc[batch])]
        for batch in table.index
    ]
    best = cells["mean"].idxmin()
    several = cells[cells["size"] > 1]
    dof = several["size"] - 1
    sd = float(np.sqrt((several["var"] * dof).sum() / dof.sum()) / v.bet["loss"])
    mine, least = cells.loc[(v.bet["batch"], v.bet["lr"])], cells.loc[best]
    text = (
        f"Best is batch {best[0]} with a learning rate of {best[1]:g}: {least['mean']:.4f} over "
        f"{least['size']:.0f} seeds. The bet's own setting has {mine['mean']:.4f} over "
        f"{mine['size']:.0f}, {100 * (mine['mean'] / least['mean'] - 1):.1f} % more. One run has a "
        f"noise of {100 * sd:.1f} % ({dof.sum():.0f} degrees of freedom)."
    )
    head = ["batch \\ learning rate", *(f"{lr:g}" for lr in table.columns)]
    return f"{rows(head, body)}\n\n{text}"


def draw(v: Validation) -> None:
    folder = DOCS / "figures" / "live-validation"
    figures: dict[str, alt.TopLevelMixin] = {"bet": _forest(v)}
    for live in (v.lives[2], v.lives[3]):
        seen = live.seen(live.rounds[-1], v.compute)
        figures[f"outlook-{live.name}"] = charts.outlook(seen)
        known = []
        for ledger in live.rounds[2:]:
            (p,) = live.seen(ledger, v.compute).outlook.predictions
            known.append(Known(live.share(ledger), len(ledger.trials), p))
        figures[f"narrowing-{live.name}"] = charts.narrowing(
            known, name=live.name, reference=v.dense_loss
        )
    for name, chart in figures.items():
        charts.write(chart, folder, name, formats=("png",))


def _forest(v: Validation) -> alt.LayerChart:
    """Predictions of the bet with their intervals, and what came out."""
    frame = pd.DataFrame(
        [
            (f.law, f"{f.law}, {f.source}", f.loss, f.interval.low, f.interval.high)
            for f in v.forecasts
        ],
        columns=["law", "of", "loss", "low", "high"],
    )
    base = alt.Chart(frame).encode(y=alt.Y("of", sort=None, title=None, axis=alt.Axis(ticks=False)))
    x = alt.X("low", scale=alt.Scale(zero=False), title="Loss (nats per token)")
    color = alt.Color("law", legend=None, scale=alt.Scale(range=["#0f5e8c", "#b4531a"]))
    bars = base.mark_rule(strokeWidth=3).encode(x=x, x2="high", color=color)
    dots = base.mark_point(filled=True, size=70).encode(x=alt.X("loss"), color=color)
    actual = alt.Chart(pd.DataFrame({"x": [v.bet["loss"]]})).mark_rule(strokeDash=[5, 3])
    title = alt.Title(
        f"The bet: what was predicted at {flops(v.compute)} FLOPs, and what came out",
        subtitle=f"Point: predicted loss; bar: 95 % interval; dashed: {v.bet['loss']:.3f}, trained",
    )
    chart = alt.layer(bars, dots, actual.encode(x="x")).properties(
        width=520, height=26 * len(frame), title=title
    )
    return themed(chart, LIGHT)


BLOCKS = {"studies": studies, "laws": laws, "found": found, "bet": bet, "around": around}


def main() -> None:
    v = Validation()
    page = DOCS / "live-validation.md"
    made = {name: block(v) for name, block in BLOCKS.items()}
    page.write_text(with_blocks(page.read_text(encoding="utf-8"), made), encoding="utf-8")
    draw(v)


if __name__ == "__main__":
    main()
