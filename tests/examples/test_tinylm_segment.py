"""Trials of a study with trunks: what is trained in parts is what one run trains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import extra

torch = extra("torch")

from data import Corpus  # noqa: E402
from errors import TinylmError  # noqa: E402
from segment import read_segment, train_segment  # noqa: E402
from trunk import Plan, Trunk  # noqa: E402

from tests.examples.test_tinylm_commands import RUN, command, flat  # noqa: E402
from tests.examples.tiny import (  # noqa: E402
    rows_of,
    small_corpus,
    small_size,
    write_corpus,
)

LR = 0.03


@pytest.fixture(autouse=True)
def short_warmup(monkeypatch) -> None:
    """So that a decay of these few steps is one."""
    monkeypatch.setattr("ensemble.WARMUP_TOKENS", 512)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return small_corpus(tmp_path / "corpus")


def plan(tokens: int) -> Plan:
    return Plan(small_size(), 4, 0, (LR,), (tokens,))


def trial(corpus: Corpus, tokens: int, **config: Any) -> tuple[float, list[dict[str, float]]]:
    """A trial's loss, and what it told on the way."""
    told: list[dict[str, float]] = []
    folder = Path(config["folder"])
    folder.mkdir(exist_ok=True)
    segment = read_segment(config, tokens)
    return train_segment(Trunk(plan(round(tokens / 128) * 128), corpus), segment, told.append), told


def test_a_branch_of_a_trunk_ends_where_a_run_of_its_budget_ends(corpus: Corpus, tmp_path: Path):
    trunk, told = trial(corpus, 8192, kind="trunk", save_at=[3328], folder=tmp_path / "a")
    assert [line["saved"] for line in told if "saved" in line] == [3328, 8192]
    points = {line["tokens"]: line["loss"] for line in told if "loss" in line}
    assert list(points) == [3328, 8192]  # the first mark of a longer trunk lies beyond
    assert points[8192] == trunk
    (run,) = rows_of(Trunk(plan(4096), corpus))
    above = {"parent_folder": str(tmp_path / "a"), "branch_at": 3328.0}
    loss, _ = trial(corpus, 4096, kind="branch", folder=tmp_path / "b", **above)
    assert run["branch_at"] == 3328
    assert loss == run["loss"]
    assert loss < points[3328]


def test_tokens_between_two_steps_are_kept_under_the_count_they_were_asked_for(
    corpus: Corpus, tmp_path: Path
):
    _, told = trial(corpus, 6554, kind="trunk", save_at=[3277], folder=tmp_path / "a")
    assert [line["saved"] for line in told if "saved" in line] == [3277, 6554]
    (run,) = rows_of(Trunk(plan(4096), corpus))
    above = {"parent_folder": str(tmp_path / "a"), "branch_at": 3277.0}
    loss, _ = trial(corpus, 4096, kind="branch", folder=tmp_path / "b", **above)
    assert loss == run["loss"]


def test_an_extension_goes_on_where_the_trunk_ended(corpus: Corpus, tmp_path: Path):
    whole, _ = trial(corpus, 8192, kind="trunk", folder=tmp_path / "whole")
    trial(corpus, 2048, kind="trunk", folder=tmp_path / "a")
    above = {"parent_folder": str(tmp_path / "a"), "branch_at": 2048}
    loss, _ = trial(corpus, 8192, kind="trunk", folder=tmp_path / "b", **above)
    assert loss == whole


def test_a_trunk_that_is_started_again_goes_on_from_its_last_checkpoint(
    corpus: Corpus, tmp_path: Path
):
    whole, _ = trial(corpus, 8192, kind="trunk", folder=tmp_path / "whole")
    trial(corpus, 4096, kind="trunk", save_at=[1024], folder=tmp_path / "a")  # killed, say, at 4096
    loss, told = trial(corpus, 8192, kind="trunk", save_at=[1024], folder=tmp_path / "a")
    assert told[0] == {"resumed": 4096}
    assert loss == whole


def test_the_command_trains_what_its_config_says(monkeypatch, tmp_path: Path):
    folder = write_corpus(tmp_path / "corpus")
    config, told = tmp_path / "config.json", tmp_path / "progress.jsonl"
    monkeypatch.setenv("LAWSMITH_CONFIG", str(config))
    monkeypatch.setenv("LAWSMITH_PROGRESS", str(told))
    monkeypatch.setenv("LAWSMITH_RESULT", str(tmp_path / "result.json"))
    config.write_text(json.dumps({"kind": "trunk", "save_at": [3328], "folder": str(tmp_path)}))
    options = flat(RUN | {"--corpus": folder})
    assert command(monkeypatch, "train.py", *options) == 0
    trunk = json.loads((tmp_path / "result.json").read_text())
    assert json.loads(told.read_text().splitlines()[0]) == {"saved": 3328}
    above = {"parent": "t0001", "parent_folder": str(tmp_path), "branch_at": 3328}
    config.write_text(json.dumps({"kind": "branch", "folder": str(tmp_path), **above}))
    assert command(monkeypatch, "train.py", *options) == 0
    branch = json.loads((tmp_path / "result.json").read_text())
    assert (branch["D"], branch["diverged"]) == (4096, False)
    config.write_text(json.dumps({"kind": "run", "folder": str(tmp_path), "parent": None}))
    assert command(monkeypatch, "train.py", *options) == 0
    run = json.loads((tmp_path / "result.json").read_text())
    assert branch["loss"] == run["loss"] != trunk["loss"]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"kind": "twig"}, "kind 'twig'"),
        ({"kind": "branch"}, "no checkpoint to go on"),
        ({"kind": "branch", "parent_folder": "nowhere", "branch_at": 128}, "the parent left none"),
    ],
)
def test_a_trial_that_cannot_be_is_refused(corpus: Corpus, tmp_path: Path, config, line):
    with pytest.raises(TinylmError, match=line):
        trial(corpus, 4096, folder=tmp_path / "x", **config)
