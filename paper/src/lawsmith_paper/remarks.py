"""Sentences on how results differ from the paper's, each made from the numbers it tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith_paper.curves import Curves, FitName
from lawsmith_paper.published import COEFFICIENTS, EXTRAPOLATION, FINDINGS, SPEEDUPS, MeanSD
from lawsmith_paper.spends import TARGET, spends, times
from lawsmith_paper.tables import (
    COEFFICIENT_NAMES,
    DIGITS,
    Lines,
    at,
    error,
    fixed,
    incumbent,
    incumbent_error,
    known_to,
    mean_sd,
    percent,
    published,
)

BOTH = ("Window", "Full")
READ_AT = (0.01, 0.05, 0.1)  # the budgets that sentences on figures read


def extrapolation_remarks(runs: Sequence[Curves], target: str = TARGET) -> list[str]:
    """At each budget of the paper's table: the current law, the incumbent, the paper's."""
    told = []
    for budget, theirs in EXTRAPOLATION.items():
        current = at(runs, [error(run, target, "fantasized") for run in runs], budget)
        law = at(runs, [incumbent_error(run, target, "fantasized") for run in runs], budget)
        if np.isfinite(law).any():
            told.append(
                f"At {percent(budget)} of the compute the current law is {mean_sd(current, 2)} % "
                f"off at {target}, the law of the incumbent coefficients {mean_sd(law, 2)} %; the "
                f"paper's incumbent is {published(theirs[target], 2)} %: "
                f"{verdict(law, theirs[target], 2)}."
            )
    return told


def coefficient_remarks(runs: Sequence[Curves]) -> list[str]:
    """The whole pool's law beside the paper's last row, then the exponent at its budgets."""
    fit = runs[0].task.reference.validation
    whole = {f"log_{name}": value for name, value in fit.log_params.items()} | fit.params
    theirs = COEFFICIENTS[1.0]
    ours = ", ".join(
        f"{name} = {fixed(whole[k], DIGITS[k])}" for k, name in COEFFICIENT_NAMES.items()
    )
    paper = ", ".join(published(theirs[key], DIGITS[key]) for key in COEFFICIENT_NAMES)
    apart = max(abs(whole[key] - theirs[key].mean) for key in COEFFICIENT_NAMES)
    told = [f"The whole pool's law has {ours}; the paper's {paper}: at most {apart:.4f} apart."]
    for budget, row in COEFFICIENTS.items():
        current = at(runs, [run.parameter("alpha", "fantasized") for run in runs], budget)
        best = at(runs, [incumbent(run, "alpha", "fantasized") for run in runs], budget)
        if row["alpha"].sd is not None and np.isfinite(best).any():
            told.append(
                f"At {percent(budget)} α is {mean_sd(current, 4)}, its incumbent "
                f"{mean_sd(best, 4)}; the paper's incumbent is {published(row['alpha'], 4)}: "
                f"{verdict(best, row['alpha'], 4)}."
            )
    return told


def verdict(ours: FloatArray, theirs: MeanSD, digits: int) -> str:
    """Whether our mean is within the paper's standard deviation of its mean, or how far off."""
    gap = float(np.nanmean(ours)) - theirs.mean
    if abs(gap) <= (theirs.sd or 0.0):
        return "ours is within its SD"
    return f"ours is {'higher' if gap > 0 else 'lower'} by {abs(gap):.{digits}f}"


def speedup_remarks(lines: Lines, within: float = 0.5) -> list[str]:
    """How many times less one method spends than another, beside the paper's."""
    found = spends(lines, within)
    told = []
    for (first, second), theirs in SPEEDUPS.items():
        if first in found and second in found:
            one, other = found[first], found[second]
            told.append(
                f"{first} is first within {within:g} % at {TARGET} after {_share(one.first)} of "
                f"the compute, {second} after {_share(other.first)}: "
                f"{times(one.first, other.first)}; the paper says {theirs:g}×. It stays within "
                f"after {_share(one.settled)} against {_share(other.settled)}: "
                f"{times(one.settled, other.settled)}."
            )
    return told


def figure_remark(name: str, lines: Lines, fits: Sequence[FitName]) -> str:
    """What a figure shows at the paper's budgets, and what the paper says of its own."""
    parts = [f"{' and '.join(labels)} choose the same runs." for labels in same_runs(lines)]
    both = set(lines) == {*BOTH}
    for budget in common_budgets(lines):
        told = _compared(lines, budget) if both else _ranked(lines, fits[0], budget)
        parts.append(f"At {percent(budget)} of the compute {told}.")
    if name in FINDINGS:
        synthetic = next(iter(lines.values()))[0].task.study.synthetic
        of = "of the real study " if synthetic else ""
        parts.append(f"The paper finds {of}that {FINDINGS[name]}.")
    return " ".join(parts)


@dataclass(frozen=True)
class Standing:
    """One metric at one budget: label → its values (seeds,).

    words   with a place for the value, as in 'has {} % of the envelope'
    sign    +1 where more is better, −1 where less is
    """

    words: str
    sign: int
    values: Mapping[str, FloatArray]

    def told(self, label: str) -> str:
        return self.words.format(mean_sd(self.values[label], 0 if self.sign > 0 else 2))

    def order(self) -> list[str]:
        """The labels that have a value, best first."""
        means = {label: self._mean(label) for label in self.values}
        known = [label for label, mean in means.items() if np.isfinite(mean)]
        return sorted(known, key=lambda label: -self.sign * means[label])

    def better(self, one: str, other: str) -> bool:
        return self.sign * (self._mean(one) - self._mean(other)) > 0

    def _mean(self, label: str) -> float:
        known = self.values[label][np.isfinite(self.values[label])]
        return float(known.mean()) if len(known) else float("nan")


def standings(lines: Lines, fit: FitName, budget: float) -> list[Standing]:
    """Envelope and, where the law has a target, prediction of each label at a budget."""
    target = next(iter(next(iter(lines.values()))[0].task.targets), None)
    metrics: list[tuple[str, int, Callable[[Curves], FloatArray]]] = [
        ("has {} % of the envelope", 1, lambda run: 100 * run.envelope[fit])
    ]
    if target is not None:
        metrics.append((f"is {{}} % off at {target}", -1, lambda run: error(run, target, fit)))
    return [
        Standing(
            words,
            sign,
            {label: at(runs, [one(run) for run in runs], budget) for label, runs in lines.items()},
        )
        for words, sign, one in metrics
    ]


def _compared(lines: Lines, budget: float) -> str:
    """Window beside Full, and in which metrics Window is the better."""
    has = any(run.has_law("fantasized").any() for runs in lines.values() for run in runs)
    fit: FitName = "fantasized" if has else "observed"
    found = standings(lines, fit, budget)
    texts = [f"{label} + {fit} {' and '.join(s.told(label) for s in found)}" for label in BOTH]
    n_better = sum(s.better(*BOTH) for s in found)
    return f"{'; '.join(texts)}: Window is better in {n_better} of {len(found)}"


def _ranked(lines: Lines, fit: FitName, budget: float) -> str:
    """The best and the worst label by each metric."""
    told = []
    for standing in standings(lines, fit, budget):
        order = standing.order()
        if len(order) > 1:
            best, worst = order[0], order[-1]
            told.append(
                f"{best} {standing.told(best)}, the best of {len(order)}, and {worst} "
                f"{standing.told(worst)}, the worst"
            )
    return "; ".join(told) or "no law was found"


def same_runs(lines: Lines) -> list[list[str]]:
    """Labels whose replays chose the same runs in the same order, so that their lines coincide."""
    groups: dict[tuple[bytes, ...], list[str]] = {}
    for label, runs in lines.items():
        groups.setdefault(tuple(run.rows.tobytes() for run in runs), []).append(label)
    return [labels for labels in groups.values() if len(labels) > 1]


def common_budgets(lines: Lines) -> list[float]:
    """Those of READ_AT that every replay reached."""
    ends = [known_to(run) for runs in lines.values() for run in runs]
    return [budget for budget in READ_AT if budget <= min(ends) * (1 + 1e-9)]


def _share(spend: float) -> str:
    return f"{100 * spend:.2f} %"
