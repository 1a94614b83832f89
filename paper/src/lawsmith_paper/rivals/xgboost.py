"""A bagged ensemble of XGBoost regressors: its mean, and the spread of its members.

Notation and shapes
    B      members; member b sees observed row i with weight w_bi ~ Poisson(1) (the Poisson
           bootstrap), so that about a third of the rows are unseen by each
    X      (m, d) the unit cube, `Grid.unit`; trees only use its order and its categories
    F      (B, m) predictions of the members on the standardised scale

The weights belong to the rows of the grid, not to the list of observations: one more run changes
no other weight, and the order of runs is of no account. The deviation is the spread of the members
and nothing is added to it: where all agree, as they do for a constant loss or a single
observation, it is 0. There are no joint draws: B functions are too few to draw from. Every observed
row counts once, however many replicates its mean is of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior, observations
from lawsmith.surrogates.gp.kernel import check_names
from lawsmith_paper.rivals.extras import needs_extra
from lawsmith_paper.rivals.targets import standardised


@dataclass(frozen=True)
class XGBoostEnsemble:
    """``n_members`` boosted ensembles of ``n_rounds`` trees of depth ``max_depth``."""

    n_members: int = 10
    n_rounds: int = 100
    max_depth: int = 4
    learning_rate: float = 0.1
    scale: str = "loss"
    seed: int = 0

    def __post_init__(self) -> None:
        check_names(scale=self.scale)
        if self.n_members < 2:
            raise LawsmithError("surrogate xgboost", got=self.n_members, want="at least 2 members")

    @property
    def name(self) -> str:
        return "xgboost"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """Mean and SD over the members; with pending runs, the members are fitted a second time."""
        seen = observations(grid, runs, self.scale)
        order = np.argsort(seen.rows)
        rows, y = seen.rows[order], standardised(seen.y[order])
        X = grid.unit()
        weights = self._bootstrap(len(grid), rows)
        F = self._members(X, rows, y.z, weights)
        mean, sd = F.mean(axis=0), F.std(axis=0, ddof=1)
        if len(seen.pending):
            F = self._members(
                X,
                np.concatenate([rows, seen.pending]),
                np.concatenate([y.z, mean[seen.pending]]),
                # Every member is told of a fantasy: it is not resampled.
                np.pad(weights, ((0, 0), (0, len(seen.pending))), constant_values=1.0),
            )
            # A fantasy teaches nothing: the mean stays, and no deviation can grow by it.
            sd = np.minimum(sd, F.std(axis=0, ddof=1))
        return Posterior(y.mean + y.sd * mean, y.sd * sd, self.scale, float(seen.y.min()))

    def _bootstrap(self, m: int, rows: IntArray) -> FloatArray:
        """(B, k) weights of the observed rows; a member that would see nothing sees everything."""
        weights = np.random.default_rng(self.seed).poisson(1.0, (self.n_members, m))[:, rows]
        return np.where(weights.any(axis=1, keepdims=True), weights, 1).astype(np.float64)

    def _members(
        self, X: FloatArray, rows: IntArray, z: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """(B, m) predictions of the members fitted to targets ``z`` (k,) at ``rows`` (k,)."""
        with needs_extra("xgboost"):
            import xgboost as xgb
        options = {
            "objective": "reg:squarederror",
            "base_score": 0.0,  # the mean, on the standardised scale
            "max_depth": self.max_depth,
            "learning_rate": self.learning_rate,
            "tree_method": "exact",  # faster than histograms at these sizes
            "nthread": 1,  # sums in one order, so that results do not depend on threads
            "seed": self.seed,
            "verbosity": 0,
        }
        candidates = xgb.DMatrix(X, nthread=1)
        members = []
        for w in weights:
            used = w > 0.0
            data = xgb.DMatrix(X[rows[used]], label=z[used], weight=w[used], nthread=1)
            members.append(xgb.train(options, data, self.n_rounds).predict(candidates))
        return np.array(members, dtype=np.float64)
