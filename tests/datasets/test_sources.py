"""One table through every tracker, written by the trackers' own libraries: the same answer to the
last digit, the same states left out, the same curves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import extra

from lawsmith.analysis import answer_study
from lawsmith.answer import Target
from lawsmith.datasets import ReadOptions, load, load_curves
from lawsmith.datasets.curve_tables import CurveOptions
from lawsmith.datasets.sources import read_tracked
from lawsmith.errors import LawsmithError

STEPS = 4
Run = dict[str, Any]


def tracked() -> list[Run]:
    """Twelve finished runs along four steps, and one each that failed and was killed.

    TensorBoard keeps losses in 32 bits and Excel 15 digits, so these losses are multiples of 2⁻¹².
    """
    rng = np.random.default_rng(7)
    made = []
    for N, D, lr in product((20_000_000, 80_000_000, 320_000_000), (2e9, 3.2e10), (1e-3, 4e-3)):
        best = 1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28
        loss = best * np.exp(0.01 * np.log(lr / 2e-3) ** 2 + 0.002 * rng.standard_normal())
        along = [loss * (1 + 0.5 / step) for step in range(1, STEPS)] + [loss]
        made.append(_run(len(made), "finished", N, D, lr, along))
    made.append(_run(12, "failed", 320_000_000, 3.2e10, 0.1, [9.0]))
    made.append(_run(13, "killed", 320_000_000, 3.2e10, 0.2, [8.0]))
    return made


def _run(i: int, state: str, N: int, D: float, lr: float, losses: list[float]) -> Run:
    moments = [(step, round(loss * 4096) / 4096) for step, loss in enumerate(losses, start=1)]
    seen = [(step, float(np.float32(D * step / STEPS))) for step, _ in moments]
    settings = {"n_params": N, "tokens": D, "optim.lr": lr, "seed": i % 3}
    history = {"val/loss": moments, "tokens_seen": seen}
    return {"name": f"run-{i:02d}", "state": state, "settings": settings, "history": history}


RUNS = tracked()


def flat() -> pd.DataFrame:
    rows = [
        {
            "run": run["name"],
            "state": run["state"],
            **run["settings"],
            "val/loss": run["history"]["val/loss"][-1][1],
        }
        for run in RUNS
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("csv") / "runs.csv"
    flat().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def wandb_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Offline runs, written by W&B itself."""
    wandb = extra("wandb")
    folder = tmp_path_factory.mktemp("wandb")
    settings = wandb.Settings(mode="offline", silent=True, console="off", x_disable_stats=True)
    wandb.setup(settings)
    for run in RUNS:
        nested = {**run["settings"], "optim": {"lr": run["settings"]["optim.lr"]}}
        del nested["optim.lr"]
        opened = wandb.init(
            project="scaling", name=run["name"], dir=folder, config=nested, settings=settings
        )
        for (step, loss), (_, seen) in zip(*run["history"].values(), strict=True):
            opened.log({"val/loss": loss, "tokens_seen": seen}, step=step)
        opened.finish(exit_code=0 if run["state"] == "finished" else 1)
    wandb.teardown()
    return folder


@pytest.fixture(scope="module")
def tensorboard_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Event files and hyperparameters, written by TensorBoard's own writer."""
    extra("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import api_pb2
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    folder = tmp_path_factory.mktemp("tensorboard")
    status = {"finished": api_pb2.STATUS_SUCCESS, "failed": api_pb2.STATUS_FAILURE}
    for i, run in enumerate(RUNS):
        writer = EventFileWriter(str(folder / run["name"]))
        for name, series in run["history"].items():
            for step, value in series:
                summary = Summary(value=[Summary.Value(tag=name, simple_value=value)])
                writer.add_event(Event(step=step, summary=summary))
        # As PyTorch does, every other run has its settings in a folder below it.
        if i % 2:
            writer.close()
            writer = EventFileWriter(str(folder / run["name"] / "1763424000.5"))
        writer.add_event(Event(summary=_session(settings=run["settings"])))
        if run["state"] in status:  # what is killed says nothing
            writer.add_event(Event(summary=_session(status=status[run["state"]])))
        writer.close()
    return folder


def _session(settings: dict[str, Any] | None = None, status: int = 0) -> Any:
    """What the HParams tab knows of a run: its settings, or how it ended."""
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import (
        HParamsPluginData,
        SessionEndInfo,
        SessionStartInfo,
    )

    if settings is None:
        data = HParamsPluginData(session_end_info=SessionEndInfo(status=status))
    else:
        start = SessionStartInfo()
        for name, value in settings.items():
            start.hparams[name].number_value = value
        data = HParamsPluginData(session_start_info=start)
    plugin = SummaryMetadata.PluginData(plugin_name="hparams", content=data.SerializeToString())
    metadata = SummaryMetadata(plugin_data=plugin)
    return Summary(value=[Summary.Value(tag="_hparams_/session", metadata=metadata)])


@pytest.fixture(scope="module")
def excel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook by openpyxl: a sheet of notes, and one of runs below a title."""
    openpyxl = extra("openpyxl")
    path = tmp_path_factory.mktemp("excel") / "runs.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["May sweep"])
    sheet = book.create_sheet("May")
    sheet.append(["All runs of May"])
    sheet.append([])
    frame = flat()
    sheet.append([*map(str, frame.columns)])
    for row in frame.to_numpy(object).tolist():
        sheet.append(row)
    book.save(path)
    return path


@pytest.fixture(scope="module")
def mlflow_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """(the folder of mlruns/ and mlflow.db, the address of a real server)."""
    extra("mlflow")
    extra("flask_cors")
    folder = tmp_path_factory.mktemp("mlflow")
    script = Path(__file__).with_name("mlflow_runs.py")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "GIT_PYTHON_REFRESH": "quiet"},
        cwd=folder,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"folder": str(folder), "runs": RUNS}) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    while line and not line.startswith("port "):
        line = process.stdout.readline()
    if not line:
        pytest.fail(process.communicate()[1][-2000:])
    try:
        yield folder, f"http://127.0.0.1:{line.split()[1]}"
    finally:
        process.communicate()


@pytest.fixture(scope="module")
def optuna_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in a database, by Optuna."""
    optuna = extra("optuna")
    from optuna.distributions import FloatDistribution
    from optuna.trial import TrialState

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = tmp_path_factory.mktemp("optuna") / "trials.db"
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name="scaling")
    states = {"finished": TrialState.COMPLETE, "failed": TrialState.FAIL}
    trials = [
        optuna.trial.create_trial(
            state=states.get(run["state"], TrialState.PRUNED),
            params={"lr": run["settings"]["optim.lr"]},
            distributions={"lr": FloatDistribution(1e-5, 1.0, log=True)},
            user_attrs={"N": run["settings"]["n_params"], "D": run["settings"]["tokens"]},
            intermediate_values=dict(run["history"]["val/loss"]),
            value=run["history"]["val/loss"][-1][1] if run["state"] == "finished" else None,
        )
        for run in RUNS
    ]
    study.add_trials(trials)
    return path


@pytest.fixture(scope="module")
def neps_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trials as NePS 0.13 lays them out (neps/state/filebased.py): YAML, JSON and a state."""
    folder = tmp_path_factory.mktemp("neps")
    states = {"finished": "success", "failed": "failed"}
    for i, run in enumerate(RUNS, start=1):
        place = folder / "configs" / f"config_{i}"
        place.mkdir(parents=True)
        settings = run["settings"]
        (place / "config.yaml").write_text(
            f"D: {settings['tokens']!r}\nN: {settings['n_params']}\nlr: {settings['optim.lr']!r}\n"
        )
        (place / "state.txt").write_text(states.get(run["state"], "crashed"))
        if run["state"] == "finished":
            loss = run["history"]["val/loss"][-1][1]
            (place / "report.yaml").write_text(
                f"cost: null\nerr: null\nextra: {{}}\nlearning_curve: null\n"
                f"objective_to_minimize: {loss!r}\nreported_as: success\ntb: null\n"
            )
    return folder


def answer(source: str | Path, options: ReadOptions | None = None) -> dict[str, Any]:
    """What the answer is, all its digits."""
    found = answer_study(load(source, options), [Target(1e22)])
    return found.to_dict()


@pytest.fixture(scope="module")
def by_csv(csv: Path) -> dict[str, Any]:
    return answer(csv)


def test_the_csv_is_understood(csv: Path):
    study = load(csv)
    assert (len(study.runs), tuple(study.grid.hp), study.warnings) == (12, ("lr",), ())
    assert dict(study.log.unfinished) == {"failed": 1, "killed": 1}


def test_wandb_gives_the_same_answer_to_the_last_digit(wandb_runs: Path, by_csv):
    study = load(wandb_runs)
    assert dict(study.log.unfinished) == {"crashed": 2}
    assert study.run_names == tuple(run["name"] for run in RUNS[:12])
    assert answer(wandb_runs) == by_csv


def test_tensorboard_gives_the_same_answer_to_the_last_digit(tensorboard_runs: Path, by_csv):
    assert dict(load(tensorboard_runs).log.unfinished) == {"failed": 1, "running": 1}
    assert answer(tensorboard_runs) == by_csv


def test_excel_gives_the_same_answer_to_the_last_digit(excel_file: Path, by_csv):
    assert answer(f"{excel_file}#May") == by_csv
    with pytest.raises(LawsmithError, match=r"got 'Mai'.*did you mean May"):
        load(f"{excel_file}#Mai")


def test_mlflow_gives_the_same_answer_to_the_last_digit(mlflow_runs: tuple[Path, str], by_csv):
    folder, address = mlflow_runs
    for source in (folder / "mlruns", folder / "mlflow.db", address, f"{address}#scaling"):
        study = load(str(source))
        assert dict(study.log.unfinished) == {"failed": 1, "killed": 1}
        assert study.run_names == tuple(run["name"] for run in RUNS[:12])
    assert answer(str(folder / "mlruns")) == answer(str(folder / "mlflow.db")) == by_csv
    assert answer(address) == by_csv
    with pytest.raises(LawsmithError, match=r"experiment: got 'scalling'.*did you mean scaling"):
        load(f"{address}#scalling")


def test_reading_an_mlflow_database_does_not_write_to_it(mlflow_runs: tuple[Path, str]):
    path = mlflow_runs[0] / "mlflow.db"
    before = path.read_bytes(), path.stat().st_mtime_ns
    load(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_optuna_and_neps_give_the_same_answer_to_the_last_digit(
    optuna_db: Path, neps_folder: Path, by_csv
):
    assert dict(load(optuna_db).log.unfinished) == {"failed": 1, "pruned": 1}
    assert dict(load(neps_folder).log.unfinished) == {"failed": 1, "crashed": 1}
    assert answer(optuna_db) == answer(neps_folder) == by_csv


def test_histories_are_curves_and_unfinished_runs_are_among_them(
    wandb_runs: Path, tensorboard_runs: Path, mlflow_runs: tuple[Path, str]
):
    folder, address = mlflow_runs
    sources = [wandb_runs, tensorboard_runs, folder / "mlruns", folder / "mlflow.db", address]
    for source in sources:
        curves = load_curves(str(source), CurveOptions(kind="scheduled"))
        assert [curve.run for curve in curves.curves] == [run["name"] for run in RUNS]
        for curve, run in zip(curves.curves, RUNS, strict=True):
            assert run["settings"]["n_params"] == curve.N
            losses, seen = run["history"].values()
            np.testing.assert_allclose(curve.loss, [loss for _, loss in losses], rtol=1e-12)
            np.testing.assert_allclose(curve.D, [tokens for _, tokens in seen], rtol=1e-12)


def test_a_server_that_is_none_is_told_in_one_line():
    extra("mlflow")
    with pytest.raises(LawsmithError, match="want an MLflow server") as caught:
        load("http://127.0.0.1:9")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(8))
def test_bytes_that_are_broken_are_refused_or_read_and_never_crash(
    tmp_path: Path, wandb_runs: Path, tensorboard_runs: Path, seed: int
):
    rng = np.random.default_rng(seed)
    for source in (next(wandb_runs.rglob("*.wandb")), next(tensorboard_runs.rglob("events*"))):
        data = bytearray(source.read_bytes())
        for place in rng.integers(0, len(data), 20):
            data[place] = rng.integers(0, 256)
        path = tmp_path / source.name
        path.write_bytes(bytes(data[: rng.integers(1, len(data))]))
        with suppress(LawsmithError):
            read_tracked(str(path), histories=True)
