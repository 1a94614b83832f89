"""The rows of a grid to the tables that lawsmith ships: sorted, compact, always the same.

    python bundle.py                       # results/dense.jsonl → src/lawsmith/datasets/bundled
    python bundle.py --grid wsd            # results/wsd.jsonl, with the losses along its trunks
    python ../../docs/tinylm.py            # then the numbers and figures of docs/tinylm.md

Beside the tables, a small JSON file has their rows, bytes and checksums, which every load verifies.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from errors import TinylmError, run_command

HERE = Path(__file__).resolve().parent
BUNDLED = HERE.parents[1] / "src" / "lawsmith" / "datasets" / "bundled"
# What makes a run, in the order of sorting; seeds of one configuration are neighbours.
KEY = ("N", "D", "batch", "lr", "seed")
COLUMNS = ("N", "D", "C", "lr", "batch", "seed", "loss", "flops_exact", "width", "depth", "curve")
WSD_COLUMNS = ("run", "parent", "branch_at", *COLUMNS[:-1])
CURVE_COLUMNS = ("run", "kind", "N", "lr", "batch", "seed", "D", "loss")
LOSS_PLACES = 6  # seeds differ by a hundredth

Row = dict[str, Any]


def read(path: Path, needed: Iterable[str] = COLUMNS) -> list[Row]:
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
        missing = [name for name in needed if name not in row]
        if missing:
            raise TinylmError(f"{path}: line {number} has no {', '.join(missing)}")
        if row["C"] != 6 * row["N"] * row["D"]:
            raise TinylmError(f"{path}: line {number} has a C that is not 6·N·D")
        rows[tuple(row[name] for name in KEY)] = row
    if not rows:
        raise TinylmError(f"{path}: no rows")
    return [rows[key] for key in sorted(rows)]


def trunk_name(row: Row) -> str:
    """The trunk of a row; trunks of one learning rate have it to two digits."""
    return f"w{row['width']}-b{row['batch']}-s{row['seed']}-lr{row['lr']:.2g}"


def table(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> bytes:
    """The CSV; a diverged run without a loss has an empty cell there."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        loss = "" if row["loss"] is None else f"{row['loss']:.{LOSS_PLACES}f}"
        curve = " ".join("-" if x is None else f"{x:g}" for x in row.get("curve", ()))
        writer.writerow([{**row, "loss": loss, "curve": curve}[name] for name in columns])
    return text.getvalue().encode()


def branches(rows: Iterable[Row]) -> list[Row]:
    """The rows with their names and those of their trunks."""
    found = []
    for row in rows:
        parent = trunk_name(row)
        found.append({**row, "run": f"{parent}-D2^{math.log2(row['D']):g}", "parent": parent})
    return found


def points(rows: Iterable[Row]) -> list[Row]:
    """Losses along each trunk, as the row of its longest budget tells them."""
    longest = {trunk_name(row): row for row in rows}  # by D within a trunk, as they are sorted
    return [
        {**row, "run": name, "kind": "trunk", "D": D, "loss": loss}
        for name, row in longest.items()
        for D, loss in row["along"]
        if loss is not None
    ]


def facts(data: bytes, n_rows: int) -> dict[str, int | str]:
    """What every load checks of a table."""
    return {"rows": n_rows, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def bundle_dense(results: Path) -> dict[str, bytes]:
    """The files of tinylm by name."""
    rows = read(results)
    data = table(rows)
    told = {"tinylm.csv": facts(data, len(rows))}
    return {"tinylm.csv": data, "tinylm.json": as_json(told)}


def bundle_wsd(results: Path) -> dict[str, bytes]:
    """The files of tinylm-wsd by name."""
    rows = read(results, (*COLUMNS, "branch_at", "along"))
    runs, along = branches(rows), points(rows)
    data, curves = table(runs, WSD_COLUMNS), table(along, CURVE_COLUMNS)
    files = {"tinylm-wsd.csv": data, "tinylm-wsd-curves.csv": curves}
    counts = zip(files.items(), (len(runs), len(along)), strict=True)
    told = {name: facts(content, n) for (name, content), n in counts}
    return files | {"tinylm-wsd.json": as_json(told)}


def as_json(told: dict[str, Any]) -> bytes:
    return (json.dumps(told, indent=2) + "\n").encode()


BUNDLES: dict[str, Callable[[Path], dict[str, bytes]]] = {"dense": bundle_dense, "wsd": bundle_wsd}


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", choices=BUNDLES, default="dense")
    parser.add_argument("--results", type=Path, help="JSON lines of grid.py")
    parser.add_argument("--out", type=Path, default=BUNDLED, help="folder of the tables")
    args = parser.parse_args()
    files = BUNDLES[args.grid](args.results or HERE / "results" / f"{args.grid}.jsonl")
    args.out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (args.out / name).write_bytes(data)
        print(f"{args.out / name}: {len(data)} bytes")


if __name__ == "__main__":
    run_command(_main)
