"""Running the command line inside the test process, and tables to run it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lawsmith.cli import main

TRUTH = {"E": 1.69, "A": 406.4, "alpha": 0.34, "B": 410.7, "beta": 0.28}


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """The output with its lines joined, whatever they were wrapped at."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True, scope="module")
def _shared(shared_fits: None) -> None:
    """Many commands are run on the same few tables."""


@pytest.fixture
def lawsmith(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """``lawsmith("fit", "runs.csv", …)`` as typed in a terminal 80 columns wide."""
    return typed(main, capsys, monkeypatch)


def typed(
    main: Callable[[Sequence[str]], int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Result]:
    """What runs the command ``main`` as typed in a terminal 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")  # a test may narrow it

    def run(*args: object) -> Result:
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def fit_json(lawsmith: Callable[..., Result]) -> Callable[..., Any]:
    """The JSON of ``lawsmith fit …``, which must succeed and say nothing else."""

    def run(*args: object) -> Any:
        result = lawsmith("fit", *args, "--json")
        assert (result.code, result.err) == (0, "")
        return result.json

    return run


@pytest.fixture
def frame() -> pd.DataFrame:
    """Noise-free runs of a Chinchilla law, two of each (N, D): the second one a little worse."""
    rows = []
    for N, D, (optimizer, excess) in product(
        (1e7, 4e7, 1.6e8, 6.4e8), (1e9, 4e9, 1.6e10, 6.4e10), (("adamw", 1.0), ("sgd", 1.02))
    ):
        loss = TRUTH["E"] + TRUTH["A"] * N ** -TRUTH["alpha"] + TRUTH["B"] * D ** -TRUTH["beta"]
        rows.append({"size": N, "seen": D, "held_loss": loss * excess, "optimizer": optimizer})
    return pd.DataFrame(rows)


COLUMNS = "N=size,D=seen,loss=held_loss,optimizer=optimizer"


@pytest.fixture
def table(tmp_path: Path, frame: pd.DataFrame) -> Path:
    """The frame as a CSV file under names that are found without --columns."""
    path = tmp_path / "runs.csv"
    names = {"size": "params", "seen": "tokens", "held_loss": "val_loss"}
    kept = frame[frame["optimizer"] == "adamw"].rename(columns=names)
    kept.drop(columns="optimizer").to_csv(path, index=False)
    return path


def sweep_rows() -> list[dict[str, float]]:
    """4 N × 4 D × 3 learning rates around a best one that falls with N; one corner diverges."""
    rng = np.random.default_rng(0)
    rows = []
    for N, D, lr in product(
        (1e7, 4e7, 1.6e8, 6.4e8), (1e9, 4e9, 1.6e10, 6.4e10), (5e-4, 2e-3, 8e-3)
    ):
        law = TRUTH["E"] + TRUTH["A"] * N ** -TRUTH["alpha"] + TRUTH["B"] * D ** -TRUTH["beta"]
        off = np.log(lr / (2e-3 * (N / 1e8) ** -0.3))
        loss = law * np.exp(0.01 * off**2 + 0.001 * rng.standard_normal())
        diverged = lr == 8e-3 and N == 6.4e8
        rows.append({"N": N, "D": D, "lr": lr, "loss": np.nan if diverged else float(loss)})
    return rows


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of 48 configurations as a CSV file: small enough to be replayed to its end."""
    path = tmp_path_factory.mktemp("sweep") / "sweep.csv"
    pd.DataFrame(sweep_rows()).to_csv(path, index=False)
    return path


@pytest.fixture
def replay_json(lawsmith: Callable[..., Result]) -> Callable[..., Any]:
    """The JSON of ``lawsmith replay …``, which must succeed and say nothing else."""
    return json_of_replay(lawsmith)


def json_of_replay(command: Callable[..., Result]) -> Callable[..., Any]:
    """What replays with ``command`` and reads the JSON that it prints."""

    def run(*args: object) -> Any:
        result = command("replay", *args, "--json")
        assert (result.code, result.err) == (0, "")
        return result.json

    return run
