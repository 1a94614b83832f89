"""Files to tables, and the one line each bad file gives."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets.readers import FORMATS, read_frame
from lawsmith.datasets.sources import KINDS
from lawsmith.errors import LawsmithError

TABLE = pd.DataFrame({"N": [1e8, 2e8], "D": [1e9, 2e9], "loss": [3.25, 3.0]})


def _message(path: Path, **kwargs: int) -> str:
    with pytest.raises(LawsmithError) as caught:
        read_frame(path, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", lambda p: TABLE.to_csv(p, index=False)),
        ("t.CSV", lambda p: TABLE.to_csv(p, index=False)),
        ("t.tsv", lambda p: TABLE.to_csv(p, index=False, sep="\t")),
        ("semicolons.csv", lambda p: TABLE.to_csv(p, index=False, sep=";")),
        ("t.csv.gz", lambda p: TABLE.to_csv(p, index=False)),
        ("bom.csv", lambda p: TABLE.to_csv(p, index=False, encoding="utf-8-sig")),
        ("crlf.csv", lambda p: TABLE.to_csv(p, index=False, lineterminator="\r\n")),
        ("t.parquet", lambda p: TABLE.to_parquet(p)),
        ("t.jsonl", lambda p: TABLE.to_json(p, orient="records", lines=True)),
        ("t.ndjson", lambda p: TABLE.to_json(p, orient="records", lines=True)),
        ("t.json", lambda p: TABLE.to_json(p, orient="records", lines=True)),
        ("t.jsonl.gz", lambda p: TABLE.to_json(p, orient="records", lines=True)),
    ],
)
def test_every_format_gives_the_same_table(tmp_path, name, write) -> None:
    write(tmp_path / name)
    frame = read_frame(tmp_path / name)
    pd.testing.assert_frame_equal(frame, TABLE, check_dtype=False)


def test_floats_survive_a_csv_to_the_last_bit(tmp_path) -> None:
    rng = np.random.default_rng(0)
    losses = rng.normal(3.0, 0.5, 2000)
    pd.DataFrame({"loss": losses}).to_csv(tmp_path / "t.csv", index=False)
    assert np.array_equal(read_frame(tmp_path / "t.csv")["loss"].to_numpy(), losses)


BAD_FILES = {
    "empty.csv": (b"", "got an empty file, want a table with one row per run"),
    "blank.csv": (b"\n \n", "got an empty file, want a table with one row per run"),
    "header.csv": (b"N,D,loss\n", "got a header and no rows, want at least one run"),
    "binary.csv": (b"N,D\n\x00\x01\x02", f"got a binary file, want {FORMATS}"),
    "latin.csv": (b"N,D\n1,\xe9t\xe9\n", f"got byte 6 that is not UTF-8 text, want {FORMATS}"),
    "really.csv": (
        b"PAR1\x00\x00PAR1",
        f"got a binary file, want {FORMATS} (it looks like Parquet: name it .parquet)",
    ),
    "pickled.csv": (
        b"\x80\x04\x95\x00\x00",
        f"got a binary file, want {FORMATS} "
        "(it looks like a pickle, which is never opened: convert it to CSV yourself)",
    ),
    "twice.csv": (b"N,loss,loss\n1,2,3\n", "got the column 'loss' twice, want distinct"),
    "bad.parquet": (b"not parquet", "got unreadable Parquet: "),
    "empty.jsonl": (b"\n\n", "got an empty file, want a table with one row per run"),
    "cut.csv.gz": (gzip.compress(b"N,D\n1,2\n" * 99)[:-12], "want a whole gzip file"),
    "plain.csv.gz": (b"N,D\n1,2\n", "want a whole gzip file"),
    "runs.pkl": (
        b"\x80\x04.",
        f"got a pickle, want {FORMATS} "
        "(a pickle can run code, so it is never opened: convert it to CSV yourself)",
    ),
    "runs.pickle.xz": (b"\xfd7zXZ", f"got a pickle, want {FORMATS} (a pickle can run code"),
    "runs.xlsx": (b"PK", "want "),
    "runs": (b"N,D\n1,2\n", f"got no extension, want {FORMATS}"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path, name) -> None:
    data, message = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    got = _message(path)
    assert got.startswith(f"{path}: ")
    assert message in got


BAD_LINES = {
    "long.csv": ("N,D,loss\n1,2,3\n\n4,5,6,7\n", "line 4: got 4 fields, want 3"),
    "short.csv": ("N,D,loss\n1,2\n", "line 2: got 2 fields, want 3"),
    "broken.jsonl": (
        '{"N": 1}\n{"N": \n',
        "line 2: got '{\"N\":', want one JSON object (one object per line, as pandas writes with "
        "to_json(orient='records', lines=True))",
    ),
    "array.json": ("[1, 2]", "line 1: got a JSON list, want one JSON object a run (one object per"),
    "words.jsonl": ("3\n", "line 1: got a JSON int, want one JSON object"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named_by_its_number(tmp_path, name) -> None:
    text, message = BAD_LINES[name]
    path = tmp_path / name
    path.write_text(text)
    assert _message(path).startswith(f"{path}: {message}")


def test_a_missing_file_suggests_its_neighbour(tmp_path) -> None:
    (tmp_path / "runs.csv").write_text("N,D\n1,2\n")
    path = tmp_path / "run.csv"
    assert _message(path) == f"{path}: got no such file, want {FORMATS} (did you mean runs.csv?)"
    assert _message(tmp_path / "no" / "x.csv").endswith(f"got no such file, want {FORMATS}")


def test_a_folder_without_runs_is_refused(tmp_path) -> None:
    folder = tmp_path / "runs.csv"
    folder.mkdir()
    assert _message(folder) == f"{folder}: got a folder without runs, want {KINDS}"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as stream:
        stream.truncate(600 * 2**20)
    hint = "filter it first: one row per finished run is enough"
    assert _message(path) == f"{path}: got a file of 600 MB, want at most 512 MB ({hint})"


def test_a_small_gzip_of_something_huge_is_refused(tmp_path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 2**21))
    assert "got more than that when unpacked, want at most 1 MB" in _message(path, max_bytes=2**20)


def test_an_unreadable_file_is_refused_in_one_line(tmp_path, monkeypatch) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("N,D\n1,2\n")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("lawsmith.files.os.open", refuse)
    assert _message(path) == f"{path}: got Permission denied, want a readable file"


def test_a_named_pipe_is_refused_as_one_and_not_waited_for(tmp_path):
    os.mkfifo(path := tmp_path / "t.csv")
    with pytest.raises(LawsmithError, match="got a named pipe, no regular file"):
        read_frame(path)
