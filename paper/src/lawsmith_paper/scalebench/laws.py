"""The law a user would fit to each ScaleBench table, from the papers the tables come from.

Notation and shapes as in :mod:`lawsmith.laws.law`; U unique tokens, P parallel streams, X experts
or sparsity, V vocabulary, u = log(lr/lr₀), v = log(batch/batch₀), n = log(N/N₀), d = log(D/D₀).

    lr&bsz    (E + A·N^-α + B·D^-β)·exp q(u, v; n, d)   q a quadratic without terms in n and d
              alone, so that the best lr and batch are power laws of N and D (Step Law, 2503.04715)
    farseer   E + (A·N^-α + B·D^-β)^k, built in. Its authors' law (2506.10972) has 9 parameters;
              of the built-in laws this one fits and extrapolates the pool itself far best
    data_con  E + A·N^-α + B·D_eff^-β, D_eff = U·(1 + R·(1 − exp(−(D/U − 1)/R))): what a repeated
              token is worth decays (Muennighoff et al., 2305.16264, excess parameters left out)
    moe       E + A·N^-α·X^-β: experts multiply parameters (after Clark et al., 2202.01169)
    sparsity  the same in N active and P = N total / N active, for each D2
    vocab     E + A·N^-α + B·D^-β·V^γ: D counts characters, of which a larger vocabulary makes
              fewer tokens (after Tao et al., 2407.13623)
    parallel  E + B·(N·(1 + k·log P))^-α: streams act as parameters (Chen et al., 2505.10475)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.laws.catalogue import CHINCHILLA, LN
from lawsmith.laws.forms import Power, SumOfPowers, Term
from lawsmith.laws.law import (
    Law,
    Param,
    Starts,
    TradeOff,
    asymptote,
    coefficient,
    define,
    exponent,
)
from lawsmith.laws.objective import LEAST_SQUARES_LOSS
from lawsmith.laws.starts import sum_of_powers_starts

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

    def trade_off(self, phi: FloatArray) -> TradeOff | None:
        """None: the best N and D depend on the hyperparameters."""
        return None

    def _bowl(self, phi: FloatArray, features: FloatArray) -> FloatArray:
        return np.asarray((phi[:, _N_BASE:].T[:, :, None] * features).sum(axis=0))


def _bowl_starts(
    x: FloatArray, y: FloatArray, w: FloatArray, fixed: Mapping[int, float]
) -> FloatArray:
    """q by linear regression beside n and d, then Chinchilla's starts on what q leaves."""
    features = Bowl().features(x)[:, 0]
    root = np.sqrt(w)
    design = np.concatenate([np.ones((1, len(y))), x[:2, 0], features]) * root
    q = np.linalg.lstsq(design.T, y * root, rcond=1e-9)[0][3:]
    return _pinned([[*s, *q] for s in _starts(CHINCHILLA, x[:2], y - q @ features, w)], fixed)


def _starts(law: Law, x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    assert law.starts is not None
    return law.starts(x, y, w, {})


def _pinned(starts: list[list[float]], fixed: Mapping[int, float]) -> FloatArray:
    out = np.array(starts)
    for j, value in fixed.items():
        out[:, j] = value
    return out


def effective_tokens(D: Any, U: Any, R: Any) -> Any:
    """Fresh tokens worth as much as D drawn from U unique ones; U·(1 + R) at most."""
    seen = np.minimum(U, D)
    return seen * (1.0 + R * (1.0 - np.exp(-(D / seen - 1.0) / R)))


def effective_parameters(N: Any, P: Any, k: Any) -> Any:
    """Parameters of a single stream worth as much as N in P streams."""
    return N * (1.0 + k * np.log(P))


Warp = Callable[[FloatArray, float], FloatArray]


def _profiled(base: Law, warp: Warp, values: tuple[float, ...]) -> Starts:
    """Starts of ``base`` on warped log inputs (q, 1, n), for values of the warp's parameter."""

    def starts(
        x: FloatArray, y: FloatArray, w: FloatArray, fixed: Mapping[int, float]
    ) -> FloatArray:
        found = [[*s, np.log(v)] for v in values for s in _starts(base, warp(x, v), y, w)]
        return _pinned(found, fixed)

    return starts


def _repeated(x: FloatArray, R: float) -> FloatArray:
    N, D, U = np.exp(x)
    return np.asarray(np.log(np.stack([N, effective_tokens(D, U, R)])))


def _streams(x: FloatArray, k: float) -> FloatArray:
    N, P = np.exp(x)
    return np.asarray(np.log(effective_parameters(N, P, k)))[None]


def _sum_law(
    name: str, formula: str, inputs: tuple[str, ...], params: tuple[Param, ...], *terms: Term
) -> Law:
    form = SumOfPowers(terms)
    return Law(name, formula, inputs, params, form, partial(sum_of_powers_starts, form, params))


def _product(name: str, factor: str) -> Law:
    """E + A·N^-α·factor^-β; what the factor does may also be nothing, or harm."""
    params = (asymptote(), coefficient("A"), exponent("alpha"), exponent("beta", -1.0))
    powers = (Power(2, -1.0, 0), Power(3, -1.0, 1))
    formula = f"L = E + A·N^-α·{factor}^-β"
    return _sum_law(name, formula, ("N", factor), params, Term(0), Term(1, powers))


LR_BSZ = Law(
    "chinchilla-bowl",
    "L = (E + A·N^-α + B·D^-β)·exp q(log lr, log bsz; log N, log D)",
    tuple(REFERENCE),
    (*CHINCHILLA.params, *(Param(name, lower=-5.0, upper=5.0) for name in BOWL)),
    Bowl(),
    _bowl_starts,
)

DATA_CONSTRAINED = replace(
    define(
        "repeated-data",
        lambda x, E, A, alpha, B, beta, R: (
            E + A * x["N"] ** -alpha + B * effective_tokens(x["D"], x["unique_tokens"], R) ** -beta
        ),
        inputs=("N", "D", "unique_tokens"),
        params=(*CHINCHILLA.params, coefficient("R", lower=0.1, upper=1e4)),
        formula="L = E + A·N^-α + B·D_eff^-β, D_eff = U·(1 + R·(1 − exp(−(D/U − 1)/R)))",
    ),
    starts=_profiled(CHINCHILLA, _repeated, (2.0, 10.0, 50.0)),
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

MOE = _product("experts", "num_experts")
SPARSITY = _product("sparsity", "P")

# Losses relative to a unigram model are negative: the law is of loss + VOCAB_OFFSET. Least squares
# on the loss, and R², do not see the offset.
VOCAB_OFFSET = 10.0
VOCAB = replace(
    _sum_law(
        "vocabulary",
        f"L + {VOCAB_OFFSET:g} = E + A·N^-α + B·D^-β·V^γ",
        ("N", "D", "vocab_size"),
        (*CHINCHILLA.params, exponent("gamma", -1.0)),
        Term(0),
        Term(1, (Power(2, -1.0, 0),)),
        Term(3, (Power(4, -1.0, 1), Power(5, 1.0, 2))),
    ),
    objective=LEAST_SQUARES_LOSS,
)
