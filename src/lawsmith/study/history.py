"""The ledger on the grid: trials as the `Runs` a policy reads, and the candidates left to choose.

A run that matches no candidate (the study file has changed) counts in the spend but is not fitted;
`History.unmatched` counts such runs. A trunk is no run: while it is under way, or after it diverged
or failed, it stands for the candidate that it was started for. A run that passed ends of decays has
a result at each of them that is a candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.expressions import mask
from lawsmith.grid import AnyArray, BoolArray, FloatArray, Grid, IntArray
from lawsmith.journal import Event, Ledger, Stage, Trial
from lawsmith.journal.fold import Config
from lawsmith.runs import Runs, State
from lawsmith.spec import Candidates, StudySpec

_STATES = {
    Stage.FINISHED: State.DONE,
    Stage.DIVERGED: State.DIVERGED,
    Stage.FAILED: State.FAILED,
    Stage.QUARANTINED: State.FAILED,
    Stage.CANCELLED: State.FAILED,
}
_NO_TRUNK = (Stage.FAILED, Stage.CANCELLED)


@dataclass(frozen=True, eq=False)
class History:
    """The runs of a study, and the candidates left.

    runs      on the whole grid: those that ended, in the order they did, then those pending
    names     of the trial of each run
    excluded  (m,) candidates that are excluded
    pool      rows a policy sees: candidates not excluded, and those with a run
    paid      rows whose runs the study pays for, each of which leaves a trunk
    metrics   further numbers of runs by name, in their order; NaN where a run has none
    """

    runs: Runs
    names: tuple[str, ...]
    excluded: BoolArray
    pool: IntArray
    paid: IntArray
    unmatched: int
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)

    @cached_property
    def pool_runs(self) -> Runs:
        """The runs, by their place in the pool."""
        return self.runs.select(self.pool)


class Entry(NamedTuple):
    """A run on the grid; ``order`` sorts runs that ended by the event that ended them."""

    order: tuple[bool, int]
    row: int
    loss: float
    state: State
    trial: Trial


def history_of(ledger: Ledger, candidates: Candidates, spec: StudySpec) -> History:
    """The history of a ledger."""
    found: list[Entry] = []
    unmatched = 0
    awaited = {trial.parent for trial in ledger.trials.values() if trial.kind == "branch"}
    for trial in ledger.trials.values():
        if trial.kind == "trunk":
            if trial.name not in awaited:
                found += _of_trunk(trial, candidates, spec)
            continue
        own = _of_run(trial, candidates, spec.results.tolerance)
        unmatched += not own
        found += own
    found.sort(key=lambda entry: entry.order)
    runs = Runs(
        np.array([entry.row for entry in found], dtype=np.int64),
        np.array([entry.loss for entry in found], dtype=np.float64),
        np.array([entry.state.value for entry in found], dtype="<U8"),
    )
    excluded = excluded_rows(ledger.excluded, candidates.grid)
    allowed = ~excluded
    allowed[runs.index] = True
    paid = [e.row for e in found if e.trial.by != "import" and e.trial.stage not in _NO_TRUNK]
    return History(
        runs=runs,
        names=tuple(entry.trial.name for entry in found),
        excluded=excluded,
        pool=np.flatnonzero(allowed),
        paid=np.array(paid, dtype=np.int64),
        unmatched=unmatched,
        metrics=_metrics(found),
    )


def _metrics(entries: list[Entry]) -> dict[str, FloatArray]:
    """By name, (n,): of the end of each run, not of what it passed on its way."""
    of_each = [e.trial.metrics if e.order == (False, e.trial.closed) else {} for e in entries]
    names = dict.fromkeys(name for metrics in of_each for name in metrics)
    return {name: np.array([metrics.get(name, np.nan) for metrics in of_each]) for name in names}


def _of_run(trial: Trial, candidates: Candidates, tolerance: float) -> list[Entry]:
    """The entry of a trial, and those of the decays that it passed."""
    found = []
    for tokens, loss, number in trial.passed:
        if abs(tokens - trial.D) <= tolerance * trial.D:
            continue  # its own end, which has its own event
        row = row_near(candidates, trial.config, tokens, tolerance)
        if row is not None:
            found.append(Entry((False, number), row, loss, State.DONE, trial))
    row = candidates.row_of(trial.config)
    return found if row is None else [*found, _entry(trial, row)]


def _of_trunk(trial: Trial, candidates: Candidates, spec: StudySpec) -> list[Entry]:
    """The entry of a trunk without a branch; a finished one has none."""
    row = row_of_trunk(trial, candidates, spec.trunks.decay)
    return [] if row is None or trial.stage is Stage.FINISHED else [_entry(trial, row)]


def _entry(trial: Trial, row: int) -> Entry:
    loss = float("nan") if trial.loss is None else trial.loss
    return Entry((trial.open, max(trial.closed, 0)), row, loss, state_of(trial), trial)


def row_of_trunk(trial: Trial, candidates: Candidates, decay: float) -> int | None:
    """The candidate that a trunk is for: a decay that leaves the trunk at its end ends there."""
    return row_near(candidates, trial.config, trial.D / (1.0 - decay), 1e-6)


def row_near(candidates: Candidates, config: Config, tokens: float, tolerance: float) -> int | None:
    """The candidate with this configuration but for D, which is the nearest to ``tokens``."""
    D = candidates.grid.D
    near = np.unique(D[np.abs(D - tokens) <= tolerance * tokens])
    for value in near[np.argsort(np.abs(near - tokens))].tolist():
        if (row := candidates.row_of({**config, "D": value})) is not None:
            return row
    return None


def state_of(trial: Trial) -> State:
    """The state of a trial as a policy sees it."""
    return _STATES.get(trial.stage, State.PENDING)


def excluded_rows(events: list[Event], grid: Grid) -> BoolArray:
    """(m,) rows that some exclusion covers."""
    out = np.zeros(len(grid), dtype=np.bool_)
    for event in events:
        try:
            out |= covered(event, grid)
        except LawsmithError as error:
            exclusion = event.get("where") or event.get("match")
            hint = "bring back what it names, or take the line out of journal.jsonl"
            got = f"{exclusion!r}, which this study cannot read: {error}"
            raise LawsmithError("an exclusion on record", got=got, hint=hint) from None
    return out


def covered(event: Event, grid: Grid) -> BoolArray:
    """(m,) rows that one exclusion covers: where an expression holds, or values match."""
    found = np.ones(len(grid), dtype=np.bool_)
    match = event.get("match")
    where = event.get("where")
    if isinstance(where, str):
        found &= mask(where, columns_of(grid))
    elif isinstance(match, dict) and match:
        for name, value in match.items():
            found &= _equal(grid, str(name), value)
    else:
        raise LawsmithError("excluded", got=str(event)[:80], want="'where' or 'match'")
    return found


def _equal(grid: Grid, name: str, value: object) -> BoolArray:
    if name not in grid.columns:
        return np.zeros(len(grid), dtype=np.bool_)
    column = grid.columns[name]
    if column.dtype == np.float64:
        number = float(value) if isinstance(value, int | float) else np.nan
        return np.equal(column, number)
    return np.equal(column, str(value))


def columns_of(grid: Grid) -> dict[str, AnyArray]:
    """What an expression over candidates may use."""
    return {**grid.columns, "C": grid.C, "tokens_per_param": grid.D / grid.N}
