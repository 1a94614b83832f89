"""A study for people and programs: a few lines, a listing, a table, plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.digest import Columns, Digest
from lawsmith.formats import count, flops, interval, number, plural

if TYPE_CHECKING:
    import pandas as pd

    from lawsmith.datasets.records import Study


def lines(study: Study) -> list[str]:
    """The runs, the inputs, and the compute."""
    found = [_runs(study), _inputs(study)]
    if study.has_compute:
        C = study.grid.C
        found.append(f"compute from {flops(float(C.min()))} to {flops(float(C.max()))} FLOPs")
    return found


def listing(study: Study) -> Digest:
    """What was read: runs, inputs with their columns and ranges, notes."""
    rows = []
    for axis in study.grid.axes:
        values = study.grid.column(axis.name)
        column = study.columns.get(axis.name, axis.name)
        rows.append((axis.name, column, str(len(np.unique(values))), _range(axis.name, values)))
    table = Columns("Inputs", ("name", "column", "values", "range"), rows)
    return Digest(f"Study: {study.title}", [_runs(study), table, *study.notes])


def _runs(study: Study) -> str:
    told = [f"{n} {state}" for state, n in study.runs.counts().items() if n]
    of = f"{plural(len(study.runs), 'run')} of {plural(len(study.grid), 'configuration')}"
    return f"{of}: {', '.join(told)}"


def _inputs(study: Study) -> str:
    grid = study.grid
    named = [f"{axis.name} ({len(np.unique(grid.column(axis.name)))})" for axis in grid.axes]
    return f"inputs (values): {', '.join(named)}"


def _range(name: str, values: np.ndarray[Any, Any]) -> str:
    if values.dtype.kind not in "fi":
        return ", ".join(map(str, np.unique(values)[:4]))
    form = {"N": count, "D": count, "C": flops}.get(name, number)
    return interval(float(values.min()), float(values.max()), form)


def to_frame(study: Study) -> pd.DataFrame:
    """One row a run: its name, every column of its configuration, compute, loss and state."""
    import pandas as pd

    runs, grid = study.runs, study.grid
    named = {"run": list(study.run_names)} if study.run_names else {}
    columns = {name: grid.column(name)[runs.index] for name in grid.names}
    if study.has_compute:
        columns["C"] = grid.C[runs.index]
    return pd.DataFrame(
        {**named, **columns, **study.metrics, "loss": runs.loss, "state": runs.state.tolist()}
    )


def to_dict(study: Study) -> dict[str, Any]:
    """What was read, without the runs themselves, as plain values."""
    return {
        "name": study.name,
        "title": study.title,
        "runs": study.runs.counts(),
        "configurations": len(study.grid),
        "columns": dict(study.columns),
        "default_law": study.default_law,
        "notes": list(study.notes),
    }
