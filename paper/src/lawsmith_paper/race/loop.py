"""The loop's race: a replay whose surrogate is timed by itself, and the rest of each step with it.

The replay is run as it is everywhere else, on one thread. What is not the surrogate (the choice,
two envelopes, two laws) is the same work for all contenders and judged in blocks, so it is timed
by the block and spread evenly over its runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from time import process_time

import numpy as np

from lawsmith.grid import Grid
from lawsmith.replay import Step, Stop, replay
from lawsmith.replay.loop import BLOCK
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior, Surrogate
from lawsmith_paper.jobs import Json
from lawsmith_paper.replays import Settings, policy_of, surrogate_of, task_of

TARGET = "1e25"  # FLOPs at which the law found is compared with that of the whole pool


@dataclass(frozen=True)
class Timed:
    """A surrogate, and the seconds its fits took by the number of runs they were given."""

    surrogate: Surrogate
    seconds: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def name(self) -> str:
        return self.surrogate.name

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        begin = process_time()
        posterior = self.surrogate.fit(grid, runs)
        self.seconds[len(runs)] += process_time() - begin
        return posterior


def loop_lines(settings: Settings) -> Iterator[Json]:
    """A line a run: its seconds, those of the surrogate among them, and how far off the law was.

    difference   signed % at TARGET of the law on the mixed grid; null before there is one
    """
    task = task_of(settings)
    timed = Timed(_warm(settings))
    stop = Stop(iterations=settings["iterations"])
    policy = policy_of(settings, timed)
    steps = replay(task, policy, seed=settings["seed"], stop=stop, block=BLOCK)
    while True:
        begin = process_time()
        block = list(islice(steps, BLOCK))
        spent = process_time() - begin
        if not block:
            return
        own = [timed.seconds[step.iteration] for step in block]
        rest = (spent - sum(own)) / len(block)
        for step, seconds in zip(block, own, strict=True):
            yield _line(step, settings["surrogate"], seconds, rest)


def _line(step: Step, contender: str, surrogate_seconds: float, rest: float) -> Json:
    law = step.fantasized
    return {
        "contender": contender,
        "n": step.iteration,
        "seconds": surrogate_seconds + rest,
        "surrogate_seconds": surrogate_seconds,
        "cost_fraction": step.cost_fraction,
        "difference": None if law is None else law.extrapolation[TARGET],
    }


def _warm(settings: Settings) -> Surrogate:
    """A new surrogate whose packages are loaded, by a fit of another one like it."""
    pool, loss = task_of(settings).pool, task_of(settings).loss
    other, new = surrogate_of(settings), surrogate_of(settings)
    assert other is not None
    assert new is not None
    rows = np.flatnonzero(np.isfinite(loss))[:5]
    other.fit(pool, Runs.from_losses(rows, loss[rows]))
    return new
