"""The ledger on the grid: trials as the `Runs` a policy reads, and the candidates left to choose.

A run whose configuration is no candidate (the study file was changed since) keeps its cost and
loses its place in the fit; `History.strangers` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.expressions import mask
from lawsmith.grid import AnyArray, BoolArray, Grid, IntArray
from lawsmith.journal import Event, Ledger, Stage, Trial
from lawsmith.runs import Runs, State
from lawsmith.spec import Candidates

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
    """What was run and what may be.

    runs      on the whole grid: settled ones in the order they were settled, then those pending
    excluded  (m,) candidates that are left alone
    pool      rows a policy sees: candidates not excluded, and those with a run
    paid      rows whose runs the study pays for, each of which leaves a trunk
    """

    runs: Runs
    excluded: BoolArray
    pool: IntArray
    paid: IntArray
    strangers: int

    @cached_property
    def pool_runs(self) -> Runs:
        """The runs, by their place in the pool."""
        return self.runs.select(self.pool)


def history_of(ledger: Ledger, candidates: Candidates) -> History:
    """The history of a ledger."""
    trials = sorted(ledger.trials.values(), key=lambda t: (t.open, t.closed if not t.open else 0))
    rows = [candidates.row_of(trial.config) for trial in trials]
    known = [(row, trial) for row, trial in zip(rows, trials, strict=True) if row is not None]
    runs = Runs(
        np.array([row for row, _ in known], dtype=np.int64),
        np.array([_loss(trial) for _, trial in known], dtype=np.float64),
        np.array([state_of(trial).value for _, trial in known], dtype="<U8"),
    )
    excluded = excluded_rows(ledger.excluded, candidates.grid)
    allowed = ~excluded
    allowed[runs.index] = True
    paid = [row for row, trial in known if trial.by != "import" and trial.stage not in _NO_TRUNK]
    return History(
        runs=runs,
        excluded=excluded,
        pool=np.flatnonzero(allowed),
        paid=np.array(paid, dtype=np.int64),
        strangers=len(trials) - len(known),
    )


def state_of(trial: Trial) -> State:
    """What a trial is to a policy."""
    return _STATES.get(trial.stage, State.PENDING)


def _loss(trial: Trial) -> float:
    return float("nan") if trial.loss is None else trial.loss


def excluded_rows(events: list[Event], grid: Grid) -> BoolArray:
    """(m,) rows that some exclusion covers."""
    out = np.zeros(len(grid), dtype=np.bool_)
    for event in events:
        try:
            out |= covered(event, grid)
        except LawsmithError as error:
            told = event.get("where") or event.get("match")
            hint = "bring back what it names, or take the line out of journal.jsonl"
            got = f"{told!r}, which this study cannot read: {error}"
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
