"""A report's source from a table of finished runs, or from a catalogued study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, answer_study
from lawsmith.answer import Answer, Target
from lawsmith.charts.answer import answered_by
from lawsmith.charts.runs import FITTED, HELD_OUT, run_kinds
from lawsmith.charts.trunks import curved_by
from lawsmith.curves import Along
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.report.cards.runs import run_table
from lawsmith.report.finding import with_laws
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Found, Record, Source, Spend

ROLES = {FITTED: "fitted", HELD_OUT: "held out"}


def table_source(
    study: Study,
    options: FitOptions,
    targets: Sequence[Target],
    record: Record,
    along: Along | None = None,
    found: Answer | None = None,
) -> Source:
    """The source of a report on a study whose runs are all made.

    along   losses along runs
    found   the answer, where it is known already
    """
    why_not = ""
    if found is None:
        level, hold_out = options.level, options.hold_out
        try:
            found = answer_study(study, targets, level=level, hold_out=hold_out, curves=along)
        except LawsmithError as error:
            why_not = str(error)
    answered = None if found is None else answered_by(found, study)
    curved = None if found is None or along is None else curved_by(found, study, along)
    all_found = with_laws(Found(answered, why_not, curved), study, options)
    cost = float(study.grid.C[study.runs.index].sum())
    return Source(
        kind="table",
        study=study,
        law=options.law,
        spend=Spend(cost, float(study.grid.C.sum()), len(study.runs), len(study.grid)),
        runs=runs_of(study, all_found.analysis),
        record=record,
        found=all_found,
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
