"""A replay as files: trace.json, the whole object of --json, and steps.csv, one row a run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from lawsmith.cli.payload import Json
from lawsmith.cli.replay_payload import step_table
from lawsmith.errors import LawsmithError
from lawsmith.replay import Trace


def json_text(payload: Json) -> str:
    """The text of the object; a number that is not finite cannot get through."""
    return json.dumps(payload, indent=2, ensure_ascii=False, allow_nan=False)


def write_files(payload: Json, trace: Trace, folder: Path) -> tuple[Path, ...]:
    """The two files' paths."""
    paths = folder / "trace.json", folder / "steps.csv"
    rows = step_table(trace)
    try:
        paths[0].write_text(json_text(payload) + "\n", encoding="utf-8")
        with paths[1].open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        got = f"{folder}: {error.strerror or error}"
        raise LawsmithError("--out", got=got, want="a folder that can be written") from None
    return paths
