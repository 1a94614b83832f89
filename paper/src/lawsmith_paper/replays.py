"""The kind 'replay': a policy on a finished study under one seed, its lines the step records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lawsmith.datasets import Study
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import Method, Policy
from lawsmith.replay import Stop, Task, prepare, replay
from lawsmith.replay.steps import equal_weights
from lawsmith.surrogates.base import Surrogate
from lawsmith_paper.jobs import Json
from lawsmith_paper.records import as_known, step_record, steps_from
from lawsmith_paper.rivals import make_policy, make_surrogate
from lawsmith_paper.studies import load

Settings = Mapping[str, Any]

# What fantasized points count in the fit of a law.
WEIGHTS = {"alike": equal_weights, "as known": as_known}
# Settings that are those of a method by the same name.
METHOD = (
    *("surrogate", "kernel", "priors", "scale"),
    *("acquisition", "kappa", "reach", "slice_by", "n_init"),
)


def replay_lines(settings: Settings, done: Sequence[Json]) -> Iterator[Json]:
    """The step records of a replay."""
    task = task_of(settings)
    steps = replay(
        task,
        policy_of(settings, surrogate_of(settings)),
        seed=settings["seed"],
        stop=stop_of(settings, task),
        done=steps_from(task, done),
        block=replay_block(settings),
        weigh=WEIGHTS[settings["fantasies"]],
    )
    for step in steps:
        yield step_record(step, task.law)


def replay_block(settings: Settings) -> int:
    """Runs judged together: many where a run takes milliseconds, few where it takes a second."""
    return 64 if settings["surrogate"] in ("surface", "gp", "none") else 8


def n_replay_lines(settings: Settings) -> int:
    """About a line a run, until the pool is exhausted or the replay is to end.

    Runs within a budget are cheaper than the average: about twice its share of them.
    """
    n = len(task_of(settings).pool)
    within = n if settings["budget"] is None else min(n, int(2.0 * settings["budget"] * n) + 1)
    return min(within, settings["iterations"] or n)


def stop_of(settings: Settings, task: Task) -> Stop:
    """Where a replay ends: after so many runs, or with a share of the pool's compute."""
    budget = settings["budget"]
    return Stop(settings["iterations"], None if budget is None else budget * task.total_compute)


def surrogate_of(settings: Settings) -> Surrogate | None:
    """The surrogate of a replay's settings; None for random search."""
    return method_of(settings).make_surrogate(make_surrogate)


def method_of(settings: Settings) -> Method:
    """How a replay's settings choose runs; the seed is for surrogates that draw."""
    return Method(
        policy=settings["space"],
        further={"seed": settings["seed"]},
        **{name: settings[name] for name in METHOD},
    )


def policy_of(
    settings: Settings, surrogate: Surrogate | None, target: float | None = None
) -> Policy:
    """The policy of a replay's settings, around ``surrogate``, for the best loss at a compute."""
    how = replace(method_of(settings), target=target)
    return make_policy(how.policy, surrogate, **how.options())


def task_of(settings: Settings) -> Task:
    """The task of a replay's settings; made once for all seeds and methods."""
    names = ("study", "law", "hold_out", "slice_by", "force")
    return _task(*(settings[name] for name in names))


@lru_cache(maxsize=16)
def _task(study: str, law: str, hold_out: str, slice_by: str, force: bool) -> Task:
    return prepare(
        study_named(study),
        get_law(law),
        hold_out=HeldOut.parse(hold_out),
        slice_by=slice_by,
        force=force,
    )


@lru_cache(maxsize=16)
def study_named(name: str) -> Study:
    """A catalogued study or a table, read once."""
    return load(name)
