"""The paper's claims, each held against the replays here: which hold, and which do not.

A claim says that one line of a figure does better than another. It is tested at each of the paper's
budgets, by the current law's prediction and by the envelope, on the differences of replays with the
same seed: Student's t, 5 % on two sides. With one claim there are six such tests, so a single one
that comes out against the rest says little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from lawsmith.grid import FloatArray
from lawsmith_paper.curves import FitName
from lawsmith_paper.remarks import READ_AT
from lawsmith_paper.tables import Lines, Table, at, error, fixed, percent

LEVEL = 0.05
Metric = Literal["prediction", "envelope"]
METRICS: tuple[Metric, ...] = ("prediction", "envelope")


@dataclass(frozen=True)
class Side:
    """A line of a figure, and the law of which losses."""

    figure: str
    label: str
    fit: FitName = "fantasized"


@dataclass(frozen=True)
class Claim:
    """``better`` does better than ``worse``, by some metrics.

    text   what the paper says, in short
    """

    text: str
    better: Side
    worse: Side
    metrics: tuple[Metric, ...] = METRICS


def _window(text: str, figure: str, fit: FitName = "fantasized") -> Claim:
    return Claim(text, Side(figure, "Window", fit), Side(figure, "Full", fit))


def _fantasies(text: str, figure: str, metrics: tuple[Metric, ...] = METRICS) -> Claim:
    return Claim(text, Side(figure, "Window"), Side(figure, "Window", "observed"), metrics)


def _within(figure: str, text: str, better: str, worse: str) -> Claim:
    return Claim(text, Side(figure, better), Side(figure, worse))


# The studies on which the paper finds the window to help; on StepLaw it finds little.
STUDIES = {
    "oellm-english": "OELLM-English",
    "porian-hp": "Porian-HP",
    "warmstart": "Warmstart",
    "oellm-multilingual": "OELLM-Multilingual",
}
RANDOM = Side("surrogates-none", "Window", "observed")
CLAIMS = (
    _window("The window beats the full search space (LCB)", "main"),
    _fantasies("Fantasized fits beat fits to the runs alone (LCB)", "main"),
    *(
        _window(f"The window improves the recovery of L(C) on {name} (EI)", f"datasets-{study}")
        for study, name in STUDIES.items()
    ),
    _window("Random search gains by the window", "surrogates-none", "observed"),
    _window("An XGBoost ensemble gains by the window", "surrogates-xgboost"),
    Claim(
        "The GP finds the envelope faster than random search",
        Side("surrogates-gp", "Window"),
        RANDOM,
        ("envelope",),
    ),
    Claim(
        "An XGBoost ensemble finds the envelope faster than random search",
        Side("surrogates-xgboost", "Window"),
        RANDOM,
        ("envelope",),
    ),
    _within("kernels", "The Matérn kernel does better than the linear one", "Matérn-5/2", "linear"),
    _within(
        "kernels", "The Matérn kernel does better than the grouped one", "Matérn-5/2", "grouped"
    ),
    _within("acquisitions", "LCB does better than EI", "LCB", "EI"),
    _within("acquisitions", "LCB does better than PI", "LCB", "PI"),
    *(
        _window(f"The window improves the recovery of L(N, D) on {name} (EI)", f"lnd-{study}")
        for study, name in STUDIES.items()
    ),
    *(
        _fantasies(
            f"Fantasized fits find more of the envelope of L(N, D) on {name} (EI)",
            f"lnd-{study}",
            ("envelope",),
        )
        for study, name in STUDIES.items()
    ),
    *(
        _fantasies(
            f"Fantasized fits predict better with L(N, D) on {name} (EI)",
            f"lnd-{study}",
            ("prediction",),
        )
        for study, name in STUDIES.items()
    ),
)


@dataclass(frozen=True)
class Test:
    """One metric at one budget: the two means, and +1, 0 or −1 for better, undecided or worse."""

    better: float
    worse: float
    sign: int

    def text(self, digits: int) -> str:
        word = {1: "yes", 0: "undecided", -1: "no"}[self.sign]
        return f"{word}: {fixed(self.better, digits)} against {fixed(self.worse, digits)}"


Figures = Mapping[str, Lines]


def claims_table(figures: Figures) -> Table:
    """Every claim both of whose lines are there, with a verdict."""
    rows = []
    for claim in CLAIMS:
        tests = tested(claim, figures)
        overall = verdict(tests)
        for metric, found in tests.items():
            digits = 2 if metric == "prediction" else 0
            cells = [found[b].text(digits) if b in found else "–" for b in READ_AT]
            rows.append((claim.text + _of_twin(claim, figures), metric, *cells, overall))
    return Table(
        name="claims",
        title="What the paper says, held against these replays",
        columns=("the paper says", "by", *(f"at {percent(b)}" for b in READ_AT), "here"),
        rows=tuple(rows),
        note="Prediction: % off at 1e25 FLOPs by the current law, less is better. Envelope: % of "
        "the pool's frontier that was found, more is better. yes and no are differences that "
        "chance would make in less than one of twenty comparisons (paired by seed). A claim holds "
        "if some are yes and none is no, and does not hold if some are no and none is yes.",
        n_heads=2,
    )


def claim_remarks(figures: Figures) -> list[str]:
    """Which claims hold, which do not, which depend on the budget or the metric."""
    verdicts: dict[str, list[str]] = {}
    for claim in CLAIMS:
        tests = tested(claim, figures)
        if tests:
            verdicts.setdefault(verdict(tests), []).append(claim.text + _of_twin(claim, figures))
    words = {
        "holds": "Holds here",
        "does not hold": "Does not hold here",
        "mixed": "Depends on the budget or the metric",
        "undecided": "Undecided by ten seeds",
    }
    return [f"{words[word]}: {'; '.join(verdicts[word])}." for word in words if word in verdicts]


Tests = Mapping[Metric, Mapping[float, Test]]


def tested(claim: Claim, figures: Figures) -> Tests:
    """Metric → budget → test, as far as both lines are there and reached it."""
    sides = (claim.better, claim.worse)
    if not all(side.label in figures.get(side.figure, {}) for side in sides):
        return {}
    found: dict[Metric, dict[float, Test]] = {}
    for metric in claim.metrics:
        for budget in READ_AT:
            one, other = (_values(figures, side, metric, budget) for side in sides)
            test = compared(one, other, more_is_better=metric == "envelope")
            if test is not None:
                found.setdefault(metric, {})[budget] = test
    return found


def _values(figures: Figures, side: Side, metric: Metric, budget: float) -> FloatArray:
    """(seeds,) a side's metric at a budget, NaN where there is none."""
    runs = figures[side.figure][side.label]
    if metric == "envelope":
        return at(runs, [100 * run.envelope[side.fit] for run in runs], budget)
    target = next(iter(runs[0].task.targets), None)
    if target is None:
        return np.full(len(runs), np.nan)
    return at(runs, [error(run, target, side.fit) for run in runs], budget)


def compared(one: FloatArray, other: FloatArray, *, more_is_better: bool) -> Test | None:
    """Whether ``one`` is better than ``other``, seed by seed; None with fewer than three pairs."""
    n_seeds = min(len(one), len(other))
    one, other = one[:n_seeds], other[:n_seeds]
    both = np.isfinite(one) & np.isfinite(other)
    n = int(both.sum())
    if n < 3:
        return None
    gap = (one - other)[both] if more_is_better else (other - one)[both]
    means = float(one[both].mean()), float(other[both].mean())
    standard_error = float(gap.std(ddof=1)) / np.sqrt(n)
    if abs(gap.mean()) <= student.ppf(1 - LEVEL / 2, n - 1) * standard_error:
        return Test(*means, sign=0)
    return Test(*means, sign=int(np.sign(gap.mean())))


def verdict(tests: Tests) -> str:
    """'holds', 'does not hold', 'mixed' or 'undecided'."""
    signs = {test.sign for found in tests.values() for test in found.values()} - {0}
    if not signs:
        return "undecided"
    if len(signs) == 2:
        return "mixed"
    return "holds" if signs == {1} else "does not hold"


def _of_twin(claim: Claim, figures: Figures) -> str:
    synthetic = figures[claim.better.figure][claim.better.label][0].task.study.synthetic
    return " [synthetic twin]" if synthetic else ""
