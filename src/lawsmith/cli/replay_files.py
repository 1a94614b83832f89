"""A replay as files: trace.json, the whole object of --json, and steps.csv, one row a run."""

from __future__ import annotations

import json
from pathlib import Path

from lawsmith.cli.payload import Json
from lawsmith.cli.replay_payload import step_table
from lawsmith.files import write_told
from lawsmith.replay import Trace
from lawsmith.spreadsheet import csv_text


def json_text(payload: Json) -> str:
    """The text of the object; a number that is not finite cannot get through."""
    return json.dumps(payload, indent=2, ensure_ascii=False, allow_nan=False)


def write_files(payload: Json, trace: Trace, folder: Path) -> tuple[Path, ...]:
    """The two files' paths."""
    paths = folder / "trace.json", folder / "steps.csv"
    rows = step_table(trace)
    write_told(paths[0], json_text(payload) + "\n", where="--out")
    write_told(paths[1], csv_text(list(rows[0]), rows), where="--out")
    return paths
