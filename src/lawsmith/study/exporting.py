"""The record as a table that `lawsmith fit` and any spreadsheet read: one row a trial."""

from __future__ import annotations

import json
from typing import Any

from lawsmith import spreadsheet
from lawsmith.journal import Ledger
from lawsmith.study.live import LiveStudy


def rows_of(study: LiveStudy, ledger: Ledger) -> list[dict[str, Any]]:
    """One row a trial, in the order of the record; loss is NaN where it diverged."""
    rows = []
    for trial in ledger.trials.values():
        row = study.candidates.row_of(trial.config)
        C = None if row is None else float(study.grid.C[row])
        about = {"trial": trial.name, "state": trial.stage.value, "by": trial.by}
        loss = trial.loss if trial.stage.value == "finished" else None
        rows.append({**about, **trial.config, "C": C, "cost": trial.cost, "loss": loss})
    return rows


def csv_text(rows: list[dict[str, Any]], *, finished: bool) -> str:
    """The rows as CSV, safe for a spreadsheet; a divergence is nan, as `lawsmith fit` reads it."""
    kept = [row for row in rows if not finished or row["state"] in ("finished", "diverged")]
    names = list(dict.fromkeys(name for row in kept for name in row))
    told = ({**row, "loss": "nan"} if row["state"] == "diverged" else row for row in kept)
    return spreadsheet.csv_text(names, told)


def json_lines(rows: list[dict[str, Any]], *, finished: bool) -> str:
    """The rows as JSON lines; null where there is no loss."""
    kept = [row for row in rows if not finished or row["state"] in ("finished", "diverged")]
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in kept)
