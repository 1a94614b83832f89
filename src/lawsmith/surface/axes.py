"""Axes of a table beside N, D and C: hyperparameters, and further scales that a law acts on.

Further scales are recognised by the names of their columns: how many experts a model has (or how
many times more parameters than it uses for a token), and the unique tokens or epochs of a run.
Shapes as in :mod:`lawsmith.surface.frame`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.errors import LawsmithError

# A λ whose SD at given scales is below this share of its SD is a recipe: three quarters of its
# variance follow the scales, so its own effect can hardly be separated from theirs.
RECIPE = 0.5
# Further scale axes, by the names that columns have.
FURTHER: dict[str, tuple[str, ...]] = {
    "experts": ("experts", "n_experts", "num_experts", "sparsity"),
    "unique_tokens": ("unique_tokens", "n_unique_tokens", "unique_d"),
    "epochs": ("epochs", "n_epochs", "num_epochs"),
}
# Hyperparameters whose optima and bends in e-folds carry over between studies.
KNOWN: dict[str, tuple[str, ...]] = {
    "lr": ("lr", "learning_rate", "peak_lr", "max_lr"),
    "batch": ("bs", "batch", "batch_size", "bsz", "gbsz", "batch_tokens", "global_batch_size"),
}
NUMERIC = ("log", "share", "linear")  # kinds of numeric hyperparameters
LOGS = ("log", "experts", "epochs")  # kinds whose coordinate is a log
LEAST_SHARE = 1e-9  # nearer to 0 or 1 there is no difference
BEYOND = 0.7  # in logs, or of half the range of values that are no logs: see `Axis.beyond`
# Runs cost a power of experts if it is above PRICED and ln C follows it to within PRICE_SD. A
# smaller power is taken as rounding in the table's count of FLOPs.
PRICED, PRICE_SD = 0.05, 0.05


@dataclass(frozen=True)
class Axis:
    """A hyperparameter: kind 'log', 'share', 'linear' or 'categorical', and how it is centred.

    A coordinate is raw/``width`` − ``middle``. Raw is the log of a value, the log of its odds for a
    share (0.9, 0.95 and 0.99, such as momentum), or the value itself. Then ``low`` and ``high`` are
    the range of all candidates, ``tried`` that of the runs, and ``limits`` what is possible: no
    weight decay is negative. A further scale axis has a kind of `FURTHER`. The cost of a run is
    proportional to its power ``price``: 1 if twice the experts cost twice as much.
    """

    name: str
    kind: str
    middle: float = 0.0
    width: float = 1.0
    low: float = 0.0
    high: float = 0.0
    levels: tuple[str, ...] = ()
    price: float = 0.0
    tried: tuple[float, float] = (0.0, 0.0)
    limits: tuple[float, float] = (-np.inf, np.inf)

    @property
    def span(self) -> float:
        """The range of the candidates, at least half a unit: the unit of priors."""
        return max(self.high - self.low, 0.5)

    def is_inside(self, u: float) -> bool:
        """Whether runs were made on both sides of a coordinate."""
        return self.tried[0] < u < self.tried[1]

    @property
    def beyond(self) -> float:
        """How far beyond tried values and fitted optima λ is sought: a factor of 2, or of 2 in the
        odds of a share; a third of the range for values that are no logs."""
        return BEYOND if self.kind == "linear" else BEYOND / self.width

    def check(self, value: float | str) -> None:
        """Refuse a value that has no coordinate."""
        text = isinstance(value, str)
        number = np.nan if text else float(value)
        if self.kind == "categorical":
            ok, want = not text or value in self.levels, ", ".join(self.levels)
        elif self.kind == "share":
            ok, want = 0.0 <= number <= 1.0, "a number from 0 to 1"
        elif self.kind == "linear":
            ok, want = bool(np.isfinite(number)), "a finite number"
        else:
            ok, want = 0.0 < number < np.inf, "a number above 0"
        if not ok:
            got = repr(value) if text else f"{number:g}"
            raise LawsmithError(self.name, got=got, want=want)

    def possible(self, u: FloatArray) -> FloatArray:
        """Coordinates, moved to the nearest one that is possible."""
        return np.clip(u, *self.limits)

    def coordinate(self, values: AnyArray) -> FloatArray:
        return np.asarray(_raw(self.kind, values) / self.width - self.middle)

    def value(self, u: float) -> float:
        if self.kind == "unique_tokens":
            return np.inf  # enough, so that nothing is repeated
        raw = (u + self.middle) * self.width
        if self.kind == "share":
            return float(expit(raw))
        return float(np.exp(raw)) if self.kind in LOGS else float(raw)


def _raw(kind: str, values: AnyArray) -> FloatArray:
    """The log of values, the log of their odds, or the values."""
    numbers = np.asarray(values, dtype=np.float64)
    if kind == "share":
        return np.asarray(logit(np.clip(numbers, LEAST_SHARE, 1.0 - LEAST_SHARE)))
    return np.log(numbers) if kind in LOGS else numbers


def known_as(column: str, names: Mapping[str, Collection[str]]) -> str:
    """The key under which the name of a column is listed; '' if it is not."""
    plain = column.lower().replace("-", "_").replace(" ", "_")
    return next((known for known, usual in names.items() if plain in usual), "")


def known_name(column: str) -> str:
    """The name of a hyperparameter that carries over between studies; '' for any other."""
    return known_as(column, KNOWN)


def further_axis(name: str, values: AnyArray, logs: Mapping[str, FloatArray]) -> Axis | None:
    """The further scale axis of a column; None for any other column."""
    kind = known_as(name, FURTHER)
    numbers = np.asarray(values).dtype.kind in "biuf" and bool((values > 0).all())
    if not kind or not numbers or ("N" if kind == "experts" else "D") not in logs:
        return None
    if kind == "experts":
        axis = axis_of(name, values, "log")
        if axis is None or is_recipe(axis.coordinate(values), list(logs.values())):
            return None
        return replace(axis, kind=kind)
    low, high = range_of(further_column(Axis(name, kind), values, logs))
    return Axis(name, kind, low=low, high=high)


def further_column(axis: Axis, values: AnyArray, logs: Mapping[str, FloatArray]) -> FloatArray:
    """(q,) the coordinate of a further scale axis."""
    if axis.kind == "experts":
        return axis.coordinate(values)
    log_values = np.log(np.asarray(values, dtype=np.float64))
    epochs = logs["D"] - log_values if axis.kind == "unique_tokens" else log_values
    return -np.maximum(epochs, 0.0)


def with_price(
    axis: Axis,
    scales: Mapping[str, AnyArray],
    hp: Mapping[str, AnyArray],
    logs: Mapping[str, FloatArray],
) -> Axis:
    """The axis with the power of it that C is proportional to, if the table's C shows one."""
    if axis.kind != "experts" or "C" not in scales:
        return axis
    left = np.log(scales["C"]) - sum(logs.values())
    x = np.log(np.asarray(hp[axis.name], dtype=np.float64))
    power = float(np.polyfit(x, left, 1)[0])
    clear = abs(power) > PRICED and residual_sd(left, x) < PRICE_SD
    return replace(axis, price=power) if clear else axis


def is_recipe(u: FloatArray, columns: list[FloatArray]) -> bool:
    """Whether a hyperparameter follows the scales: along a line, or in steps of an e-fold."""
    return is_linear(u, columns) or any(_sd_within(u, v) < RECIPE * u.std() for v in columns)


def is_linear(u: FloatArray, columns: list[FloatArray]) -> bool:
    """Whether a hyperparameter follows a line in the logs of the scales."""
    return residual_sd(u, *columns) < RECIPE * float(u.std())


def _sd_within(u: FloatArray, column: FloatArray) -> float:
    """SD of ``u`` within each e-fold of ``column``; infinite if most e-folds have one run."""
    values, group = np.unique(np.floor(column), return_inverse=True)
    if 2 * len(values) > len(u):
        return np.inf
    means = np.bincount(group, weights=u) / np.bincount(group)
    return float(np.sqrt(((u - means[group]) ** 2).sum() / (len(u) - len(values))))


def axis_of(name: str, values: AnyArray, kind: str) -> Axis | None:
    """The axis of a column; None where it does not vary."""
    text = values.dtype.kind not in "biuf"
    if len(np.unique(values)) < 2:
        return None
    if not kind:
        kind = "categorical" if text else "log" if bool((values > 0).all()) else "linear"
    if kind == "categorical":
        return Axis(name, kind, levels=tuple(np.unique(values.astype(str)).tolist()))
    numbers = np.asarray(values, dtype=np.float64)
    in_e_folds = kind == "log" and bool(known_name(name) or known_as(name, FURTHER))
    if kind == "log" and not in_e_folds and 0.5 < numbers.max() < 1.0:
        kind = "share"
    raw = _raw(kind, numbers)
    # Over at most two units, about what the learning rate spans in a study in e-folds: an axis of
    # many e-folds is flatter. Values that are no logs have no unit of their own.
    half = float(np.ptp(raw)) / 2.0
    width = 1.0 if in_e_folds else half if kind == "linear" else max(half, 1.0)
    low, high = range_of(raw / width)
    middle = 0.5 * (low + high)
    ends = (low - middle, high - middle)
    axis = Axis(name, kind, middle, width, *ends, tried=ends)
    return axis if in_e_folds else replace(axis, limits=_limits(axis, numbers))


def _limits(axis: Axis, values: FloatArray) -> tuple[float, float]:
    """No value is below 0 if none was tried there, and none above 1 if 1 is the largest."""
    least = axis.coordinate(np.zeros(1)).item() if axis.kind == "linear" else -np.inf
    most = axis.coordinate(np.ones(1)).item() if values.max() == 1.0 else np.inf
    return (least if values.min() >= 0.0 else -np.inf, most)


def with_tried(axis: Axis, values: AnyArray) -> Axis:
    """The axis of all candidates, with the range of the values that were tried."""
    if axis.kind not in (*NUMERIC, "experts"):
        return axis
    return replace(axis, tried=range_of(axis.coordinate(values)))


def residual_sd(v: FloatArray, *columns: FloatArray) -> float:
    """SD of ``v`` about its line in ``columns``."""
    design = np.column_stack([np.ones(len(v)), *columns])
    return float(np.std(v - design @ np.linalg.lstsq(design, v, rcond=None)[0]))


def range_of(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())
