"""A policy's search of one group of a ScaleBench task, the law of its runs, and the law's score.

A search chooses among the candidates it can still pay under the task's last budget; a run that
would go beyond an earlier one comes after that one was judged. Both are as in the benchmark.
Everything random comes from (seed, group, number of candidates run).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np

from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.policies import Method, Policy
from lawsmith.replay.steps import mixed_losses
from lawsmith.runs import Runs
from lawsmith_paper.rivals import make_policy, make_surrogate
from lawsmith_paper.scalebench.tasks import Group, ScaleTask, get_task, groups_of, r_squared


class Search:
    """One group's search: what was run, and what it cost."""

    def __init__(
        self, group: Group, task: ScaleTask, settings: Mapping[str, Any], number: int
    ) -> None:
        self.group, self.task = group, task
        how = Method(
            settings["space"],
            settings["surrogate"],
            acquisition=settings["acquisition"],
            reach=settings["reach"],
            n_init=None if settings["space"] == "frontier" else task.n_init,
        )
        surrogate = how.make_surrogate(make_surrogate)
        self.policy: Policy = make_policy(how.policy, surrogate, **how.options())
        self.stream = (settings["seed"], number)
        self.runs = Runs.empty()
        self.rows: list[int] = []

    @property
    def spent(self) -> float:
        return self._cost(self.rows)

    def _cost(self, rows: Sequence[int]) -> float:
        return fsum(self.group.pool.C[list(rows)].tolist())

    def advance(self, budget: float) -> None:
        """Run candidates until the next would go beyond ``budget``, a share of the pool's cost."""
        limit = budget * self.group.cost * (1.0 + 1e-12)
        known = self.group.runs
        while (row := self._next()) is not None and self._cost([*self.rows, row]) <= limit:
            self.rows.append(row)
            shown = known.index == row
            self.runs = self.runs.append(Runs.from_losses(known.index[shown], known.loss[shown]))

    def _next(self) -> int | None:
        """The candidate to run next; None when nothing that can be paid is left."""
        left = self.task.budgets[-1] * self.group.cost - self.spent
        rng = np.random.default_rng([*self.stream, len(self.rows)])
        found = self.policy.ask(self.group.pool, self.runs, 1, rng, left=left)
        return found[0] if found else None

    def law(self, fit: str) -> LawFit | None:
        """The law of the runs so far, or of the mixed grid; None where there are too few.

        The initial design is one batch: before its end, and before any run, nothing is fantasized.
        """
        pool, surrogate = self.group.pool, self.policy.surrogate
        loss = self.runs.config_loss(len(pool))
        if fit == "fantasized":
            if surrogate is None or not self.rows or not self.policy.searching(pool, self.runs):
                return None
            loss = mixed_losses(len(pool), self.runs, surrogate.fit(pool, self.runs))
        return fit_group(self.task, self.group, self.runs, loss)


def fit_group(task: ScaleTask, group: Group, runs: Runs, loss: FloatArray) -> LawFit | None:
    """The law on Π of the losses (m,): every run of an observed row, one point for another.

    Π is the minimum over what the law does not model; most laws here model every input.
    """
    rows = frontier(group.pool, loss, task.law.inputs)
    if len(rows) < task.law.n_params:
        return None
    seen = np.isin(runs.index, rows)
    unseen: IntArray = np.setdiff1d(rows, runs.index)
    at = np.concatenate([runs.index[seen], unseen])
    losses = np.concatenate([runs.loss[seen], loss[unseen]]) + task.offset
    if not (losses > 0.0).all():  # a surrogate may fantasize a loss of which no law can be made
        return None
    return fit_law(task.law, task.law.inputs_at(group.pool, at), losses)


def score(task: ScaleTask, groups: Sequence[Group], laws: Sequence[LawFit | None]) -> float | None:
    """R² over the target rows of the groups that have a law; None where none has one."""
    pairs = []
    for group, law in zip(groups, laws, strict=True):
        if law is None:
            continue
        with np.errstate(over="ignore"):
            predicted = law.predict(group.inputs) - task.offset
        if np.isfinite(predicted).all():
            pairs.append((group.loss, predicted))
    if not pairs:
        return None
    loss, predicted = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return r_squared(loss, predicted)


def whole_pool(name: str) -> float | None:
    """R² (not clipped) of the law fitted to the whole pool: what its form can reach, roughly."""
    task, groups = get_task(name), groups_of(name)
    return score(
        task,
        groups,
        [fit_group(task, g, g.runs, g.runs.config_loss(len(g.pool))) for g in groups],
    )
