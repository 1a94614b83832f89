"""The live demo: its files fit together, and a shortened copy of it runs, stops and goes on."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import extra

torch = extra("torch")
extra("tokenizers")

import corpus  # noqa: E402
from tinylm import Size  # noqa: E402

from lawsmith.study import open_study  # noqa: E402
from tests.examples.conftest import TINYLM  # noqa: E402

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "live-demo"
SHARE = 64  # the copy's runs are shorter by this factor
PATIENCE = 300.0
STARTED: list[subprocess.Popen[str]] = []
SHORTER = {
    "study.toml": {
        "C <= 2.6e11": f"C <= {2.6e11 / SHARE}",
        "[131072, 262144, 524288, 1048576]": "[2048, 4096, 8192, 16384]",
        "flops = 3.5e12": "flops = 5e9",
        "targets = [2.577e12]": f"targets = [{6 * 180224 * 36864}]\n[policy]\nn_init = 4",
        '"65536"': '"1024"',
    },
    "bet.toml": {"2383872": "36864", "65536": "1024"},
}


def copied(folder: Path) -> Path:
    """The demo with shorter runs, and the trainer beside it as in the repository."""
    shutil.copytree(TINYLM, folder / "tinylm", ignore=shutil.ignore_patterns("results", "live"))
    demo = folder / "live-demo"
    demo.mkdir()
    shutil.copy(DEMO / "bet.py", demo)
    for name, changes in SHORTER.items():
        text = (DEMO / name).read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (demo / name).write_text(text)
    return demo


def with_corpus(demo: Path) -> Path:
    corpus.make(ROOT / "src" / "lawsmith" / "laws", demo / "corpus", held_out=1024)
    return demo


def environment(folder: Path) -> Path:
    """What make takes for an environment with all installed: this one's programs."""
    (folder / "bin").mkdir(parents=True)
    for name, words in {"python": "", "lawsmith": " -m lawsmith"}.items():
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable}{words} "$@"\n')
        program.chmod(0o755)
    for stamp in (".base", ".lm"):
        (folder / stamp).touch()
    return folder


@pytest.fixture(autouse=True)
def started() -> Iterator[None]:
    """Whatever a test that fails leaves running is ended with it."""
    yield
    for process in STARTED:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    STARTED.clear()


def start(*command: object) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "90"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that Ctrl-C can be sent to all of it, as a terminal does
    )
    STARTED.append(process)
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, said


def press_ctrl_c(process: subprocess.Popen[str]) -> tuple[int, str]:
    os.killpg(process.pid, signal.SIGINT)
    return ended(process)


def wait_for(path: Path, text: str = "", times: int = 0) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.is_file() or path.read_text().count(text) < times:
        assert time.monotonic() < deadline, f"{path} has not {text} {times} times"
        time.sleep(0.05)


def events(demo: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (demo / "journal.jsonl").open()]


def bet_module(folder: Path) -> ModuleType:
    """bet.py as a module that keeps its files in ``folder``."""
    spec = importlib.util.spec_from_file_location("live_demo_bet", DEMO / "bet.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.FOLDER = folder
    module.PREDICTION, module.RESULT = folder / "prediction.json", folder / "result.json"
    return module


def test_the_study_names_the_sizes_that_its_models_have():
    study = open_study(DEMO / "study.toml")
    for model in tomllib.loads((DEMO / "study.toml").read_text())["model"]:
        size = Size(model["width"], model["depth"], corpus.FOLDER_VOCABULARY, 16)
        assert size.params == model["N"]
    assert len(study.grid) > 200
    assert set(study.grid.numbers("D") % (16 * study.grid.numbers("batch"))) == {0}


def test_the_bet_is_the_studys_target_ten_times_beyond_its_largest_candidate():
    study = open_study(DEMO / "study.toml")
    bet = tomllib.loads((DEMO / "bet.toml").read_text())
    size = Size(bet["width"], bet["depth"], corpus.FOLDER_VOCABULARY, bet["context"])
    compute = 6 * size.params * bet["tokens"]
    assert study.spec.law.targets[0] == pytest.approx(compute, rel=1e-3)
    assert compute == pytest.approx(10 * study.grid.C.max(), rel=1e-2)
    assert all(bet["tokens"] % (bet["context"] * batch) == 0 for batch in study.grid.hp["batch"])


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_stopped_and_started_again_the_demo_goes_on_to_its_end(tmp_path: Path):
    demo = with_corpus(copied(tmp_path))
    command = ("make", "live-demo", f"VENV={environment(tmp_path / 'venv')}", f"LIVE={demo}")
    first = start(*command)
    wait_for(demo / "journal.jsonl", '"finished"', 3)
    code, said = press_ctrl_c(first)
    assert code != 0
    assert "is in order" in said
    assert "interrupted; " in said
    assert not (demo / "bet").exists()

    code, said = ended(start(*command))
    assert code == 0, said
    found = events(demo)
    asked = [event["trial"] for event in found if event["event"] == "asked"]
    # A run of few steps at a high learning rate may diverge: it has ended as well.
    finished = [e["trial"] for e in found if e["event"] in ("finished", "diverged")]
    assert len(asked) >= 6
    assert sorted(asked) == sorted(finished)
    assert all(event["attempt"] == 1 for event in found if event["event"] == "submitted")
    assert (demo / "report.html").stat().st_size > 10_000
    predicted = json.loads((demo / "bet" / "prediction.json").read_text())
    row = json.loads((demo / "bet" / "result.json").read_text())
    assert predicted["n_runs"] == len(finished)
    assert row["lr"] == predicted["run"]["lr"]
    assert row["C"] == predicted["compute"]
    where = "inside" if predicted["low"] <= row["loss"] <= predicted["high"] else "outside"
    told = " ".join(said.split())
    ends = f"{predicted['low']:.3f} to {predicted['high']:.3f}"
    assert f"predicted a loss of {predicted['loss']:.3f} (95%: {ends})" in told
    assert f"came out at {row['loss']:.3f}: {where} the interval" in told

    record = (demo / "journal.jsonl").read_bytes()
    code, said = ended(start(*command))
    assert code == 0, said
    assert "All this was there already" in said
    assert "Now one run" not in said
    assert f"came out at {row['loss']:.3f}" in said
    assert (demo / "journal.jsonl").read_bytes() == record

    # Killed while it trains, the bet leaves no process and no result, and begins again.
    (demo / "bet" / "result.json").unlink()
    (demo / "bet" / "log.txt").unlink()
    bet = start(sys.executable, demo / "bet.py")
    wait_for(demo / "bet" / "log.txt")
    code, said = press_ctrl_c(bet)
    assert code == 130
    assert said.endswith("interrupted; make live-demo begins this run again\n")
    assert not (demo / "bet" / "result.json").exists()
    code, said = ended(start(sys.executable, demo / "bet.py"))
    assert code == 0, said
    assert json.loads((demo / "bet" / "result.json").read_text())["loss"] == row["loss"]


def test_without_a_corpus_the_study_stops_and_says_why(tmp_path: Path):
    demo = copied(tmp_path)
    code, said = ended(start(sys.executable, "-m", "lawsmith", "run", demo / "study.toml"))
    assert code != 0
    assert "lawsmith status shows why" in said
    status = subprocess.run(
        [sys.executable, "-m", "lawsmith", "status", str(demo / "study.toml")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"no corpus in {demo}" in status.stdout
    assert sum(event["event"] == "failed" for event in events(demo)) < 8
    code, said = ended(start(sys.executable, demo / "bet.py"))
    assert code == 2
    assert said.startswith("live-demo: the study has not ended with an answer")
    assert said.count("\n") == 1


def test_without_torch_a_run_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match="torch is not installed here"):
        runpy.run_path(str(TINYLM / "train.py"), run_name="__main__")


def test_a_prediction_stands_until_the_study_has_changed(tmp_path: Path):
    bet = bet_module(tmp_path / "bet")
    said = {"study": "a", "n_runs": 30, "compute": 1e12, "run": {"lr": 0.01}, "loss": 2.7}
    bet.write_down(said)
    bet.RESULT.write_text("{}")
    bet.write_down(said | {"loss": 2.8})
    assert json.loads(bet.PREDICTION.read_text()) == said
    assert bet.RESULT.exists()
    bet.write_down(said | {"n_runs": 31})
    assert json.loads(bet.PREDICTION.read_text())["n_runs"] == 31
    assert not bet.RESULT.exists()
