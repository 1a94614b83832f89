"""A sheet of an Excel file, with openpyxl (pip install 'lawsmith[excel]').

A sheet is named after a #: runs.xlsx#Sheet2. Without a name it is the first one. Formulae count
with the value that Excel last worked out.
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawsmith.datasets.sources.tracked import needed
from lawsmith.errors import LawsmithError, unknown

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS = 20_000_000
MAX_BYTES = 2**30


def read_sheet(path: Path, sheet: str) -> pd.DataFrame:
    """The table of a sheet: its header is the first row with more than one text in it."""
    import pandas as pd

    rows = _rows(path, sheet)
    start = next((i for i, row in enumerate(rows) if _is_header(row)), None)
    if start is None:
        raise LawsmithError(str(path), got="no row of names", want="a header above the runs")
    width = max(i for i, cell in enumerate(rows[start]) if cell is not None) + 1
    names = ["" if cell is None else str(cell).strip() for cell in rows[start][:width]]
    kept = [i for i, name in enumerate(names) if name]
    repeated = [names[i] for i in kept if names.count(names[i]) > 1]
    if repeated:
        got = f"the column {repeated[0]!r} twice"
        raise LawsmithError(str(path), got=got, want="distinct column names")
    body = [[row[i] if i < len(row) else None for i in kept] for row in rows[start + 1 :]]
    while body and all(cell is None for cell in body[-1]):
        body.pop()
    return pd.DataFrame(body, columns=[names[i] for i in kept])


def _is_header(row: list[Any]) -> bool:
    return sum(isinstance(cell, str) for cell in row) > 1


def _rows(path: Path, sheet: str) -> list[list[Any]]:
    try:
        import openpyxl
    except ImportError:
        raise needed("excel", str(path)) from None
    try:
        _check_size(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which no run has
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        if sheet and sheet not in book.sheetnames:
            raise unknown(f"{path}: sheet", sheet, book.sheetnames)
        page = book[sheet] if sheet else book.worksheets[0]
        rows: list[list[Any]] = []
        n_cells = 0
        for row in page.iter_rows(values_only=True):
            n_cells += len(row)
            if n_cells > MOST_CELLS:
                raise LawsmithError(str(path), got="more cells", want=f"at most {MOST_CELLS:,}")
            rows.append([_cell(value) for value in row])
        book.close()
    except LawsmithError:
        raise
    except Exception as error:  # zip, XML and openpyxl's own: it names no common one
        got = f"unreadable Excel: {' '.join(str(error).split())[:100]}"
        raise LawsmithError(str(path), got=got, want="an .xlsx file") from None
    return rows


def _check_size(path: Path) -> None:
    """Refuse a small file that unpacks to a huge one."""
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > MAX_BYTES:
        want = f"at most {MAX_BYTES / 2**20:,.0f} MB"
        raise LawsmithError(str(path), got=f"{size / 2**20:,.0f} MB when unpacked", want=want)


def _cell(value: Any) -> Any:
    """A cell; blank text and Excel's errors (#N/A, #DIV/0!) are nothing."""
    if isinstance(value, str) and (not value.strip() or value.startswith("#")):
        return (
            None if value.strip() in ("", "#N/A", "#DIV/0!", "#NUM!", "#VALUE!", "#REF!") else value
        )
    return value
