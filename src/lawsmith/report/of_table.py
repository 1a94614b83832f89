"""A report's source from a table of finished runs, or from a catalogued study."""

from __future__ import annotations

import numpy as np

from lawsmith.analysis import Analysis, FitOptions
from lawsmith.charts.data.runs import FITTED, HELD_OUT, run_kinds
from lawsmith.datasets.records import Study
from lawsmith.report.laws import shares_of, try_analyse
from lawsmith.report.parts import RunTable
from lawsmith.report.run_table import run_table
from lawsmith.report.source import Record, Source, Spend

ROLES = {FITTED: "fitted", HELD_OUT: "held out"}


def table_source(study: Study, options: FitOptions, record: Record) -> Source:
    """The source of a report on a study whose runs are all made."""
    analysis, why_not = try_analyse(study, options)
    shares, why_no_shares = shares_of(study, options, analysis, why_not)
    cost = float(study.grid.C[study.runs.index].sum())
    return Source(
        kind="table",
        study=study,
        law=options.law,
        spend=Spend(cost, float(study.grid.C.sum()), len(study.runs), len(study.grid)),
        runs=runs_of(study, analysis),
        record=record,
        analysis=analysis,
        why_no_law=why_not,
        shares=shares,
        why_no_shares=why_no_shares,
    )


def runs_of(study: Study, analysis: Analysis | None) -> RunTable:
    """Every run of a table, in its order."""
    runs = study.runs
    kinds = np.full(len(study.grid), "", dtype=object)
    if analysis is not None:
        kinds = np.array([ROLES.get(kind, "") for kind in run_kinds(analysis)], dtype=object)
    return run_table(
        study.grid,
        runs.index,
        first={"run": run_column(study), "state": runs.state.tolist()},
        loss=runs.loss,
        fit=None if analysis is None else analysis.fit,
        last={"role": kinds[runs.index].tolist()},
    )


def run_column(study: Study) -> list[float | str | None]:
    """What each run is called: its own name, else its number."""
    return list(study.run_names) or list(range(1, len(study.runs) + 1))
