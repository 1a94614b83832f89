"""The commands of tinylm as a user runs them: results, and errors of one line."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

from tests.examples.conftest import TINYLM  # noqa: E402
from tests.examples.tiny import write_corpus  # noqa: E402

RUN = {
    "--width": 16,
    "--depth": 1,
    "--lr": 0.03,
    "--batch": 4,
    "--tokens": 4096,
    "--context": 32,
    "--device": "cpu",
}


def command(monkeypatch: pytest.MonkeyPatch, script: str, *args: object) -> int:
    """Run a script in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", [script, *map(str, args)])
    try:
        runpy.run_path(str(TINYLM / script), run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def flat(options: dict[str, object]) -> list[object]:
    return [word for pair in options.items() for word in pair]


def test_a_run_leaves_its_result_where_lawsmith_asks(monkeypatch, tmp_path: Path, capsys):
    result = tmp_path / "result.json"
    monkeypatch.setenv("LAWSMITH_RESULT", str(result))
    folder = write_corpus(tmp_path / "corpus")
    assert command(monkeypatch, "train.py", *flat(RUN | {"--corpus": folder})) == 0
    row = json.loads(result.read_text())
    assert row == json.loads(capsys.readouterr().out)
    assert row["loss"] < 4.16
    assert (row["N"], row["D"]) == (12 * 16 * 16 + 64 * 16, 4096)
    assert row["C"] == 6 * row["N"] * row["D"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "result.json"]


def test_a_shorter_held_out_set_is_told_in_the_result(monkeypatch, tmp_path: Path, capsys):
    options = RUN | {"--corpus": write_corpus(tmp_path / "corpus")}
    command(monkeypatch, "train.py", *flat(options))
    command(monkeypatch, "train.py", *flat(options | {"--heldout": 64}))
    whole, part = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (whole["heldout"], part["heldout"]) == (512, 64)
    assert part["loss"] != whole["loss"]
    assert part["curve"] == whole["curve"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"--tokens": 4095}, "multiple of batch × context = 128"),
        ({"--tokens": 2**20}, "no token is read twice"),
        ({"--width": 15}, "width 15"),
        ({"--lr": -1.0}, "learning rates above 0"),
        ({"--heldout": 9999}, "--heldout 9999: want 32 to 512"),
        ({"--batch": 0}, "a batch of at least 1"),
        ({"--corpus": "nowhere"}, "no corpus in nowhere"),
        ({"--device": "cuda"}, "no GPU here"),
    ],
)
def test_bad_input_to_a_run_is_one_line(monkeypatch, tmp_path: Path, capsys, change, line):
    if change == {"--device": "cuda"}:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    result = tmp_path / "result.json"
    monkeypatch.setenv("LAWSMITH_RESULT", str(result))
    folder = write_corpus(tmp_path / "corpus")
    assert command(monkeypatch, "train.py", *flat(RUN | {"--corpus": folder} | change)) == 2
    said = capsys.readouterr()
    assert said.err.startswith("tinylm: ")
    assert line in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not result.exists()


def test_the_grid_lists_what_is_done(monkeypatch, tmp_path: Path, capsys):
    where = ["--corpus", tmp_path, "--results", TINYLM / "results" / "dense.jsonl"]
    where += ["--checkpoints", tmp_path, "--only", "w256.*b8-s0", "--list"]
    assert command(monkeypatch, "grid.py", *where) == 0
    assert capsys.readouterr().out == "w256-d5-b8-s0: 49 of 49 runs\n"


@pytest.mark.parametrize(
    ("more", "line"),
    [([], "no corpus in"), (["--at-once", 0], "want --at-once of at least 1")],
)
def test_bad_input_to_the_grid_is_one_line(monkeypatch, tmp_path: Path, capsys, more, line):
    where = ["--corpus", tmp_path, "--results", tmp_path / "r.jsonl", "--checkpoints", tmp_path]
    assert command(monkeypatch, "grid.py", *where, *more) == 2
    assert line in capsys.readouterr().err


def test_bad_input_to_the_corpus_is_one_line(monkeypatch, tmp_path: Path, capsys):
    assert command(monkeypatch, "corpus.py", "pack", tmp_path / "none", tmp_path) == 2
    assert capsys.readouterr().err.startswith("tinylm: no archive at")
