"""The examples run as their files say, each in a copy of its folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def environment() -> dict[str, str]:
    """`lawsmith` and `python3` are this environment's, whatever the PATH of the test."""
    folder = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}


def copy(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / name, folder / name))


def run(folder: Path, environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_local_example_finds_its_law(tmp_path: Path, environment: dict[str, str]):
    folder = copy("local", tmp_path)
    told = json.loads(run(folder, environment, "lawsmith", "run", "study.toml", "--json"))
    assert told["ended"] == "budget"
    assert 0.9 < told["budget"]["share"] <= 1.0
    assert told["runs"]["finished"] >= 25
    # The trainer's own law at 1e22 FLOPs, N and D at their best: E + A'·C^α' of Hoffmann et al.
    (answer,) = told["answers"]
    assert answer["loss"] == pytest.approx(2.1386, rel=0.03)
    assert answer["low"] <= 2.1386 <= answer["high"]


def test_the_ask_tell_example_runs_in_rounds(tmp_path: Path, environment: dict[str, str]):
    folder = copy("ask-tell", tmp_path)
    told = run(folder, environment, "sh", "by_hand.sh")
    assert told.count("4 recorded") == 4
    assert "16 finished" in told
    assert "Answer, from 16 runs" in told
    events = [json.loads(line)["event"] for line in (folder / "journal.jsonl").open()]
    assert (events.count("asked"), events.count("finished")) == (16, 16)
