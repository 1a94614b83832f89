"""The replay loop: a policy asks, the finished study answers, the law is judged after every run.

Everything random comes from (seed, number of runs asked). Linear algebra runs on one thread, so
that the number of threads cannot change a digit; replays side by side are the way to use cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lawsmith.answer import Target
from lawsmith.errors import LawsmithError
from lawsmith.fantasies import Weigh, equal_weights, mixed_losses
from lawsmith.formats import flops
from lawsmith.metrics import recovery
from lawsmith.policies import Policy, Search
from lawsmith.replay.answering import answer_after, due
from lawsmith.replay.steps import Envelope, Step, Trace, judge, make_step
from lawsmith.replay.task import Task
from lawsmith.runs import Runs
from lawsmith.stopping import StopRule
from lawsmith.threads import one_thread

BLOCK = 64  # runs judged together where no progress is shown


@dataclass(frozen=True)
class Stop:
    """When a replay ends before the pool is exhausted.

    iterations  runs, the initial ones included
    budget      FLOPs; the first run that would go beyond it is not run, and ends the replay
    rule        ends it after the run that makes the answer known well enough
    """

    iterations: int | None = None
    budget: float | None = None
    rule: StopRule | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None and self.iterations < 1:
            raise LawsmithError("iterations", got=self.iterations, want="at least 1 run")
        if self.budget is not None and not self.budget > 0.0:
            raise LawsmithError("budget", got=f"{self.budget:g} FLOPs", want="more than 0")

    def check(self, task: Task) -> None:
        """Refuse a budget beyond the pool, which has no more to spend it on."""
        total = task.total_compute
        if self.budget is not None and self.budget > total * (1.0 + 1e-9):
            want = f"at most {flops(total)}, the whole pool of {task.study}"
            raise LawsmithError("budget", got=f"{flops(self.budget)} FLOPs", want=want)

    def reached(self, n_runs: int, cost: float) -> bool:
        """Whether ``n_runs`` runs of together ``cost`` FLOPs are beyond what is allowed."""
        over_runs = self.iterations is not None and n_runs > self.iterations
        return over_runs or (self.budget is not None and cost > self.budget * (1.0 + 1e-9))


def replay(
    task: Task,
    policy: Policy,
    *,
    seed: int = 0,
    stop: Stop | None = None,
    done: Sequence[Step] = (),
    block: int = 1,
    weigh: Weigh = equal_weights,
) -> Iterator[Step]:
    """One Step per run until the pool is exhausted or ``stop``; the caller's loop may end it.

    done    the first steps of this very replay, kept from a process that did not finish it: it
            goes on after them as if it had never stopped, if they are whole blocks
    block   runs whose laws are fitted together, several times faster than one by one; their
            steps come together too. It moves the last digits of the laws, never the runs.
    weigh   what the points of the mixed grid count in the fit of its law
    """
    stop = stop or Stop()
    stop.check(task)
    walk = _Progress(task, policy, seed, weigh, done)
    with one_thread():
        going = not (done and walk.answered(stop.rule))
    while going:
        # Not around the yield: what the caller does between steps keeps its threads.
        with one_thread():
            taken: list[_Taken] = []
            while going and len(taken) < block:
                row = walk.choose(stop.budget)
                going = row is not None and not stop.reached(len(walk.runs) + 1, walk.cost(row))
                if going and row is not None:
                    taken.append(walk.take(row))
                    going = not walk.answered(stop.rule)
            steps = walk.judge(taken)
        yield from steps


def run_replay(
    task: Task,
    policy: Policy,
    *,
    seed: int = 0,
    stop: Stop | None = None,
    settings: Mapping[str, object] | None = None,
) -> Trace:
    """A whole replay at once; ``settings`` are words for the record."""
    steps = tuple(replay(task, policy, seed=seed, stop=stop, block=BLOCK))
    return Trace(task, policy.name, seed, dict(settings or {}), steps)


class _Taken(NamedTuple):
    """A run that was taken: its step, whose laws are not fitted yet, and what they are fitted to.

    observed  None while the initial design is incomplete
    mixed     None as well without a surrogate
    """

    step: Step
    observed: Envelope | None
    mixed: Envelope | None


class _Progress:
    """The state of one replay: the runs so far, and when the stop rule was last looked at."""

    def __init__(
        self, task: Task, policy: Policy, seed: int, weigh: Weigh, done: Sequence[Step]
    ) -> None:
        if seed < 0:
            raise LawsmithError("seed", got=seed, want="0 or above")
        self.task, self.policy, self.seed, self.weigh = task, policy, seed, weigh
        rows = [step.candidate for step in done]
        self.runs = Runs.from_losses(rows, task.loss[rows])
        self.window = float("nan")
        self.looked = 0  # runs when the stop rule was last looked at

    def choose(self, budget: float | None) -> int | None:
        """The row to run next, None when nothing is left of the pool or of the budget."""
        pool, runs = self.task.pool, self.runs
        if len(runs) == len(pool):
            return None
        self.window = float("nan")
        if self.policy.searching(pool, runs):
            self.window = float(pool.C[self.policy.candidates(pool, runs)].max())
        rng = np.random.default_rng([self.seed, len(runs)])
        # The searches of the paper know no budget: the first run beyond it ends them.
        left = None
        if budget is not None and not isinstance(self.policy, Search):
            left = budget - self.task.pricing.total(pool, runs.index)
        rows = self.policy.ask(pool, runs, 1, rng, left=left)
        return rows[0] if rows else None

    def cost(self, row: int) -> float:
        """FLOPs of the runs so far and of ``row``."""
        return self.task.pricing.total(self.task.pool, [*self.runs.index.tolist(), row])

    def take(self, row: int) -> _Taken:
        """Run ``row``: its loss from the study, and the envelopes after it."""
        task, pool = self.task, self.task.pool
        self.runs = self.runs.append(Runs.from_losses([row], [task.loss[row]]))
        observed, mixed = Envelope.of(task, self.runs.config_loss(len(pool))), None
        ready = self.policy.searching(pool, self.runs)
        surrogate = self.policy.surrogate
        if ready and surrogate is not None and self.runs.any_done:
            posterior = surrogate.fit(pool, self.runs)
            losses = mixed_losses(len(pool), self.runs, posterior)
            mixed = Envelope.of(task, losses, self.weigh(len(pool), self.runs, posterior))
        truth = task.reference.envelope
        share = None if mixed is None else recovery(mixed.rows, truth)
        shares = recovery(observed.rows, truth), share
        step = make_step(task, self.runs.index.tolist(), self.window, (None, None), shares)
        return _Taken(step, observed if ready else None, mixed)

    def answered(self, rule: StopRule | None) -> bool:
        """Whether the runs so far meet a rule; never without one."""
        n = len(self.runs)
        if rule is None or not self.policy.searching(self.task.pool, self.runs):
            return False
        if not due(n, self.looked):
            return False
        self.looked = n
        found = answer_after(self.task, self.runs, [Target(rule.compute)])
        return found is not None and rule.met(found)

    def judge(self, taken: Sequence[_Taken]) -> list[Step]:
        """The steps of runs taken, their laws fitted together."""
        observed = judge(self.task, [t.observed for t in taken])
        fantasized = judge(self.task, [t.mixed for t in taken])
        return [
            replace(t.step, observed=law_observed, fantasized=law_mixed)
            for t, law_observed, law_mixed in zip(taken, observed, fantasized, strict=True)
        ]
