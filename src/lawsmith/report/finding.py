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
from lawsmith.runs import Runs, State
from lawsmith.study.answer import answer_of, targets_of
from lawsmith.study.earlier import prior_of
from lawsmith.study.history import History
from lawsmith.study.live import LiveStudy
from lawsmith.study.summary import too_many

N_NEXT = 4


NONE_YET = "no run has finished yet"


@dataclass(frozen=True, eq=False)
class Found:
    """What was found out, field by field as `Source` has it; the rest may be of fewer runs."""

    answered: Answered | None = None
    why_no_answer: str = NONE_YET
    analysis: Analysis | None = None
    why_no_law: str = NONE_YET
    sizes: Analysis | None = None
    why_no_sizes: str = NONE_YET
    moments: tuple[Moment, ...] = ()
    reasons: tuple[Reason, ...] = ()
    why_not_next: str = ""


@dataclass
class Memory:
    """Moments on the way that hold as long as the first runs are the same ones."""

    moments: dict[bytes, Moment | None] = field(default_factory=dict)


def find_out(
    study: LiveStudy,
    ledger: Ledger,
    memory: Memory,
    *,
    n_next: int = N_NEXT,
    alive: Callable[[], bool] = lambda: True,
) -> Found:
    """All there is to find out after a ledger's runs.

    ``alive`` is asked between steps: once it says no, what is there by then is all.
    """
    answer = find_answer(study, ledger, Found())
    return find_rest(study, ledger, answer, memory, n_next=n_next, alive=alive)


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


def find_rest(
    study: LiveStudy,
    ledger: Ledger,
    answer: Found,
    memory: Memory,
    *,
    n_next: int = N_NEXT,
    alive: Callable[[], bool] = lambda: True,
) -> Found:
    """What was known on the way to an answer, the laws of the runs, and what is next."""
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), settled(history.pool_runs)
    why_not_next = too_many(study, ledger)
    asking = n_next and ledger.ended is None and not why_not_next
    following = reasons(study, ledger, n_next) if asking else ()
    analysis, why_no_law, sizes, why_no_sizes = _laws(study, part_of(study, pool, runs))
    return replace(
        answer,
        analysis=analysis,
        why_no_law=why_no_law,
        sizes=sizes,
        why_no_sizes=why_no_sizes,
        moments=_moments(study, pool, runs, memory, alive),
        reasons=following,
        why_not_next=why_not_next,
    )


def part_of(study: LiveStudy, pool: Grid, runs: Runs) -> Study:
    """The candidates and the runs made of them, as a study like any other."""
    nothing = np.zeros(len(pool), dtype=np.bool_)
    name = study.spec.name
    return Study(name, name, pool, runs, ReadLog(len(runs)), nothing, study.law.name)


def _n_done(runs: Runs) -> int:
    return int((runs.state == State.DONE.value).sum())


def _called(study: LiveStudy, ledger: Ledger, history: History) -> list[str]:
    """(m,) the trials of each row of the pool."""
    place = {row: i for i, row in enumerate(history.pool.tolist())}
    named: list[list[str]] = [[] for _ in place]
    for trial in ledger.trials.values():
        row = study.candidates.row_of(trial.config)
        if row is not None and row in place:
            named[place[row]].append(trial.name)
    return [", ".join(names) for names in named]


def _laws(study: LiveStudy, part: Study) -> tuple[Analysis | None, str, Analysis | None, str]:
    """The law of the runs made and that of N and D, each with why there is none."""
    if not _n_done(part.runs):
        return None, NONE_YET, None, NONE_YET
    targets, level = targets_of(study), study.spec.law.level
    options = FitOptions(study.law, targets=tuple(map(Target, targets[:1])), level=level)
    analysis, why_not = try_analyse(part, options)
    return analysis, why_not, *sizes_of(part, options, analysis, why_not)


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
