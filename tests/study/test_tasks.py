"""A live study whose runs report accuracies: on record, in the status, on the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lawsmith.cli.app import main
from lawsmith.cli.run import status_payload
from lawsmith.datasets import ReadOptions, load
from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, make
from lawsmith.report.cards.figures import tasks as card
from lawsmith.report.findings import Memory, find_all
from lawsmith.report.live_source import live_source
from lawsmith.report.source import Record
from lawsmith.runners.results import ResultKind, read_result
from lawsmith.spec.models import ResultsSpec
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.answer import summarise, tasks_of
from lawsmith.study.exporting import csv_text, rows_of
from lawsmith.study.importing import import_runs, read_columns
from lawsmith.study.telling import read_results, tell
from tests.study.studies import small_study
from tests.study.test_asking import FRONTIER, ask

METRIC = """[[metric]]
name = "arc"
chance = 0.25
questions = 4000

[[metric]]
name = "never reported"

[law]"""


def accuracy_of(loss: float) -> float:
    """Chance at a high loss, 0.9 at a low one."""
    return 0.25 + 0.65 / (1.0 + np.exp(2.0 * (loss - 4.2)))


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> LiveStudy:
    """All of a study's runs told, with an accuracy each."""
    study = small_study(tmp_path_factory.mktemp("study"), FRONTIER, ("[law]", METRIC))
    rng = np.random.default_rng(0)
    for _ in range(5):
        ask(study, 4)
        events = []
        for trial in study.journal.ledger.open():
            row = study.candidates.row_of(trial.config)
            loss = 2.0 + 400 * study.grid.N[row] ** -0.34 + 410 * study.grid.D[row] ** -0.28
            noisy = float(np.clip(accuracy_of(loss) + 0.005 * rng.standard_normal(), 0, 1))
            metrics = {"arc": noisy, "other": 1.0}
            events.append(make(Kind.FINISHED, trial.name, loss=float(loss), metrics=metrics))
        study.journal.update(lambda _, told=events: told)
    return study


def test_a_result_may_have_metrics_and_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    told = {"loss": 2.5, "metrics": {"arc": 0.31, "bad": None, "worse": "x", "inf": 1e999}}
    (tmp_path / "result.json").write_text(json.dumps(told))
    result = read_result(tmp_path, ResultsSpec(), {}, completed=True)
    assert result.kind is ResultKind.LOSS
    assert dict(result.metrics) == {"arc": 0.31}
    (tmp_path / "result.json").write_text('{"loss": 2.5, "metrics": [1, 2]}')
    assert dict(read_result(tmp_path, ResultsSpec(), {}, completed=True).metrics) == {}


def test_metrics_are_on_record_and_survive_a_new_reader(played: LiveStudy) -> None:
    again = open_study(played.layout.file)
    history = again.history(again.read())
    assert set(history.metrics) == {"arc", "other"}
    expected = [accuracy_of(loss) for loss in history.runs.loss]
    np.testing.assert_allclose(history.metrics["arc"], expected, atol=0.03)


def test_the_accuracy_at_the_target_holds_the_truth(played: LiveStudy) -> None:
    summary = summarise(played, played.read(), n_next=0)
    (found,) = summary.tasks  # the metric that nobody reported has none
    assert found.task.name == "arc"
    (forecast,) = found.forecasts
    known = summary.known.answer
    assert known is not None
    assert forecast.target == known.forecasts[0].target
    assert forecast.low <= accuracy_of(known.forecasts[0].loss) <= forecast.high
    told = status_payload(summary)["tasks"]
    assert told[0]["answers"][0]["value"] == pytest.approx(forecast.value)


def test_the_page_shows_it(played: LiveStudy) -> None:
    ledger = played.read()
    found = find_all(played, ledger, Memory(), n_next=0)
    source = live_source(played, ledger, found, Record((), ""))
    made = card(source)
    assert made is not None
    assert made.name == "tasks"
    assert "arc" in str(made)


def test_without_an_answer_there_is_no_task(tmp_path: Path) -> None:
    study = small_study(tmp_path, FRONTIER, ("[law]", METRIC))
    assert tasks_of(study, study.read(), None) == ()


def exported(study: LiveStudy, path: Path) -> Path:
    path.write_text(csv_text(rows_of(study, study.journal.ledger), finished=True))
    return path


def test_an_exported_study_imported_by_another_gives_the_same_accuracies(
    played: LiveStudy, tmp_path: Path
) -> None:
    table = exported(played, tmp_path / "runs.csv")
    other = small_study(tmp_path / "other", FRONTIER, ("[law]", METRIC))
    other.begin()
    past = read_columns(table, list(other.spec.axes), {}, where=None, metrics=["arc"])
    assert {past.names["arc"], past.names["other"]} == {"metrics.arc", "metrics.other"}
    import_runs(other, past, source="runs.csv")
    before, after = (s.history(s.journal.ledger) for s in (played, other))
    order = [np.lexsort((h.runs.loss, h.runs.index)) for h in (before, after)]
    for name in ("arc", "other"):
        wanted, found = (
            h.metrics[name][rows] for h, rows in zip((before, after), order, strict=True)
        )
        np.testing.assert_array_equal(found, wanted)


def test_a_table_of_a_tracker_has_the_metrics_that_the_study_names(
    played: LiveStudy, tmp_path: Path
) -> None:
    table = pd.read_csv(exported(played, tmp_path / "runs.csv"))
    renamed = table.rename(columns={"metrics.arc": "summary.arc", "metrics.other": "summary.b"})
    renamed.to_csv(tmp_path / "tracked.csv", index=False)
    past = read_columns(tmp_path / "tracked.csv", ["lr"], {}, where=None, metrics=["arc"])
    assert set(past.metrics) == {"arc"}
    np.testing.assert_array_equal(past.metrics["arc"], table["metrics.arc"])


def test_metrics_of_an_exported_table_are_numbers_to_fit_and_no_axes(
    played: LiveStudy, tmp_path: Path
) -> None:
    table = exported(played, tmp_path / "runs.csv")
    study = load(table, ReadOptions(metrics=("metrics.arc",)))
    assert tuple(study.grid.hp) == tuple(played.grid.hp)
    found = sorted(study.metrics["metrics.arc"].tolist())
    assert found == sorted(pd.read_csv(table)["metrics.arc"])


def test_metrics_are_told_by_hand_in_each_form_of_a_file(tmp_path: Path) -> None:
    study = small_study(tmp_path, FRONTIER, ("[law]", METRIC))
    names = ask(study, 4)
    told = tmp_path / "told.jsonl"
    told.write_text(
        json.dumps({"trial": names[0], "loss": 3.0, "metrics": {"arc": 0.5, "b": 1}})
        + "\n"
        + json.dumps({"trial": names[1], "loss": 3.1, "arc": 0.4, "unknown": 7})
    )
    sheet = tmp_path / "told.csv"
    sheet.write_text(f"trial,loss,arc,metrics.b\n{names[2]},3.2,0.3,2\n")
    for file in (told, sheet):
        tell(study, read_results(file))
    trials = study.journal.ledger.trials
    assert [dict(trials[name].metrics) for name in names[:3]] == [
        {"arc": 0.5, "b": 1.0},
        {"arc": 0.4},
        {"arc": 0.3, "b": 2.0},
    ]
    sheet.write_text(f"trial,loss,metrics.b\n{names[3]},3.2,high\n")
    with pytest.raises(LawsmithError, match=r"row 1: b: got 'high', want a number$"):
        tell(study, read_results(sheet))


def test_an_accuracy_that_is_measured_later_is_added_to_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = small_study(tmp_path, FRONTIER, ("[law]", METRIC))
    (name,) = ask(study, 1)
    line = ["tell", str(tmp_path / "study.toml"), "--trial", name, "--loss", "3.0"]
    for metrics in ((), ("--metric", "arc=0.5"), ("--metric", "arc=0.5"), ("--metric", "b=2")):
        assert main([*line, *metrics]) == 0
    trial = open_study(tmp_path / "study.toml").read().trials[name]
    assert (trial.loss, dict(trial.metrics)) == (3.0, {"arc": 0.5, "b": 2.0})
    assert (tmp_path / "journal.jsonl").read_text().count('"finished"') == 3
    capsys.readouterr()
    assert main([*line, "--metric", "arc"]) == 2
    assert "such as arc_easy=0.61" in capsys.readouterr().err
