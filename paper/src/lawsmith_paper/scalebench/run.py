"""The ScaleBench suite: its jobs, the lines of one, and the table of all beside the benchmark's."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import fsum
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from lawsmith.laws.fit import LawFit
from lawsmith_paper.jobs import Json
from lawsmith_paper.scalebench.search import Search, score
from lawsmith_paper.scalebench.tasks import TASKS, Group, clipped, get_task, groups_of

REACH = 2.0
SPACES = ("window", "full", "frontier")
CHOOSERS = (("none", "lcb"), ("gp", "lcb"), ("gp", "ei"))  # surrogate, acquisition
# Space, surrogate, acquisition; the frontier policy has no acquisition.
METHODS = (
    *((space, *how) for space in SPACES[:2] for how in CHOOSERS),
    ("frontier", "surface", None),
)
NO_LAW = -1.0  # what the benchmark scores where there is no law


def jobs(seeds: Iterable[int]) -> list[Json]:
    """The settings of every run of the suite.

    The surface is of log loss: where losses may be negative, the frontier policy is left out.
    """
    return [
        {
            "task": task,
            "space": space,
            "surrogate": surrogate,
            "acquisition": acquisition,
            "reach": REACH,
            "seed": seed,
        }
        for task, (space, surrogate, acquisition), seed in product(TASKS, METHODS, seeds)
        if space != "frontier" or not get_task(task).offset
    ]


def study(settings: Mapping[str, Any]) -> str:
    """The table of a run's task."""
    return get_task(settings["task"]).study


def facts(settings: Mapping[str, Any]) -> tuple[str, Json]:
    """(law, the size of pool and target region); the cost is in the task's own unit."""
    task = get_task(settings["task"])
    groups = groups_of(task.name)
    return task.law.name, {
        "n_groups": len(groups),
        "n_pool": sum(len(group.pool) for group in groups),
        "n_target": sum(len(group.loss) for group in groups),
        "cost": fsum(group.cost for group in groups),
    }


def rows(settings: Mapping[str, Any], done: Sequence[Json]) -> Iterator[Json]:
    """The lines of a run beside its settings, the law's parameters as JSON."""
    for line in done:
        params = json.dumps(line["params"], ensure_ascii=False)
        yield {**settings, **line, "params": params}


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
            "r2_raw": raw if raw is not None and np.isfinite(raw) else None,
            "params": _params(groups, laws),
            "published": figure.r2,
        }


def _fits(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return ("observed",) if settings["surrogate"] == "none" else ("observed", "fantasized")


def _params(groups: Sequence[Group], laws: Sequence[LawFit | None]) -> Json | None:
    pairs = zip(groups, laws, strict=True)
    found = {group.label: None if law is None else law.params for group, law in pairs}
    if len(groups) == 1 or not any(found.values()):
        return found[groups[0].label]
    return found


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
