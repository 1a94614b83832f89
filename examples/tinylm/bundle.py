"""The rows of the dense grid to the table that lawsmith ships: sorted, compact, always the same.

    python bundle.py                       # results/dense.jsonl → src/lawsmith/datasets/bundled
    python ../../docs/tinylm.py            # then the numbers and figures of docs/tinylm.md

Beside the table, a small JSON file has its rows, bytes and checksum, which every load verifies.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from errors import TinylmError, run_command

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "dense.jsonl"
BUNDLED = HERE.parents[1] / "src" / "lawsmith" / "datasets" / "bundled"
# What makes a run, in the order of sorting; seeds of one configuration are neighbours.
KEY = ("N", "D", "batch", "lr", "seed")
COLUMNS = ("N", "D", "C", "lr", "batch", "seed", "loss", "flops_exact", "width", "depth", "curve")
LOSS_PLACES = 6  # seeds differ by a hundredth

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    """The rows of a results file, sorted; of a run that is there twice the last counts.

    A line that a kill cut short is left out, as by grid.py, which trains those runs again.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise TinylmError(f"{path}: {error.strerror}") from None
    rows: dict[tuple[Any, ...], Row] = {}
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        missing = [name for name in COLUMNS if name not in row]
        if missing:
            raise TinylmError(f"{path}: line {number} has no {', '.join(missing)}")
        if row["C"] != 6 * row["N"] * row["D"]:
            raise TinylmError(f"{path}: line {number} has a C that is not 6·N·D")
        rows[tuple(row[name] for name in KEY)] = row
    if not rows:
        raise TinylmError(f"{path}: no rows")
    return [rows[key] for key in sorted(rows)]


def table(rows: Iterable[Row]) -> bytes:
    """The CSV; a diverged run without a loss has an empty cell there."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        loss = "" if row["loss"] is None else f"{row['loss']:.{LOSS_PLACES}f}"
        curve = " ".join("-" if x is None else f"{x:g}" for x in row["curve"])
        writer.writerow([{**row, "loss": loss, "curve": curve}[name] for name in COLUMNS])
    return text.getvalue().encode()


def facts(data: bytes, n_rows: int) -> str:
    """What every load checks, as JSON."""
    found = {"rows": n_rows, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return json.dumps(found, indent=2) + "\n"


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON lines of grid.py")
    parser.add_argument("--out", type=Path, default=BUNDLED, help="folder of the table")
    args = parser.parse_args()
    rows = read(args.results)
    data = table(rows)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "tinylm.csv").write_bytes(data)
    (args.out / "tinylm.json").write_text(facts(data, len(rows)), encoding="utf-8")
    print(f"{args.out / 'tinylm.csv'}: {len(rows)} runs, {len(data)} bytes")


if __name__ == "__main__":
    run_command(_main)
