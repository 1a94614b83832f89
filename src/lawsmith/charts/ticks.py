"""Places of ticks, computed here, and Vega's expressions of their labels: 125M, 1.7B, 1e21."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PATTERNS: tuple[tuple[int, ...], ...] = ((1,), (1, 3), (1, 2, 5), tuple(range(1, 10)))
ENOUGH = 5
EVEN = 3.0  # largest range (a ratio) in which linear steps look even on a log scale
LOSS_GAP = 36  # least number of pixels between ticks of losses
TINY = 1e-150
LEAST_STEP = 1e-9  # relative: the resolution of ten digits
ROUND = 20  # largest multiple of a step that is a round number: 1.4 is one, 9.7 is not
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)


def log_ticks(low: float, high: float, *, pixels: int, gap: int) -> list[float]:
    """Round values in [low, high] at least ``gap`` pixels apart; the fewest that are ENOUGH.

    They are powers of ten, also with 3s, with 2s and 5s, or with all digits. Over many decades they
    are every second or third power; over less than a decade they are evenly spaced.
    """
    low, high = _usable(low, high)
    per_log = pixels / math.log(high / low)
    best: list[float] = []
    for digits in PATTERNS:
        values = _inside(low, high, digits)
        if len(values) > 1 and min(np.diff(np.log(values))) * per_log < gap:
            break
        best = values
        if len(best) >= ENOUGH:
            break
    if len(best) >= 3:
        return best
    if len(_inside(low, high, (1,))) >= 3:
        stride = math.ceil(gap / (math.log(10) * per_log))
        return [v for v in _inside(low, high, (1,)) if round(math.log10(v)) % stride == 0]
    even = linear_ticks(low, high, n_max=max(pixels // (2 * gap), 2))
    return even if len(even) > len(best) else best


def _usable(low: float, high: float) -> tuple[float, float]:
    """The range, or a range around it if it is empty; positive."""
    low, high = _bounded(low), _bounded(high)
    return (low, high) if high > low * (1.0 + LEAST_STEP) else (low / 1.05, low * 1.05)


def _bounded(value: float) -> float:
    """The value, limited so that its square is neither 0 nor infinite."""
    return min(max(value, TINY), 1.0 / TINY) if not math.isnan(value) else 1.0


def _inside(low: float, high: float, digits: tuple[int, ...]) -> list[float]:
    """d·10^e in [low, high], ascending."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{d}e{e}") for e in powers for d in digits]
    return [v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def linear_ticks(low: float, high: float, *, n_max: int) -> list[float]:
    """At most ``n_max`` multiples of a round step in [low, high]."""
    raw = (high - low) / max(n_max, 1)
    if not LEAST_STEP * max(abs(low), abs(high)) < raw < math.inf:
        return [float(f"{low:.10g}")] if math.isfinite(low) else []
    power = 10.0 ** math.floor(math.log10(raw))
    for size in STEPS:
        step = size * power
        ticks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
        if len(ticks) <= n_max:
            break
    return [float(f"{tick:.10g}") for tick in ticks]


def loss_ticks(low: float, high: float, *, pixels: int) -> list[float]:
    """Round losses on a log scale: evenly spaced within a factor EVEN, else denser where low.

    They are multiples of a power of ten, then of a half, a fifth, a tenth of it, … where they fit.
    """
    low, high = _usable(low, high)
    if high <= EVEN * low:
        return linear_ticks(low, high, n_max=max(pixels // 45, 4))
    per_log = pixels / math.log(high / low)
    size = 10.0 ** math.floor(math.log10(high))
    values: list[float] = []
    steps = [size, size / 2, size / 5, size / 10, *([size / 20] if low < size / 5 else [])]
    for step in steps:
        first = max(math.ceil(low / step - 1e-9), 1)
        last = min(math.floor(high / step + 1e-9), ROUND)
        for tick in (float(f"{k * step:.10g}") for k in range(first, last + 1)):
            if all(abs(math.log(tick / other)) * per_log >= LOSS_GAP for other in values):
                values.append(tick)
    return sorted(values)


def count_label(value: str) -> str:
    """Vega's expression for `lawsmith.formats.count` of the expression ``value``."""
    label = f"format({value}, '.3~r')"
    for size, suffix in ((1e3, "K"), (1e6, "M"), (1e9, "B"), (1e12, "T")):
        scaled = f"format({value} / {size:g}, '.3~r') + '{suffix}'"
        label = f"({value} >= {0.9995 * size:g} ? {scaled} : {label})"
    return f"({value} >= 1e15 ? {flops_label(value)} : {label})"


def flops_label(value: str) -> str:
    """Vega's expression for `lawsmith.formats.flops` of the expression ``value``."""
    return f"replace(format({value}, '.2~e'), '+', '')"


def number_label(value: str) -> str:
    """Vega's expression for a number of at most four significant digits: 0.002, 2.5, 512."""
    plain = f"format({value}, '.4~r')"
    return f"(abs({value}) >= 1e6 || abs({value}) < 1e-4 ? {flops_label(value)} : {plain})"


LABELS = {"C": flops_label, "level": flops_label, "N": count_label, "D": count_label}


def label(name: str, value: str) -> str:
    """Vega's expression for a value of the variable ``name``."""
    return LABELS.get(name, number_label)(value)


def padded(values: Sequence[float], *, share: float = 0.03) -> tuple[float, float]:
    """The range of positive values with ``share`` of its logarithm added at either end."""
    low, high = _bounded(min(values)), _bounded(max(values))
    room = math.log(high / low) * share if high > low else 0.1
    return low * math.exp(-room), high * math.exp(room)
