"""Past runs: CSV, Parquet and W&B exports, matched to candidates, never twice."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Stage
from lawsmith.study import LiveStudy
from lawsmith.study.importing import Imported, import_runs, read_columns
from tests.study.studies import N_CANDIDATES, small_study


@pytest.fixture
def study(tmp_path: Path) -> LiveStudy:
    made = small_study(tmp_path)
    made.begin()
    return made


@pytest.fixture
def frame(study: LiveStudy) -> pd.DataFrame:
    """A run of every candidate."""
    table = pd.DataFrame([dict(config) for config in study.candidates.configs])
    return table.assign(loss=[3 + i / 100 for i in range(len(table))])


def take(study: LiveStudy, path: Path, *, where: str | None = None, **columns: str) -> Imported:
    rows = read_columns(path, list(study.spec.axes), columns, where=where)
    return import_runs(study, rows, source=path.name)


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


def test_an_axis_may_be_asked_for_without_its_prefix(study, frame, tmp_path):
    axis = next(iter(study.spec.axes))
    path = write(frame.rename(columns={axis: f"config.{axis}"}), tmp_path / "runs.csv")
    assert len(take(study, path, **{axis: axis}).events) == len(frame)


@pytest.mark.parametrize("name", ["old.csv", "old.parquet"])
def test_runs_of_candidates_are_imported_with_their_losses(study, frame, tmp_path, name):
    done = take(study, write(frame, tmp_path / name))
    assert (len(done.events), done.known, done.unmatched) == (N_CANDIDATES, 0, 0)
    for i, trial in enumerate(study.journal.ledger.trials.values()):
        assert (trial.by, trial.loss, trial.spend) == ("import", 3 + i / 100, 0.0)
        assert dict(trial.config) == dict(study.candidates.configs[i])


def test_a_table_imported_again_after_it_has_grown_adds_what_is_new(study, frame, tmp_path):
    take(study, write(frame.head(5), tmp_path / "old.csv"))
    done = take(study, write(frame, tmp_path / "new.csv"))
    assert (len(done.events), done.known) == (N_CANDIDATES - 5, 5)


def test_a_row_twice_in_a_table_is_one_run_and_another_loss_is_a_replicate(study, frame, tmp_path):
    twice = pd.concat([frame.head(1), frame.head(1), frame.head(1).assign(loss=3.2)])
    done = take(study, write(twice, tmp_path / "old.csv"))
    assert (len(done.events), done.known) == (2, 1)
    assert study.history(study.journal.ledger).runs.replicate_counts(N_CANDIDATES)[0] == 2


def test_runs_of_no_candidate_are_left_out_and_counted(study, frame, tmp_path):
    other = frame.assign(lr=0.5)
    done = take(study, write(pd.concat([frame, other]), tmp_path / "old.csv"))
    assert (len(done.events), done.unmatched) == (N_CANDIDATES, N_CANDIDATES)


def test_n_and_d_that_a_table_rounds_are_matched(study, frame, tmp_path):
    done = take(study, write(frame.assign(N=frame["N"] * 1.004), tmp_path / "old.csv"))
    assert len(done.events) == N_CANDIDATES


def test_a_divergence_is_imported_as_one_and_a_negative_loss_refused(study, frame, tmp_path):
    take(study, write(frame.head(1).assign(loss=float("nan")), tmp_path / "a.csv"))
    assert study.journal.ledger.trials["i0001"].stage is Stage.DIVERGED
    with pytest.raises(LawsmithError, match="row 1: got a loss of -1"):
        take(study, write(frame.head(1).assign(loss=-1.0), tmp_path / "b.csv"))


def test_columns_of_other_names_are_said_or_guessed(study, frame, tmp_path):
    renamed = frame.rename(columns={"N": "params", "loss": "val_loss", "lr": "eta", "opt": "o"})
    path = write(renamed, tmp_path / "old.csv")
    assert len(take(study, path, lr="eta", opt="o").events) == N_CANDIDATES
    with pytest.raises(LawsmithError, match="got no column for lr"):
        take(study, path)
    with pytest.raises(LawsmithError, match="--columns: got 'batch'"):
        take(study, path, batch="o")


def test_models_are_matched_by_name_where_the_table_has_no_n(study, frame, tmp_path):
    assert (
        len(take(study, write(frame.drop(columns="N"), tmp_path / "a.csv")).events) == N_CANDIDATES
    )


def test_rows_are_chosen_by_an_expression(study, frame, tmp_path):
    done = take(study, write(frame, tmp_path / "old.csv"), where="opt == 'muon' and lr < 0.002")
    assert len(done.events) == N_CANDIDATES / 4
    with pytest.raises(LawsmithError, match="keeps none of 20 rows"):
        take(study, tmp_path / "old.csv", where="lr > 1")


def test_a_wandb_table_keeps_its_finished_runs_alone(study, frame, tmp_path):
    """The CSV that W&B's web page exports: its own columns, then config and summary."""
    page = frame.rename(columns={"loss": "val_loss"})
    page.insert(0, "Name", [f"run-{i}" for i in range(len(page))])
    page.insert(1, "State", ["finished"] * 3 + ["crashed", "running"] + ["failed"] * 15)
    assert len(take(study, write(page, tmp_path / "wandb.csv")).events) == 3


def test_a_wandb_table_of_dictionaries_is_spread_out(study, frame, tmp_path):
    """The frame that W&B's documentation builds from its API: summary, config, name."""
    rows = [
        {
            "summary": {"val_loss": row["loss"], "_wandb": {"runtime": 5}},
            "config": {k: row[k] for k in ("model", "N", "D", "lr", "opt")},
            "name": f"run-{i}",
        }
        for i, row in frame.iterrows()
    ]
    path = tmp_path / "project.csv"
    pd.DataFrame(rows).to_csv(path)
    assert len(take(study, path).events) == N_CANDIDATES


def test_prefixed_columns_are_read_by_their_own_names(study, frame, tmp_path):
    named = {"N": "config.N", "lr": "config/lr", "loss": "summary.loss"}
    assert len(take(study, write(frame.rename(columns=named), tmp_path / "a.csv")).events) == 20


def test_nothing_in_a_table_is_executed(study, frame, tmp_path):
    evil = "{'x': __import__('os').system('touch hacked')}"
    path = write(frame.assign(config=evil), tmp_path / "a.csv")
    take(study, path)
    assert not Path("hacked").exists()
    assert len(study.journal.ledger.trials) == N_CANDIDATES


def test_the_studys_own_export_adds_nothing(study, frame, tmp_path):
    from lawsmith.study.exporting import csv_text, rows_of

    take(study, write(frame, tmp_path / "old.csv"))
    (tmp_path / "own.csv").write_text(csv_text(rows_of(study, study.read()), finished=True))
    done = take(study, tmp_path / "own.csv")
    assert (len(done.events), done.known) == (0, N_CANDIDATES)
