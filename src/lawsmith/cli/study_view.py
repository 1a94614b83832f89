"""The head of every result: which runs, what became of them, how N and C are counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.text import Text

from lawsmith.cli.console import facts, heading, item
from lawsmith.cli.payload import compute_rule
from lawsmith.datasets import Study
from lawsmith.datasets.units import unit_name
from lawsmith.formats import count, flops, number, percent, plural
from lawsmith.grid import Grid, HeldOut

MAX_LISTED = 5


def show_study(console: Console, study: Study, rule: HeldOut | None, n_held_out: int) -> None:
    """Title and a list of facts."""
    console.print(Text(study.title, style="bold"))
    name = [] if study.name == study.title else [("study", study.name)]
    split = held_out_text(rule, study.grid, n_held_out) if rule else "none"
    told = [*name, *_what_was_read(study), ("held out", split), ("counted", _counted(study))]
    facts(console, told)
    show_reading(console, study)


def show_reading(console: Console, study: Study) -> None:
    """What to check about how the table was read, before any result."""
    if not study.warnings:
        return
    heading(console, "Check how the table was read")
    for warning in study.warnings:
        item(console, warning.code, warning.message)


def listed(rows: Sequence[object]) -> str:
    """'rows 3, 17, 20 and 9 more'."""
    shown = ", ".join(str(row) for row in rows[:MAX_LISTED])
    more = f" and {len(rows) - MAX_LISTED} more" if len(rows) > MAX_LISTED else ""
    return f"row{'' if len(rows) == 1 else 's'} {shown}{more}"


def _what_was_read(study: Study) -> list[tuple[str, str]]:
    log = study.log
    found = [("runs", f"{len(study.runs)} of {_configurations(study)}")]
    if log.unfinished:
        n_out = sum(log.unfinished.values())
        states = ", ".join(f"{n} {state}" for state, n in log.unfinished.items())
        found.append(("not finished", f"{plural(n_out, 'run')} left out: {states}"))
    if log.n_filtered:
        n_left = log.n_rows - sum(log.unfinished.values())
        found.append(("filtered", f"{n_left - log.n_filtered} of {n_left} rows kept"))
    if log.bad:
        some = "; ".join(str(fault) for fault in log.bad[:3]) + ("; …" if len(log.bad) > 3 else "")
        found.append(("left out", f"{plural(log.n_bad, 'bad row')} ({some})"))
    if log.dropped:
        found.append(("dropped", f"the {len(log.dropped)} largest losses ({listed(log.dropped)})"))
    n_diverged = len(log.diverged)
    rows = f"{plural(n_diverged, 'run')} ({listed(log.diverged)})" if n_diverged else "none"
    found += [("diverged", rows), ("replicates", _replicates(study))]
    if study.measured:
        found.append(("measured", f"{_some(study.measured)} (not used)"))
    return found


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def _configurations(study: Study) -> str:
    grid = study.grid
    parts = [f"{len(np.unique(grid.column(axis.name)))} {axis.name}" for axis in grid.axes]
    return f"{plural(len(grid), 'configuration')}: {', '.join(parts)}"


def _replicates(study: Study) -> str:
    groups = study.log.replicates
    if not groups:
        return "none"
    n_runs = sum(len(group) for group in groups)
    rows = listed([_joined(group) for group in groups])
    return f"{plural(len(groups), 'configuration')} run more than once, {n_runs} runs ({rows})"


def _joined(group: Sequence[int]) -> str:
    """'3+17' for the rows of one configuration."""
    return "+".join(map(str, group[:3])) + ("+…" if len(group) > 3 else "")


def held_out_text(rule: HeldOut, grid: Grid, n: int) -> str:
    """'30 configurations with C ≥ 1.5e22', 'none'."""
    if rule.kind == "nothing":
        return "none"
    edge = rule.threshold(grid)
    shown = f"C ≥ {flops(edge)}" if rule.kind == "compute" else f"{rule.name} = {count(edge)}"
    return f"{plural(n, 'configuration')} with {shown}"


def _counted(study: Study) -> str:
    grid = study.grid
    inputs = [name for name in ("N", "D") if name in grid.names]
    renamed = [_read_as(study, name, column) for name, column in _renamed(study, ("N", "D", "C"))]
    given = f"{' and '.join(inputs)} as the table counts {'them' if len(inputs) > 1 else 'it'}"
    given += f" ({', '.join(renamed)})" if renamed else ""
    match compute_rule(study):
        case "6ND":
            return f"{given}; C = 6ND"
        case "column" if len(inputs) == 2:
            return f"{given}; C too ({_against_six_n_d(study)})"
        case "column":
            return f"{given}; C too" if inputs else "C as the table counts it"
    return f"{given}; no compute" if inputs else "no compute"


def _read_as(study: Study, name: str, column: str) -> str:
    unit = f" in {unit_name(study.units[name])}" if name in study.units else ""
    return f"{name} is '{column}'{unit}"


def _renamed(study: Study, names: Sequence[str]) -> list[tuple[str, str]]:
    """Those of ``names`` that the table calls otherwise, or counts in another unit."""
    found = [(name, study.columns.get(name, name)) for name in names]
    return [(name, column) for name, column in found if column != name or name in study.units]


def _against_six_n_d(study: Study) -> str:
    grid = study.grid
    ratio = grid.C / (6 * grid.N * grid.D)
    low, high = float(ratio.min()), float(ratio.max())
    off = max(1 - low, high - 1)
    if low < 0.5 or high > 2.0:
        ends = (
            number(low, 2)
            if number(low, 2) == number(high, 2)
            else f"{number(low, 2)} to {number(high, 2)}"
        )
        return f"{ends} times 6ND"
    return "it is 6ND" if off < 1e-6 else f"within {percent(off, 2)} of 6ND"
