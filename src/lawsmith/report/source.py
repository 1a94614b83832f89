"""The input of a report, which is of a table, a replay or a live study."""

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
from lawsmith.formats import percent
from lawsmith.journal import Ledger, Trial
from lawsmith.laws.law import Law
from lawsmith.report.parts import RunTable
from lawsmith.study.answer import stopped_of
from lawsmith.study.history import History
from lawsmith.study.live import LiveStudy
from lawsmith.tasks import TaskAnswer

Kind = Literal["table", "replay", "live"]
IN_PROGRESS = "it is being computed"


@dataclass(frozen=True)
class Spend:
    """FLOPs spent, and FLOPs that all candidates would have cost.

    budget            of a live study
    flops_per_second  of its hardware, if known
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
    """A file that was read; its name is without the folder."""

    name: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Record:
    """How to make the report again.

    commands  in their order
    settings  of these commands
    made      when the report was made, as text
    """

    commands: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    made: str = ""


@dataclass(frozen=True)
class Proposal:
    """A run that would be asked for next, with the reason and its acquisition values by name."""

    config: Mapping[str, float | int | str]
    cost: float
    why: str
    values: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Live:
    """The state of a live study.

    driver      the process that drives it, or None
    n_finished  finished runs of candidates: those that an answer can use
    until       time of the state, seconds since 1970
    """

    study: LiveStudy
    ledger: Ledger
    history: History
    driver: str | None
    n_finished: int
    until: float

    @property
    def by_hand(self) -> bool:
        """Whether a person launches the runs, with lawsmith ask and tell."""
        return "runner" not in self.study.spec.model_fields_set

    @property
    def stopped(self) -> tuple[Trial, ...]:
        """Trunks and runs that lawsmith stopped, because they were hopeless."""
        return stopped_of(self.ledger)


@dataclass(frozen=True, eq=False)
class Findings:
    """The results that take a while to compute; those of a live study may be a little old.

    answered   the answer and its runs; if None, ``why_no_answer`` says why
    curved     losses along runs, or None
    analysis   a law that describes the runs; if None, ``why_no_law`` says why
    sizes      a law of N and D, which may be ``analysis``, or None
    moments    the forecast after several spends
    proposals  the runs that would be asked for next
    tasks      answers for tasks, if there are any
    """

    answered: AnswerWithRuns | None = None
    why_no_answer: str = IN_PROGRESS
    curved: AnswerWithCurves | None = None
    analysis: Analysis | None = None
    why_no_law: str = IN_PROGRESS
    sizes: Analysis | None = None
    moments: tuple[Moment, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    why_not_next: str = ""
    tasks: tuple[TaskAnswer, ...] = ()


@dataclass(frozen=True, eq=False)
class Source:
    """The input of all cards of a report.

    study      candidates (for a table: the configurations that were run) and their runs
    attempts   the runs in their order; none for a table, which does not tell it
    """

    kind: Kind
    study: Study
    law: Law
    spend: Spend
    runs: RunTable
    record: Record
    findings: Findings
    attempts: tuple[Attempt, ...] = ()
    live: Live | None = None

    @property
    def name(self) -> str:
        """Name of the study for titles, see `study_name`."""
        return study_name(self.study)

    @property
    def answer(self) -> Answer | None:
        answered = self.findings.answered
        return None if answered is None else answered.answer

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        if self.answer is not None:
            return self.answer.level
        analysis = self.findings.analysis
        return 0.95 if analysis is None else analysis.options.level


def files_of(paths: Iterable[Path]) -> tuple[File, ...]:
    """The files that can be read, with their checksums."""
    files = []
    for path in paths:
        with suppress(OSError):
            data = path.read_bytes()
            files.append(File(path.name, hashlib.sha256(data).hexdigest(), len(data)))
    return tuple(files)


def study_files(source: str) -> tuple[File, ...]:
    """The files of a table or of a catalogued study; a synthetic study has none."""
    base = source.partition(":")[0]
    if base not in names():
        return files_of([Path(source)])
    known = entry(base)
    if known.synthetic:
        return ()
    with suppress(LawsmithError):
        return files_of(locate(known))
    return ()


def share_text(share: float) -> str:
    """'1%', '0.042%'; less than all is never 100%."""
    if 0.9995 <= share < 1.0:
        return "99.9%"
    return percent(share, 3)
