"""Cold fits of one law to many sets of points at once, as a replay needs them after every run.

The steps are those of `fit_law`, each done for all sets together: a set of twenty points is so
little work that numpy's cost per call dominates. Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, FloatArray, IntArray
from lawsmith.laws.fit import (
    best_of,
    cold_starts,
    fit_law,
    make_problem,
    minima,
)
from lawsmith.laws.law import Law
from lawsmith.laws.optimise import Problem


class PointSet(NamedTuple):
    """The points that a law is fitted to.

    inputs    of the law by name, (n,) each
    loss      (n,) above 0
    weights   (n,) factors of each point's part of the objective; 1 if None
    """

    inputs: Mapping[str, Any]
    loss: FloatArray
    weights: FloatArray | None = None


@saturating
def fit_many(law: Law, sets: Sequence[PointSet]) -> FloatArray:
    """(B, p) phi of each set, fitted with the law's own objective from cold starts.

    Every set needs as many points as the law has parameters. The result agrees with `fit_law` to
    the optimiser's tolerance; its last digits depend on the other sets of the batch. A set that
    does not converge in the batch (a kink of Huber's through few points) is fitted by `fit_law`.
    """
    if not sets:
        return np.empty((0, law.n_params))
    problems = [_single(law, points) for points in sets]
    starts = [cold_starts(law, problem) for problem in problems]
    owner = np.repeat(np.arange(len(sets)), [len(start) for start in starts])
    found, owner = minima(_stack(problems), np.concatenate(starts), owner)
    best = [best_of(found, np.flatnonzero(owner == b)) for b in range(len(sets))]
    phi = found.phi[best]
    for b in np.flatnonzero(~found.converged[best]).tolist():
        phi[b] = fit_law(law, sets[b].inputs, sets[b].loss, weights=sets[b].weights).phi
    return phi


def _single(law: Law, points: PointSet) -> Problem:
    n = len(points.loss)
    if n < law.n_params:
        want = f"at least {law.n_params}"
        raise LawsmithError(law.name, got=f"{n} points in a set", want=want)
    w = np.ones(n) if points.weights is None else points.weights
    x = law.log_inputs(points.inputs)
    return make_problem(law, law.objective, x, points.loss[None], w[None], {})


def _stack(problems: Sequence[Problem]) -> Problem:
    """The problems of the sets as one problem of B rows."""
    sets = np.arange(len(problems))
    owner = np.repeat(sets, [problem.y.shape[1] for problem in problems])
    index, real = pad(owner == sets[:, None])
    x, y, w = (np.concatenate([getattr(p, part) for p in problems], axis=-1) for part in "xyw")
    upper = np.concatenate([problem.upper for problem in problems])
    return replace(problems[0], x=x[:, 0, index], y=y[0, index], w=w[0, index] * real, upper=upper)


def pad(chosen: BoolArray) -> tuple[IntArray, FloatArray]:
    """Masks (B, m) → column indices (B, n) and weights (B, n): 1 for real points, 0 for padding.

    Padding repeats the last point of its row, so that it never has an invalid value.
    """
    sizes = chosen.sum(axis=1, keepdims=True)
    place = np.arange(int(sizes.max()))
    index = np.zeros((len(chosen), len(place)), dtype=np.int64)
    index[place < sizes] = np.nonzero(chosen)[1]
    repeated = np.take_along_axis(index, np.minimum(place, sizes - 1), axis=1)
    return repeated, (place < sizes).astype(np.float64)
