"""A sheet of an Excel file, with openpyxl (pip install 'lawsmith[excel]').

A sheet is named after a #: runs.xlsx#Sheet2. Without a name it is the first one. Formulae count
with the value that Excel last worked out.
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.datasets.sources.tracked import library
from lawsmith.errors import LawsmithError, unknown

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES = 2**30


def read_sheet(path: Path, sheet: str) -> pd.DataFrame:
    """The table of a sheet: its header is the first row with more than one text in it."""
    import pandas as pd

    with library("excel", str(path), "an .xlsx file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles, which no run has
        _check_size(path)
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


def _check_size(path: Path) -> None:
    """Refuse a small file that unpacks to a huge one."""
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > MAX_BYTES:
        want = f"at most {MAX_BYTES / 2**20:,.0f} MB"
        raise LawsmithError(str(path), got=f"{size / 2**20:,.0f} MB when unpacked", want=want)
