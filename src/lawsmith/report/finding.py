"""What takes a while to find out of a live study: its answer, laws, and what comes next.

The answer comes first and by itself, since people wait for it; the rest follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lawsmith.analysis import Analysis, FitOptions
from lawsmith.answer import LEAST_RUNS, Target
from lawsmith.charts.answer import Answered
from lawsmith.charts.narrowing import Moment
from lawsmith.datasets import ReadLog
from lawsmith.datasets.records import Study
from lawsmith.grid import Grid
from lawsmith.journal import Ledger
from lawsmith.report.answers import first_runs, ladder, moment, settled
from lawsmith.report.laws import sizes_of, try_analyse
from lawsmith.report.reasons import reasons
from lawsmith.report.source import Reason
from lawsmith.runs import Runs
from lawsmith.study.answer import answer_of, targets_of
from lawsmith.study.earlier import prior_of
from lawsmith.study.history import History
from lawsmith.study.live import LiveStudy
from lawsmith.study.summary import too_many

N_NEXT = 4
UNDER_WAY = "it is being worked out"
NONE_YET = "no run has finished yet"


@dataclass(frozen=True, eq=False)
class Found:
    """What was found out, field by field as `Source` has it; the rest may be of fewer runs."""

    answered: Answered | None = None
    why_no_answer: str = UNDER_WAY
    analysis: Analysis | None = None
    why_no_law: str = UNDER_WAY
    sizes: Analysis | None = None
    why_no_sizes: str = UNDER_WAY
    moments: tuple[Moment, ...] = ()
    reasons: tuple[Reason, ...] = ()
    why_not_next: str = ""


@dataclass
class Memory:
    """Moments on the way that hold as long as the first runs are the same ones."""

    moments: dict[bytes, Moment | None] = field(default_factory=dict)


def find_out(study: LiveStudy, ledger: Ledger, memory: Memory, *, n_next: int = N_NEXT) -> Found:
    """All there is to find out after a ledger's runs."""
    found = find_answer(study, ledger, Found())
    found = find_next(study, ledger, found, n_next=n_next)
    return find_way(study, ledger, find_laws(study, ledger, found), memory)


def find_answer(study: LiveStudy, ledger: Ledger, before: Found) -> Found:
    """The answer after a ledger's runs; the rest as it was found ``before``."""
    history = study.history(ledger)
    known = answer_of(study, ledger)
    if known.answer is None:
        return replace(before, answered=None, why_no_answer=known.why_not)
    pool, runs = study.pool(history.pool), settled(history.pool_runs)
    called = _called(study, ledger, history)
    answered = Answered(study.spec.name, known.answer, pool, runs, called=called)
    return replace(before, answered=answered, why_no_answer="")


def find_next(study: LiveStudy, ledger: Ledger, found: Found, *, n_next: int = N_NEXT) -> Found:
    """The runs that would be asked for next."""
    why_not = too_many(study, ledger)
    asking = n_next and ledger.ended is None and not why_not
    following = reasons(study, ledger, n_next) if asking else ()
    return replace(found, reasons=following, why_not_next=why_not)


def find_laws(study: LiveStudy, ledger: Ledger, found: Found) -> Found:
    """The law of the runs made and that of N and D, each with why there is none."""
    history = study.history(ledger)
    part = part_of(study, study.pool(history.pool), settled(history.pool_runs))
    targets, level = targets_of(study), study.spec.law.level
    options = FitOptions(study.law, targets=tuple(map(Target, targets[:1])), level=level)
    analysis, why_not = try_analyse(part, options)
    sizes, why_no_sizes = sizes_of(part, options, analysis, why_not)
    return replace(
        found, analysis=analysis, why_no_law=why_not, sizes=sizes, why_no_sizes=why_no_sizes
    )


def find_way(
    study: LiveStudy,
    ledger: Ledger,
    found: Found,
    memory: Memory,
    *,
    alive: Callable[[], bool] = lambda: True,
) -> Found:
    """What was known on the way to the answer; as far as it is known when ``alive`` says False."""
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), settled(history.pool_runs)
    return replace(found, moments=_moments(study, pool, runs, memory, alive))


def part_of(study: LiveStudy, pool: Grid, runs: Runs) -> Study:
    """The candidates and the runs made of them, as a study like any other."""
    nothing = np.zeros(len(pool), dtype=np.bool_)
    name = study.spec.name
    return Study(name, name, pool, runs, ReadLog(len(runs)), nothing, study.law.name)


def _called(study: LiveStudy, ledger: Ledger, history: History) -> list[str]:
    """(m,) the trials of each row of the pool."""
    place = {row: i for i, row in enumerate(history.pool.tolist())}
    named: list[list[str]] = [[] for _ in place]
    for trial in ledger.trials.values():
        row = study.candidates.row_of(trial.config)
        if row is not None and row in place:
            named[place[row]].append(trial.name)
    return [", ".join(names) for names in named]


def _moments(
    study: LiveStudy, pool: Grid, runs: Runs, memory: Memory, alive: Callable[[], bool]
) -> tuple[Moment, ...]:
    """What was known on the way; each count of runs is looked at once."""
    targets, level = targets_of(study), study.spec.law.level
    if not targets:
        return ()
    dense = study.pricing.together(study.grid, np.arange(len(study.grid)))

    def spend(part: Runs) -> float:
        return study.pricing.together(pool, part.index) / dense

    found = []
    for n in ladder(LEAST_RUNS, len(runs)):
        part = first_runs(runs, n)
        key = part.index.tobytes() + part.loss.tobytes() + pool.C.tobytes()[:64]
        if key not in memory.moments and alive():
            memory.moments[key] = moment(
                pool, part, Target(targets[0]), spend, level=level, prior=prior_of(study)
            )
        known = memory.moments.get(key)
        found += [known] if known is not None else []
    return tuple(found)
