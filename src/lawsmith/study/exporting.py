"""The record as tables that `lawsmith fit` and any spreadsheet read: one row a run, and curves."""

from __future__ import annotations

import json
from typing import Any

from lawsmith import spreadsheet
from lawsmith.journal import Ledger
from lawsmith.study.live import LiveStudy
from lawsmith.study.telling import METRICS
from lawsmith.study.trunks import along_of, roots_of


def rows_of(study: LiveStudy, ledger: Ledger) -> list[dict[str, Any]]:
    """One row a trial, in the order of the record; loss is NaN where it diverged.

    With trunks, each row has its kind, its trunk and its branch point. A decay that a run passed is
    a row of its own. Metrics are columns: metrics.arc_easy.
    """
    rows, roots = [], roots_of(ledger)
    trunks = any(trial.kind != "run" for trial in ledger.trials.values())
    for trial in ledger.trials.values():
        row = study.candidates.row_of(trial.config)
        C = None if row is None else float(study.grid.C[row])
        about: dict[str, Any] = {"trial": trial.name, "state": trial.stage.value, "by": trial.by}
        if trunks:
            parent = roots[trial.name] if trial.parent else None
            about |= {"kind": trial.kind, "parent": parent, "branch_at": trial.branch_at}
        loss = trial.loss if trial.stage.value == "finished" else None
        whole = {**about, **trial.config, "C": C, "cost": trial.cost, "loss": loss}
        for tokens, passed, _ in trial.passed:
            if tokens != trial.D:
                here = {"D": tokens, "C": None, "cost": 0.0, "loss": passed, "state": "finished"}
                rows.append({**whole, **here})
        rows.append({**whole, **{f"{METRICS}{name}": x for name, x in trial.metrics.items()}})
    return rows


def curve_rows(study: LiveStudy, ledger: Ledger) -> list[dict[str, Any]]:
    """The losses along trunks, as `lawsmith fit --curves` reads them."""
    return [
        {"run": one.run, "kind": one.kind, "N": one.N, **one.hp, "D": D, "loss": loss}
        for one in along_of(study, ledger).curves
        for D, loss in zip(one.D.tolist(), one.loss.tolist(), strict=True)
    ]


def _is_result(row: dict[str, Any]) -> bool:
    return row["state"] in ("finished", "diverged") and row.get("kind") != "trunk"


def csv_text(rows: list[dict[str, Any]], *, finished: bool) -> str:
    """The rows as CSV, safe for a spreadsheet; a divergence is nan, as `lawsmith fit` reads it."""
    kept = [row for row in rows if not finished or _is_result(row)]
    names = list(dict.fromkeys(name for row in kept for name in row))
    shown = ({**row, "loss": "nan"} if row.get("state") == "diverged" else row for row in kept)
    return spreadsheet.csv_text(names, shown)


def json_lines(rows: list[dict[str, Any]], *, finished: bool) -> str:
    """The rows as JSON lines; null where there is no loss."""
    kept = [row for row in rows if not finished or _is_result(row)]
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in kept)
