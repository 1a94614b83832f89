"""What is expected of a study before its runs are seen: a centre and a spread for each number.

A number is a parameter of a trend (:mod:`lawsmith.surface.trend`) or of the residual and the noise
(:mod:`lawsmith.surface.process`):

    E, E_C, E_1             share of the irreducible loss in the loss at the reference: in laws of N
                            and D, of C, and of N or D alone
    term_N, _D, _C, _1      share of each reducible term there
    exponent_N, _D, _C, _1  how fast each term falls; joint is k of 'joined'
    curve, ratio, …_drift   parabola at each compute: bend, best √(D/N), their drifts with ln C
    early, early_rate       excess loss of runs that are too short or small
    bowl.height, .centre    of a hyperparameter's bowl: bend; bottom at the reference, in widths
    bowl.drift_*, .fade_*   how the bottom and the log of the bend move with ln N, ln D or ln C
    effect                  of a category
    scale_length, …, noise_slope   of eta

The reference is the median N and D of the upper third of runs. `BROAD` covers any study. `PUBLIC`
was learnt from public studies by a script (public.toml). In a learnt prior, shares move with the
compute of the reference, because larger runs have less reducible loss. It may know a
hyperparameter by name ('lr.height' beside 'bowl.height').
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lawsmith.surface.axes import Axis, known_name
from lawsmith.surface.frame import Frame


class Number(NamedTuple):
    """The prior of one number: its centre and SD.

    A ``log`` number is positive. Its centre is the median, and its log is normal with that SD.
    """

    centre: float
    sd: float
    log: bool = True

    @property
    def mean(self) -> float:
        """The mean; for a log number, of the log."""
        return self.pair()[0]

    def pair(self, unit: float = 1.0) -> tuple[float, float]:
        """Mean and SD, of the log for a log number; ``unit`` multiplies a log number."""
        return (float(np.log(self.centre * unit)) if self.log else self.centre), self.sd


class Peak(NamedTuple):
    """The best value of a hyperparameter in an earlier study, and the ln N and ln D it was best at.

    raw, sd   its log, or the log of its odds for a share, and the SD of that
    """

    raw: float
    sd: float
    log_N: float
    log_D: float


class Lesson(NamedTuple):
    """An earlier study that a prior was learnt from: its name and its number of runs."""

    study: str
    n_runs: int


@dataclass(frozen=True)
class Prior:
    """Numbers by name.

    public        names of the public studies that it was learnt from. Then shares are those at C₀
                  and move with the compute of a reference
    learnt_from   further studies that it was learnt from
    peaks         best values of hyperparameters in those, by name
    """

    numbers: Mapping[str, Number]
    public: tuple[str, ...] = ()
    learnt_from: tuple[Lesson, ...] = ()
    peaks: Mapping[str, Peak] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Number:
        """A number by its name; that of any bowl for an unknown hyperparameter."""
        known = name if name in self.numbers else f"bowl.{name.partition('.')[2]}"
        return self.numbers[known]

    @property
    def learnt(self) -> bool:
        """Whether it was learnt from studies."""
        return bool(self.public or self.learnt_from)

    def bowl(self, name: str, what: str) -> Number:
        """``what`` of the bowl of a numeric hyperparameter: its own, or that of any bowl."""
        own = f"{name}:{what}"
        return self[own if own in self.numbers else f"{known_name(name)}.{what}"]


# An average law: reducible over irreducible loss at C₀, and its rate of decrease per e-fold of C.
REDUCIBLE, FALL = 0.5, 0.13
EARLY_FALL = 0.5  # decrease of the log of `early` per e-fold of C
LOG_C0 = float(np.log(1e20))  # the middle of public studies, where slopes start


def reference_compute(frame: Frame) -> float | None:
    """ln C of the reference; None for a table without compute."""
    if frame.of_compute:
        return float(frame.reference[0])
    if frame.names == ("N", "D"):
        return float(np.log(frame.multiplier) + frame.reference.sum())
    return None


def reference_sizes(frame: Frame) -> tuple[float, float] | None:
    """ln N and ln D of the reference; None for a table without both."""
    if frame.names != ("N", "D"):
        return None
    if not frame.collinear:
        return float(frame.reference[0]), float(frame.reference[1])
    log_C = float(frame.reference[0])
    log_N = frame.line[0] + frame.line[1] * log_C
    return log_N, log_C - float(np.log(frame.multiplier)) - log_N


def local(prior: Prior, frame: Frame) -> Prior:
    """The prior at a study's reference: shares move, and known best values become centres."""
    log_C = reference_compute(frame)
    away = 0.0 if log_C is None or not prior.public else log_C - LOG_C0
    numbers = {name: _moved(name, number, away) for name, number in prior.numbers.items()}
    moved = replace(prior, numbers=numbers)
    sizes = reference_sizes(frame)
    for axis in frame.numeric:
        if sizes is not None and axis.name in prior.peaks and axis.kind != "linear":
            numbers[f"{axis.name}:centre"] = _centre(moved, axis, sizes)
    return moved


def _centre(prior: Prior, axis: Axis, sizes: tuple[float, float]) -> Number:
    """Where a bowl's bottom is: near the middle of the tried values, and where it was before."""
    peak, span = prior.peaks[axis.name], axis.span
    drifts = [prior.bowl(axis.name, f"drift_{scale}") for scale in "ND"]
    steps = [sizes[0] - peak.log_N, sizes[1] - peak.log_D]
    before = peak.raw / axis.width - axis.middle
    before += sum(d.mean * step for d, step in zip(drifts, steps, strict=True))
    variance = (peak.sd / axis.width) ** 2
    variance += sum((d.sd * step) ** 2 for d, step in zip(drifts, steps, strict=True))
    about = prior.bowl(axis.name, "centre")
    centres = np.array([about.mean, before / span])
    weight = np.array([about.sd**-2, span**2 / variance])
    return Number(float(weight @ centres / weight.sum()), float(weight.sum() ** -0.5), log=False)


def _moved(name: str, number: Number, away: float) -> Number:
    if not (share_shift(name, away) and away):
        return number
    centre = number.centre * float(np.exp(share_shift(name, away)))
    return Number(centre, number.sd * share_spread(name, away), number.log)


SHARES = ("E", "E_C", "E_1", "term_N", "term_D", "term_C", "term_1")  # of the loss at a reference


def reducible(away: float) -> float:
    """Share of reducible loss at the reference of an average study, so many e-folds above C₀."""
    ratio = REDUCIBLE * float(np.exp(-FALL * away))
    return ratio / (1.0 + ratio)


def share_shift(name: str, away: float) -> float:
    """The change of the log of a share of the loss with the reference, by an average law."""
    if name == "early":
        return -EARLY_FALL * away
    if name not in SHARES:
        return 0.0
    now, before = reducible(away), reducible(0.0)
    return float(np.log((1 - now) / (1 - before) if name[0] == "E" else now / before))


def share_spread(name: str, away: float) -> float:
    """Factor on the spread of E there; that of reducible over irreducible loss is constant."""
    return reducible(away) / reducible(0.0) if name in SHARES and name[0] == "E" else 1.0


def _level(mean: float, sd: float) -> Number:
    return Number(mean, sd, log=False)


BROAD = Prior(
    {
        "E": Number(0.4, 0.65),
        "E_C": Number(0.4, 0.65),
        "E_1": Number(0.4, 0.65),
        "term_N": Number(0.22, 1.0),
        "term_D": Number(0.22, 1.0),
        "term_C": Number(0.44, 1.0),
        "term_1": Number(0.44, 1.0),
        "exponent_N": Number(0.3, 0.5),
        "exponent_D": Number(0.3, 0.5),
        "exponent_C": Number(0.15, 0.5),
        "exponent_1": Number(0.3, 0.5),
        "joint": Number(0.7, 0.5),
        "curve": Number(0.02, 1.0),  # per squared e-fold of √(D/N)
        "ratio": _level(0.0, 1.5),
        "ratio_drift": _level(0.0, 0.15),
        "curve_drift": _level(0.0, 0.1),
        "early": Number(0.002, 1.5),
        "early_rate": Number(0.5, 0.4),
        "bowl.height": Number(0.02, 1.5),
        "bowl.centre": _level(0.0, 0.5),  # of the width of what was tried, from its middle
        **{f"bowl.drift_{scale}": _level(0.0, 0.4) for scale in "NDC"},
        **{f"bowl.fade_{scale}": _level(0.0, 0.15) for scale in "NDC"},
        "effect": _level(0.0, 0.05),
        # Lengthscales in e-folds, SDs of log loss, slopes per e-fold of C.
        "scale_length": Number(3.0, 0.7),
        "hp_length": Number(2.0, 0.7),
        "bowl_misfit": Number(0.1, 1.0),
        "residual": Number(0.008, 1.0),
        "residual_slope": _level(0.05, 0.1),
        "noise": Number(0.002, 1.0),
        "noise_slope": _level(0.1, 0.15),
    }
)

_LEARNT = tomllib.loads((Path(__file__).parent / "public.toml").read_text(encoding="utf-8"))
PUBLIC = Prior(
    {name: Number(c, sd, BROAD[name].log) for name, (c, sd, _) in _LEARNT["numbers"].items()},
    public=tuple(_LEARNT["studies"]),
)
# How much studies of one family share: the correlation of shares of the loss, and of all others.
FAMILY: dict[str, float] = _LEARNT["family"]

# Mean and SD of the effects of further scale axes, by kind; not learnt, since few studies have any.
# For experts: the gain, and its slopes with ln N and ln experts. e times the experts are worth
# between nothing and as much as e times the parameters, and nearly the same throughout a study.
# For repeated tokens ln R: 15 epochs (Muennighoff et al. 2023), within a factor of e.
_EPOCHS = ((float(np.log(15.0)), 1.0),)
FURTHER_PRIORS: dict[str, tuple[tuple[float, float], ...]] = {
    "experts": ((0.3, 0.4), (0.0, 0.05), (0.0, 0.03)),
    "unique_tokens": _EPOCHS,
    "epochs": _EPOCHS,
}
