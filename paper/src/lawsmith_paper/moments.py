"""A replay by the frontier policy told again: what was known at each step, and why it went on so.

Everything is computed anew from the steps on record. Policy and surrogate are pure functions of
the history, so what is told is what the policy saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lawsmith.policies.frontier import Frontier, Weighed
from lawsmith.replay import Step, Task, Trace
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior
from lawsmith.threads import one_thread
from lawsmith_paper.outlook import Outlook, outlook_after


@dataclass(frozen=True, eq=False)
class Moment:
    """After some runs of a replay.

    posterior  of the surrogate, where there is an outlook
    outlook  what they say; None in the initial design, and with too few points for the law
    weighed  how the next run was chosen; None where it was drawn at random, and at the end
    step     the next run and what came of it; None at the end
    """

    runs: Runs
    cost_fraction: float
    posterior: Posterior | None
    outlook: Outlook | None
    weighed: Weighed | None
    step: Step | None


def moments(
    trace: Trace,
    policy: Frontier,
    targets: Sequence[float],
    *,
    budget: float | None = None,
    told: Sequence[int] | None = None,
) -> Iterator[Moment]:
    """A moment before every run, and one after the last.

    budget  FLOPs that the replay was given; what is left of it has a part in each choice
    told    numbers of runs at which the outlook is made, which takes longest; every one by default
    """
    task, steps = trace.task, trace.steps
    rows = [step.candidate for step in steps]
    for n in range(len(steps) + 1):
        runs = Runs.from_losses(rows[:n], task.loss[rows[:n]])
        step = steps[n] if n < len(steps) else None
        seen = weighed = posterior = None
        with one_thread():
            if step is not None:
                weighed = weighed_after(task, policy, runs, budget)
            if n and (told is None or n in told):
                seen = outlook_after(task, policy, runs, targets, seed=trace.seed)
            if seen is not None:
                posterior = policy.surrogate.fit(task.pool, runs)
        spent = steps[n - 1].cost_fraction if n else 0.0
        yield Moment(runs, spent, posterior, seen, weighed, step)


def weighed_after(task: Task, policy: Frontier, runs: Runs, budget: float | None) -> Weighed | None:
    """How the run after ``runs`` is chosen with what is left; None where it is drawn at random."""
    if not policy.searching(task.pool, runs):
        return None
    left = None
    if budget is not None:
        left = budget - task.pricing.total(task.pool, runs.index)
    free, _ = policy.payable(task.pool, runs, left)
    return policy.weigh(task.pool, runs, free, left) if free.any() else None
