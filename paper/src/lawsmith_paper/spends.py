"""What methods spend until they predict well enough, and the ratios of that beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lawsmith.arrays import BoolArray
from lawsmith.formats import number
from lawsmith_paper.curves import Curves
from lawsmith_paper.published import SPEEDUPS
from lawsmith_paper.tables import FITS, Lines, Table, error, incumbent_error
from lawsmith_paper.titles import task_name

TARGET = "1e25"
WITHIN = (0.5, 1.0, 2.0, 5.0)  # the goals: a prediction there, so many % off the full-pool law's


@dataclass(frozen=True)
class Spend:
    """Shares of the pool's compute, medians over seeds, until a method predicts well enough.

    settled    after which the prediction stays within the goal; never counts as 1
    first      when it first is, as an incumbent has it, which no user can know
    incumbent  when the law of the incumbent coefficients first is
    n_never    seeds that end outside the goal
    """

    settled: float
    first: float
    incumbent: float
    n_never: int


def spends(lines: Lines, within: float, target: str = TARGET) -> dict[str, Spend]:
    """'Window + fantasized', … → what it spends."""
    found = {}
    for label, runs in lines.items():
        for fit in FITS:
            met = [np.less_equal(error(run, target, fit), within) for run in runs]
            settled = [
                spend_until_settled(run.cost_fraction, m) for run, m in zip(runs, met, strict=True)
            ]
            law = [np.less_equal(incumbent_error(run, target, fit), within) for run in runs]
            middle = float(np.median([1.0 if spend is None else spend for spend in settled]))
            never = sum(spend is None for spend in settled)
            found[f"{label} + {fit}"] = Spend(middle, _first(runs, met), _first(runs, law), never)
    return found


def _first(runs: Sequence[Curves], met: Sequence[BoolArray]) -> float:
    """Median over seeds of the spend at which a goal is first met; never counts as 1."""
    spent = [run.cost_fraction[m].min(initial=1.0) for run, m in zip(runs, met, strict=True)]
    return float(np.median(spent))


def spend_table(lines: Lines, target: str = TARGET) -> Table:
    """Spend until the prediction stays, and until it first is, within some percentages."""
    rows = []
    for within in WITHIN:
        for method, spend in spends(lines, within, target).items():
            never = f" ({spend.n_never} never)" if spend.n_never else ""
            shares = (f"{100 * s:.2f} %" for s in (spend.first, spend.incumbent))
            stays = f"{100 * spend.settled:.2f} %{never}"
            rows.append((f"{within:g} %", method, stays, *shares))
    return Table(
        name="spend",
        title=f"Spend until the predicted loss at {target} is near the full-pool law's: "
        + task_name(next(iter(lines.values()))[0].task),
        columns=("within", "method", "it stays", "it first is", "law of incumbents first is"),
        rows=tuple(rows),
        note="Medians over seeds of the share of the pool's compute; a replay that ends outside "
        "counts as all of it. When a prediction is first within, no user can know.",
        n_heads=2,
    )


def speedup_table(lines: Lines, target: str = TARGET) -> Table:
    """How many times less one method spends than another, beside the paper's."""
    rows = []
    for within in WITHIN:
        found = spends(lines, within, target)
        for (first, second), theirs in SPEEDUPS.items():
            if first in found and second in found:
                ratios = _ratios(found, first, second)
                rows.append((f"{within:g} %", first, second, *ratios, f"{theirs:g}×"))
    return Table(
        name="speedup",
        title=f"Times less spent until the predicted loss at {target} is near the full-pool law's: "
        + task_name(next(iter(lines.values()))[0].task),
        columns=(
            *("within", "method", "against", "it stays", "it first is"),
            *("law of incumbents first is", "paper"),
        ),
        rows=tuple(rows),
        note="The paper does not say at which error, or by which reading, it has its speed-ups.",
        n_heads=3,
    )


def _ratios(found: Mapping[str, Spend], first: str, second: str) -> tuple[str, str, str]:
    one, other = found[first], found[second]
    return (
        times(one.settled, other.settled),
        times(one.first, other.first),
        times(one.incumbent, other.incumbent),
    )


def times(spend: float, other: float) -> str:
    """'12.3×': how many times more the other spends."""
    return f"{number(other / spend, 3)}×"


def spend_until_settled(fraction: npt.ArrayLike, within: npt.ArrayLike) -> float | None:
    """The spend after which a goal is met at every step to the end; None if it is not at the end.

    within   (T,) whether the goal is met, such as |difference| ≤ 1 or recovery ≥ 0.9: a metric
             that is NaN compares as not met
    """
    spent = np.asarray(fraction, dtype=np.float64)
    missed = np.flatnonzero(~np.asarray(within, dtype=np.bool_))
    first = int(missed[-1]) + 1 if len(missed) else 0
    return float(spent[first]) if first < len(spent) else None
