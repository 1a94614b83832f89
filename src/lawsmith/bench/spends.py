"""What methods spend until they predict well enough, and the ratios of that beside the paper's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.bench.published import SPEEDUPS
from lawsmith.bench.tables import FITS, Lines, Table, error
from lawsmith.charts.draw.titles import task_name
from lawsmith.formats import number
from lawsmith.metrics import speedup, spend_until_settled

TARGET, WITHIN = "1e25", 1.0  # the goal: a prediction there, % off the full-pool law's


@dataclass(frozen=True)
class Spend:
    """Shares of the pool's compute, medians over seeds, until a method predicts well enough.

    settled   after which the prediction stays within the goal; never counts as 1
    first     when it first is, as an incumbent has it, which no user can know
    n_never   seeds that end outside the goal
    """

    settled: float
    first: float
    n_never: int


def spends(lines: Lines, target: str = TARGET, within: float = WITHIN) -> dict[str, Spend]:
    """'Window + fantasized', … → what it spends."""
    found = {}
    for label, runs in lines.items():
        for fit in FITS:
            met = [np.less_equal(error(run, target, fit), within) for run in runs]
            settled = [
                spend_until_settled(run.cost_fraction, m) for run, m in zip(runs, met, strict=True)
            ]
            first = [
                float(run.cost_fraction[m].min(initial=1.0))
                for run, m in zip(runs, met, strict=True)
            ]
            middle = float(np.median([1.0 if spend is None else spend for spend in settled]))
            never = sum(spend is None for spend in settled)
            found[f"{label} + {fit}"] = Spend(middle, float(np.median(first)), never)
    return found


def spend_table(lines: Lines, target: str = TARGET, within: float = WITHIN) -> Table:
    """Spend until the prediction stays, and until it first is, within a percentage."""
    rows = []
    for method, spend in spends(lines, target, within).items():
        never = f" ({spend.n_never} never)" if spend.n_never else ""
        cells = (f"{100 * spend.settled:.2f} %{never}", times(spend.settled, 1.0))
        rows.append((method, *cells, f"{100 * spend.first:.2f} %", times(spend.first, 1.0)))
    return Table(
        name="spend",
        title=f"Spend until the predicted loss at {target} is within {within:g} %: "
        + task_name(next(iter(lines.values()))[0].task),
        columns=(
            *("method", "spend until it stays", "less than the dense grid"),
            *("spend until it first is", "less than the dense grid"),
        ),
        rows=tuple(rows),
        note="Medians over seeds of the share of the pool's compute; a replay that ends outside "
        "counts as all of it. When a prediction is first within, no user can know.",
    )


def speedup_table(lines: Lines, target: str = TARGET, within: float = WITHIN) -> Table:
    """How many times less one method spends than another, beside the paper's."""
    found = spends(lines, target, within)
    rows = []
    for (first, second), theirs in SPEEDUPS.items():
        if first in found and second in found:
            one, other = found[first], found[second]
            ratios = (times(one.settled, other.settled), times(one.first, other.first))
            rows.append((first, second, *ratios, f"{theirs:g}×"))
    return Table(
        name="speedup",
        title=f"Times less spent until the predicted loss at {target} is within {within:g} %: "
        + task_name(next(iter(lines.values()))[0].task),
        columns=("method", "against", "until it stays", "until it first is", "paper"),
        rows=tuple(rows),
        note="The paper does not say at which error it reads its speed-ups off.",
        n_heads=2,
    )


def times(spend: float, other: float) -> str:
    """'12.3×': how many times more the other spends."""
    ratio = speedup(spend, other)
    return "–" if ratio is None else f"{number(ratio, 3)}×"
