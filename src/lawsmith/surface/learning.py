"""Learning a prior from studies: the evidence of each study's runs about its numbers.

Notation
    number j   as in :mod:`lawsmith.surface.prior`: broad mean m₀ and SD s₀, in units of its own
    part       parameters of one member of a surface, as a normal likelihood: h, P with
               ln p(runs | z) = h·z − ½ zᵀPz, z = (parameter − m₀)/s₀. Parameters trade off against
               each other (a larger E with a larger exponent), so they are estimated jointly
    μ_j, τ_j   centre and spread of number j over studies (`benchmarks/population.py` finds them)
    r          how much studies of one family share: a further study of the family has the
               correlation r with the ones before
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray
from lawsmith.surface.axes import known_name
from lawsmith.surface.fit_member import curvature
from lawsmith.surface.member import Member
from lawsmith.surface.prior import (
    BROAD,
    FAMILY,
    LOG_C0,
    PUBLIC,
    SHARES,
    Lesson,
    Number,
    Peak,
    Prior,
    reference_compute,
    reference_sizes,
    share_shift,
    share_spread,
)
from lawsmith.surface.process import ETA
from lawsmith.surface.surface import Surface
from lawsmith.surface.trend import bowl_numbers, law_numbers

# Where only N or D varies, the law is another one: its numbers are learnt from all laws.
ALSO = {"E_C": ("E_1",), "term_C": ("term_1",), "exponent_N": ("exponent_1",)}
# SD of the log of a best hyperparameter between studies of one family, by judgement.
PEAK_SD = 0.5


@dataclass(frozen=True, eq=False)
class Part:
    """The evidence of one member of a surface about the numbers; see the module's notation.

    names   for each parameter the numbers that it is about, its own first
    weight  of the member among those of its form
    x       e-folds of compute of the study's reference above C₀
    """

    names: tuple[tuple[str, ...], ...]
    h: FloatArray
    P: FloatArray
    weight: float
    x: float


Evidence = tuple[Part, ...]  # of one study
Moments = dict[str, tuple[float, float]]  # number → mean and mean square, in units of s₀


def evidence(surface: Surface) -> Evidence:
    """The evidence of a surface that was fitted with the broad prior."""
    log_C = reference_compute(surface.frame)
    x = 0.0 if log_C is None else log_C - LOG_C0
    forms = [member.trend.form for member in surface.members]
    whole = {form: sum(surface.weight[[f == form for f in forms]]) for form in forms}
    parts = []
    for member, weight in zip(surface.members, surface.weight.tolist(), strict=True):
        share = weight / float(whole[member.trend.form])
        z, cov = member.theta_posterior()
        names_of_theta = _theta_names(member)
        k = len(names_of_theta)  # without further axes, which are particular to a study
        parts.append(Part(names_of_theta, *_likelihood(z[:k], _inverse(cov[:k, :k])), share, x))
        z, precision, kept = _eta_posterior(member)
        names = [name for name, ok in zip(_eta_names(member), kept, strict=True) if ok]
        parts.append(Part(tuple(names), *_likelihood(z, precision), weight, x))
    return tuple(parts)


def _eta_posterior(member: Member) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Of eta in units of its prior: mean (i,), precision (i, i), and which lie inside bounds.

    The precision is the curvature at the most probable eta.
    """
    kernel, eta = member.kernel, member.eta
    low, high = np.array(kernel.bounds()).T
    kept = (eta > low + 1e-6) & (eta < high - 1e-6)
    if not kernel.heights:
        kept[-5] = False  # nothing tells of it
    precision = curvature(member) * np.outer(kernel.sd, kernel.sd)
    return ((eta - kernel.mean) / kernel.sd)[kept], precision[np.ix_(kept, kept)], kept


def _likelihood(z: FloatArray, precision: FloatArray) -> tuple[FloatArray, FloatArray]:
    """h and P from a posterior under the broad prior, which is taken out again."""
    values, vectors = np.linalg.eigh(precision - np.eye(len(z)))
    P = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(precision @ z), np.asarray(P)


def _inverse(cov: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(cov)
    return np.asarray((vectors / np.clip(values, 1e-7, 1.0)) @ vectors.T)


def _theta_names(member: Member) -> tuple[tuple[str, ...], ...]:
    """For each parameter of theta, the numbers that it is about."""
    frame = member.data.frame
    own = law_numbers(member.trend.form, frame)
    names: list[tuple[str, ...]] = [(n, *ALSO.get(n, ())) for n in own]
    parts = bowl_numbers(frame)
    for axis in frame.numeric:
        owner = known_name(axis.name) or "bowl"
        names += [(f"{owner}.{part}",) for part in parts]
    return (*names, *[("effect",)] * member.trend.g)


def _eta_names(member: Member) -> tuple[tuple[str, ...], ...]:
    s, n = member.data.points.S.shape[1], member.kernel.n_lengths
    return tuple((name,) for name in ("scale_length",) * s + ("hp_length",) * (n - s) + ETA)


def moments(parts: Evidence, centre: dict[str, float], spread: dict[str, float]) -> Moments:
    """The numbers of a study, given centres and spreads."""
    sums: dict[str, FloatArray] = {}
    for part in parts:
        own = [names[0] for names in part.names]
        move = np.array([share_shift(name, part.x) / BROAD[name].sd for name in own])
        wide = np.array([share_spread(name, part.x) for name in own])
        m = np.array([centre[name] for name in own]) + move
        precision = (wide * np.array([spread[name] for name in own])) ** -2.0
        cov = np.linalg.inv(part.P + np.diag(precision))
        z = cov @ (part.h + precision * m) - move
        variance = np.diag(cov)
        for j, names in enumerate(part.names):
            for name in names:
                one = part.weight * np.array([1.0, z[j], z[j] ** 2 + variance[j] / wide[j] ** 2])
                sums[name] = sums.get(name, 0.0) + one
    return {name: (v[1] / v[0], v[2] / v[0]) for name, v in sums.items()}


def moments_given(parts: Evidence, prior: Prior) -> Moments:
    """`moments` of a study, if it is like those that a prior was learnt from."""
    names = dict.fromkeys(n for part in parts for own in part.names for n in own)
    known = {name: prior[name] for name in names}
    centre = {name: (known[name].mean - BROAD[name].mean) / BROAD[name].sd for name in names}
    spread = {name: known[name].sd / BROAD[name].sd for name in names}
    return moments(parts, centre, spread)


def learn_from_surfaces(studies: Mapping[Lesson, Surface], prior: Prior = PUBLIC) -> Prior:
    """A prior for a further study of the family of ``studies`` (surfaces with the broad prior).

    A number has the correlation r with those of the other studies. The best value of a
    hyperparameter carries over as a value, not as a place in the tried range.
    """
    each = [moments_given(evidence(surface), prior) for surface in studies.values()]
    numbers, peaks = dict(prior.numbers), dict(prior.peaks)
    for name in dict.fromkeys(name for study in each for name in study):
        if not name.endswith(".centre"):
            earlier = np.array([study[name] for study in each if name in study])
            numbers[name] = _in_family(name, prior[name], earlier)
    for surface in studies.values():
        peaks.update(_peaks_of(surface))
    return replace(prior, numbers=numbers, learnt_from=(*prior.learnt_from, *studies), peaks=peaks)


def _in_family(name: str, number: Number, earlier: FloatArray) -> Number:
    """A number given the `Moments` (k, 2) of k earlier studies of the family."""
    r = FAMILY["shares" if name in SHARES else "others"]
    unit = BROAD[name]
    centre, spread = (number.mean - unit.mean) / unit.sd, number.sd / unit.sd
    k, (mean, square) = len(earlier), earlier.T
    gain = k * r / (k * r + 1.0 - r)
    unsure = float((square - mean**2).mean()) / k
    variance = spread**2 * ((1.0 - r) * (1.0 + gain / k)) + gain**2 * unsure
    moved = unit.mean + unit.sd * (centre + gain * (float(mean.mean()) - centre))
    value = float(np.exp(moved)) if unit.log else moved
    return Number(value, unit.sd * float(np.sqrt(variance)), unit.log)


def _peaks_of(surface: Surface) -> dict[str, Peak]:
    """The best value of each hyperparameter but linear ones, at the study's reference."""
    sizes = reference_sizes(surface.frame)
    if sizes is None:
        return {}
    peaks = {}
    for j, axis in enumerate(surface.frame.numeric):
        bottoms = np.array([_bottom(member, j) for member in surface.members])
        mean = float(surface.weight @ bottoms[:, 0])
        variance = float(surface.weight @ (bottoms[:, 1] ** 2 + (bottoms[:, 0] - mean) ** 2))
        if axis.kind != "linear" and axis.is_inside(mean):
            sd = float(np.hypot(PEAK_SD, axis.width * variance**0.5))
            peaks[axis.name] = Peak((axis.middle + mean) * axis.width, sd, *sizes)
    return peaks


def _bottom(member: Member, column: int) -> tuple[float, float]:
    """Mean and SD of the bottom of a bowl at the reference."""
    i = member.trend.start_of_bowl(column) + 1
    sd = float(np.sqrt(max(member.theta_posterior()[1][i, i], 0.0))) * float(member.trend.sd[i])
    return float(member.theta[i]), sd
