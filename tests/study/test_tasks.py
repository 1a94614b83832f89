"""A live study whose runs report accuracies: on record, in the status, on the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lawsmith.cli.status import status_payload
from lawsmith.journal import Kind, make
from lawsmith.report.cards.tasks import tasks as card
from lawsmith.report.finding import Memory, find_out
from lawsmith.report.of_live import live_source
from lawsmith.report.source import Record
from lawsmith.runners.results import Found, read_result
from lawsmith.spec.models import ResultsSpec
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.answer import tasks_of
from lawsmith.study.summary import summarise
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
    assert result.found is Found.LOSS
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
    found = find_out(played, ledger, Memory(), n_next=0)
    source = live_source(played, ledger, found, Record((), ""))
    made = card(source)
    assert made is not None
    assert made.name == "tasks"
    assert "arc" in str(made)


def test_without_an_answer_there_is_no_task(tmp_path: Path) -> None:
    study = small_study(tmp_path, FRONTIER, ("[law]", METRIC))
    assert tasks_of(study, study.read(), None) == ()
