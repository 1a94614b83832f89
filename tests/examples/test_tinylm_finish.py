"""What live studies stopped: trained to its end, it is the run that the study did not finish."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

import finish  # noqa: E402
from tinylm import Size  # noqa: E402
from trunk import Plan, Trunk  # noqa: E402

from tests.examples.tiny import VOCABULARY, rows_of, small_corpus  # noqa: E402

SIZE = Size(16, 1, VOCABULARY)
STUDY = f"""
seed = 3
[[model]]
name = "a"
N = {SIZE.params}
width = 16
depth = 1
[tokens]
values = [24576, 40960]
"""
TOLD = {"expected end": 4.0, "SD": 0.1, "envelope": 2.5}


def write_study(folder: Path) -> Path:
    """One trunk that was stopped halfway, and a run that ended with a loss of 2."""
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    config = {"model": "a", "N": float(SIZE.params), "lr": 0.01}
    short = config | {"D": 24576}
    events = [
        {"event": "asked", "trial": "t1", "kind": "trunk", "config": config | {"D": 32768}},
        {"event": "asked", "trial": "t2", "kind": "branch", "config": config | {"D": 40960}},
        {"event": "asked", "trial": "t3", "kind": "run", "config": short},
        {"event": "reported", "trial": "t1", "tokens": 16384.0, "loss": 4.1},
        {"event": "cancelling", "trial": "t1", "reason": "stopped", "values": TOLD},
        {"event": "finished", "trial": "t3", "loss": 2.0},
    ]
    (folder / "journal.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
    return folder


def test_a_stopped_trunk_comes_to_the_loss_of_its_whole_run(tmp_path: Path, monkeypatch, capsys):
    corpus = small_corpus(tmp_path / "corpus")
    study, results = write_study(tmp_path / "study"), tmp_path / "results.jsonl"
    words = ["finish.py", str(study), "--results", str(results)]
    train = ["--corpus", str(tmp_path / "corpus"), "--device", "cpu"]
    for further in (train, []):
        monkeypatch.setattr(sys, "argv", words + further)
        finish._main()
    (row,) = rows_of(Trunk(Plan(SIZE, 16, 3, (0.01,), (40960,)), corpus))
    told = json.loads(capsys.readouterr().out)
    assert (told["trial"], told["D"], told["at"], told["loss_at"]) == ("t1", 40960, 16384, 4.1)
    assert told["loss"] == row["loss"]
    assert told["z"] == pytest.approx(math.log(row["loss"] / 4.0) / (0.1 / 4.0))
    assert told["above_frontier"] == pytest.approx(math.log(row["loss"] / 2.0))
    assert told["above_envelope"] == pytest.approx(math.log(row["loss"] / 2.5))
    assert told["loss_at_again"] > row["loss"]


def test_a_stop_that_is_not_trained_yet_is_named(tmp_path: Path, monkeypatch, capsys):
    study = write_study(tmp_path / "study")
    words = ["finish.py", str(study), "--results", str(tmp_path / "results.jsonl")]
    monkeypatch.setattr(sys, "argv", words)
    finish._main()
    told = capsys.readouterr()
    assert told.out == ""
    assert "study t1: not trained to its end" in told.err
