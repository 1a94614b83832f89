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

from lawsmith import Target, charts, get_law, load
from lawsmith.analysis import FitOptions, analyse, answer_study
from lawsmith.answer import Answer, answer
from lawsmith.charts.answer import AnswerWithRuns
from lawsmith.charts.narrowing import Moment
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.datasets import Study
from lawsmith.formats import count, flops, interval
from lawsmith.frontier import frontier
from lawsmith.journal import Event, Ledger, Stage, fold
from lawsmith.study.exporting import csv_text, rows_of
from lawsmith.study.live import LiveStudy, open_study

DOCS = Path(__file__).parent
TINYLM = DOCS.parent / "examples" / "tinylm"
NAMES = ("frontier-2", "frontier-5", "frontier-10", "window")
BUDGETS = (0.02, 0.05, 0.10)
PAUSE = 120.0  # seconds between two events after which nobody was at work
MOST = 1.8  # loss at which the figure of the bet ends


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

    def answered(self, ledger: Ledger, targets: list[Target]) -> AnswerWithRuns:
        """What the study knew then of the loss at some targets."""
        history = self.study.history(ledger)
        pool, runs = self.study.pool(history.pool), history.pool_runs
        return AnswerWithRuns(self.name, answer(pool, runs, targets, study=self.name), pool, runs)


def _settled(ledger: Ledger) -> Ledger:
    kept = {name: t for name, t in ledger.trials.items() if t.stage is Stage.FINISHED}
    return replace(ledger, trials=kept)


@dataclass(frozen=True)
class Said:
    """What was said of the bet from the runs of ``source``, by the answer or by a law.

    low, high   95 % interval of a further run
    """

    by: str
    source: str
    loss: float
    low: float
    high: float

    def holds(self, loss: float) -> bool:
        return self.low <= loss <= self.high


class Validation:
    """All that the page needs: the studies, the dense grid's answer, the bet."""

    def __init__(self) -> None:
        self.lives = [Live.read(name) for name in NAMES]
        self.bet = json.loads((TINYLM / "results" / "bet.json").read_text())
        self.dense = load("tinylm")
        self.compute = float(self.bet["C"])
        self.at = Target(self.compute, self.bet["N"], self.bet["D"])
        self.targets = [Target(self.compute), self.at]

    @cached_property
    def dense_answer(self) -> Answer:
        return answer_study(self.dense, self.targets)

    @cached_property
    def said(self) -> list[Said]:
        return list(said(self))

    @cached_property
    def moments(self) -> list[tuple[Live, float, Ledger, Answer]]:
        """(study, share, ledger, answer) at the budgets that each study reached."""
        return [
            (live, live.share(ledger), ledger, live.answered(ledger, self.targets).answer)
            for live in self.lives
            for ledger in live.milestones
        ]


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


def answers(v: Validation) -> str:
    dense = v.dense_answer.forecasts[0]
    body = []
    for live, share, ledger, found in v.moments:
        best, at = found.forecasts
        ends = interval(at.run_low, at.run_high, "{:.3f}".format)
        body.append(
            [
                live.name,
                f"{100 * share:.1f} %",
                str(len(ledger.trials)),
                f"{best.loss:.3f} {interval(best.low, best.high, '{:.3f}'.format)}",
                f"{100 * (best.loss / dense.loss - 1):+.1f} %",
                f"{at.loss:.3f} {ends}" + _mark(at.run_low <= v.bet["loss"] <= at.run_high),
            ]
        )
    head = ["study", "after", "runs", "best loss, 95 %", "off the dense grid's"]
    head += ["at the bet's N and D, 95 % of a run"]
    ends = interval(dense.low, dense.high, "{:.3f}".format)
    text = f"The answer of the whole dense grid is {dense.loss:.3f} {ends}."
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


def said(v: Validation) -> Iterator[Said]:
    """What the answer and two laws said of the bet."""
    last = {live.name: (live, found) for live, _, _, found in v.moments}
    for name, found in [("dense grid", v.dense_answer)] + [(n, f) for n, (_, f) in last.items()]:
        at = found.forecasts[1]
        yield Said("answer", name, at.loss, at.run_low, at.run_high)
    sources = [("dense grid", v.dense)] + [(n, _table(live)) for n, (live, _) in last.items()]
    for law, target in (("LC", Target(v.compute)), ("chinchilla", v.at)):
        for name, study in sources:
            options = FitOptions(law=get_law(law), targets=(target,))
            (p,) = analyse(study, options).predictions
            label = "L(C)" if law == "LC" else "L(N, D)"
            yield Said(label, name, p.loss, p.run_interval.low, p.run_interval.high)


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
            one.by,
            one.source,
            f"{one.loss:.3f}",
            interval(one.low, one.high, "{:.3f}".format),
            f"{100 * (one.loss / loss - 1):+.1f} %",
            "yes" if one.holds(loss) else "**no**",
        ]
        for one in v.said
    ]
    head = ["by", "from", "predicted", "95 % of a run", "off", "inside"]
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
        figures[f"answer-{live.name}"] = charts.answer(live.answered(live.rounds[-1], v.targets))
        moments = [
            Moment(
                live.share(ledger),
                len(ledger.trials),
                live.answered(ledger, v.targets).answer.forecasts[0],
            )
            for ledger in live.rounds[2:]
        ]
        figures[f"narrowing-{live.name}"] = charts.narrowing(
            moments, name=live.name, reference=v.dense_answer.forecasts[0].loss
        )
    for name, chart in figures.items():
        charts.write(chart, folder, name, formats=("png",))


def _forest(v: Validation) -> alt.LayerChart:
    """Predictions of the bet with their intervals, and what came out."""
    frame = pd.DataFrame(
        [
            (one.by, f"{one.by}, {one.source}", one.loss, one.low, min(one.high, MOST))
            for one in v.said
        ],
        columns=["law", "of", "loss", "low", "high"],
    )
    base = alt.Chart(frame).encode(y=alt.Y("of", sort=None, title=None, axis=alt.Axis(ticks=False)))
    x = alt.X("low", scale=alt.Scale(zero=False), title="Loss (nats per token)")
    color = alt.Color("law", legend=None, scale=alt.Scale(range=["#1b1f24", "#0f5e8c", "#b4531a"]))
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


BLOCKS = {"studies": studies, "answers": answers, "found": found, "bet": bet, "around": around}


def main() -> None:
    v = Validation()
    page = DOCS / "live-validation.md"
    made = {name: block(v) for name, block in BLOCKS.items()}
    page.write_text(with_blocks(page.read_text(encoding="utf-8"), made), encoding="utf-8")
    draw(v)


if __name__ == "__main__":
    main()
