"""The kind 'race': how long our surrogate and our fitter take, and those they are measured against.

Times are the result here, so a race that was interrupted starts over: it is one block. They are
seconds of the processor on one thread, which other work on the machine does not lengthen as it does
those of the clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawsmith_paper.jobs import Json
from lawsmith_paper.race.fitter import fitter_facts, fitter_lines, n_fitter_lines
from lawsmith_paper.race.loop import TARGET as TARGET
from lawsmith_paper.race.loop import loop_lines
from lawsmith_paper.replays import Settings, n_replay_lines
from lawsmith_paper.tidy import replay_facts


def race_lines(settings: Settings, done: Sequence[Json]) -> Iterator[Json]:
    """A line for each step of a replay, or for each fit of the fitters."""
    assert not done
    return fitter_lines(settings) if _is_of_fitters(settings) else loop_lines(settings)


def n_race_lines(settings: Settings) -> int:
    """A line a run, or a fit."""
    return n_fitter_lines(settings) if _is_of_fitters(settings) else n_replay_lines(settings)


def race_facts(settings: Settings) -> tuple[str, Json]:
    """(law, what it was looked for in)."""
    return fitter_facts(settings) if _is_of_fitters(settings) else replay_facts(settings)


def _is_of_fitters(settings: Settings) -> bool:
    return bool(settings["event"] == "fitter")
