"""What a job can be: a replay, a ScaleBench task, a race; each a function from settings to lines.

A function is given the settings and the lines an earlier process left, and yields the rest. The
same settings give the same lines, whatever was interrupted when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lawsmith.bench.jobs import Json
from lawsmith.datasets import Study, load
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, Task, prepare, replay, step_record, steps_from
from lawsmith.surrogates import make_surrogate

Settings = Mapping[str, Any]
Lines = Callable[[Settings, Sequence[Json]], Iterator[Json]]


@dataclass(frozen=True)
class Kind:
    """How jobs of a kind are done.

    n_lines   how many lines a job is expected to have
    block     how many lines come at a time: an interrupted job goes on after whole blocks
    """

    lines: Lines
    n_lines: Callable[[Settings], int]
    block: Callable[[Settings], int]


def replay_lines(settings: Settings, done: Sequence[Json]) -> Iterator[Json]:
    """The step records of a replay."""
    task = task_of(settings)
    surrogate = make_surrogate(
        settings["surrogate"],
        kernel=settings["kernel"],
        priors=settings["priors"],
        scale=settings["scale"],
        seed=settings["seed"],
    )
    policy = make_policy(
        settings["space"],
        surrogate,
        acquisition=settings["acquisition"],
        kappa=settings["kappa"],
        reach=settings["reach"],
        n_init=settings["n_init"],
    )
    steps = replay(
        task,
        policy,
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


def _n_replay_lines(settings: Settings) -> int:
    n = len(task_of(settings).pool)
    return min(n, settings["iterations"] or n)


KINDS: dict[str, Kind] = {"replay": Kind(replay_lines, _n_replay_lines, replay_block)}
