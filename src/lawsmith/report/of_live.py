"""A report's source from a live study: its journal folded, and the answer after the runs so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, Target
from lawsmith.charts.data.narrowing import Known
from lawsmith.charts.data.outlook import Seen
from lawsmith.charts.data.timeline import Event
from lawsmith.datasets import ReadLog
from lawsmith.datasets.records import Study
from lawsmith.grid import Grid
from lawsmith.journal import Ledger, Stage, Trial, driver_of
from lawsmith.outlook import Outlook
from lawsmith.report.laws import shares_of, try_analyse
from lawsmith.report.outlooks import Lookout, enough_runs, first_runs, ladder, settled
from lawsmith.report.parts import RunTable
from lawsmith.report.reasons import reasons
from lawsmith.report.run_table import run_table
from lawsmith.report.source import Failure, Live, Reason, Record, Source, Spend
from lawsmith.runners.results import log_tail
from lawsmith.runs import Runs, State
from lawsmith.study.answer import targets_of
from lawsmith.study.history import state_of
from lawsmith.study.live import LiveStudy
from lawsmith.study.schedule import live_surrogate

N_NEXT = 4
TAIL = 12  # lines of a failed run's log
_STATES = {State.DONE: "done", State.DIVERGED: "diverged", State.FAILED: "failed"}


@dataclass(frozen=True, eq=False)
class Found:
    """What takes a while to find out after a change: laws, the outlook, what comes next."""

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


def live_source(study: LiveStudy, ledger: Ledger, found: Found, record: Record) -> Source:
    """The source of a report on a study as it stands; ``found`` may be of an earlier moment."""
    history = study.history(ledger)
    pool = study.pool(history.pool)
    every = np.arange(len(study.grid))
    speed = study.spec.throughput
    trials = list(ledger.trials.values())
    return Source(
        kind="live",
        study=_study(study, pool, settled(history.pool_runs)),
        law=study.law,
        spend=Spend(
            spent=ledger.spend,
            dense=study.pricing.together(study.grid, every),
            n_runs=len(trials),
            n_dense=len(study.grid),
            budget=study.budget,
            flops_per_second=None if speed is None else speed.flops_per_second,
        ),
        runs=_runs(study, trials, found.seen),
        record=record,
        analysis=found.analysis,
        why_no_law=found.why_no_law,
        shares=found.shares,
        why_no_shares=found.why_no_shares,
        seen=found.seen,
        both=found.both,
        n_answered=found.n_runs,
        known=found.known,
        events=_events(study, ledger),
        live=_live(study, ledger, history.strangers, int(history.excluded.sum())),
        reasons=found.reasons,
    )


def find_out(
    study: LiveStudy,
    ledger: Ledger,
    memory: Memory,
    *,
    n_next: int = N_NEXT,
    alive: Callable[[], bool] = lambda: True,
) -> Found:
    """The outlook after a ledger's runs and on the way to it, and what would be asked for next.

    ``alive`` is asked between steps: once it says no, what is there by then is all.
    """
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), settled(history.pool_runs)
    surrogate = study.surrogate or live_surrogate("trend", seed=study.spec.seed)
    assert surrogate is not None
    targets = tuple(targets_of(study))
    seed, level = study.spec.seed, study.spec.law.level
    search = Lookout(pool, surrogate, study.law, targets, seed, level)
    n_done = int((runs.state == State.DONE.value).sum())
    seen, both = None, None
    if n_done >= enough_runs(study.law, 1):
        posterior = search.posterior(runs)
        found = None if posterior is None else search.outlook(runs, posterior)
        if posterior is not None and found is not None:
            seen = Seen(study.spec.name, pool, runs, posterior, found)
            both = search.both(runs, posterior) if alive() else None
    following = reasons(study, ledger, n_next) if n_next and ledger.ended is None else ()
    known = _known(study, search, runs, memory, alive)
    laws = _laws(study, _study(study, pool, runs), targets)
    return Found(n_done, *laws, seen, both, known, following)


def _laws(
    study: LiveStudy, part: Study, targets: tuple[float, ...]
) -> tuple[Analysis | None, str, Analysis | None, str]:
    """The law of the runs made and that of N and D, each with why there is none."""
    if not (part.runs.state == State.DONE.value).any():
        return None, Found.why_no_law, None, Found.why_no_shares
    level = study.spec.law.level
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


def _study(study: LiveStudy, pool: Grid, runs: Runs) -> Study:
    nothing = np.zeros(len(pool), dtype=np.bool_)
    name = study.spec.name
    return Study(name, name, pool, runs, ReadLog(len(runs)), nothing, study.law.name)


def _live(study: LiveStudy, ledger: Ledger, strangers: int, n_excluded: int) -> Live:
    troubled = (Stage.FAILED, Stage.QUARANTINED, Stage.WAITING)
    trials = list(ledger.trials.values())
    done = [t for t in trials if t.stage is Stage.FINISHED and t.loss is not None]
    seen = [
        float(study.grid.C[row])
        for t in trials
        if t.stage in (Stage.FINISHED, Stage.DIVERGED)
        and (row := study.candidates.row_of(t.config)) is not None
    ]
    return Live(
        counts={stage: n for stage, n in ledger.counts().items() if n},
        driver=driver_of(study.layout.lock),
        ended=ledger.ended,
        torn=study.journal.torn,
        strangers=strangers,
        n_excluded=n_excluded,
        reached=max(seen, default=None),
        largest=float(study.grid.C.max()),
        best=min(done, key=lambda t: t.loss or 0.0, default=None),
        under_way=tuple(t for t in trials if t.open),
        failures=tuple(_failure(study, t) for t in trials if t.stage in troubled),
    )


def _failure(study: LiveStudy, trial: Trial) -> Failure:
    attempt = trial.attempt - 1 if trial.stage is Stage.WAITING else trial.attempt
    folder = study.layout.attempt(trial.name, attempt)
    return Failure(trial, log_tail(folder, TAIL) if trial.started else "")


def _events(study: LiveStudy, ledger: Ledger) -> tuple[Event, ...]:
    """Trials in the order they were asked for; those of no candidate have no compute."""
    n_init = study.spec.policy.n_init
    found = []
    for i, trial in enumerate(ledger.trials.values()):
        row = study.candidates.row_of(trial.config)
        if row is None:
            continue
        loss = float("nan") if trial.loss is None else trial.loss
        config = {k: v for k, v in trial.config.items() if k != "model"}
        state = _state(trial)
        state = "initial" if state == "done" and i < n_init else state
        found.append(Event(trial.name, float(study.grid.C[row]), loss, state, config))
    return tuple(found)


def _state(trial: Trial) -> str:
    return _STATES.get(state_of(trial), "pending")


def _runs(study: LiveStudy, trials: list[Trial], seen: Seen | None) -> RunTable:
    placed = [(study.candidates.row_of(trial.config), trial) for trial in trials]
    known = [(row, trial) for row, trial in placed if row is not None]
    rows = np.array([row for row, _ in known], dtype=np.int64)
    kept = [trial for _, trial in known]
    loss = np.array([np.nan if t.loss is None else t.loss for t in kept], dtype=np.float64)
    return run_table(
        study.grid,
        rows,
        first={
            "run": [t.name for t in kept],
            "state": [t.stage.value for t in kept],
            "model": [str(t.config.get("model", "")) for t in kept],
        },
        loss=loss,
        fit=None if seen is None else seen.outlook.fit,
        last={
            "by": [t.by for t in kept],
            "attempt": [t.attempt for t in kept],
            "remark": [": ".join(filter(None, (t.reason, t.detail))) for t in kept],
        },
    )
