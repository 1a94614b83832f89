"""What the frontier policy must reach, as data, beside what it reached.

A bar is on the mean over seeds of the value at that moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith_paper.methods.contenders import OURS, PAPER, of_role
from lawsmith_paper.methods.results import METRICS, Outcome, Results
from lawsmith_paper.methods.standings import average_ranks, verdicts
from lawsmith_paper.results import is_drawn
from lawsmith_paper.tables import Table, fixed, percent

BUDGETS = (0.01, 0.02, 0.05, 0.1)  # at which ours is to be better than the paper's
DRAWN = ((0.05, 1.5), (0.1, 1.2))  # of drawn studies: budget, at most this times the pool's error
NONE = "–"
SPAN, N_BOOTSTRAP = "90 %", 4000
MIN_SEEDS = 5  # fewer say nothing of how far others might lie
ERRORS = ("true_error", "true_error_pool")


@dataclass(frozen=True)
class Bar:
    """One bar on a study: on a column of a trial's rows, at a budget."""

    study: str
    what: str
    column: str
    budget: float
    sense: Literal["at most", "at least", "within 10 % of"]
    limit: float

    def met(self, value: float) -> bool:
        """Whether a mean over seeds reaches the bar, to the digits that are shown."""
        rounded = round(value, 3)
        if self.sense == "within 10 % of":
            return round(abs(rounded - self.limit), 3) <= 0.1 * self.limit
        return rounded <= self.limit if self.sense == "at most" else rounded >= self.limit


_OFF = "% off the full-pool law at 1e25"
_RUN, _MIXED = "share of the envelope, run", "share of the envelope, mixed"
BARS = (
    Bar("oellm-english, L(C)", _OFF, "difference", 0.01, "at most", 1.0),
    Bar("oellm-english, L(C)", _OFF, "difference", 0.05, "at most", 0.5),
    Bar("oellm-english, L(C)", _RUN, "envelope_observed", 0.05, "at least", 0.75),
    Bar("steplaw, L(C)", _OFF, "difference", 0.05, "at most", 1.0),
    Bar("steplaw, L(C)", _MIXED, "envelope_mixed", 0.05, "at least", 0.85),
    Bar("porian-hp, L(C)", _OFF, "difference", 0.1, "at most", 1.0),
    Bar(
        "oellm-english, L(N, D)",
        "held-out RMSE, as a multiple of the full pool's",
        *("held_out_rmse", 0.1, "within 10 % of", 1.0),
    ),
)

Row = tuple[str, str, str, str, str, str, str]


def bars_table(results: Results) -> Table:
    """Every bar with what the frontier and the paper's method reached."""
    worse = _worse(results)
    rows = [*_drawn_rows(results), *(_row(bar, results) for bar in BARS)]
    rows += _joint_rows(results, len(worse))
    listed = "; ".join(f"{subject}, in {_cells(cells)}" for subject, cells in worse.items())
    return Table(
        name="methods-bars",
        title="What the frontier policy must reach",
        columns=("study", "what", "bar", "frontier", SPAN, "Window, LCB", "met"),
        rows=tuple(rows),
        note="Means over seeds of the value at that moment, and how far other seeds might have "
        f"moved ours: {SPAN} of {N_BOOTSTRAP:,} bootstrap samples of the seeds. For drawn studies, "
        "whose truth is known: the mean error of the predicted loss two decades above the pool, "
        "divided by the mean error of the law fitted to the whole pool. No value: some seed had no "
        "law there. A study whose table is not at hand has no bar."
        + (f" Certainly worse than Window, LCB: {listed}." if worse else ""),
        n_heads=2,
    )


def _row(bar: Bar, results: Results) -> Row:
    outcomes = results.get(bar.study, {})
    values = {
        name: float(np.mean(outcomes[name].at(bar.column, bar.budget)))
        for name in (OURS, PAPER)
        if name in outcomes
    }
    ours = values.get(OURS)
    met = NONE if ours is None else _yes(bar.met(ours))
    span = NONE if ours is None else _span(outcomes[OURS].at(bar.column, bar.budget))
    text = f"{bar.sense} {bar.limit:g} at {percent(bar.budget)}"
    return (bar.study, bar.what, text, _shown(ours), span, _shown(values.get(PAPER)), met)


def _drawn_rows(results: Results) -> Iterator[Row]:
    """A row for each drawn family and budget."""
    for subject, outcomes in results.items():
        if not is_drawn(subject):
            continue
        for budget, limit in DRAWN:
            ratios = [_ratio(outcomes.get(name), budget) for name in (OURS, PAPER)]
            met = NONE if ratios[0] is None else _yes(round(ratios[0], 3) <= limit)
            bar = f"at most {limit:g} at {percent(budget)}"
            span = NONE
            if ratios[0] is not None:
                span = _span(*(outcomes[OURS].at(name, budget) for name in ERRORS))
            shown = (_shown(ratios[0]), span, _shown(ratios[1]))
            yield (subject, "error of the true loss, ÷ that of the pool's law", bar, *shown, met)


def _ratio(outcome: Outcome | None, budget: float) -> float | None:
    """Of the means over seeds; NaN where a seed had no law."""
    if outcome is None:
        return None
    error, pool = (outcome.at(name, budget).mean() for name in ERRORS)
    return float(error / pool)


def _span(values: FloatArray, over: FloatArray | None = None) -> str:
    """'[0.90, 1.31]': where the mean over seeds (n,), or its ratio to another, lies if redrawn."""
    n = len(values)
    if n < MIN_SEEDS or not np.isfinite(values).all():
        return NONE
    drawn = np.random.default_rng(0).integers(n, size=(N_BOOTSTRAP, n))
    means = values[drawn].mean(axis=1)
    if over is not None:
        means = means / over[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.05, 0.95])
    return f"[{fixed(float(low), 2)}, {fixed(float(high), 2)}]"


def _joint_rows(results: Results, n_worse: int) -> Iterator[Row]:
    """Ranks better in every metric at every budget, and no study worse for certain."""
    contenders = of_role("rival")
    names = [contender.name for contender in contenders]
    better, compared = 0, 0
    for metric in METRICS:
        for budget in BUDGETS:
            places = average_ranks(results, metric, contenders, budget)
            if places is not None:
                compared += 1
                better += bool(places[names.index(OURS)] < places[names.index(PAPER)])
    if compared:
        span = f"{percent(BUDGETS[0])} to {percent(BUDGETS[-1])}"
        what, bar = "metrics × budgets with the better average rank", f"all, {span}"
        yield ("all", what, bar, f"{better} of {compared}", NONE, NONE, _yes(better == compared))
        what, bar = "certainly worse than Window, LCB in some metric", f"none, {span}"
        worse = f"{n_worse} of {len(results)}" if n_worse else "none"
        yield ("each", what, bar, worse, NONE, NONE, _yes(not n_worse))


def _worse(results: Results) -> dict[str, dict[str, list[float]]]:
    """Subject → metric → budgets at which the paper's method is certainly better."""
    found: dict[str, dict[str, list[float]]] = {}
    for metric in METRICS:
        for budget in BUDGETS:
            for subject in verdicts(results, metric, PAPER, budget).worse:
                found.setdefault(subject, {}).setdefault(metric.name, []).append(budget)
    return found


def _cells(cells: Mapping[str, Sequence[float]]) -> str:
    """'held_out at 2, 5 %, difference at 10 %' of metric → budgets."""
    return ", ".join(
        f"{metric} at {', '.join(f'{100 * budget:g}' for budget in budgets)} %"
        for metric, budgets in cells.items()
    )


def _shown(value: float | None) -> str:
    if value is None:
        return NONE
    return "no value" if np.isnan(value) else fixed(value, 2)


def _yes(met: bool) -> str:
    return "yes" if met else "no"
