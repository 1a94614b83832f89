"""What the losses on the way of a run say of its end, learnt from finished runs of the study.

Notation and shapes
    u     the share of its tokens that a run has trained
    a, b  (n,) log loss of n finished runs at the share u, and at their end; a − b is the gap
    F     (n, p) features: 1, scales, hyperparameters, their squares and their products with scales,
          categories; each times the SD that its weight may have
    z     (p,) standard normal weights; gap = F z + e, e Student's t with DF degrees of freedom and
          scale σ: normal with SD σ/√w in each row

Under a schedule that decays, a prefix misleads: a high learning rate looks bad until it has
decayed. That is why the gap depends on hyperparameters, and is learnt at the share that a run has
reached. Fitted by expectation-maximisation over w and σ. Before it is used, the ends of finished
runs are predicted, each from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray
from lawsmith.surface.frame import Points

LEAST_RUNS, MOST_RUNS = 8, 100  # finished runs that a gap is learnt from; each is left out once
DF = 4.0  # as the noise of a surface: heavy tails, with a finite variance
# What a weight may be, as an SD of log loss: of the gap; for a factor of e of a scale and of a
# hyperparameter, of its square and its product with a scale; of a category. The gap does not depend
# on a: with a slope of 1 the end would be predicted without the prefix.
LEVEL, SCALE, HP, SQUARE, PRODUCT, CATEGORY = 0.5, 0.03, 0.05, 0.02, 0.01, 0.05
DRIFT = 0.005  # SD of what a gap is off by beyond the finished runs, for a factor of e in compute
USUAL_SD, USUAL_RUNS = 0.005, 2.0  # what σ is expected to be, and how firmly, in runs
ROUNDS = 12
# Root mean square of errors over the scales that they were predicted with: √2 for Student's t with
# 4 degrees of freedom. Above MOST_OFF the model claims to know more than it does.
MOST_OFF = 2.0
NEAR = 1.25  # factor of tokens before a point over which losses are smoothed
LEAST_NEAR = 4  # losses there; with fewer they are interpolated
# By which factor of tokens the first loss may come after a point, and the last one before it.
EARLY, LATE = 1.001, 1.02


def smoothed(curve: Sequence[tuple[float, float]], tokens: float) -> float:
    """Log loss of a run, (tokens, loss) each, at some tokens: of a line through the losses before.

    NaN where its losses begin later or end before.
    """
    D, loss = np.array(curve, dtype=np.float64).T
    if D[0] > EARLY * tokens or LATE * D[-1] < tokens:
        return float("nan")
    x, y = np.log(D / tokens), np.log(loss)
    near = (x >= -np.log(NEAR)) & (x <= np.log(EARLY))
    if near.sum() < LEAST_NEAR:
        return float(np.interp(0.0, x, y))
    return float(np.polyfit(x[near], y[near], 1)[1])


@dataclass(frozen=True, eq=False)
class Gap:
    """The posterior of the gap; make it with `fit_gap`."""

    mean: FloatArray
    cov: FloatArray
    sd: float

    def predict(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(q,) mean and scale of the gap of further runs."""
        variance = np.einsum("ij,jk,ik->i", F, self.cov, F) + self.sd**2
        return F @ self.mean, np.sqrt(variance)


def fit_gap(F: FloatArray, gap: FloatArray) -> Gap:
    w, sd = np.ones(len(gap)), 2.0 * USUAL_SD
    for _ in range(ROUNDS):
        cov = np.linalg.inv(np.eye(F.shape[1]) + (F.T * w) @ F / sd**2)
        mean = cov @ (F.T @ (w * gap)) / sd**2
        square = (gap - F @ mean) ** 2 + np.einsum("ij,jk,ik->i", F, cov, F)
        w = (DF + 1.0) / (DF + square / sd**2)
        total = float(w @ square) + USUAL_RUNS * USUAL_SD**2
        sd = float(np.sqrt(total / (len(gap) + USUAL_RUNS)))
    return Gap(mean, np.asarray(cov, dtype=np.float64), sd)


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Finished runs at one share of their way: their points, a and b."""

    at: Points
    a: FloatArray
    b: FloatArray

    def features(self, at: Points) -> FloatArray:
        """F of some points."""
        S, U = at.S - self.at.S.mean(axis=0), at.U - self.at.U.mean(axis=0)
        products = (U[:, :, None] * S[:, None, :]).reshape(len(at), -1)
        parts = [np.full(len(at), LEVEL), SCALE * S, HP * U, SQUARE * U**2, PRODUCT * products]
        return np.column_stack([*parts, CATEGORY * at.G])

    @cached_property
    def left_out(self) -> tuple[FloatArray, FloatArray]:
        """(n,) how far each gap lies from what the other runs say of it, and the scale of that."""
        F, gap = self.features(self.at), self.a - self.b
        errors, scales = np.empty(len(gap)), np.empty(len(gap))
        for i in range(len(gap)):
            others = np.arange(len(gap)) != i
            mean, scale = fit_gap(F[others], gap[others]).predict(F[i : i + 1])
            errors[i], scales[i] = gap[i] - mean[0], scale[0]
        return errors, scales

    @property
    def proven(self) -> bool:
        """Whether finished runs are enough, and their ends predicted as well as is claimed."""
        if len(self.a) < LEAST_RUNS:
            return False
        errors, scales = self.left_out
        return bool(np.sqrt(np.mean((errors / scales) ** 2)) <= MOST_OFF)

    def covers(self, at: Points) -> BoolArray:
        """(q,) whether the hyperparameters of points lie among those of the finished runs."""
        low, high = self.at.U.min(axis=0), self.at.U.max(axis=0)
        known = self.at.G.max(axis=0)
        inside = (low <= at.U) & (high >= at.U)
        return np.asarray(inside.all(axis=1) & (known >= at.G).all(axis=1))

    def predict(self, at: Points, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(q,) log loss at the end of further runs: mean and scale of a Student's t."""
        fit = fit_gap(self.features(self.at), self.a - self.b)
        gap, scale = fit.predict(self.features(at))
        beyond = DRIFT * np.maximum(at.c - self.at.c.max(), 0.0)
        return a - gap, np.hypot(scale, beyond)
