"""The law a user would fit to each ScaleBench table, from the papers the tables come from.

Those of lawsmith: farseer, repeated, experts and vocabulary. Here are the others. Notation and
shapes as in :mod:`lawsmith.laws.law`; P parallel streams, u = log(lr/lr₀), v = log(batch/batch₀),
n = log(N/N₀), d = log(D/D₀).

    lr&bsz    (E + A·N^-α + B·D^-β)·exp q(u, v; n, d)   q a quadratic without terms in n and d
              alone, so that the best lr and batch are power laws of N and D (Step Law, 2503.04715)
    sparsity  E + A·N^-α·P^-γ in N active and P = N total / N active, for each D2
    parallel  E + B·(N·(1 + k·log P))^-α: streams act as parameters (Chen et al., 2505.10475)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.laws.catalogue import CHINCHILLA, EXPERTS, LN
from lawsmith.laws.law import (
    Law,
    LogPoints,
    Param,
    Starts,
    asymptote,
    coefficient,
    define,
    exponent,
)

# Where n, d, u, v are 0. Round numbers amid the pool: they change parameters, not predictions.
REFERENCE: Mapping[str, float] = {"N": 3e8, "D": 1e10, "lr": 2e-3, "bsz": 256.0}
# The terms of q by name, as positions of their factors among N, D, lr, bsz.
BOWL: Mapping[str, tuple[int, ...]] = {
    "u": (2,),
    "v": (3,),
    "uu": (2, 2),
    "vv": (3, 3),
    "uv": (2, 3),
    "un": (2, 0),
    "ud": (2, 1),
    "vn": (3, 0),
    "vd": (3, 1),
}
_N_BASE = CHINCHILLA.n_params


@dataclass(frozen=True)
class Bowl:
    """Chinchilla's law times exp q: f gains a sum linear in its parameters, without curvature."""

    def features(self, x: FloatArray) -> FloatArray:
        """(K, B or 1, n) the terms of q with coefficient 1."""
        z = x - np.log(list(REFERENCE.values()))[:, None, None]
        return np.stack([np.prod(z[list(factors)], axis=0) for factors in BOWL.values()])

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        base = CHINCHILLA.form.value(phi[:, :_N_BASE], x)
        return base + self._bowl(phi, self.features(x))

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        base, slopes = CHINCHILLA.form.value_and_jac(phi[:, :_N_BASE], x)
        features = self.features(x)
        wide = np.broadcast_to(features, (len(BOWL), *base.shape))
        jac = np.concatenate([slopes, wide.transpose(1, 0, 2)], axis=1)
        return base + self._bowl(phi, features), jac

    def curvature(
        self, phi: FloatArray, x: FloatArray, w: FloatArray, jac: FloatArray
    ) -> FloatArray:
        base = CHINCHILLA.form.curvature(phi[:, :_N_BASE], x, w, jac[:, :_N_BASE])
        return np.pad(base, ((0, 0), (0, len(BOWL)), (0, len(BOWL))))

    def _bowl(self, phi: FloatArray, features: FloatArray) -> FloatArray:
        return np.asarray((phi[:, _N_BASE:].T[:, :, None] * features).sum(axis=0))


def _bowl_starts(at: LogPoints, fixed: Mapping[int, float]) -> FloatArray:
    """q by linear regression beside n and d, then Chinchilla's starts on what q leaves."""
    features = Bowl().features(at.x)[:, 0]
    root = np.sqrt(at.w)
    design = np.concatenate([np.ones((1, len(at.y))), at.x[:2, 0], features]) * root
    q = np.linalg.lstsq(design.T, at.y * root, rcond=1e-9)[0][3:]
    left = LogPoints(at.x[:2], at.y - q @ features, at.w)
    return np.array([[*s, *q] for s in _starts(CHINCHILLA, left)])


def _starts(law: Law, at: LogPoints) -> FloatArray:
    assert law.starts is not None
    return law.starts(at, {})


def effective_parameters(N: Any, P: Any, k: Any) -> Any:
    """Parameters of a single stream worth as much as N in P streams."""
    return N * (1.0 + k * np.log(P))


Warp = Callable[[FloatArray, float], FloatArray]


def _profiled(base: Law, warp: Warp, values: tuple[float, ...]) -> Starts:
    """Starts of ``base`` on warped log inputs (q, 1, n), for values of the warp's parameter."""

    def starts(at: LogPoints, fixed: Mapping[int, float]) -> FloatArray:
        warped = [(np.log(v), at._replace(x=warp(at.x, v))) for v in values]
        return np.array([[*s, log_v] for log_v, to in warped for s in _starts(base, to)])

    return starts


def _streams(x: FloatArray, k: float) -> FloatArray:
    N, P = np.exp(x)
    return np.asarray(np.log(effective_parameters(N, P, k)))[None]


LR_BSZ = Law(
    "chinchilla-bowl",
    "L = (E + A·N^-α + B·D^-β)·exp q(log lr, log bsz; log N, log D)",
    tuple(REFERENCE),
    (*CHINCHILLA.params, *(Param(name, lower=-5.0, upper=5.0) for name in BOWL)),
    Bowl(),
    _bowl_starts,
)

PARALLEL = replace(
    define(
        "parallel-streams",
        lambda x, E, B, alpha, k: (
            E + B * effective_parameters(x["N"], x["parallel_size"], k) ** -alpha
        ),
        inputs=("N", "parallel_size"),
        params=(
            asymptote(),
            coefficient("B"),
            exponent("alpha"),
            coefficient("k", lower=1e-3, upper=1e2),
        ),
        formula="L = E + B·(N·(1 + k·log P))^-α",
    ),
    starts=_profiled(LN, _streams, (0.1, 0.4, 1.6)),
)

SPARSITY = replace(EXPERTS, inputs=("N", "P"))

# Losses relative to a unigram model are negative: the law is of loss + VOCAB_OFFSET. Least squares
# on the loss, and R², do not see the offset.
VOCAB_OFFSET = 10.0
