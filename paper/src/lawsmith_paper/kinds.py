"""What a job can be: a replay, a trial, a ScaleBench task, a race; and all there is to know of it.

A kind's function is given the settings and the lines an earlier process left, and yields the rest.
The same settings give the same lines, whatever was interrupted when (but for the times of a race).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lawsmith_paper.jobs import Json
from lawsmith_paper.race import n_race_lines, race_facts, race_lines
from lawsmith_paper.replays import Settings as Settings
from lawsmith_paper.replays import n_replay_lines, replay_block, replay_lines
from lawsmith_paper.replays import study_named as study_named
from lawsmith_paper.replays import task_of as task_of
from lawsmith_paper.scalebench import run as scalebench
from lawsmith_paper.tidy import replay_facts, replay_rows
from lawsmith_paper.trial import (
    n_trial_lines,
    study_name,
    trial_block,
    trial_facts,
    trial_lines,
    trial_rows,
)

Lines = Callable[[Settings, Sequence[Json]], Iterator[Json]]
Rows = Callable[[Settings, Sequence[Json]], Iterable[Json]]


def lines_with_settings(settings: Settings, lines: Sequence[Json]) -> Iterable[Json]:
    """Each line as a row, beside the settings of its job."""
    return ({**settings, **line} for line in lines)


def _study(settings: Settings) -> str:
    return str(settings["study"])


@dataclass(frozen=True)
class Kind:
    """How jobs of a kind are done, and how their results are read.

    n_lines   how many lines a job is expected to have
    block     how many lines come at a time: an interrupted job goes on after whole blocks
    facts     (law, what is to be known of it in the job's study), for the summary
    table     the files that its rows go to
    rows      the lines of a finished job as rows of that table
    study     the name of the study a job reads
    alone     whether nothing may run beside a job, because it is timed
    """

    lines: Lines
    n_lines: Callable[[Settings], int]
    block: Callable[[Settings], int]
    facts: Callable[[Settings], tuple[str, Json]] = replay_facts
    table: str = "results"
    rows: Rows = replay_rows
    study: Callable[[Settings], str] = _study
    alone: bool = False


KINDS: dict[str, Kind] = {
    "replay": Kind(replay_lines, n_replay_lines, replay_block),
    "trial": Kind(
        trial_lines,
        n_trial_lines,
        trial_block,
        trial_facts,
        table="methods",
        rows=trial_rows,
        study=study_name,
    ),
    "scalebench": Kind(
        scalebench.lines,
        scalebench.n_lines,
        lambda settings: 1,
        scalebench.facts,
        table="scalebench",
        rows=scalebench.rows,
        study=scalebench.study,
    ),
    "race": Kind(
        race_lines,
        n_race_lines,
        n_race_lines,
        race_facts,
        table="speed",
        rows=lines_with_settings,
        alone=True,
    ),
}
