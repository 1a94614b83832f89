"""Reads runs as a pandas table, from a CSV, Excel, Parquet or JSON file, or from a tracker.

`fit`, `report`, `replay` and `import` all read through here, and every error is one line. A sheet
of an Excel file is named after a #: runs.xlsx#Sheet2; without a name it is the first. A formula has
the value that Excel last computed. Excel needs openpyxl (pip install 'lawsmith[excel]').
"""

from __future__ import annotations

import csv
import gzip
import re
import warnings
import zipfile
import zlib
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.datasets import sources
from lawsmith.datasets.json_tables import read_rows, spread_texts
from lawsmith.datasets.sources.tracked import curves_table, library, runs_table
from lawsmith.errors import LawsmithError, suggest, unknown
from lawsmith.files import file_kind, read_bytes, reason

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES = 512 * 2**20  # 10^6 runs take about 100 MB
MAX_UNPACKED = 2**30  # bytes of an Excel file: a small one may unpack to a huge one
EXCEL = (".xlsx", ".xlsm")
FORMATS = "a CSV (.csv, .tsv), Excel (.xlsx), Parquet (.parquet) or JSON (.json, .jsonl) file"
_PICKLES = (".pkl", ".pickle", ".pt", ".joblib")
_DECIMAL_COMMA = re.compile(r"(?:^|;)\s*-?\d+,\d+\s*(?:;|$)", re.MULTILINE)
_DECIMAL_POINT = re.compile(r"(?:^|;)\s*-?\d*\.\d", re.MULTILINE)


def read_frame(source: str | Path, *, max_bytes: int = MAX_BYTES) -> pd.DataFrame:
    """The table in ``source``; row i of a file below its header is row i − 1 here.

    Text may be gzipped (``.csv.gz``). Pickles are never opened: reading one can run any code.
    """
    place, sheet = sources.split_part(str(source))
    if Path(place).suffix.lower() in EXCEL and not sources.is_remote(place):
        _check_file(Path(place), max_bytes=max_bytes)
        return _read_sheet(Path(place), sheet)
    if sources.is_tracker(str(source)):
        return runs_table(sources.read_tracked(str(source), histories=False), source=str(source))
    path = Path(source)
    _check_file(path, max_bytes=max_bytes)
    try:
        frame = _read_file(path, max_bytes)
    except OSError as error:
        raise LawsmithError(str(path), got=reason(error), want="a readable file") from None
    if not len(frame.columns):
        raise LawsmithError(str(path), got="no columns", want="a table with one row per run")
    if not len(frame):
        raise LawsmithError(str(path), got="a header and no rows", want="at least one run")
    return frame


def read_curve_frame(source: str | Path) -> pd.DataFrame:
    """The table of losses along runs in ``source``: a file, or the histories of a tracker."""
    if sources.is_tracker(str(source)):
        return curves_table(sources.read_tracked(str(source), histories=True), source=str(source))
    return read_frame(source)


def _read_file(path: Path, max_bytes: int) -> pd.DataFrame:
    """The table in a file, read according to its extension."""
    import pandas as pd

    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    match suffixes[-1] if suffixes else "":
        case ".csv" | ".tsv" | ".txt" | ".dat":
            return _parse_csv(path, _read_text(path, max_bytes))
        case ".jsonl" | ".ndjson" | ".json":
            return pd.DataFrame(read_rows(_read_text(path, max_bytes), source=str(path)))
        case ".parquet" | ".pq":
            return _read_parquet(path)
        case suffix if suffix in _PICKLES or ".pickle" in suffixes or ".pkl" in suffixes:
            hint = "a pickle can run code, so it is never opened: convert it to CSV yourself"
            raise LawsmithError(str(path), got="a pickle", want=FORMATS, hint=hint)
        case suffix:
            got = f"the extension {suffix!r}" if suffix else "no extension"
            raise LawsmithError(str(path), got=got, want=FORMATS)


def _check_file(path: Path, *, max_bytes: int) -> None:
    """Refuse a file that is missing, empty, too big or not a regular file, before reading it."""
    if not path.exists():
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = suggest(path.name, siblings)
        raise LawsmithError(str(path), got="no such file", want=FORMATS, hint=hint)
    if not path.is_file():
        got, hint = f"{file_kind(path.stat().st_mode)}, no regular file", "save it to a file first"
        raise LawsmithError(str(path), got=got, want=FORMATS, hint=hint)
    size = path.stat().st_size
    if size == 0:
        raise LawsmithError(str(path), got="an empty file", want="a table with one row per run")
    if size > max_bytes:
        raise _too_big(path, f"a file of {size / 2**20:,.0f} MB", max_bytes)


def _parse_csv(path: Path, text: str) -> pd.DataFrame:
    import pandas as pd

    text, skipped = _without_comments(text)
    header = text.split("\n", 1)[0]
    separator = max(",\t;", key=header.count)
    if separator not in header and len(header.split()) > 1:
        text, separator = "\n".join("\t".join(line.split()) for line in text.split("\n")), "\t"
    # With semicolons between cells, a comma in a number is a decimal point.
    european = separator == ";" and _DECIMAL_COMMA.search(text) and not _DECIMAL_POINT.search(text)
    _check_fields(path, text, separator, skipped)
    try:
        frame = pd.read_csv(
            StringIO(text), sep=separator, low_memory=False, decimal="," if european else "."
        )
    except (pd.errors.ParserError, ValueError, OverflowError) as error:
        raise LawsmithError(str(path), got=reason(error), want="a CSV table") from None
    return spread_texts(frame.rename(columns=lambda name: str(name).strip()))


def _without_comments(text: str) -> tuple[str, int]:
    """The text without the # lines above its header, and the number of these lines."""
    lines = text.split("\n")
    skipped = 0
    while skipped + 1 < len(lines) and lines[skipped].startswith("#"):
        following = lines[skipped + 1]
        if any(lines[skipped].count(mark) == following.count(mark) > 0 for mark in ",\t;"):
            break  # a header that begins with #
        skipped += 1
    kept = "\n".join(lines[skipped:])
    return kept.removeprefix("#").lstrip(" ") if kept.startswith("#") else kept, skipped


def _check_fields(path: Path, text: str, separator: str, skipped: int) -> None:
    """Check that every row is as long as the header: pandas would silently fill or shift cells."""
    reader = csv.reader(StringIO(text), delimiter=separator)
    try:
        header = next((row for row in reader if row), [])
        repeated = [name for name, n in Counter(header).items() if n > 1]
        if repeated:
            got = f"the column {repeated[0]!r} twice"
            raise LawsmithError(str(path), got=got, want="distinct column names")
        for row in reader:
            if row and len(row) != len(header):
                where = f"{path}: line {skipped + reader.line_num}"
                raise LawsmithError(where, got=f"{len(row)} fields", want=f"{len(header)}")
    except csv.Error as error:
        where = f"{path}: line {skipped + reader.line_num}"
        raise LawsmithError(where, got=reason(error), want="a row of a CSV table") from None


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa

    try:
        return pd.read_parquet(path, engine="pyarrow")
    except (pa.ArrowException, ValueError) as error:
        got = f"unreadable Parquet: {reason(error)}"
        raise LawsmithError(str(path), got=got, want=FORMATS) from None


def _read_sheet(path: Path, sheet: str) -> pd.DataFrame:
    """The table of a sheet: the header is the first row with more than one text."""
    import pandas as pd

    with library("excel", str(path), "an .xlsx file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the styles of cells
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > MAX_UNPACKED:
            want = f"at most {MAX_UNPACKED / 2**20:,.0f} MB"
            raise LawsmithError(str(path), got=f"{size / 2**20:,.0f} MB when unpacked", want=want)
        with pd.ExcelFile(path, engine="openpyxl") as book:
            if sheet and sheet not in book.sheet_names:
                raise unknown(f"{path}: sheet", sheet, map(str, book.sheet_names))
            cells = book.parse(sheet or 0, header=None, dtype=object)
    texts = cells.map(lambda cell: isinstance(cell, str) and bool(cell.strip())).sum(axis=1)
    if not (texts > 1).any():
        raise LawsmithError(str(path), got="no row of names", want="a header above the runs")
    start = int((texts > 1).to_numpy().argmax())
    names = cells.iloc[start].dropna().astype(str).str.strip()
    names = names[names != ""]
    return cells.loc[start + 1 :, names.index].set_axis(names.tolist(), axis=1).infer_objects()


def _read_text(path: Path, max_bytes: int) -> str:
    """The decoded text of a plain or gzipped file, at most ``max_bytes`` of it."""
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as stream:
                data = stream.read(max_bytes + 1)
        else:
            data = read_bytes(path, limit=max_bytes)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LawsmithError(str(path), got=reason(error), want="a whole gzip file") from None
    if len(data) > max_bytes:
        raise _too_big(path, "more than that when unpacked", max_bytes)
    if b"\0" in data:
        raise LawsmithError(str(path), got="a binary file", want=FORMATS, hint=_magic(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"byte {error.start} that is not UTF-8 text"
        raise LawsmithError(str(path), got=got, want=FORMATS, hint=_magic(data)) from None
    if not text.strip():
        raise LawsmithError(str(path), got="an empty file", want="a table with one row per run")
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")


def _magic(data: bytes) -> str | None:
    """What the file really is, by its first bytes."""
    for start, kind in {
        b"PAR1": "Parquet: name it .parquet",
        b"\x1f\x8b": "gzip: name it .gz",
        b"PK\x03\x04": "a zip archive or an Excel file: name it .xlsx",
        b"\x80": "a pickle, which is never opened: convert it to CSV yourself",
        b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    }.items():
        if data.startswith(start):
            return f"it looks like {kind}"
    return None


def _too_big(path: Path, got: str, max_bytes: int) -> LawsmithError:
    hint = "filter it first: one row per finished run is enough"
    return LawsmithError(str(path), got=got, want=f"at most {max_bytes / 2**20:,.0f} MB", hint=hint)
