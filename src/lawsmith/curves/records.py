"""Records: losses along runs beside a study, predicted ends, what an answer used of curves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.trajectory import Curve


@dataclass(frozen=True, eq=False)
class Along:
    """Curves beside the runs of a study.

    curves   each with its N and its hyperparameters, as far as they are known
    parent   (k,) for each run of the study the curve that it was branched from, -1 for none
    at       (k,) tokens at the branch point, NaN if unknown
    own      (k,) the curve of the run itself, -1 for none
    notes    one sentence each, for people
    """

    curves: tuple[Curve, ...]
    parent: IntArray
    at: FloatArray
    own: IntArray
    notes: tuple[str, ...] = ()

    def of(self, kept: BoolArray) -> Along:
        """The same for the runs that ``kept`` (k,) selects."""
        at = (self.parent[kept], self.at[kept], self.own[kept])
        return replace(self, parent=at[0], at=at[1], own=at[2])


@dataclass(frozen=True)
class End:
    """The loss that a run ends with: of a trunk after a decay, of a scheduled run at its horizon.

    D        tokens at the end
    low, high          interval of the loss without the noise of a run
    run_low, run_high  with it
    """

    run: str
    kind: str
    N: float
    D: float
    loss: float
    low: float
    high: float
    run_low: float
    run_high: float


@dataclass(frozen=True, eq=False)
class CurveFinding:
    """What an answer used of the curves.

    n_trunks, n_branches   that the gain of a decay was learnt from
    gain       log loss that a decay takes off at the middle of the branches
    noise      SD of log loss of one further branch
    share      of a run that is decay, unless a target gives it
    n_rows     losses that were inferred for the surface
    ends       predicted ends of trunks and of unfinished runs
    notes      what was not used, and why
    """

    n_trunks: int
    n_branches: int
    gain: float
    noise: float
    share: float
    n_rows: int
    ends: tuple[End, ...]
    notes: tuple[str, ...]
