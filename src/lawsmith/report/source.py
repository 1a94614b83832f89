"""What a report is made from, whatever it is of: a table, a replay, or a live study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lawsmith.analysis import Analysis
from lawsmith.charts.data.clock import Bar
from lawsmith.charts.data.narrowing import Known
from lawsmith.charts.data.outlook import Seen
from lawsmith.charts.data.timeline import Event
from lawsmith.charts.draw.titles import study_name
from lawsmith.datasets.records import Study
from lawsmith.journal import Trial
from lawsmith.laws.law import Law
from lawsmith.outlook import Outlook
from lawsmith.replay.records import Trace
from lawsmith.report.parts import RunTable

Kind = Literal["table", "replay", "live"]


@dataclass(frozen=True)
class Spend:
    """What was paid, and what all candidates would have cost; FLOPs.

    budget            of a live study
    flops_per_second  of its hardware, where it is known
    """

    spent: float
    dense: float
    n_runs: int
    n_dense: int
    budget: float | None = None
    flops_per_second: float | None = None

    @property
    def share(self) -> float:
        return self.spent / self.dense


@dataclass(frozen=True)
class File:
    """A file that was read, without its folder."""

    name: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Record:
    """What it takes to make the report again.

    commands  in the order they were, or are to be, given
    settings  of whatever was run, as it was told
    made      when the report was made, as text
    """

    commands: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    made: str = ""


@dataclass(frozen=True)
class Reason:
    """Why a run is proposed: in words, and the values that an acquisition gives it, by name."""

    config: Mapping[str, float | int | str]
    cost: float
    why: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Failure:
    """A trial that failed, was set aside or waits to be tried again, and the end of its log."""

    trial: Trial
    tail: str


@dataclass(frozen=True)
class Live:
    """Where a live study stands.

    counts     trials by stage, only those there are
    driver     the process that drives it, None if none does
    ended      why nothing more will be asked, None while it goes on
    torn       whether the journal's last line was torn by a crash
    strangers  runs of no candidate
    reached    the largest compute of a run with a result; ``largest`` of all candidates
    best       the trial of least loss
    by_hand    whether a person launches the runs: lawsmith ask and tell
    n_finished finished runs of candidates, all that an answer could rest on
    bars       when each attempt was under way, those without a time left out
    until      the moment up to which that is known, seconds since 1970
    """

    counts: Mapping[str, int]
    driver: str | None
    ended: str | None
    torn: bool
    strangers: int
    n_excluded: int
    reached: float | None
    largest: float
    best: Trial | None
    under_way: tuple[Trial, ...]
    failures: tuple[Failure, ...]
    by_hand: bool = False
    n_finished: int = 0
    bars: tuple[Bar, ...] = ()
    until: float = 0.0


@dataclass(frozen=True, eq=False)
class Source:
    """All that the cards of a report read.

    study      candidates (of a table: what was run) and the runs made of them
    analysis   the law of what was observed; None with the reason ``why_no_law``
    shares     the same for a law of N and D, which says how to divide compute; may be ``analysis``
    seen       the outlook of a search: the law of observed and fantasized losses; None for a table
    both       the outlook of a law of N and D from the same surrogate; may be that of ``seen``
    n_answered finished runs that ``seen`` rests on
    known      the answer at several spends on the way
    events     the runs in the order they were made; none for a table, which does not tell it
    """

    kind: Kind
    study: Study
    law: Law
    spend: Spend
    runs: RunTable
    record: Record
    analysis: Analysis | None = None
    why_no_law: str = ""
    shares: Analysis | None = None
    why_no_shares: str = ""
    seen: Seen | None = None
    both: Outlook | None = None
    n_answered: int = 0
    known: tuple[Known, ...] = ()
    events: tuple[Event, ...] = ()
    trace: Trace | None = None
    live: Live | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def name(self) -> str:
        """The study in a title: a file without its folders, 'synthetic' whatever it is called."""
        return study_name(self.study)

    @property
    def level(self) -> float:
        """Of the intervals."""
        if self.seen is not None:
            return self.seen.outlook.level
        return self.analysis.options.level if self.analysis is not None else 0.95
