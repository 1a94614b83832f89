"""Standings over subjects: average ranks, and on how many subjects ours differs for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith_paper.methods.compare import holm, paired_p, rank_gap, ranks
from lawsmith_paper.methods.contenders import OURS, Contender
from lawsmith_paper.methods.results import METRICS, SHOWN, Metric, Outcome, Results, common
from lawsmith_paper.results import is_drawn

LEVEL = 0.05
FLOOR = 1e-9  # of a regret: less is the rounding of a fit


def rankable(results: Results, metric: Metric, names: Sequence[str]) -> list[str]:
    """The subjects that have the metric, from each of the contenders."""
    return [
        subject
        for subject, outcomes in results.items()
        if all(name in outcomes for name in names) and _columns(outcomes[names[0]], metric)
    ]


def average_ranks(
    results: Results, metric: Metric, contenders: Sequence[Contender], budget: float
) -> FloatArray | None:
    """(contenders,) mean over subjects of the mean rank over seeds; None where nothing is ranked.

    Each subject counts the same, whatever its seeds; of several columns the mean counts.
    """
    names = [contender.name for contender in contenders]
    means = []
    for subject in rankable(results, metric, names):
        outcomes = [results[subject][name] for name in names]
        places = [
            ranks(metric.sign * values).mean(axis=1)
            for column in _columns(outcomes[0], metric)
            if (values := common(outcomes, column, budget)).size
        ]
        if places:
            means.append(np.mean(places, axis=0))
    return np.mean(means, axis=0) if means else None


@dataclass(frozen=True)
class Standing:
    """Average ranks (contenders, budgets) in a metric, over so many subjects."""

    metric: Metric
    ranks: FloatArray
    n_subjects: int

    @property
    def label(self) -> str:
        """'% off the true loss at the target (18 studies)'."""
        n = self.n_subjects
        return f"{self.metric.label} ({n} {'study' if n == 1 else 'studies'})"


def standings(results: Results, contenders: Sequence[Contender]) -> list[Standing]:
    """Of every metric in which all contenders can be ranked at every budget that is shown."""
    found = []
    for metric in METRICS:
        places = [average_ranks(results, metric, contenders, budget) for budget in SHOWN]
        known = [ranks for ranks in places if ranks is not None]
        if len(known) == len(SHOWN):
            n = len(rankable(results, metric, [c.name for c in contenders]))
            found.append(Standing(metric, np.stack(known, axis=1), n))
    return found


@dataclass(frozen=True)
class Verdicts:
    """Ours against another method: the subjects on which it is better or worse for certain.

    n_subjects   that were tested
    """

    better: tuple[str, ...]
    worse: tuple[str, ...]
    n_subjects: int


def verdicts(results: Results, metric: Metric, other: str, budget: float) -> Verdicts:
    """Paired tests over seeds on every subject, p below `LEVEL` after correction for their number.

    Tables and drawn families are corrected apart: ten seeds have no p below 2^-9, so that of more
    than 25 subjects together none could be certain.
    """
    tests: dict[bool, list[_Test]] = {True: [], False: []}
    for subject in rankable(results, metric, [OURS, other]):
        values = _paired(results[subject], metric, other, budget)
        if values.shape[1]:
            test = _Test(subject, paired_p(*values), rank_gap(*values))
            tests[is_drawn(subject)].append(test)
    certain = [test for group in tests.values() for test in _certain(group)]
    return Verdicts(
        better=tuple(test.subject for test in certain if test.gap < 0),
        worse=tuple(test.subject for test in certain if test.gap > 0),
        n_subjects=sum(map(len, tests.values())),
    )


class _Test(NamedTuple):
    """A subject's p, and the gap of mean ranks: below 0 where ours is better."""

    subject: str
    p: float
    gap: float


def _certain(tests: Sequence[_Test]) -> list[_Test]:
    """Those whose p stays below the level."""
    adjusted = holm(np.array([test.p for test in tests]))
    return [test for test, p in zip(tests, adjusted, strict=True) if p <= LEVEL]


def _paired(outcomes: dict[str, Outcome], metric: Metric, other: str, budget: float) -> FloatArray:
    """(2, seeds) ours and the other's, the smaller the better.

    Of several columns, whose units differ, the sum of logs: a difference is the log of a ratio.
    """
    pair = [outcomes[OURS], outcomes[other]]
    columns = _columns(pair[0], metric)
    values = [metric.sign * common(pair, column, budget) for column in columns]
    if len(values) == 1:
        return values[0]
    return np.asarray(np.sum([np.log(np.maximum(v, FLOOR)) for v in values], axis=0))


def _columns(outcome: Outcome, metric: Metric) -> list[str]:
    """The metric's columns that a subject has: not all laws have all parameters."""
    return [column for column in metric.columns if column in outcome.columns]
