"""The tables of the suites: ours beside the paper's, as text cells that any page can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.metrics import value_at
from lawsmith_paper.curves import Curves, FitName, running_minimum
from lawsmith_paper.published import COEFFICIENTS, EXTRAPOLATION, MeanSD
from lawsmith_paper.tidy import ROUND
from lawsmith_paper.titles import task_name

Lines = Mapping[str, Sequence[Curves]]
FITS: tuple[FitName, ...] = ("fantasized", "observed")
COEFFICIENT_NAMES = {"log_E": "ln E", "log_A": "ln A", "alpha": "α"}
DIGITS = {"log_E": 4, "log_A": 3, "alpha": 4}  # as the paper prints them


@dataclass(frozen=True)
class Table:
    """A table of text; the first ``n_heads`` columns are its row heads.

    detail   for those who look closer: folded on a page, left out on a terminal
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    n_heads: int = 1
    detail: bool = False

    def markdown(self) -> str:
        """The table in GitHub's Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
        return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def mean_sd(values: FloatArray, digits: int) -> str:
    """'1.09 ± 1.84' over the seeds that have a value; how many, where some have none.

    Where the SD is larger than the mean, a few seeds are far off and make both: with the median.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return "–"
    text = fixed(float(known.mean()), digits)
    if len(known) > 1:
        sd = float(known.std(ddof=1))
        text += f" ± {fixed(sd, digits)}"
        if (known >= 0.0).all() and sd > known.mean():
            text += f", median {fixed(float(np.median(known)), digits)}"
    return text if len(known) == len(values) else f"{text} ({len(known)} of {len(values)} seeds)"


def published(value: MeanSD | None, digits: int) -> str:
    """The paper's value in the same words."""
    if value is None:
        return "–"
    text = fixed(value.mean, digits)
    return text if value.sd is None else f"{text} ± {fixed(value.sd, digits)}"


def fixed(x: float, digits: int) -> str:
    """So many digits after the point, with a minus that is one."""
    return f"{x:.{digits}f}".replace("-", "−")


def percent(budget: float) -> str:
    """A budget as a share of the pool's compute: '0.5 %'."""
    return f"{100 * budget:g} %"


def at(runs: Sequence[Curves], values: Sequence[FloatArray], budget: float) -> FloatArray:
    """(seeds,) what stood at a budget; NaN where a replay ended before it.

    One that was to end at a budget stands there: the next run would have cost more.
    """
    found = []
    for run, series in zip(runs, values, strict=True):
        ended = known_to(run) < budget * (1 - 1e-9)
        value = value_at(run.cost_fraction, series, budget)[0]
        found.append(np.nan if ended else float(value))
    return np.array(found)


def known_to(run: Curves) -> float:
    """The share of the pool's compute up to which it is known what stands."""
    budget = run.settings.get("budget")
    spent = float(run.cost_fraction[-1])
    return max(spent, budget) if isinstance(budget, float) else spent


def error(run: Curves, target: str, fit: FitName) -> FloatArray:
    """(T,) % difference in predicted loss at a target to the full-pool law, unsigned."""
    return np.abs(run.extrapolation(target, fit))


def incumbent_error(run: Curves, target: str, fit: FitName) -> FloatArray:
    """(T,) the same of the law made of the incumbent coefficients."""
    return np.abs(run.extrapolation_incumbent(target, fit))


def incumbent(run: Curves, key: str, fit: FitName) -> FloatArray:
    """(T,) the incumbent of a coefficient, positive ones in logs."""
    return run.incumbent_laws(fit)[:, run.task.law.position(key.removeprefix("log_"))]


READINGS = ("current law", "its running minimum", "law of the incumbent coefficients")


def readings(
    runs: Sequence[Curves], target: str, fit: FitName, budget: float
) -> tuple[str, str, str]:
    """% off at a target by the three `READINGS` at a budget, mean ± SD over seeds."""
    current = [error(run, target, fit) for run in runs]
    least = [running_minimum(values) for values in current]
    law = [incumbent_error(run, target, fit) for run in runs]
    now, nearest, incumbents = (
        mean_sd(at(runs, values, budget), 2) for values in (current, least, law)
    )
    return now, nearest, incumbents


def extrapolation_table(runs: Sequence[Curves], fit: FitName = "fantasized") -> Table:
    """The paper's headline table: % difference in predicted loss far beyond the grid."""
    rows = []
    for budget, targets in EXTRAPOLATION.items():
        for target, theirs in targets.items():
            rows.append(
                (
                    percent(budget),
                    target,
                    *readings(runs, target, fit, budget),
                    published(theirs, 2),
                )
            )
    return Table(
        name="extrapolation",
        title=f"% difference in predicted loss to the full-pool law, Window + {fit}, LCB: "
        + task_name(runs[0].task),
        columns=("budget", "compute", *READINGS, "paper"),
        rows=tuple(rows),
        note="The paper's values follow the running incumbent, which no user can know: it takes "
        "the full-pool law to say which estimate was nearest. The current law is what a user has.",
        n_heads=2,
    )


def readings_table(
    name: str, title: str, lines: Lines, target: str, fit: FitName = "fantasized"
) -> Table:
    """The three readings of % off at a target, for each line, at the budgets of the paper."""
    rows = []
    for label, runs in lines.items():
        for budget, targets in EXTRAPOLATION.items():
            ours = readings(runs, target, fit, budget)
            rows.append((label, percent(budget), *ours, published(targets[target], 2)))
    return Table(
        name=name,
        title=title,
        columns=("method", "budget", *READINGS, "paper"),
        rows=tuple(rows),
        note="The paper's values follow the running incumbent; the current law is what a user has.",
        n_heads=2,
    )


def coefficients_table(runs: Sequence[Curves], fit: FitName = "fantasized") -> Table:
    """The paper's table of coefficients, the current law beside the incumbents."""
    rows = []
    for budget, theirs in COEFFICIENTS.items():
        for key, name in COEFFICIENT_NAMES.items():
            current = [run.parameter(key, fit) for run in runs]
            best = [incumbent(run, key, fit) for run in runs]
            ours = [mean_sd(at(runs, values, budget), DIGITS[key]) for values in (current, best)]
            rows.append((percent(budget), name, *ours, published(theirs[key], DIGITS[key])))
    return Table(
        name="coefficients",
        title=f"Coefficients of {runs[0].task.law.formula}, Window + {fit}, LCB: "
        + task_name(runs[0].task),
        columns=("budget", "coefficient", "current law", "incumbent", "paper (incumbent)"),
        rows=tuple(rows),
        note="The paper's E and A are logs. At 100 % every method has the law of the whole pool.",
        n_heads=2,
    )


def budget_table(
    name: str,
    title: str,
    groups: Mapping[str, Lines],
    fits: Sequence[FitName] = FITS,
    *,
    grouped_by: str = "study",
) -> Table:
    """Extrapolation error and envelope at round budgets, for every line and fit of each group."""
    rows = []
    for group, lines in groups.items():
        for label, runs in lines.items():
            for fit in (fit for fit in FITS if fit in fits):
                if any(run.has_law(fit).any() for run in runs):
                    rows += [(group, label, fit, *row) for row in _budget_rows(runs, fit)]
    columns = (grouped_by, "method", "law on", "metric", *(percent(budget) for budget in ROUND))
    skip = 0 if len(groups) > 1 else 1  # the title says of a single group what it is
    return Table(
        name=name,
        title=title,
        columns=columns[skip:],
        rows=tuple(row[skip:] for row in rows),
        note="Columns are budgets, shares of the pool's compute; values at that moment, mean ± SD "
        "over seeds. A median is given where the SD is larger than the mean: a few seeds are far "
        "off and make both.",
        n_heads=4 - skip,
    )


def _budget_rows(runs: Sequence[Curves], fit: FitName) -> list[tuple[str, ...]]:
    rows = []
    target = next(iter(runs[0].task.targets), None)
    if target is not None:
        off = [error(run, target, fit) for run in runs]
        cells = (mean_sd(at(runs, off, budget), 2) for budget in ROUND)
        rows.append((f"% off at {target}", *cells))
    share = [100 * run.envelope[fit] for run in runs]
    rows.append(("% of the envelope", *(mean_sd(at(runs, share, budget), 0) for budget in ROUND)))
    return rows
