"""Rounds of tinylm: what `lawsmith ask` writes is trained, and told as `lawsmith tell` reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

import grid  # noqa: E402
import rounds  # noqa: E402
from trunk import Plan, Trunk  # noqa: E402

from tests.examples.conftest import TINYLM  # noqa: E402
from tests.examples.test_tinylm_commands import command  # noqa: E402
from tests.examples.tiny import CONTEXT, rows_of, small_corpus, small_size, write_corpus  # noqa: E402

PATIENCE = 120.0  # seconds, before the test says that nothing happens
STUDY = """
name = "rounds"
[[model]]
name = "small"
N = 1280
width = 8
depth = 1
[[model]]
name = "large"
N = 4096
width = 16
depth = 1
[tokens]
values = [1024, 2048, 4096]
[axes]
lr = [0.003, 0.01, 0.03]
batch = [2, 4]
[budget]
flops = 4e8
[policy]
n_init = 4
"""


def run(trial: str, **change: object) -> dict[str, object]:
    config = {"width": 16, "depth": 1, "batch": 4, "D": 1024, "lr": 0.01} | change
    return {"trial": trial, "config": config, "cost": 1.0}


def ask(folder: Path, name: str, *runs: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.asked.json").write_text(json.dumps(runs))
    return folder / f"{name}.told.json"


def options(tmp_path: Path) -> list[object]:
    corpus = write_corpus(tmp_path / "corpus")
    return [tmp_path / "r", "--corpus", corpus, "--context", CONTEXT, "--device", "cpu"]


def test_each_run_is_told_the_loss_of_its_own_configuration(monkeypatch, tmp_path: Path):
    told = ask(
        tmp_path / "r", "a", run("t2", lr=0.03), run("t1"), run("t3", D=2048), run("t4", batch=2)
    )
    assert command(monkeypatch, "rounds.py", *options(tmp_path)) == 0
    rows = json.loads(told.read_text())
    assert [(r["trial"], r["lr"], r["D"], r["batch"]) for r in rows] == [
        ("t1", 0.01, 1024, 4),
        ("t2", 0.03, 1024, 4),
        ("t3", 0.01, 2048, 4),
        ("t4", 0.01, 1024, 2),
    ]
    seeds = [row["seed"] for row in rows]
    assert seeds[0] == seeds[1]  # one ensemble
    assert len({*seeds, 0, 1, 2}) == 6
    corpus = small_corpus(tmp_path / "corpus")
    for row in rows:
        plan = Plan(small_size(), row["batch"], row["seed"], (row["lr"],), (row["D"],))
        (alone,) = rows_of(Trunk(plan, corpus))
        assert row["loss"] == pytest.approx(alone["loss"], rel=1e-5)


def test_what_was_trained_before_a_stop_is_not_trained_again(monkeypatch, tmp_path: Path):
    told = ask(tmp_path / "r", "a", run("t1"), run("t2", D=2048))
    assert command(monkeypatch, "rounds.py", *options(tmp_path)) == 0
    first, rows = told.read_text(), (tmp_path / "r" / "rows.jsonl").read_text()
    told.unlink()
    monkeypatch.setattr(grid, "Trunk", None)
    assert command(monkeypatch, "rounds.py", *options(tmp_path)) == 0
    assert (told.read_text(), (tmp_path / "r" / "rows.jsonl").read_text()) == (first, rows)


def test_rounds_of_a_name_and_trial_differ_between_files(tmp_path: Path):
    ask(tmp_path / "r", "a", run("t1"))
    ask(tmp_path / "r", "b", run("t1"))
    corpus = small_corpus(tmp_path / "corpus")
    a, b = (rounds.Round(tmp_path / "r" / f"{n}.asked.json", corpus, CONTEXT) for n in "ab")
    assert a.plans[0].seed != b.plans[0].seed


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        ([], "at least one run"),
        ([run("t1"), run("t1", D=2048)], "each trial once"),
        ([{"trial": "t1"}], "not a file of `lawsmith ask --json`"),
        ([{"trial": "t1", "config": {"D": 1024}}], "no batch, depth, lr, width"),
        ([run("t1", D=2**20)], "no token is read twice"),
        ([run("t1", D=1025)], "multiple of batch × context"),
    ],
)
def test_a_bad_file_is_one_line(monkeypatch, tmp_path: Path, capsys, runs, line):
    ask(tmp_path / "r", "a", *runs)
    assert command(monkeypatch, "rounds.py", *options(tmp_path)) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_a_folder_that_is_not_there_is_one_line(monkeypatch, tmp_path: Path, capsys):
    assert command(monkeypatch, "rounds.py", *options(tmp_path)) == 2
    assert "no such folder" in capsys.readouterr().err


def test_a_live_study_in_rounds_spends_its_budget_beside_a_bad_file(tmp_path: Path):
    """As a user has it: a trainer that watches, and a script that asks and tells."""
    folder = tmp_path / "r"
    ask(folder, "bad", run("t1", D=1025))
    (tmp_path / "study.toml").write_text(STUDY)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"OMP_NUM_THREADS": "1", "PATH": path}
    words = [sys.executable, str(TINYLM / "rounds.py"), *map(str, options(tmp_path)), "--watch"]
    with (tmp_path / "log").open("w") as log:
        trainer = subprocess.Popen(words, env=env, stderr=log)
    try:
        script = [str(TINYLM / "live" / "study.sh"), str(tmp_path / "study.toml"), str(folder)]
        done = subprocess.run([*script, "live", "4"], env=env, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert "a budget that is committed" in done.stderr
        (folder / "stop").touch()
        assert trainer.wait(60) == 0
    finally:
        trainer.kill()
    assert "passed over: budget of 1025 tokens" in (tmp_path / "log").read_text()
    events = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    asked = [event for event in events if event["event"] == "asked"]
    finished = {event["trial"]: event["loss"] for event in events if event["event"] == "finished"}
    assert {event["trial"] for event in asked} == set(finished)
    assert len(asked) > 8
    assert all(1.0 < loss < 4.2 for loss in finished.values())
    assert not list(folder.glob("*.part"))


def test_the_script_goes_on_with_the_round_that_was_under_way(tmp_path: Path):
    folder = tmp_path / "r"
    folder.mkdir()
    (tmp_path / "study.toml").write_text(STUDY)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path}
    words = [str(TINYLM / "live" / "study.sh"), str(tmp_path / "study.toml"), str(folder), "x", "2"]
    script = subprocess.Popen(words, env=env)
    first = folder / "x-001.asked.json"
    try:
        wait_for(first)
    finally:
        script.kill()
        script.wait()
    asked = json.loads(first.read_text())
    told = [{"trial": one["trial"], "loss": 3.0} for one in asked]
    (folder / "x-001.told.json").write_text(json.dumps(told))
    script = subprocess.Popen(words, env=env)
    try:
        wait_for(folder / "x-002.asked.json")
    finally:
        script.kill()
        script.wait()
    events = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [e["trial"] for e in events if e["event"] == "finished"] == ["t0001", "t0002"]
    assert [e["trial"] for e in events if e["event"] == "asked"][:2] == ["t0001", "t0002"]


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.05)
