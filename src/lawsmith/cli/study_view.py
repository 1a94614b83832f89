"""The head of every result: which runs, what became of them, how N and C are counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.text import Text

from lawsmith.cli.console import facts
from lawsmith.cli.payload import compute_rule
from lawsmith.datasets import Study
from lawsmith.formats import count, flops, percent, plural
from lawsmith.grid import Grid, HeldOut

MAX_LISTED = 5


def show_study(console: Console, study: Study, rule: HeldOut | None, n_held_out: int) -> None:
    """Title and a list of facts."""
    console.print(Text(study.title, style="bold"))
    name = [] if study.name == study.title else [("study", study.name)]
    split = held_out_text(rule, study.grid, n_held_out) if rule else "none"
    told = [*name, *_what_was_read(study), ("held out", split), ("counted", _counted(study))]
    facts(console, told)


def listed(rows: Sequence[object]) -> str:
    """'rows 3, 17, 20 and 9 more'."""
    shown = ", ".join(str(row) for row in rows[:MAX_LISTED])
    more = f" and {len(rows) - MAX_LISTED} more" if len(rows) > MAX_LISTED else ""
    return f"row{'' if len(rows) == 1 else 's'} {shown}{more}"


def _what_was_read(study: Study) -> list[tuple[str, str]]:
    log = study.log
    found = [("runs", f"{len(study.runs)} of {_configurations(study)}")]
    if log.n_filtered:
        found.append(("filtered", f"{log.n_rows - log.n_filtered} of {log.n_rows} rows kept"))
    if log.bad:
        some = "; ".join(str(fault) for fault in log.bad[:3]) + ("; …" if len(log.bad) > 3 else "")
        found.append(("left out", f"{plural(log.n_bad, 'bad row')} ({some})"))
    if log.dropped:
        found.append(("dropped", f"the {len(log.dropped)} largest losses ({listed(log.dropped)})"))
    n_diverged = len(log.diverged)
    rows = f"{plural(n_diverged, 'run')} ({listed(log.diverged)})" if n_diverged else "none"
    return [*found, ("diverged", rows), ("replicates", _replicates(study))]


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
    renamed = [f"{name} is '{column}'" for name, column in _renamed(study, ("N", "D"))]
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


def _renamed(study: Study, names: Sequence[str]) -> list[tuple[str, str]]:
    """Those of ``names`` that the table calls otherwise."""
    found = [(name, study.columns.get(name, name)) for name in names]
    return [(name, column) for name, column in found if column != name]


def _against_six_n_d(study: Study) -> str:
    grid = study.grid
    off = float(np.abs(grid.C / (6 * grid.N * grid.D) - 1).max())
    return "it is 6ND" if off < 1e-6 else f"within {percent(off, 2)} of 6ND"
