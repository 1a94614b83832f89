"""Sixty awkward tables, and what a careful person would want of each.

All hold the same sixteen runs: 2 N × 2 D × 2 learning rates, each with two seeds' worth of noise or
with another column that varies. What is wanted is said of each: the sizes and axes understood, what
is left out and counted, the codes of warnings; or the words of the error that asks back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import ReadOptions, load
from lawsmith.errors import LawsmithError
from lawsmith.runs import State

N, D, LR = (1e8, 4e8), (2e9, 8e9), (1e-3, 4e-3)


def runs(again: str = "seed", values: tuple[Any, Any] = (0, 1)) -> pd.DataFrame:
    """The runs, each once for both values of the column ``again``."""
    rows = []
    for n, d, lr, value in product(N, D, LR, values):
        loss = 1.7 + 400 * n**-0.34 + 410 * d**-0.28 + 0.02 * abs(np.log(lr / 2e-3))
        loss += 0.003 * values.index(value)
        rows.append({"N": n, "D": d, "lr": lr, again: value, "loss": round(float(loss), 6)})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Want:
    """What is wanted of a table; ``error`` words of the error that asks back."""

    axes: tuple[str, ...] = ("lr",)
    codes: tuple[str, ...] = ()
    n_runs: int = 16
    n_configurations: int = 8
    not_finished: Mapping[str, int] = field(default_factory=dict)
    n_diverged: int = 0
    sizes: tuple[float, ...] = N
    error: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A table: how it is written, the name of its file, and how it is read."""

    write: Callable[[pd.DataFrame, Path], None] | pd.DataFrame
    want: Want = field(default_factory=Want)
    options: Mapping[str, Any] = field(default_factory=dict)
    file: str = "runs.csv"


def named(**names: str) -> pd.DataFrame:
    return runs().rename(columns=names)


def dotted(names: Mapping[str, str]) -> pd.DataFrame:
    return runs().rename(columns=dict(names))


def text(edit: Callable[[str], str]) -> Callable[[pd.DataFrame, Path], None]:
    """The CSV with its text edited."""
    return lambda frame, path: path.write_text(edit(frame.to_csv(index=False))) and None


def jsoned(make: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame, Path], None]:
    return lambda frame, path: path.write_text(json.dumps(make(frame))) and None


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(frame.to_json(orient="records"))


def nested(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "config": {"model": {"n_params": row["N"]}, "tokens": row["D"], "lr": row["lr"]},
            "summary": {"val_loss": row["loss"]},
            "seed": row["seed"],
        }
        for row in records(frame)
    ]


def lines(frame: pd.DataFrame, path: Path) -> None:
    path.write_text("\n".join(json.dumps(row) for row in nested(frame)))


def wandb_csv(frame: pd.DataFrame, path: Path) -> None:
    """A W&B export by pandas: dictionaries as text in two columns."""
    rows = nested(frame)
    pd.DataFrame(
        {"config": [str(r["config"]) for r in rows], "summary": [str(r["summary"]) for r in rows]}
    ).assign(seed=frame["seed"], name=[f"run-{i}" for i in range(16)]).to_csv(path, index=False)


def blanked(column: str, row: int, frame: pd.DataFrame | None = None) -> pd.DataFrame:
    made = (runs() if frame is None else frame).astype(object)
    made.loc[row, column] = None
    return made


def states(column: str, words: tuple[str, ...], every: str) -> pd.DataFrame:
    """The state ``every``, but for the first runs, whose states are ``words``."""
    return runs().assign(**{column: [*words, *[every] * (16 - len(words))]})


def scaled(column: str, factor: float, new: str | None = None) -> pd.DataFrame:
    frame = runs()
    frame[column] = frame[column] / factor
    return frame.rename(columns={column: new or column})


def with_compute(factor: float) -> pd.DataFrame:
    return runs().assign(C=lambda frame: 6 * frame["N"] * frame["D"] * factor)


def worded(column: str, form: Callable[[float], str]) -> pd.DataFrame:
    frame = runs()
    return frame.assign(**{column: [form(x) for x in frame[column]]})


M, B = Want(), Want()
SCALE = ("implausible_scale",)
AXIS = ("taken_as_axis",)
UNUSED = ("column_not_used",)
TWO = Want(("lr", "optimizer"), AXIS, n_configurations=16)
OUT = Want(n_runs=13, n_configurations=7, not_finished={"crashed": 1, "running": 1, "killed": 1})
CASES: dict[str, Case] = {
    # Names
    "plain names": Case(runs()),
    "names of a paper": Case(named(N="params", D="tokens", loss="val_loss")),
    "names with humps": Case(named(N="numParams", D="trainTokens", loss="valLoss")),
    "names with spaces": Case(named(N="Model Size", D="Training Tokens", loss="Validation Loss")),
    "names with slashes": Case(named(N="model/n_params", D="data/tokens", loss="eval/loss")),
    "W&B's prefixes with dots": Case(
        dotted(
            {
                "N": "config.n_params",
                "D": "config.tokens",
                "lr": "config.lr",
                "loss": "summary.loss",
            }
        )
    ),
    "W&B's prefixes with slashes": Case(
        dotted(
            {"N": "config/N", "D": "config/D", "lr": "config/optim.lr", "loss": "summary/val_loss"}
        )
    ),
    "an optimiser's prefix": Case(dotted({"lr": "optim.lr"})),
    "TensorBoard's prefix": Case(dotted({"lr": "hparams/lr", "seed": "hparams/seed"})),
    "MLflow's prefixes": Case(
        dotted({"N": "params.N", "D": "params.D", "lr": "params.lr", "loss": "metrics.val_loss"})
    ),
    "Optuna's prefixes": Case(
        dotted({"N": "user_attrs_N", "D": "user_attrs_D", "lr": "params_lr", "loss": "value"}),
    ),
    "a setting and a result of one name": Case(
        runs()
        .rename(columns={"D": "config.tokens", "loss": "summary.loss"})
        .assign(**{"summary.tokens": lambda f: f["config.tokens"] * 0.99, "config.loss": "ce"})
    ),
    "a schedule's last rate beside the setting": Case(
        runs().rename(columns={"lr": "config.lr"}).assign(**{"summary.lr": 0.0})
    ),
    "a misspelt N": Case(named(N="parmas"), Want(error=("none for N",)), file="asked.csv"),
    "no loss, but a misspelt one": Case(
        named(loss="vall_loss"), Want(error=("did you mean --columns loss=vall_loss?",))
    ),
    "two columns for N": Case(
        runs().rename(columns={"N": "params"}).assign(n_params=1e6), Want(error=("say which",))
    ),
    "a column that is not there": Case(
        runs(), Want(error=("got 'lerning_rate'",)), {"columns": {"lr": "lerning_rate"}}
    ),
    "training and validation loss": Case(
        runs().rename(columns={"loss": "val_loss"}).assign(train_loss=1.0)
    ),
    "only a training loss": Case(named(loss="train_loss"), Want(codes=("training_loss",))),
    "a loss and a validation loss": Case(
        runs().assign(val_loss=lambda f: f["loss"] + 0.1), Want(codes=("another_loss",))
    ),
    "an index that pandas wrote": Case(lambda f, p: f.to_csv(p)),
    "names of runs and hosts": Case(
        runs().assign(Name=[f"r{i}" for i in range(16)], Host=["a", "b"] * 8, Runtime=range(16))
    ),
    # Columns that nobody named
    "a seed": Case(runs("seed")),
    "a seed behind a prefix": Case(runs("config.random_seed")),
    "an optimiser": Case(runs("optimizer", ("adamw", "sgd")), TWO),
    "an optimiser that does not matter": Case(
        runs("optimizer", ("adamw", "sgd")), Want(), {"ignore": ("optimizer",)}
    ),
    "an optimiser behind a prefix": Case(runs("config.optimizer", ("adamw", "sgd")), TWO),
    "a setting called loss": Case(
        runs("config.loss", ("ce", "z")).rename(columns={"loss": "summary.loss"}),
        Want(("lr", "config.loss"), AXIS, n_configurations=16),
    ),
    "an unknown number": Case(
        runs("label_smoothing", (0.0, 0.1)),
        Want(("lr", "label_smoothing"), AXIS, n_configurations=16),
    ),
    "a truth": Case(runs("tied", (True, False)), Want(("lr", "tied"), AXIS, n_configurations=16)),
    "axes that were named leave one out": Case(
        runs("optimizer", ("adamw", "sgd")), Want(codes=UNUSED), {"columns": {"lr": "lr"}}
    ),
    "a setting with blanks": Case(
        blanked("qk_norm", 3, runs("qk_norm", (1.0, 2.0))), Want(codes=UNUSED)
    ),
    "a width that follows N": Case(runs().assign(d_model=lambda f: f["N"] ** 0.5 // 64 * 64)),
    "tokens for each parameter": Case(runs().assign(tokens_per_param=lambda f: f["D"] / f["N"])),
    "steps that follow D": Case(runs().assign(steps=lambda f: (f["D"] / 524288).round())),
    "a measurement in every run": Case(
        runs().assign(throughput=lambda f: f["loss"] * 1e5, gsm8k=lambda f: f["loss"] / 7)
    ),
    "every other column ignored": Case(
        runs("optimizer", ("adamw", "sgd")), Want(), {"ignore": ("*",)}
    ),
    # Units
    "millions in cells": Case(worded("N", lambda x: f"{x / 1e6:g}M")),
    "billions in cells, small letters": Case(worded("D", lambda x: f"{x / 1e9:g}b")),
    "words in cells": Case(worded("D", lambda x: f"{x / 1e9:g} billion tokens")),
    "commas in cells": Case(worded("N", lambda x: f"{x:,.0f}")),
    "underscores in cells": Case(worded("N", lambda x: f"{x:_.0f}")),
    "units in an axis": Case(
        runs().assign(batch_size=lambda f: np.where(f["lr"] > 2e-3, "0.5M", "1M")),
        Want(("lr", "batch_size")),
    ),
    "a header of millions": Case(scaled("N", 1e6, "params_m")),
    "a header of billions in brackets": Case(scaled("D", 1e9, "tokens (B)")),
    "a header of millions behind a prefix": Case(scaled("N", 1e6, "config.params_millions")),
    "a header of millions above single counts": Case(
        named(N="params_m"), Want(error=("whose name says millions", "--columns N=params_m:1"))
    ),
    "a unit that is told": Case(scaled("N", 1e6, "size"), Want(), {"columns": {"N": "size:M"}}),
    "a unit that nobody says": Case(scaled("N", 1e6), Want(codes=SCALE, sizes=(100, 400))),
    "tokens in billions that nobody says": Case(scaled("D", 1e9), Want(codes=SCALE)),
    "compute in exaFLOPs": Case(with_compute(1e-18), Want(codes=SCALE)),
    "compute in exaFLOPs, and no tokens": Case(
        with_compute(1e-18).drop(columns="D"), Want(codes=SCALE)
    ),
    "compute in exaFLOPs that is told": Case(
        with_compute(1e-18), Want(), {"columns": {"C": "C:1e18"}}
    ),
    "compute with the embedding": Case(with_compute(1.2)),
    # Formats
    "semicolons and decimal commas": Case(
        lambda f, p: f.to_csv(p, index=False, sep=";", decimal=",")
    ),
    "comments above the header": Case(text(lambda t: f"# exported by hand\n# twice\n{t}")),
    "a header after a #": Case(text(lambda t: f"# {t}")),
    "columns apart by blanks": Case(text(lambda t: t.replace(",", "  ")), file="runs.txt"),
    "empty rows at the end": Case(text(lambda t: t + ",,,,\n,,,,\n")),
    "an array of objects": Case(jsoned(records), file="runs.json"),
    "an array in an object": Case(
        jsoned(lambda f: {"version": 2, "runs": records(f)}), file="a.json"
    ),
    "columns of pandas": Case(jsoned(lambda f: json.loads(f.to_json())), file="runs.json"),
    "nested objects": Case(jsoned(nested), file="runs.json"),
    "nested lines": Case(lines, file="runs.jsonl"),
    "dictionaries as text": Case(wandb_csv),
    # States
    "crashed, running and killed runs": Case(
        states("State", ("crashed", "running", "killed"), "finished"), OUT
    ),
    "MLflow's states": Case(
        states("status", ("FAILED", "RUNNING"), "FINISHED"),
        Want(n_runs=14, n_configurations=7, not_finished={"failed": 1, "running": 1}),
    ),
    "Optuna's states": Case(
        states("state", ("TrialState.PRUNED",), "TrialState.COMPLETE"),
        Want(n_runs=15, not_finished={"pruned": 1}),
    ),
    "a run that is said to have diverged": Case(
        states("status", ("diverged",), "finished"), Want(n_diverged=1)
    ),
    "no run that finished": Case(
        states("state", (), "running"), Want(error=("no finished run (16 running)",))
    ),
    "states that a filter has chosen": Case(
        states("state", ("crashed",), "finished"), Want(), {"where": "state != 'killed'"}
    ),
    "a state that is a place": Case(
        runs("state", ("Texas", "Ohio")), Want(("lr", "state"), AXIS, n_configurations=16)
    ),
    # Blanks
    "a blank learning rate": Case(
        blanked("lr", 4), Want(error=("row 5, column lr: got nothing", "--ignore lr"))
    ),
    "a blank learning rate skipped": Case(
        blanked("lr", 4), Want(n_runs=15), {"skip_bad_rows": True}
    ),
    "a blank size": Case(blanked("N", 2), Want(error=("row 3, column N: got nothing",))),
    "a loss that is NaN": Case(blanked("loss", 0), Want(n_diverged=1)),
    "a loss of dashes": Case(
        worded("loss", lambda x: "-" if x > 3.08 else str(x)), Want(error=("got '-'",))
    ),
}


def test_there_are_sixty_tables_and_more():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_an_awkward_table_is_read_as_a_careful_person_would(tmp_path: Path, name: str):
    case, want = CASES[name], CASES[name].want
    path = tmp_path / case.file
    if isinstance(case.write, pd.DataFrame):
        case.write.to_csv(path, index=False)
    else:
        case.write(runs(), path)
    options = ReadOptions(**case.options)
    if want.error:
        with pytest.raises(LawsmithError) as caught:
            _asked(path, options)
        assert all(words in str(caught.value) for words in want.error), str(caught.value)
        return
    study = load(path, options)
    assert tuple(study.grid.hp) == want.axes
    assert tuple(w.code for w in study.warnings) == want.codes
    assert (len(study.runs), len(study.grid)) == (want.n_runs, want.n_configurations)
    assert dict(study.log.unfinished) == want.not_finished
    assert len(study.runs.of(State.DIVERGED)) == want.n_diverged
    np.testing.assert_allclose(np.unique(study.grid.N), want.sizes, rtol=1e-12)
    done = study.runs.of(State.DONE)
    low, high = runs()["loss"].min(), runs()["loss"].max()
    assert done.loss.min() >= low - 1e-12
    assert done.loss.max() <= high + 1e-12


def _asked(path: Path, options: ReadOptions) -> None:
    """Read the table and ask for the usual law, as a fit does."""
    from lawsmith.cli.options import law_of

    law_of(load(path, options))


def test_every_warning_of_reading_names_the_flag_to_type(tmp_path: Path):
    flags = {
        "taken_as_axis": "--ignore optimizer",
        "column_not_used": "--columns lr=lr,optimizer=optimizer",
        "implausible_scale": ":",
        "another_loss": "--loss val_loss",
    }
    seen = set()
    for case in CASES.values():
        if not case.want.error and isinstance(case.write, pd.DataFrame):
            path = tmp_path / "runs.csv"
            case.write.to_csv(path, index=False)
            for warning in load(path, ReadOptions(**case.options)).warnings:
                seen |= {code for code, flag in flags.items() if flag in warning.message}
    assert seen >= set(flags)


def test_the_likely_factor_is_said(tmp_path: Path):
    for frame, flag in (
        (scaled("N", 1e6), "--columns N=N:M"),
        (scaled("N", 1e9), "--columns N=N:B"),
        (scaled("D", 1e9), "--columns D=D:B"),
        (with_compute(1e-18), "--columns C=C:1e18"),
    ):
        path = tmp_path / "runs.csv"
        frame.to_csv(path, index=False)
        (warning,) = load(path).warnings
        assert flag in warning.message
