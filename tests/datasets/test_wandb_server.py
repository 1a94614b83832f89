"""wandb:ENTITY/PROJECT with W&B's own library, which asks a server of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import extra
from tests.datasets.test_sources import RUNS, answer, wandb_runs  # noqa: F401

from lawsmith.datasets import load, load_curves
from lawsmith.datasets.curve_tables import CurveOptions
from lawsmith.datasets.readers import read_frame
from lawsmith.datasets.sources import read_tracked, wandb
from lawsmith.errors import LawsmithError

extra("wandb")

from tests.datasets.wandb_server import Server, serving  # noqa: E402

PROJECT = "wandb:me/scaling"


def served() -> list[dict[str, Any]]:
    """The runs of test_sources, one that still runs, and one that crashed before its first step."""
    runs = [_served(run) for run in RUNS]
    running = {**runs[0], "name": "run-14", "state": "running", "summary": {"val/loss": 7.0}}
    crashed = {**runs[0], "name": "run-15", "state": "crashed", "summary": {}, "history": []}
    return [*runs, running, crashed]


def _served(run: dict[str, Any]) -> dict[str, Any]:
    settings = {k: v for k, v in run["settings"].items() if k != "optim.lr"}
    losses, seen = run["history"].values()
    rows = [
        {"_step": step, "val/loss": loss, "tokens_seen": tokens, "epoch": {"part": step / 4}}
        for (step, loss), (_, tokens) in zip(losses, seen, strict=True)
    ]
    return {
        "name": run["name"],
        "state": run["state"],
        "config": {**settings, "optim": {"lr": run["settings"]["optim.lr"]}},
        "summary": rows[-1],
        "history": rows,
    }


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A key of the test, and no folder of the user's."""
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(Server(served())) as made:
        monkeypatch.setenv("WANDB_BASE_URL", made.address)
        yield made


def test_a_server_gives_what_the_offline_files_give_to_the_last_digit(
    server: Server,
    wandb_runs: Path,  # noqa: F811
):
    study, offline = load(PROJECT), load(wandb_runs)
    assert dict(study.log.unfinished) == {"failed": 1, "killed": 1, "running": 1, "crashed": 1}
    assert study.run_names == offline.run_names
    assert answer(PROJECT) == answer(wandb_runs)
    common = ["run", "config.n_params", "config.tokens", "config.optim.lr", "summary.val/loss"]
    online, files = (read_frame(place)[common] for place in (PROJECT, wandb_runs))
    pd.testing.assert_frame_equal(online[:14], files, check_exact=True, check_dtype=False)


def test_pages_are_followed_and_no_run_is_asked_for_alone(server: Server):
    runs = read_tracked(PROJECT, histories=False)
    assert [run.name for run in runs] == [run["name"] for run in server.runs]
    assert [asked for asked in server.asked if asked != "Viewer"] == ["Runs"] * 4
    assert runs[0].settings["optim.lr"] == RUNS[0]["settings"]["optim.lr"]
    assert runs[0].results == {
        "val/loss": RUNS[0]["history"]["val/loss"][-1][1],
        "tokens_seen": RUNS[0]["history"]["tokens_seen"][-1][1],
        "epoch.part": 1.0,
    }


def test_histories_are_whole_and_a_run_without_one_is_a_run(server: Server):
    by_name = {run.name: run for run in read_tracked(PROJECT, histories=True)}
    assert len(by_name) == 16
    assert by_name["run-15"].history == {}
    for run in RUNS:
        found = by_name[run["name"]].history
        losses = run["history"]["val/loss"]
        assert found["val/loss"] == losses
        assert found["epoch.part"] == [(step, step / 4) for step, _ in losses]
    curves = load_curves(PROJECT, CurveOptions(kind="scheduled"))
    for curve, run in zip(curves.curves, RUNS, strict=False):
        assert run["settings"]["n_params"] == curve.N
        wanted = [loss for _, loss in run["history"]["val/loss"]]
        np.testing.assert_allclose(curve.loss, wanted, rtol=1e-12)


def test_a_history_that_never_comes_is_an_error_and_no_hang(server: Server, monkeypatch):
    monkeypatch.setattr(wandb, "TIMEOUT", 1)
    monkeypatch.setattr(wandb, "CONNECT", 1)
    server.stalls = "RunParquetHistory"
    with pytest.raises(LawsmithError, match=r"got no answer within 1 s, want .* \(try again"):
        read_tracked(PROJECT, histories=True)


def test_what_is_wrong_is_said_in_one_line(server: Server, monkeypatch):
    told = {"wandb:me/scalling": "Could not find project scalling", PROJECT: "invalid API key"}
    for source, want in told.items():
        server.denies = source == PROJECT
        assert want in refusal(source)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    assert "no connection to http://127.0.0.1:9 (Connection refused)" in refusal(PROJECT)


def test_without_a_key_one_is_asked_for(server: Server, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY")
    assert "log in with wandb login" in refusal(PROJECT)


def refusal(source: str) -> str:
    with pytest.raises(LawsmithError) as caught:
        load(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)
