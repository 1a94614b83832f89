"""The formulae of the built-in laws, with analytic gradients.

Most laws here are sums of power terms, L = Σ_k c_k Π_i x_i^(± e), whose logs are affine in
phi: z_k = log c_k + Σ ± e·log x_i. Then f = log Σ exp z_k, and with softmax weights s_k
∇f = Σ s_k ∇z_k and ∇²f = Σ s_k ∇z_k∇z_kᵀ − ∇f∇fᵀ.  Shapes as in :mod:`lawsmith.laws.law`.

Sources: Hoffmann et al. 2022 (chinchilla), Kaplan et al. 2020 (kaplan), the OpenEuroLLM dense
English study (skaling), Gadre et al. 2024 (gadre), Muennighoff et al. 2023 (repeated; without its
term for excess parameters), Li et al. 2025 (farseer), Clark et al. 2022 (experts, moe; with a floor
E, and without its saturation), Tao et al. 2024 (vocabulary).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.laws.law import Form


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
class SumOfPowers(Form):
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


@dataclass(frozen=True)
class Skaling(Form):
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


@dataclass(frozen=True)
class Kaplan(Form):
    """L = ((N_c/N)^(α_N/α_D) + D_c/D)^α_D, phi = (log N_c, α_N, log D_c, α_D)."""

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


@dataclass(frozen=True)
class Repeated(Form):
    """L = E + A·N^-α + B·D_eff^-β, phi = (log E, log A, α, log B, β, log R), x = (N, D, U).

    D_eff = U·(1 + R·(1 − exp(−(D/U − 1)/R))) is the number of fresh tokens that D tokens, drawn
    from U unique ones, are worth: at most U·(1 + R). It is D if D ≤ U.
    """

    base: Form

    def warped(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """log N and log D_eff, (2, B, n), and the derivative (B, n) of the latter by log R."""
        R = np.exp(phi[:, 5, None])
        once = np.minimum(x[1], x[2])
        again = np.expm1(x[1] - once)
        gone = np.exp(-again / R)
        worth = R * (1.0 - gone)
        slope = R * (1.0 - gone - gone * again / R) / (1.0 + worth)
        both = np.broadcast_arrays(x[0], once + np.log1p(worth))
        return np.stack(both), np.asarray(slope)

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        return self.base.value(phi, self.warped(phi, x)[0])

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        inner, slope = self.warped(phi, x)
        f, jac = self.base.value_and_jac(phi, inner)
        jac[:, 5] = -phi[:, 4, None] * jac[:, 3] * slope  # the column of log B is the share of D
        return f, jac


FARSEER_N, FARSEER_D = 1e9, 1e10  # where E, B and β of the law are those of the formula


@dataclass(frozen=True)
class Farseer(Form):
    """L = E·e^(e₁h(e₂)) + B·e^(b₁h(b₂))·D^(−β·e^(c₁h(c₂))), h(t) = (N^t − 1)/t.

    phi = (log E, e₁, e₂, log B, b₁, b₂, log β, c₁, c₂); N counts in 1e9, D in 1e10.
    The authors write a·N^t + b for each of the three logs. This is the same family, but there a, b
    and t have very different sizes, and cannot be told apart if t is near 0.
    """

    def _logs(self, phi: FloatArray, x: FloatArray, order: int) -> tuple[FloatArray, ...]:
        """The three logs (3, B, n), and h of each with its derivatives up to an order."""
        levels = phi.T.reshape(3, 3, -1, 1)
        values = _box_cox(x[0] - np.log(FARSEER_N), levels[:, 2], order)
        return levels[:, 0] + levels[:, 1] * values[0], *values

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        logs, _ = self._logs(phi, x, 0)
        d = x[1] - np.log(FARSEER_D)
        return _log_sum_exp(np.stack([logs[0], logs[1] - d * np.exp(logs[2])]))[0]

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        logs, h, first = self._logs(phi, x, 1)
        by_bend = phi.T[1::3, :, None] * first
        power = (x[1] - np.log(FARSEER_D)) * np.exp(logs[2])
        f, s = _log_sum_exp(np.stack([logs[0], logs[1] - power]))
        shares = np.stack([s[0], s[1], -s[1] * power])
        jac = np.stack([shares, shares * h, shares * by_bend], axis=1)
        return f, np.moveaxis(jac.reshape(9, *f.shape), 0, 1)

    def curvature(
        self, phi: FloatArray, x: FloatArray, w: FloatArray, jac: FloatArray
    ) -> FloatArray:
        """Σ w·(s_k·(∇²z_k + ∇z_k∇z_kᵀ) − ∇f∇fᵀ), z the logs of the two terms."""
        logs, h, first, second = self._logs(phi, x, 2)
        by_bend = phi.T[1::3, :, None] * first
        power = (x[1] - np.log(FARSEER_D)) * np.exp(logs[2])
        s = _log_sum_exp(np.stack([logs[0], logs[1] - power]))[1]
        slopes = np.stack([np.ones_like(h), h, by_bend], axis=1).transpose(2, 0, 1, 3)
        rates = np.stack([slopes[:, 1], -power[:, None] * slopes[:, 2]], axis=1)
        inner = rates.reshape(len(slopes), 6, -1)  # ∇z₁ by the last six parameters
        curv = -_products(jac, w)
        curv[:, :3, :3] += _products(slopes[:, 0], w * s[0])
        curv[:, 3:, 3:] += _products(inner, w * s[1])
        curv[:, 6:, 6:] += _products(slopes[:, 2], -w * s[1] * power)
        for k, weight in enumerate((w * s[0], w * s[1], -w * s[1] * power)):
            mixed = (weight * first[k]).sum(axis=-1)
            curv[:, 3 * k + 1, 3 * k + 2] += mixed
            curv[:, 3 * k + 2, 3 * k + 1] += mixed
            bend = phi[:, 3 * k + 1, None] * second[k]
            curv[:, 3 * k + 2, 3 * k + 2] += (weight * bend).sum(axis=-1)
        return np.asarray(curv)


def _products(slopes: FloatArray, w: FloatArray) -> FloatArray:
    """Σ w·g gᵀ for slopes g (B, p, n): (B, p, p)."""
    return np.asarray((slopes * w[:, None, :]) @ slopes.transpose(0, 2, 1))


def _box_cox(n: FloatArray, t: FloatArray, order: int) -> list[FloatArray]:
    """h = (e^(tn) − 1)/t and its derivatives by t up to an order; n, n²/2 and n³/3 at t = 0."""
    z = t * n
    small = np.abs(z) < 1e-2
    safe = np.where(small, 1.0, z)
    values, power, grown = [np.expm1(safe) / safe], n, np.exp(safe) if order else safe
    for k in range(1, order + 1):
        values.append((grown - k * values[-1]) / safe)
    for k, exact in enumerate(values):
        values[k] = power * np.where(small, _series(z, k + 1), exact)
        power = power * n
    return values


def _series(z: FloatArray, k: int) -> FloatArray:
    """Σ_j z^j/(j!·(j + k)), the (k − 1)th derivative of (e^z − 1)/z."""
    tail = 1 / (2 * (k + 2)) + z * (1 / (6 * (k + 3)))
    return np.asarray(1 / k + z * (1 / (k + 1) + z * tail))


def _log_sum_exp(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """log Σ_k exp z_k (B, n) and the softmax weights (K, B, n); stable for any z."""
    top = z.max(axis=0)
    e = np.exp(z - top)
    total = e.sum(axis=0)
    return top + np.log(total), e / total
