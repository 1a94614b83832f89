"""How values read in cards: intervals, parameters, configurations, compute in GPU-hours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lawsmith.formats import count, flops, number, percent
from lawsmith.laws.uncertainty import Interval
from lawsmith.report.source import Spend

_GREEK = {"alpha": "α", "beta": "β", "alpha_N": "αN", "alpha_D": "αD"}


def symbol(name: str) -> str:
    """A parameter as its law's formula writes it: α for alpha."""
    return _GREEK.get(name, name)


def loss(value: float) -> str:
    """A loss to four digits, zeros kept: 1.740."""
    return f"{value:#.4g}"


def ends(interval: Interval, form: Callable[[float], str] = loss) -> str:
    """'1.593 to 1.938'."""
    return f"{form(interval.low)} to {form(interval.high)}"


def config_text(config: Mapping[str, float | int | str]) -> str:
    """'N 302M, D 20B, lr 0.001'; the model's name stands for its N."""
    values = dict(config)
    parts = []
    model = values.pop("model", "")
    if model:
        values.pop("N", None)
        parts.append(str(model))
    parts += [f"{name} {value_text(name, value)}" for name, value in values.items()]
    return ", ".join(parts)


def value_text(name: str, value: float | int | str) -> str:
    """A value of an axis as people read it."""
    if isinstance(value, str):
        return value
    if name in ("N", "D"):
        return count(value)
    return flops(value) if name == "C" else number(value)


def compute_text(spend: Spend, compute: float) -> str:
    """'1.8e21 FLOPs', with GPU-hours where the speed is known."""
    text = f"{flops(compute)} FLOPs"
    if spend.flops_per_second is None:
        return text
    return f"{text} ({number(compute / spend.flops_per_second / 3600, 3)} GPU-hours)"


def share_text(share: float) -> str:
    """'1%', '0.042%'; never 100 % of what is not all."""
    if 0.9995 <= share < 1.0:
        return "99.9%"
    return percent(share, 3)
