"""Trends: log loss as a law in the scale axes, plus a drifting bowl in each hyperparameter.

Notation and shapes (S, U, G as in :mod:`lawsmith.surface.frame`)
    n, d   columns of S: ln N and ln D from the reference; w = n + d (ln C), r = (d − n)/2
    law    'early+joined'  ln(E + ((A·e^(−αn))^(1/k) + (B·e^(−βd))^(1/k))^k)
           'early+iso'     ln(E + A·e^(−αw)) + q·e^(q₁w)·(r − r₀ − r₁w)², a parabola at each compute
           'early+power'   ln(E + A·e^(−αx)), one scale axis
           each plus t·e^(−δw), the excess loss of runs that are too short or small
    further scales   experts act as parameters: n becomes n + v·(g + g₁·n + g₂·v), v = ln experts,
           centred. Repeated tokens are worth less: after e^t epochs d becomes
           d − t + ln(1 + R·(1 − e^(−(e^t − 1)/R))) (Muennighoff et al. 2023)
    bowl   b·e^(b₁·S)·(u − c₀ − c₁·S)² in each numeric hyperparameter; an effect for each category
    theta  (p,) parameters on scales where a normal prior is sensible; z = (theta − mean)/sd
    J      (q, p) derivatives of log loss by theta

Priors come from :mod:`lawsmith.surface.prior` and the level of the loss near the top of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.surface.frame import Frame, Points
from lawsmith.surface.prior import BROAD, FURTHER_PRIORS, SHARES, Prior

# By how much ½ ln(D/N) is moved in search of the best D/N of a compute: by factors of up to 3,000,
# which is as far as published runs lie off it, in steps that miss 0.05 % of the loss at most.
RATIOS = np.linspace(-4.0, 4.0, 33)


@dataclass(frozen=True, eq=False)
class Trend:
    """A form of the law, the number of hyperparameters, and the normal prior of theta."""

    form: str
    s: int
    h: int
    g: int
    mean: FloatArray
    sd: FloatArray
    further: tuple[str, ...] = ()

    @property
    def p(self) -> int:
        return len(self.mean)

    @property
    def n_law(self) -> int:
        return len(TREND_FORMS[self.form].numbers)

    def value_and_jac(self, theta: FloatArray, at: Points) -> tuple[FloatArray, FloatArray]:
        """(q,) log loss and J (q, p)."""
        acting, moves = self._acting(theta, at.S)
        total, columns = law_of(self.form, theta, acting)
        for j, u in enumerate(at.U.T):
            share, more = bowl(self._of_bowl(theta, j), u, at.S[:, : self.s])
            total = total + share
            columns = [*columns, *more]
        total = total + at.G @ theta[self.start_of_bowl(self.h) :][: self.g]
        more = [self._slope(theta, acting, j) * by for j, by in moves]
        return total, np.stack([*columns, *at.G.T, *more], axis=1)

    def law(self, theta: FloatArray, S: FloatArray) -> FloatArray:
        """(q,) the law alone: log loss at the bottom of every bowl."""
        return law_of(self.form, theta, self._acting(theta, S)[0])[0]

    def _acting(
        self, theta: FloatArray, S: FloatArray
    ) -> tuple[FloatArray, list[tuple[int, FloatArray]]]:
        """(q, s) scales with the effect of further axes; for each parameter of these the column
        that it moves, and the derivative (q,)."""
        if not self.further:
            return S, []
        acting, moves = S[:, : self.s].copy(), []
        start = self.start_of_bowl(self.h) + self.g
        for v, kind in zip(S[:, self.s :].T, self.further, strict=True):
            stop = start + len(FURTHER_PRIORS[kind])
            j, shift, slopes = shift_of(kind, theta[start:stop], v, S[:, : self.s])
            acting[:, j] += shift
            moves += [(j, slope) for slope in slopes]
            start = stop
        return acting, moves

    def _slope(self, theta: FloatArray, acting: FloatArray, j: int) -> FloatArray:
        """(q,) derivative of the law by a column of its scales, by central differences."""
        step = np.zeros(self.s)
        step[j] = 1e-5
        up, down = (law_of(self.form, theta, acting + sign * step)[0] for sign in (1, -1))
        return np.asarray((up - down) / 2e-5)

    def height(self, theta: FloatArray, at: Points) -> FloatArray:
        """(q,) log loss above the best run of the same compute: by λ, and by D/N."""
        total = self._off_ratio(theta, at.S)
        for j, u in enumerate(at.U.T):
            total += bowl(self._of_bowl(theta, j), u, at.S[:, : self.s])[0]
        return total

    def _off_ratio(self, theta: FloatArray, S: FloatArray) -> FloatArray:
        """(q,) log loss that another D/N would save at the same compute."""
        if self.s != 2:
            return np.zeros(len(S))
        step = np.zeros(S.shape[1])
        step[:2] = -1.0, 1.0
        others = (S + RATIOS[:, None, None] * step).reshape(-1, S.shape[1])
        best = self.law(theta, others).reshape(len(RATIOS), len(S)).min(axis=0)
        return np.asarray(self.law(theta, S) - best)

    def centres(self, theta: FloatArray, S: FloatArray) -> FloatArray:
        """(q, h) the bottoms of the bowls."""
        out = np.empty((len(S), self.h))
        for j in range(self.h):
            part = self._of_bowl(theta, j)
            out[:, j] = part[1] + S[:, : self.s] @ part[2 : 2 + self.s]
        return out

    def centre_of(
        self, j: int, theta: FloatArray, S: FloatArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Of the jth bowl: the places in theta of its centre's parameters (1 + s,), curvatures b
        (q,), and derivatives (q, 1 + s) of the centre by those parameters."""
        S = S[:, : self.s]
        places = self.start_of_bowl(j) + np.arange(1, 2 + self.s)
        return places, bend(self._of_bowl(theta, j), S), np.column_stack([np.ones(len(S)), S])

    def _of_bowl(self, theta: FloatArray, j: int) -> FloatArray:
        """The parameters of the jth bowl."""
        return theta[self.start_of_bowl(j) : self.start_of_bowl(j + 1)]

    def start_of_bowl(self, j: int) -> int:
        """The place in theta where the jth bowl begins; that after the last bowl for j = h."""
        return self.n_law + j * (2 + 2 * self.s)


def joined(theta: FloatArray, S: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """theta = ln E, ln A, ln α, ln B, ln β, ln k."""
    E, k = np.exp(theta[0]), np.exp(theta[5])
    exponents = np.exp(theta[[2, 4]])
    z = (theta[[1, 3]] - exponents * S) / k  # (q, 2)
    top = z.max(axis=1)
    joint = top + np.log(np.exp(z - top[:, None]).sum(axis=1))
    share = np.exp(z - joint[:, None])
    T = np.exp(k * joint)
    weight = T / (E + T)
    slopes = [1.0 - weight]
    for j in range(2):
        slopes += [weight * share[:, j], -weight * share[:, j] * exponents[j] * S[:, j]]
    slopes.append(weight * k * (joint - (share * z).sum(axis=1)))
    return np.log(E + T), slopes


def power(theta: FloatArray, S: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """theta = ln E, ln A, ln α; S (q, 1)."""
    E, a = np.exp(theta[0]), np.exp(theta[2])
    T = np.exp(theta[1] - a * S[:, 0])
    weight = T / (E + T)
    return np.log(E + T), [1.0 - weight, weight, -weight * a * S[:, 0]]


def iso(theta: FloatArray, S: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """theta = ln E, ln A, ln α, ln q, r₀, r₁, q₁."""
    w, r = S[:, 0] + S[:, 1], 0.5 * (S[:, 1] - S[:, 0])
    value, slopes = power(theta[:3], w[:, None])
    q = np.exp(theta[3] + theta[6] * w)
    off = r - theta[4] - theta[5] * w
    share = q * off**2
    return value + share, [*slopes, share, -2 * q * off, -2 * q * off * w, share * w]


class TrendForm(NamedTuple):
    """A form: its law without the early loss, and its numbers in a prior, in theta's order."""

    value: Callable[[FloatArray, FloatArray], tuple[FloatArray, list[FloatArray]]]
    numbers: tuple[str, ...]


EARLY = ("early", "early_rate")
JOINED = ("E", "term_N", "exponent_N", "term_D", "exponent_D", "joint")
OF_COMPUTE = ("E_C", "term_C", "exponent_C")
PARABOLA = ("curve", "ratio", "ratio_drift", "curve_drift")
TREND_FORMS = {
    "early+joined": TrendForm(joined, (*JOINED, *EARLY)),
    "early+iso": TrendForm(iso, (*OF_COMPUTE, *PARABOLA, *EARLY)),
    "early+power": TrendForm(power, (*OF_COMPUTE, *EARLY)),
}


def law_of(form: str, theta: FloatArray, S: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """(q,) log loss of the form ``form`` and its derivatives, one column a parameter."""
    law = TREND_FORMS[form]
    value, slopes = law.value(theta, S)
    log_size, log_rate = theta[len(law.numbers) - 2 : len(law.numbers)]
    rate, w = np.exp(log_rate), S.sum(axis=1)
    share = np.exp(np.minimum(log_size - rate * w, 2.0))
    return value + share, [*slopes, share, -share * rate * w]


def shift_of(
    kind: str, theta: FloatArray, v: FloatArray, S: FloatArray
) -> tuple[int, FloatArray, list[FloatArray]]:
    """The column of S that a further axis acts on, by how much (q,), and its derivatives."""
    if kind == "experts":
        shift = v * (theta[0] + theta[1] * S[:, 0] + theta[2] * v)
        return 0, shift, [v, v * S[:, 0], v**2]
    R = np.exp(theta[0])
    again = np.expm1(-v)
    gone = np.exp(-again / R)
    worth = R * (1.0 - gone)
    slope = R * (1.0 - gone - gone * again / R) / (1.0 + worth)
    return S.shape[1] - 1, v + np.log1p(worth), [slope]


def bend(theta: FloatArray, S: FloatArray) -> FloatArray:
    """(q,) b of a bowl."""
    return np.asarray(np.exp(np.clip(theta[0] + S @ theta[2 + S.shape[1] :], -50.0, 5.0)))


def bowl(theta: FloatArray, u: FloatArray, S: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """b·(u − centre)² and its derivatives by ln b, c, the drifts of c, those of ln b."""
    s, b = S.shape[1], bend(theta, S)
    off = u - theta[1] - S @ theta[2 : 2 + s]
    square = b * off**2
    drifts = [-2 * b * off * S[:, j] for j in range(s)]
    fades = [square * S[:, j] for j in range(s)]
    return square, [square, -2 * b * off, *drifts, *fades]


def trend(form: str, frame: Frame, level: float, prior: Prior = BROAD) -> Trend:
    """The trend ``form`` of a study whose losses near the top are about ``level``.

    prior   at the study's reference: `lawsmith.surface.prior.local`
    """
    names = law_numbers(form, frame)
    pairs = [prior[name].pair(level if name in SHARES else 1.0) for name in names]
    for axis in frame.numeric:
        height, centre, *others = (prior.bowl(axis.name, part) for part in bowl_numbers(frame))
        pairs += [height.pair(), (centre.mean * axis.span, centre.sd * axis.span)]
        pairs += [number.pair() for number in others]
    pairs += [prior["effect"].pair()] * frame.n_levels
    further = tuple(axis.kind for axis in frame.further)
    pairs += [pair for kind in further for pair in FURTHER_PRIORS[kind]]
    mean, sd = np.array(pairs, dtype=np.float64).T
    return Trend(form, frame.s, len(frame.numeric), frame.n_levels, mean, sd, further)


def law_numbers(form: str, frame: Frame) -> tuple[str, ...]:
    """Names of a form's numbers, as a prior has them; those of N or D alone end in _1."""
    names = TREND_FORMS[form].numbers
    if form == "early+power" and not frame.of_compute:
        return tuple(name.replace("_C", "_1") for name in names)
    return names


def bowl_numbers(frame: Frame) -> list[str]:
    """Names of the numbers of a bowl, in the order of theta."""
    scales = "ND" if frame.s == 2 else "C" if frame.of_compute else "N"
    return ["height", "centre", *(f"{what}_{x}" for what in ("drift", "fade") for x in scales)]
