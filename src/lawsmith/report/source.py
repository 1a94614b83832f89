"""What a report is made from, whatever it is of: a table, a replay, or a live study."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lawsmith.analysis import Analysis
from lawsmith.answer import Answer
from lawsmith.charts.answer import AnswerWithRuns
from lawsmith.charts.narrowing import Moment
from lawsmith.charts.timeline import Attempt
from lawsmith.charts.trunks import AnswerWithCurves
from lawsmith.datasets import entry, locate, names
from lawsmith.datasets.records import Study, study_name
from lawsmith.errors import LawsmithError
from lawsmith.formats import number, percent
from lawsmith.journal import Ledger, Stage, Trial
from lawsmith.laws.law import Law
from lawsmith.report.parts import RunTable
from lawsmith.study.asking import STOPPED
from lawsmith.study.history import History
from lawsmith.study.live import LiveStudy
from lawsmith.tasks import TaskAnswer

Kind = Literal["table", "replay", "live"]
UNDER_WAY = "it is being computed"


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
    """What is needed to make the report again.

    commands  in the order they were, or are to be, given
    settings  of what was run
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


@dataclass(frozen=True, eq=False)
class Live:
    """Where a live study stands.

    driver      the process that drives it, None if none does
    n_finished  finished runs of candidates, all that an answer could rest on
    until       the moment up to which it is known when runs went on, seconds since 1970
    """

    study: LiveStudy
    ledger: Ledger
    history: History
    driver: str | None
    n_finished: int
    until: float

    @property
    def by_hand(self) -> bool:
        """Whether a person launches the runs: lawsmith ask and tell."""
        return "runner" not in self.study.spec.model_fields_set

    @property
    def stopped(self) -> tuple[Trial, ...]:
        """Trunks that lawsmith stopped, since they were hopeless."""
        trials = self.ledger.trials.values()
        return tuple(t for t in trials if t.stage is Stage.CANCELLED and t.reason == STOPPED)


@dataclass(frozen=True, eq=False)
class Findings:
    """The results that take a while; of a live study, they may be of an earlier moment.

    answered   the answer and its runs; None with the reason ``why_no_answer``
    curved     losses along runs beside them; None without any
    analysis   a law that describes the runs; None with the reason ``why_no_law``
    sizes      a law of N and D, if there is one; may be ``analysis``
    moments    what was known at several spends on the way
    reasons    the runs that would be asked for next
    tasks      answers for tasks, where some were asked for
    """

    answered: AnswerWithRuns | None = None
    why_no_answer: str = UNDER_WAY
    curved: AnswerWithCurves | None = None
    analysis: Analysis | None = None
    why_no_law: str = UNDER_WAY
    sizes: Analysis | None = None
    moments: tuple[Moment, ...] = ()
    reasons: tuple[Reason, ...] = ()
    why_not_next: str = ""
    tasks: tuple[TaskAnswer, ...] = ()


@dataclass(frozen=True, eq=False)
class Source:
    """All that the cards of a report read.

    study      candidates (of a table: what was run) and the runs made of them
    attempts   the runs in the order they were made; none for a table, which does not tell it
    """

    kind: Kind
    study: Study
    law: Law
    spend: Spend
    runs: RunTable
    record: Record
    found: Findings
    attempts: tuple[Attempt, ...] = ()
    live: Live | None = None

    @property
    def name(self) -> str:
        """The study in a title: a file without its folders, 'synthetic' whatever it is called."""
        return study_name(self.study)

    @property
    def answer(self) -> Answer | None:
        return None if self.found.answered is None else self.found.answered.answer

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        if self.answer is not None:
            return self.answer.level
        return 0.95 if self.found.analysis is None else self.found.analysis.options.level


def files_of(paths: Iterable[Path]) -> tuple[File, ...]:
    """The checksums of those that can be read."""
    found = []
    for path in paths:
        with suppress(OSError):
            data = path.read_bytes()
            found.append(File(path.name, hashlib.sha256(data).hexdigest(), len(data)))
    return tuple(found)


def study_files(source: str) -> tuple[File, ...]:
    """The files of a table or of a catalogued study; a synthetic one has none."""
    base = source.partition(":")[0]
    if base not in names():
        return files_of([Path(source)])
    known = entry(base)
    if known.synthetic:
        return ()
    with suppress(LawsmithError):
        return files_of(locate(known))
    return ()


def hours_text(spend: Spend, compute: float) -> str:
    """' (12.5 GPU-hours)' where the speed is known, else ''."""
    if spend.flops_per_second is None:
        return ""
    return f" ({number(compute / spend.flops_per_second / 3600, 3)} GPU-hours)"


def share_text(share: float) -> str:
    """'1%', '0.042%'; never 100% of less than all."""
    if 0.9995 <= share < 1.0:
        return "99.9%"
    return percent(share, 3)
