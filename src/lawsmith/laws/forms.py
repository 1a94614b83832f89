"""The built-in laws: formulae with analytic gradients, and the catalogue ``LAWS``.

Most laws here are sums of power terms, L = Σ_k c_k Π_i x_i^(± e), whose logs are affine in
phi: z_k = log c_k + Σ ± e·log x_i. Then f = log Σ exp z_k, and with softmax weights s_k
∇f = Σ s_k ∇z_k and ∇²f = Σ s_k ∇z_k∇z_kᵀ − ∇f∇fᵀ.  Shapes as in :mod:`lawsmith.laws.law`.

Sources: Hoffmann et al. 2022 (chinchilla), Kaplan et al. 2020 (kaplan), the OpenEuroLLM dense
English study (skaling), Gadre et al. 2024 (gadre).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.laws.law import TradeOff, numerical_curvature


@dataclass(frozen=True)
class Power:
    """A factor input^(sign·exponent): positions of the exponent in phi and of the input in x.

    ``shift`` is added to the log input (Gadre's √6 factor on D).
    """

    exponent: int
    sign: float
    input: int
    shift: float = 0.0


@dataclass(frozen=True)
class Term:
    """One term c·Π powers: the position of log c in phi, and its factors."""

    coefficient: int
    powers: tuple[Power, ...] = ()


@dataclass(frozen=True)
class SumOfPowers:
    """L = Σ terms."""

    terms: tuple[Term, ...]

    def logs(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        """z (K, B, n), the log of each term."""
        shape = (len(self.terms), max(phi.shape[0], x.shape[1]), x.shape[2])
        z = np.empty(shape)
        for k, term in enumerate(self.terms):
            z[k] = phi[:, term.coefficient, None]
            for power in term.powers:
                z[k] += (power.sign * phi[:, power.exponent, None]) * (x[power.input] + power.shift)
        return z

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        return _log_sum_exp(self.logs(phi, x))[0]

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        f, s = _log_sum_exp(self.logs(phi, x))
        jac = np.zeros((f.shape[0], phi.shape[1], f.shape[1]))
        for k, term in enumerate(self.terms):
            jac[:, term.coefficient] += s[k]
            for power in term.powers:
                jac[:, power.exponent] += s[k] * (power.sign * (x[power.input] + power.shift))
        return f, jac

    def curvature(
        self, phi: FloatArray, x: FloatArray, w: FloatArray, jac: FloatArray
    ) -> FloatArray:
        curv = -(jac * w[:, None, :]) @ jac.transpose(0, 2, 1)
        for term in self.terms:
            ws = w * jac[:, term.coefficient]  # a coefficient is in one term: its column is s_k
            curv[:, term.coefficient, term.coefficient] += ws.sum(axis=-1)
            slopes = [(q.exponent, q.sign * (x[q.input] + q.shift)) for q in term.powers]
            for i, (a, u) in enumerate(slopes):
                wu = ws * u
                for b, v in [(term.coefficient, 1.0), *slopes[:i]]:
                    moment = (wu * v).sum(axis=-1)
                    curv[:, a, b] += moment
                    curv[:, b, a] += moment
                curv[:, a, a] += (wu * u).sum(axis=-1)
        return np.asarray(curv)

    def trade_off(self, phi: FloatArray) -> TradeOff | None:
        """Of a constant and one falling power of each of two inputs; None for other sums."""
        found: dict[int, tuple[FloatArray, FloatArray]] = {}
        for term in self.terms:
            if not term.powers:
                continue
            power = term.powers[0]
            if len(term.powers) > 1 or power.input in found:
                return None
            slope = power.sign * phi[:, power.exponent]
            found[power.input] = (phi[:, term.coefficient] + slope * power.shift, -slope)
        return (*found[0], *found[1]) if set(found) == {0, 1} else None


@dataclass(frozen=True)
class Skaling:
    """L = E + (A·N^-α + B·D^-β)^k, phi = (log E, log A, α, log B, β, k)."""

    def _parts(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, ...]:
        e, a, alpha, b, beta, k = (phi[:, i, None] for i in range(6))
        inner, s = _log_sum_exp(np.stack(np.broadcast_arrays(a - alpha * x[0], b - beta * x[1])))
        f, t = _log_sum_exp(np.stack(np.broadcast_arrays(e, k * inner)))
        return f, t, inner, s

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        return self._parts(phi, x)[0]

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        f, t, inner, s = self._parts(phi, x)
        power = t[1] * phi[:, 5, None]
        jac = np.stack(
            [
                t[0],
                power * s[0],
                -power * s[0] * x[0],
                power * s[1],
                -power * s[1] * x[1],
                t[1] * inner,
            ],
            axis=1,
        )
        return f, jac

    def curvature(
        self, phi: FloatArray, x: FloatArray, w: FloatArray, jac: FloatArray
    ) -> FloatArray:
        return numerical_curvature(self, phi, x, w)

    def trade_off(self, phi: FloatArray) -> TradeOff | None:
        return phi[:, 1], phi[:, 2], phi[:, 3], phi[:, 4]


@dataclass(frozen=True)
class Kaplan:
    """L = ((N_c/N)^(α_N/α_D) + D_c/D)^α_D, phi = (log N_c, α_N, log D_c, α_D)."""

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        return self.value_and_jac(phi, x)[0]

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        nc, alpha_n, dc, alpha_d = (phi[:, i, None] for i in range(4))
        ratio = alpha_n / alpha_d
        gap = nc - x[0]
        inner, s = _log_sum_exp(np.stack(np.broadcast_arrays(ratio * gap, dc - x[1])))
        f = alpha_d * inner
        jac = np.stack(
            [
                alpha_n * s[0],
                s[0] * gap,
                alpha_d * s[1],
                inner - s[0] * ratio * gap,
            ],
            axis=1,
        )
        return f, jac

    def curvature(
        self, phi: FloatArray, x: FloatArray, w: FloatArray, jac: FloatArray
    ) -> FloatArray:
        return numerical_curvature(self, phi, x, w)

    def trade_off(self, phi: FloatArray) -> TradeOff | None:
        ratio = phi[:, 1] / phi[:, 3]
        return phi[:, 0] * ratio, ratio, phi[:, 2], np.ones_like(ratio)


def _log_sum_exp(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """log Σ_k exp z_k (B, n) and the softmax weights (K, B, n); stable for any z."""
    top = z.max(axis=0)
    e = np.exp(z - top)
    total = e.sum(axis=0)
    return top + np.log(total), e / total
