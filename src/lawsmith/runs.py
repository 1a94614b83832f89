"""Runs: the observations on a grid, with their losses and states, replicates included.

Notation and shapes
    k       runs, in the order they were requested; several may share a row (replicates)
    m       rows of the grid
    index   (k,) grid row of each run
    loss    (k,) loss of each run, finite if done; NaN if there is none
    state   (k,) done, diverged, failed or pending, as text
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.errors import LawsmithError, unknown
from lawsmith.plausible import SIGNED_LOSS


class State(StrEnum):
    """What became of a run."""

    DONE = "done"
    DIVERGED = "diverged"
    FAILED = "failed"
    PENDING = "pending"


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Observations on a grid. Only done runs count; a diverged one keeps its loss if finite.

    index   (k,) row of the grid of each run; several runs may share one
    loss    (k,)
    state   (k,) 'done', 'diverged', 'failed' or 'pending'

    >>> Runs.from_losses([0, 1, 1], [3.1, 2.9, float("nan")])
    Runs: 3 (2 done, 1 diverged)
    """

    index: IntArray
    loss: FloatArray
    state: npt.NDArray[np.str_]

    def __post_init__(self) -> None:
        columns = {
            "index": np.array(self.index, dtype=np.int64),
            "loss": np.array(self.loss, dtype=np.float64),
            "state": np.array(self.state, dtype="<U8"),
        }
        for name, values in columns.items():
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        _check_runs(self)

    @classmethod
    def from_losses(
        cls, index: npt.ArrayLike, loss: npt.ArrayLike, *, diverged_above: float = np.inf
    ) -> Runs:
        """Finished runs: a loss that is NaN, infinite or above ``diverged_above`` diverged."""
        values = np.array(loss, dtype=np.float64)
        values[~np.isfinite(values)] = np.nan
        done = values <= diverged_above
        return cls(np.asarray(index), values, np.where(done, State.DONE, State.DIVERGED))

    @classmethod
    def empty(cls) -> Runs:
        """No runs yet."""
        return cls(np.empty(0, np.int64), np.empty(0), np.empty(0, "<U8"))

    def __repr__(self) -> str:
        states = ", ".join(f"{n} {state}" for state, n in self.counts().items() if n)
        return f"Runs: {len(self)}{f' ({states})' if states else ''}"

    def __len__(self) -> int:
        return len(self.index)

    def of(self, state: State) -> Runs:
        """The runs in ``state``, in order."""
        return self.take(self.state == state.value)

    @property
    def finished(self) -> BoolArray:
        """(k,) runs that ended with information: done or diverged."""
        ended: BoolArray = (self.state == State.DONE.value) | (self.state == State.DIVERGED.value)
        return ended

    @property
    def any_done(self) -> bool:
        return bool((self.state == State.DONE.value).any())

    def first(self, n: int) -> Runs:
        """The first ``n`` runs."""
        return self.take(slice(n))

    def begins_with(self, other: Runs) -> bool:
        """Whether the first of these runs are those of ``other``."""
        mine = self.first(len(other))
        return (
            np.array_equal(mine.index, other.index)
            and np.array_equal(mine.loss, other.loss, equal_nan=True)
            and np.array_equal(mine.state, other.state)
        )

    def counts(self) -> dict[str, int]:
        """How many runs are in each state, every state listed."""
        return {state.value: int((self.state == state.value).sum()) for state in State}

    def config_loss(self, m: int) -> FloatArray:
        """(m,) mean loss over the done replicates of each row, NaN if there are none."""
        done = self.of(State.DONE)
        done._check_rows(m)
        n_done = np.bincount(done.index, minlength=m)
        # Summed in order of loss, so that the order of runs does not change the last digit.
        order = np.lexsort((done.loss, done.index)) if n_done.max(initial=0) > 1 else slice(None)
        total = np.bincount(done.index[order], weights=done.loss[order], minlength=m)
        return np.where(n_done > 0, total, np.nan) / np.maximum(n_done, 1)

    def replicate_counts(self, m: int) -> IntArray:
        """(m,) the number of done runs of each row."""
        done = self.of(State.DONE)
        done._check_rows(m)
        return np.bincount(done.index, minlength=m).astype(np.int64)

    def replicate_sd(self) -> tuple[float, int]:
        """(SD of log loss pooled over replicated rows, degrees of freedom); (NaN, 0) if none."""
        done = self.of(State.DONE)
        order = np.lexsort((done.loss, done.index))
        _, row, n = np.unique(done.index[order], return_inverse=True, return_counts=True)
        dof = int((n - 1).sum())
        if dof == 0 or done.loss.min() <= 0.0:  # losses relative to a baseline have no log
            return float("nan"), 0
        log_loss = np.log(done.loss[order])
        mean = np.bincount(row, weights=log_loss) / n
        return float(np.sqrt(((log_loss - mean[row]) ** 2).sum() / dof)), dof

    def select(self, rows: npt.ArrayLike) -> Runs:
        """The runs on ``rows`` (indices or a mask), re-indexed onto ``grid.subset(rows)``."""
        array = np.asarray(rows)
        kept = np.flatnonzero(array) if array.dtype == np.bool_ else array.astype(np.int64)
        if len(np.unique(kept)) < len(kept):
            raise LawsmithError("rows", got="a row twice", want="distinct rows")
        n_rows = 1 + max(kept.max(initial=-1), self.index.max(initial=-1))
        place = np.full(n_rows, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        kept_runs = self.take(place[self.index] >= 0)
        return Runs(place[kept_runs.index], kept_runs.loss, kept_runs.state)

    def append(self, other: Runs) -> Runs:
        """These runs, then those of ``other``."""
        return Runs(
            np.concatenate([self.index, other.index]),
            np.concatenate([self.loss, other.loss]),
            np.concatenate([self.state, other.state]),
        )

    def take(self, which: BoolArray | slice) -> Runs:
        """Some of these runs."""
        some = object.__new__(Runs)  # no checks: these runs have passed them
        for name in ("index", "loss", "state"):
            values = getattr(self, name)[which]
            values.setflags(write=False)
            object.__setattr__(some, name, values)
        return some

    def _check_rows(self, m: int) -> None:
        if len(self) and self.index.max() >= m:
            raise LawsmithError("runs", got=f"row {self.index.max()}", want=f"rows below {m}")


def _check_runs(runs: Runs) -> None:
    k = len(runs.index)
    if not runs.index.shape == runs.loss.shape == runs.state.shape == (k,):
        shapes = f"{runs.index.shape}, {runs.loss.shape} and {runs.state.shape}"
        raise LawsmithError("runs", got=f"index, loss and state of shapes {shapes}", want=f"({k},)")
    if k and runs.index.min() < 0:
        raise LawsmithError("runs", got=f"row {runs.index.min()}", want="rows from 0")
    known = [state.value for state in State]
    # Compared one by one: a set difference sorts text, which would take a tenth of a replay.
    if not np.logical_or.reduce([runs.state == word for word in known]).all():
        raise unknown("runs.state", str(np.setdiff1d(runs.state, known)[0]), known)
    bad = (runs.state == State.DONE.value) & ~np.isfinite(runs.loss)
    if bad.any():
        run = int(np.argmax(bad))
        raise LawsmithError("loss", got=f"{runs.loss[run]:g} in run {run}", want="a finite number")
    bad = (runs.state == State.DONE.value) & ~SIGNED_LOSS.contains(runs.loss)
    if bad.any():
        run = int(np.argmax(bad))
        raise LawsmithError("loss", got=f"{runs.loss[run]:g} in run {run}", want=SIGNED_LOSS.want)
