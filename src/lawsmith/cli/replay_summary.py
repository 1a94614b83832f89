"""A replay in short: where it stood at round budgets, and what it spent to reach each goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from lawsmith.metrics import DENSE_GRID, speedup, spend_until_settled, value_at
from lawsmith.replay import Replayed, Scores, Step, Trace

BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
WITHIN = (1.0, 0.5)  # per cent of predicted loss
RECOVERED = 0.9
FitName = Literal["fantasized", "observed"]
FITS: tuple[FitName, ...] = ("fantasized", "observed")
FIT_TEXTS = {"fantasized": "observed + fantasized", "observed": "observed only"}


@dataclass(frozen=True)
class Reached:
    """A goal and the share of the pool's compute after which it was met to the end, by fit.

    target   of an extrapolation, None for the envelope
    spend    None where the goal was not met at the end
    """

    metric: Literal["extrapolation", "envelope"]
    target: str | None
    goal: float
    spend: dict[FitName, float | None]

    def times_less(self, fit: FitName) -> float | None:
        """How many times less than the dense grid."""
        return speedup(self.spend[fit], DENSE_GRID)


def scores(step: Step, fit: FitName) -> Scores | None:
    """The scores of one of the two fits."""
    return step.fantasized if fit == "fantasized" else step.observed


def at_budgets(done: Replayed) -> list[tuple[float, Step]]:
    """(budget, the last step within it) of every round budget that the replay reached."""
    steps, spent = done.trace.steps, done.trace.cost_fraction
    number = value_at(spent, [step.iteration for step in steps], BUDGETS)
    return [
        (budget, steps[int(iteration) - 1])
        for budget, iteration in zip(BUDGETS, number.tolist(), strict=True)
        if not np.isnan(iteration) and budget <= _known_to(done) + 1e-9
    ]


def _known_to(done: Replayed) -> float:
    """The spend up to which it is known what stands; beyond, the replay did not go.

    One that its budget ended stands there: the next run would have cost more.
    """
    spent, budget = done.last.cost_fraction, done.trace.settings.get("budget")
    return max(spent, budget) if done.stopped == "budget" and isinstance(budget, float) else spent


def reached(trace: Trace) -> list[Reached]:
    """The paper's kinds of goals: extrapolations that stay close, an envelope that stays found."""
    label = next(iter(trace.task.targets), None)
    found = []
    if label is not None:
        for within in WITHIN:
            spend = _spends(trace, partial(_close, label=label, within=within))
            found.append(Reached("extrapolation", label, within, spend))
    return [*found, Reached("envelope", None, RECOVERED, _spends(trace, _recovered))]


def _spends(trace: Trace, met: Callable[[Step, FitName], bool]) -> dict[FitName, float | None]:
    spent = trace.cost_fraction
    return {fit: spend_until_settled(spent, [met(s, fit) for s in trace.steps]) for fit in FITS}


def _close(step: Step, fit: FitName, label: str, within: float) -> bool:
    found = scores(step, fit)
    return found is not None and abs(found.extrapolation[label]) <= within


def _recovered(step: Step, fit: FitName) -> bool:
    share = step.envelope_mixed if fit == "fantasized" else step.envelope_observed
    return share is not None and share >= RECOVERED
