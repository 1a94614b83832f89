"""The tables of the suites: ours beside the paper's, as text cells that any page can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.bench.published import COEFFICIENTS, EXTRAPOLATION, SPEEDUPS, MeanSD
from lawsmith.bench.results import ROUND
from lawsmith.formats import number
from lawsmith.grid import FloatArray
from lawsmith.metrics import speedup, spend_until_settled, value_at
from lawsmith.replay.curves import Curves, FitName

Lines = Mapping[str, Sequence[Curves]]
FIT_TEXTS: dict[FitName, str] = {"fantasized": "fantasized", "observed": "observed"}


@dataclass(frozen=True)
class Table:
    """A table of text; the first ``n_heads`` columns are its row heads."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    n_heads: int = 1

    def markdown(self) -> str:
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean_sd(values: FloatArray, digits: int) -> str:
    """'1.09 ± 1.84' over the seeds that have a value; how many, where some have none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return "–"
    text = f"{known.mean():.{digits}f}"
    if len(known) > 1:
        text += f" ± {known.std(ddof=1):.{digits}f}"
    return text if len(known) == len(values) else f"{text} ({len(known)} of {len(values)} seeds)"


def published(value: MeanSD | None, digits: int) -> str:
    if value is None:
        return "–"
    text = f"{value.mean:.{digits}f}"
    return text if value.sd is None else f"{text} ± {value.sd:.{digits}f}"


def at(runs: Sequence[Curves], values: Sequence[FloatArray], budget: float) -> FloatArray:
    """(seeds,) what stood at a budget; NaN where a replay ended before it."""
    found = []
    for run, series in zip(runs, values, strict=True):
        spent = run.cost_fraction
        ended = spent[-1] < budget * (1 - 1e-9)
        found.append(np.nan if ended else float(value_at(spent, series, budget)[0]))
    return np.array(found)


def extrapolation_table(runs: Sequence[Curves]) -> Table:
    """The paper's headline table: % difference in predicted loss far beyond the grid."""
    rows = []
    for budget, targets in EXTRAPOLATION.items():
        for target, theirs in targets.items():
            current = [np.abs(run.extrapolation(target, "fantasized")) for run in runs]
            least = [np.fmin.accumulate(values) for values in current]
            law = [np.abs(run.extrapolation_incumbent(target, "fantasized")) for run in runs]
            ours = [mean_sd(at(runs, values, budget), 2) for values in (current, least, law)]
            rows.append((f"{100 * budget:g} %", target, *ours, published(theirs, 2)))
    return Table(
        name="extrapolation",
        title="% difference in predicted loss to the full-pool law, Window + fantasized, LCB",
        columns=(
            "budget",
            "compute",
            "current law",
            "its running minimum",
            "law of the incumbent coefficients",
            "paper",
        ),
        rows=tuple(rows),
        note="The paper's values follow the running incumbent, which no user can know: it takes "
        "the full-pool law to say which estimate was nearest. The current law is what a user has.",
        n_heads=2,
    )


def coefficients_table(runs: Sequence[Curves]) -> Table:
    """The paper's table of coefficients, the current law beside the incumbents."""
    digits = {"log_E": 4, "log_A": 3, "alpha": 4}
    names = {"log_E": "ln E", "log_A": "ln A", "alpha": "α"}
    rows = []
    for budget, theirs in COEFFICIENTS.items():
        for key, name in names.items():
            current = [run.parameter(key, "fantasized") for run in runs]
            j = runs[0].task.law.position(key.removeprefix("log_"))
            incumbent = [run.incumbent_laws("fantasized")[:, j] for run in runs]
            ours = [mean_sd(at(runs, v, budget), digits[key]) for v in (current, incumbent)]
            rows.append((f"{100 * budget:g} %", name, *ours, published(theirs[key], digits[key])))
    return Table(
        name="coefficients",
        title="Coefficients of L(C) = E + A·C^α, Window + fantasized, LCB",
        columns=("budget", "coefficient", "current law", "incumbent", "paper (incumbent)"),
        rows=tuple(rows),
        n_heads=2,
    )


def budget_table(name: str, title: str, lines: Lines, fits: Sequence[FitName]) -> Table:
    """Extrapolation error and envelope at round budgets, for every line and fit."""
    rows = []
    for label, runs in lines.items():
        target = next(iter(runs[0].task.targets), None)
        for fit in fits:
            if not any(run.has_law(fit).any() for run in runs):
                continue
            head = (label, FIT_TEXTS[fit])
            if target is not None:
                error = [np.abs(run.extrapolation(target, fit)) for run in runs]
                cells = tuple(mean_sd(at(runs, error, b), 2) for b in ROUND)
                rows.append((*head, f"% off at {target}", *cells))
            share = [100 * run.envelope[fit] for run in runs]
            cells = tuple(mean_sd(at(runs, share, b), 0) for b in ROUND)
            rows.append((*head, "% of the envelope", *cells))
    columns = ("method", "law on", "metric", *(f"{100 * b:g} %" for b in ROUND))
    return Table(name, title, columns, tuple(rows), n_heads=3)


def speedup_table(lines: Lines, within: float = 1.0, target: str = "1e25") -> Table:
    """Spend after which the prediction stays within a percentage, and ratios between methods."""
    spends: dict[str, float | None] = {}
    rows = []
    for label, runs in lines.items():
        for fit in ("fantasized", "observed"):
            found = [_spend(run, fit, target, within) for run in runs]
            middle = float(np.median([1.0 if spend is None else spend for spend in found]))
            spends[f"{label} + {FIT_TEXTS[fit]}"] = middle
            never = sum(spend is None for spend in found)
            share = f"{100 * middle:.2f} %" + (f" ({never} never)" if never else "")
            rows.append((f"{label} + {FIT_TEXTS[fit]}", share, _times(middle, 1.0), "", ""))
    for (first, second), theirs in SPEEDUPS.items():
        if first in spends and second in spends:
            ratio = _times(spends[first], spends[second])
            rows.append((f"{first} against {second}", "", "", ratio, f"{theirs:g}×"))
    return Table(
        name="speedup",
        title=f"Spend after which the predicted loss at {target} stays within {within:g} %",
        columns=("method", "median spend", "against the dense grid", "ratio", "paper"),
        rows=tuple(rows),
        note="Median over seeds of the share of the pool's compute; a replay that ends outside "
        "counts as all of it.",
    )


def _spend(run: Curves, fit: FitName, target: str, within: float) -> float | None:
    with np.errstate(invalid="ignore"):
        met = np.abs(run.extrapolation(target, fit)) <= within
    return spend_until_settled(run.cost_fraction, met)


def _times(spend: float | None, other: float | None) -> str:
    ratio = speedup(spend, other)
    return "–" if ratio is None else f"{number(ratio, 3)}×"
