"""What takes a while to find out of a live study: its outlook, laws, and what comes next.

The answer comes first and by itself, since people wait for it; the rest follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, Target
from lawsmith.charts.data.narrowing import Known
from lawsmith.charts.data.outlook import Seen
from lawsmith.datasets import ReadLog
from lawsmith.datasets.records import Study
from lawsmith.grid import Grid
from lawsmith.journal import Ledger
from lawsmith.outlook import Outlook
from lawsmith.report.laws import shares_of, try_analyse
from lawsmith.report.outlooks import Lookout, enough_runs, first_runs, ladder, settled
from lawsmith.report.reasons import reasons
from lawsmith.report.source import Reason
from lawsmith.runs import Runs, State
from lawsmith.study.answer import targets_of
from lawsmith.study.history import History
from lawsmith.study.live import LiveStudy
from lawsmith.study.schedule import live_surrogate

N_NEXT = 4


@dataclass(frozen=True, eq=False)
class Found:
    """What was found out.

    n_runs   finished runs that ``seen`` and ``both`` rest on; the others may be of fewer
    """

    n_runs: int = 0
    analysis: Analysis | None = None
    why_no_law: str = "no run has finished yet"
    shares: Analysis | None = None
    why_no_shares: str = "no run has finished yet"
    seen: Seen | None = None
    both: Outlook | None = None
    known: tuple[Known, ...] = ()
    reasons: tuple[Reason, ...] = ()


@dataclass
class Memory:
    """Answers on the way that hold as long as the first runs are the same ones."""

    known: dict[bytes, Known | None] = field(default_factory=dict)


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
    answer = find_answer(study, ledger, Found(), alive=alive)
    return find_rest(study, ledger, answer, memory, n_next=n_next, alive=alive)


def find_answer(
    study: LiveStudy,
    ledger: Ledger,
    before: Found,
    *,
    alive: Callable[[], bool] = lambda: True,
) -> Found:
    """The outlook after a ledger's runs; the rest as it was found ``before``."""
    history = study.history(ledger)
    search, runs = _search(study, history), settled(history.pool_runs)
    n_done = _n_done(runs)
    seen, both = None, None
    if n_done >= enough_runs(study.law, 1):
        posterior = search.posterior(runs)
        found = None if posterior is None else search.outlook(runs, posterior)
        if posterior is not None and found is not None:
            called = _called(study, ledger, history)
            seen = Seen(study.spec.name, search.grid, runs, posterior, found, called=called)
            both = search.both(runs, posterior) if alive() else None
    return replace(before, n_runs=n_done, seen=seen, both=both)


def find_rest(
    study: LiveStudy,
    ledger: Ledger,
    answer: Found,
    memory: Memory,
    *,
    n_next: int = N_NEXT,
    alive: Callable[[], bool] = lambda: True,
) -> Found:
    """What was known on the way to an answer, the laws of the runs alone, and what is next."""
    history = study.history(ledger)
    search, runs = _search(study, history), settled(history.pool_runs)
    following = reasons(study, ledger, n_next) if n_next and ledger.ended is None else ()
    analysis, why_no_law, shares, why_no_shares = _laws(study, part_of(study, search.grid, runs))
    return replace(
        answer,
        analysis=analysis,
        why_no_law=why_no_law,
        shares=shares,
        why_no_shares=why_no_shares,
        known=_known(study, search, runs, memory, alive),
        reasons=following,
    )


def part_of(study: LiveStudy, pool: Grid, runs: Runs) -> Study:
    """The candidates and the runs made of them, as a study like any other."""
    nothing = np.zeros(len(pool), dtype=np.bool_)
    name = study.spec.name
    return Study(name, name, pool, runs, ReadLog(len(runs)), nothing, study.law.name)


def _search(study: LiveStudy, history: History) -> Lookout:
    surrogate = study.surrogate or live_surrogate("trend", seed=study.spec.seed)
    assert surrogate is not None
    pool, targets = study.pool(history.pool), tuple(targets_of(study))
    return Lookout(pool, surrogate, study.law, targets, study.spec.seed, study.spec.law.level)


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
        return None, Found.why_no_law, None, Found.why_no_shares
    targets, level = tuple(targets_of(study)), study.spec.law.level
    options = FitOptions(study.law, targets=tuple(map(Target, targets[:1])), level=level)
    analysis, why_not = try_analyse(part, options)
    return analysis, why_not, *shares_of(part, options, analysis, why_not)


def _known(
    study: LiveStudy, search: Lookout, runs: Runs, memory: Memory, alive: Callable[[], bool]
) -> tuple[Known, ...]:
    """What was known on the way; each count of runs is looked at once."""
    if not search.targets:
        return ()
    dense = study.pricing.together(study.grid, np.arange(len(study.grid)))
    found = []
    for n in ladder(enough_runs(search.law, 1), len(runs)):
        part = first_runs(runs, n)
        key = part.index.tobytes() + part.loss.tobytes() + search.grid.C.tobytes()[:64]
        if key not in memory.known and alive():
            posterior = search.posterior(part)
            outlook = None if posterior is None else search.outlook(part, posterior)
            spent = study.pricing.together(search.grid, part.index) / dense
            answer = None if outlook is None else Known(spent, n, outlook.predictions[0])
            memory.known[key] = answer
        known = memory.known.get(key)
        found += [known] if known is not None else []
    return tuple(found)
