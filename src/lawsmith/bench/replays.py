"""The kind 'replay': a policy on a finished study under one seed, its lines the step records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from lawsmith.bench.jobs import Json
from lawsmith.datasets import Study, load
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LC, get_law
from lawsmith.laws.law import Law
from lawsmith.policies import Policy, make_policy
from lawsmith.replay import Stop, Task, prepare, replay, step_record, steps_from
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Surrogate

Settings = Mapping[str, Any]


def replay_lines(settings: Settings, done: Sequence[Json]) -> Iterator[Json]:
    """The step records of a replay."""
    task = task_of(settings)
    steps = replay(
        task,
        policy_of(settings, surrogate_of(settings)),
        seed=settings["seed"],
        stop=Stop(iterations=settings["iterations"]),
        done=steps_from(task, done),
        block=replay_block(settings),
    )
    for step in steps:
        yield step_record(step, task.law)


def replay_block(settings: Settings) -> int:
    """Runs judged together: many where a run takes milliseconds, few where it takes a second."""
    return 64 if settings["surrogate"] in ("gp", "none") else 8


def n_replay_lines(settings: Settings) -> int:
    """A line a run, until the pool is exhausted or the replay is to end."""
    n = len(task_of(settings).pool)
    return min(n, settings["iterations"] or n)


def surrogate_of(settings: Settings) -> Surrogate | None:
    """The surrogate of a replay's settings; None for random search."""
    return make_surrogate(
        settings["surrogate"],
        kernel=settings["kernel"],
        priors=settings["priors"],
        scale=settings["scale"],
        seed=settings["seed"],
    )


def policy_of(
    settings: Settings, surrogate: Surrogate | None, law: Law = LC, target: float | None = None
) -> Policy:
    """The policy of a replay's settings, around ``surrogate``, for a law at a compute."""
    return make_policy(
        settings["space"],
        surrogate,
        acquisition=settings["acquisition"],
        kappa=settings["kappa"],
        reach=settings["reach"],
        n_init=settings["n_init"],
        law=law,
        target=target,
    )


def task_of(settings: Settings) -> Task:
    """The task of a replay's settings; made once for all seeds and methods."""
    return _task(settings["study"], settings["law"], settings["hold_out"], force=settings["force"])


@lru_cache(maxsize=16)
def _task(study: str, law: str, hold_out: str, *, force: bool) -> Task:
    return prepare(study_named(study), get_law(law), hold_out=HeldOut.parse(hold_out), force=force)


@lru_cache(maxsize=16)
def study_named(name: str) -> Study:
    """A catalogued study or a table, read once."""
    return load(name)
