"""`lawsmith init --wsd`: a study of trunks that works, and the trainer that is the docs' recipe."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import extra
from typer.testing import CliRunner

from lawsmith.cli.app import app
from lawsmith.cli.start import template
from lawsmith.study import open_study

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    done = CliRunner().invoke(app, ["init", "--wsd", str(tmp_path / "study.toml")])
    assert done.exit_code == 0, done.output
    assert "study.toml and" in done.output
    return tmp_path


def train(folder: Path, monkeypatch: pytest.MonkeyPatch, trial: str, **config: Any) -> float:
    """A trial of the written trainer, in this process; its loss."""
    own = folder / "trials" / trial
    own.mkdir(parents=True, exist_ok=True)
    usual = {"parent": None, "parent_folder": None, "branch_at": None, "save_at": []}
    told = {"width": 32, "lr": 0.004, "folder": str(own)} | usual | config
    (own / "config.json").write_text(json.dumps(told))
    for name in ("CONFIG", "PROGRESS", "RESULT"):
        monkeypatch.setenv(f"LAWSMITH_{name}", str(own / f"{name.lower()}.json"))
    runpy.run_path(str(folder / "train.py"))
    return float(json.loads((own / "result.json").read_text())["loss"])


def lines(folder: Path, trial: str) -> list[dict[str, float]]:
    text = (folder / "trials" / trial / "progress.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_the_study_is_valid_and_uses_trunks(folder: Path):
    study = open_study(folder / "study.toml")
    assert study.spec.trunks.use
    assert len(study.grid) == 90
    for model in study.spec.model:
        width = model.model_dump()["width"]
        assert 256 * 16 + (8 * 16 + 1) * width + (width + 1) * 256 == model.N


def test_nothing_is_overwritten(folder: Path):
    (folder / "study.toml").unlink()
    (folder / "train.py").write_text("mine")
    done = CliRunner().invoke(app, ["init", "--wsd", str(folder / "study.toml")])
    assert done.exit_code != 0
    assert (folder / "train.py").read_text() == "mine"
    assert not (folder / "study.toml").exists()


def test_the_page_has_the_trainer_as_it_is_written():
    page = (ROOT / "docs" / "curves.md").read_text(encoding="utf-8")
    assert f"```python\n{template('train.py.txt')}```" in page


def test_the_trainer_walks_a_trunk_branches_from_it_and_goes_on_after_a_crash(
    folder: Path, monkeypatch
):
    torch = extra("torch")
    torch.set_num_threads(1)
    points = [26214.0, 52429.0]
    trunk = train(folder, monkeypatch, "a", kind="trunk", D=points[1], save_at=points)
    told = lines(folder, "a")
    assert [line["saved"] for line in told if "saved" in line] == points
    losses = {line["tokens"]: line["loss"] for line in told if "loss" in line}
    assert len(losses) > 30
    assert list(losses) == sorted(losses)
    above = {"parent": "a", "parent_folder": str(folder / "trials" / "a"), "branch_at": points[0]}
    branch = train(folder, monkeypatch, "b", kind="branch", D=32768.0, **above)
    at = [loss for tokens, loss in losses.items() if tokens <= points[0]][-1]
    assert branch < at - 0.02
    assert lines(folder, "b")[0] == {"resumed": 26240}
    # The trunk from its first checkpoint on, as after a crash, is the same trunk.
    (folder / "trials" / "a" / f"{points[1]:.0f}.pt").unlink()
    assert train(folder, monkeypatch, "a", kind="trunk", D=points[1], save_at=points) == trunk
    assert {"resumed": 26240} in lines(folder, "a")
