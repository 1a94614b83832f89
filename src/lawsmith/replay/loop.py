"""The replay loop: a policy asks, the finished study answers, the law is judged after every run.

Every random choice follows from (seed, number of runs so far). Linear algebra runs on one thread,
so that the number of threads cannot change a digit. To use more cores, run several replays at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.answer import Answer, Target, answer
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops
from lawsmith.metrics import recovery
from lawsmith.policies import Policy, Search
from lawsmith.replay.steps import (
    Envelope,
    Step,
    Trace,
    Weigh,
    equal_weights,
    judge,
    make_step,
    mixed_losses,
)
from lawsmith.replay.task import Task
from lawsmith.runs import Runs
from lawsmith.stopping import StopRule
from lawsmith.threads import one_thread

BLOCK = 64  # runs whose laws are fitted together where no progress is shown
# The stop rule is checked again after the number of runs has grown by this factor. Interval widths
# fall roughly as 1/√n, so in between they change by 2 %.
GROWTH = 1.05


@dataclass(frozen=True)
class Stop:
    """When a replay ends before the pool is exhausted.

    iterations  number of runs, including the initial ones
    budget      FLOPs; the replay ends before the first run that would exceed it
    rule        ends the replay once the answer is precise enough
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
        """Refuse a budget that is larger than the cost of the whole pool."""
        total = task.total_compute
        if self.budget is not None and self.budget > total * (1.0 + 1e-9):
            want = f"at most {flops(total)}, the whole pool of {task.study.name}"
            raise LawsmithError("budget", got=f"{flops(self.budget)} FLOPs", want=want)

    def reached(self, n_runs: int, cost: float) -> bool:
        """Whether ``n_runs`` runs with a total of ``cost`` FLOPs exceed a limit."""
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
    """Yield one Step per run until the pool is exhausted or ``stop`` is reached.

    done    the first steps of this replay, from a process that did not finish it. If they are
            whole blocks, the replay continues as if it had not been interrupted.
    block   number of runs whose laws are fitted together, which is several times faster. Their
            steps are yielded together. It changes the last digits of the laws, never the runs.
    weigh   weights of the points of the mixed grid in the fit of its law
    """
    stop = stop or Stop()
    stop.check(task)
    progress = _Progress(task, policy, seed, weigh, done)
    with one_thread():
        running = not (done and progress.answered(stop.rule))
    while running:
        # Not around the yield: the caller may use more threads between steps.
        with one_thread():
            made: list[_MadeRun] = []
            while running and len(made) < block:
                row = progress.choose(stop.budget)
                if row is None or stop.reached(len(progress.runs) + 1, progress.cost(row)):
                    running = False
                else:
                    made.append(progress.make(row))
                    running = not progress.answered(stop.rule)
            steps = progress.judge(made)
        yield from steps


def run_replay(
    task: Task,
    policy: Policy,
    *,
    seed: int = 0,
    stop: Stop | None = None,
    settings: Mapping[str, object] | None = None,
) -> Trace:
    """A whole replay at once; ``settings`` are kept in the trace."""
    steps = tuple(replay(task, policy, seed=seed, stop=stop, block=BLOCK))
    return Trace(task, policy.name, seed, dict(settings or {}), steps)


class _MadeRun(NamedTuple):
    """A run that was made, before the laws after it are fitted.

    n_runs    number of runs so far, including this one
    window    the largest compute it was chosen from
    observed  envelope of the runs so far; None while the initial design is incomplete
    mixed     envelope of the mixed grid; also None without a surrogate
    shares    of the true envelope that the two have recovered
    """

    n_runs: int
    window: float
    observed: Envelope | None
    mixed: Envelope | None
    shares: tuple[float, float | None]


class _Progress:
    """The state of one replay: the runs so far, and when the stop rule was last checked."""

    def __init__(
        self, task: Task, policy: Policy, seed: int, weigh: Weigh, done: Sequence[Step]
    ) -> None:
        if seed < 0:
            raise LawsmithError("seed", got=seed, want="0 or above")
        self.task, self.policy, self.seed, self.weigh = task, policy, seed, weigh
        rows = [step.candidate for step in done]
        self.runs = Runs.from_losses(rows, task.loss[rows])
        self.window = float("nan")
        self.n_checked = 0  # number of runs when the stop rule was last checked

    def choose(self, budget: float | None) -> int | None:
        """The row to run next; None if nothing is left of the pool or of the budget."""
        pool, runs = self.task.pool, self.runs
        if len(runs) == len(pool):
            return None
        self.window = float("nan")
        if self.policy.searching(pool, runs):
            self.window = float(pool.C[self.policy.candidates(pool, runs)].max())
        rng = np.random.default_rng([self.seed, len(runs)])
        # The paper's searches ignore the budget: the first run that exceeds it ends them.
        left = None
        if budget is not None and not isinstance(self.policy, Search):
            left = budget - self.task.pricing.total(pool, runs.index)
        rows = self.policy.ask(pool, runs, 1, rng, left=left)
        return rows[0] if rows else None

    def cost(self, row: int) -> float:
        """FLOPs of the runs so far and of ``row``."""
        return self.task.pricing.total(self.task.pool, [*self.runs.index.tolist(), row])

    def make(self, row: int) -> _MadeRun:
        """Run ``row``: look up its loss in the study, and find the envelopes after it."""
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
        return _MadeRun(len(self.runs), self.window, observed if ready else None, mixed, shares)

    def answered(self, rule: StopRule | None) -> bool:
        """Whether the runs so far meet the rule; False without a rule."""
        n = len(self.runs)
        if rule is None or not self.policy.searching(self.task.pool, self.runs):
            return False
        if not is_due(n, self.n_checked):
            return False
        self.n_checked = n
        result = answer_after(self.task, self.runs, [Target(rule.compute)])
        return result is not None and rule.met(result)

    def judge(self, made: Sequence[_MadeRun]) -> list[Step]:
        """The steps of these runs, with their laws fitted together."""
        rows = self.runs.index.tolist()
        observed = judge(self.task, [run.observed for run in made])
        mixed = judge(self.task, [run.mixed for run in made])
        return [
            make_step(self.task, rows[: run.n_runs], run.window, laws, run.shares)
            for run, laws in zip(made, zip(observed, mixed, strict=True), strict=True)
        ]


def answer_after(task: Task, runs: Runs, targets: Sequence[Target]) -> Answer | None:
    """The answer after ``runs`` of the pool; None while there are too few."""
    try:
        return answer(task.pool, runs, targets, study=task.study.name, prior=task.prior)
    except LawsmithError:
        return None


def is_due(n_runs: int, n_checked: int) -> bool:
    """Whether a rule that was last checked after ``n_checked`` runs is checked after ``n_runs``."""
    return n_runs >= max(n_checked + 1, int(GROWTH * n_checked))
