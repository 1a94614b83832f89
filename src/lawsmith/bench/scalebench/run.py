"""Searching ScaleBench's pools with our policies: the law at each budget and its score.

One search a group goes up to the task's last budget. It chooses among the candidates it can still
pay, and a run that would go beyond an earlier budget waits until that budget was judged, both as in
the benchmark. Everything random comes from (seed, group, number of candidates run).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import fsum
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from lawsmith.analysis.design import inputs_at
from lawsmith.bench.jobs import Json
from lawsmith.bench.scalebench.tasks import (
    TASKS,
    Group,
    ScaleTask,
    clipped,
    get_task,
    groups_of,
    r_squared,
)
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.policies import Policy, make_policy, unasked
from lawsmith.replay import mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates import make_surrogate

REACH = 2.0
SPACES = ("window", "full")
CHOOSERS = (("none", "lcb"), ("gp", "lcb"), ("gp", "ei"))  # surrogate, acquisition
NO_LAW = -1.0  # what the benchmark scores where there is no law


def jobs(seeds: Iterable[int]) -> list[Json]:
    """The settings of every run of the suite."""
    return [
        {
            "task": task,
            "space": space,
            "surrogate": surrogate,
            "acquisition": acquisition,
            "reach": REACH,
            "seed": seed,
        }
        for task, space, (surrogate, acquisition), seed in product(TASKS, SPACES, CHOOSERS, seeds)
    ]


def n_lines(settings: Mapping[str, Any]) -> int:
    """How many lines a run has: a budget each, twice with a surrogate that fantasizes."""
    return len(get_task(settings["task"]).budgets) * len(_fits(settings))


def lines(settings: Mapping[str, Any], done: Sequence[Json]) -> Iterator[Json]:
    """The law and its R² at each budget, after the lines in ``done``.

    fit      'observed', or 'fantasized': the law of the mixed grid, surrogate means where not run
    r2       clipped to [−1, 1]; it, r2_raw and params are null with too few runs for the law
    params   by name, or by group and name where the task has groups
    """
    task = get_task(settings["task"])
    groups = groups_of(task.name)
    searches = [Search(group, task, settings, i) for i, group in enumerate(groups)]
    one_thread = ThreadpoolController()
    for i, (figure, fit) in enumerate(product(task.mspe, _fits(settings))):
        if i < len(done):
            continue
        with one_thread.limit(limits=1):
            for search in searches:
                search.advance(figure.budget)
            laws = [search.law(fit) for search in searches]
            raw = score(task, groups, laws)
        yield {
            "task": task.name,
            "policy": searches[0].policy.name,
            "fit": fit,
            "seed": settings["seed"],
            "budget": figure.budget,
            "cost_fraction": fsum(s.spent for s in searches) / fsum(g.cost for g in groups),
            "n_runs": sum(len(search.runs) for search in searches),
            "r2": None if raw is None else clipped(raw),
            "r2_raw": raw,
            "params": _params(groups, laws),
            "published": figure.r2,
        }


def _fits(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return ("observed",) if settings["surrogate"] == "none" else ("observed", "fantasized")


class Search:
    """One group's search: what was run, what it cost, and the candidate that waits."""

    def __init__(
        self, group: Group, task: ScaleTask, settings: Mapping[str, Any], number: int
    ) -> None:
        self.group, self.task = group, task
        self.policy: Policy = make_policy(
            settings["space"],
            make_surrogate(settings["surrogate"]),
            acquisition=settings["acquisition"],
            reach=settings["reach"],
            n_init=task.n_init,
        )
        self.stream = (settings["seed"], number)
        self.runs = Runs.empty()
        self.rows: list[int] = []
        self.waiting: int | None = None

    @property
    def spent(self) -> float:
        return self._cost(self.rows)

    def _cost(self, rows: Sequence[int]) -> float:
        return fsum(self.group.pool.C[list(rows)].tolist())

    def advance(self, budget: float) -> None:
        """Run candidates until the next would go beyond ``budget``, a share of the pool's cost."""
        limit = budget * self.group.cost * (1.0 + 1e-12)
        while True:
            row = self._next() if self.waiting is None else self.waiting
            if row is None or self._cost([*self.rows, row]) > limit:
                self.waiting = row
                return
            self.waiting = None
            self.rows.append(row)
            known = self.group.runs
            self.runs = self.runs.append(
                Runs.from_losses(known.index[known.index == row], known.loss[known.index == row])
            )

    def _next(self) -> int | None:
        """The candidate to run next; None when nothing that can be paid is left."""
        pool, policy = self.group.pool, self.policy
        left = self.task.budgets[-1] * self.group.cost - self.spent
        free = unasked(pool, self.runs)
        dear = free & np.greater(pool.C, left * (1.0 + 1e-12))
        if not (free & ~dear).any():
            return None
        known = self.runs
        if policy.searching(pool, known):
            # Like a run that failed: it teaches nothing and is not asked. The initial design,
            # which counts what was asked, is of the cheapest candidates and needs no such care.
            n = int(dear.sum())
            failed = np.full(n, State.FAILED.value)
            known = known.append(Runs(np.flatnonzero(dear), np.full(n, np.nan), failed))
        rng = np.random.default_rng([*self.stream, len(self.rows)])
        return policy.ask(pool, known, 1, rng)[0]

    def law(self, fit: str) -> LawFit | None:
        """The law of the runs so far, or of the mixed grid; None where there are too few."""
        m = len(self.group.pool)
        loss = self.runs.config_loss(m)
        if fit == "fantasized":
            surrogate = self.policy.surrogate
            if surrogate is None or not len(self.runs):
                return None
            loss = mixed_losses(m, self.runs, surrogate.fit(self.group.pool, self.runs))
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
    try:
        return fit_law(task.law, inputs_at(group.pool, task.law, at), losses)
    except LawsmithError:
        return None


def score(task: ScaleTask, groups: Sequence[Group], laws: Sequence[LawFit | None]) -> float | None:
    """R² over the target rows of the groups that have a law; None where none has one."""
    pairs = []
    for group, law in zip(groups, laws, strict=True):
        if law is None:
            continue
        predicted = law.predict(group.inputs) - task.offset
        if np.isfinite(predicted).all():
            pairs.append((group.loss, predicted))
    if not pairs:
        return None
    loss, predicted = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return r_squared(loss, predicted)


def _params(groups: Sequence[Group], laws: Sequence[LawFit | None]) -> Json | None:
    if all(law is None for law in laws):
        return None
    params = [None if law is None else law.params for law in laws]
    return (
        params[0]
        if len(groups) == 1
        else {group.label: found for group, found in zip(groups, params, strict=True)}
    )


def whole_pool(name: str) -> float | None:
    """R² (not clipped) of the law fitted to the whole pool: what its form can reach, roughly."""
    task, groups = get_task(name), groups_of(name)
    return score(
        task,
        groups,
        [fit_group(task, g, g.runs, g.runs.config_loss(len(g.pool))) for g in groups],
    )


def summary_table(rows: Iterable[Json]) -> list[Json]:
    """Mean and SD of R² over seeds, a line for each task, budget, policy and fit.

    A run without a law counts as −1, as in the benchmark; ``n_without_law`` says how many.
    """
    found: dict[tuple[str, float, str, str], list[float | None]] = defaultdict(list)
    for row in rows:
        found[row["task"], row["budget"], row["policy"], row["fit"]].append(row["r2"])
    order = {name: i for i, name in enumerate(TASKS)}
    table = []
    for key in sorted(found, key=lambda key: (order[key[0]], *key[1:])):
        name, budget, policy, fit = key
        values = np.array([NO_LAW if r2 is None else r2 for r2 in found[key]])
        figure = next(f for f in get_task(name).mspe if f.budget == budget)
        table.append(
            {
                "task": name,
                "budget": budget,
                "policy": policy,
                "fit": fit,
                "n_seeds": len(values),
                "n_without_law": sum(r2 is None for r2 in found[key]),
                "r2_mean": float(values.mean()),
                "r2_sd": float(values.std(ddof=1)) if len(values) > 1 else None,
                "published": figure.r2,
                "published_sd": figure.sd,
                "published_all_data": get_task(name).all_data[0],
            }
        )
    return table
