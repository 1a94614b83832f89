"""Changes by hand: exclusions, results taken back, runs cancelled by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Stage
from lawsmith.runners import Job, Runner, make_runner
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.changing import cancel, exclude, take_back
from lawsmith.study.loop import Driver
from tests.runners.contract import is_alive, until_file
from tests.runners.waiting import ended, wait_until
from tests.study.studies import N_CANDIDATES, shell, small_study
from tests.study.test_asking import ask


def runner_of(study: LiveStudy) -> Runner:
    return make_runner("local", {**study.spec.runner.options, "grace": 0.2}, study.layout.folder)


@pytest.fixture
def busy(tmp_path: Path) -> LiveStudy:
    """A study with two runs that would take minutes."""
    study = small_study(tmp_path, shell("echo $$ > pid; sleep 300"))
    study.begin()
    Driver(study, runner_of(study)).step()
    return study


def test_an_exclusion_counts_what_it_covers(tmp_path: Path):
    study = small_study(tmp_path)
    study.begin()
    assert exclude(study, "opt == 'muon' and C > 1e16", because="slow") < N_CANDIDATES / 2
    with pytest.raises(LawsmithError, match="covers none of 20"):
        exclude(study, "N > 1e12", because="")
    with pytest.raises(LawsmithError, match="got no column 'batch'"):
        exclude(study, "batch == 1", because="")
    assert len(study.read().excluded) == 1


def test_a_run_is_stopped_by_another_process_than_its_driver(busy: LiveStudy):
    pids = [int(until_file(busy.layout.attempt(f"t000{i}", 1) / "pid")) for i in (1, 2)]
    other = open_study(busy.layout.file)
    other.begin()
    done = cancel(other, runner_of(other), ["t0001", "t0002"])
    assert [event["event"] for event in done] == ["cancelled", "cancelled"]
    assert not any(map(is_alive, pids))
    assert {t.stage for t in other.read().trials.values()} == {Stage.CANCELLED}


def test_a_wish_to_cancel_that_died_is_seen_to_by_the_next_driver(busy: LiveStudy):
    from lawsmith.journal import Kind, make

    until_file(busy.layout.attempt("t0001", 1) / "pid")
    busy.journal.update(lambda _: [make(Kind.CANCELLING, "t0001")])
    next_driver = open_study(busy.layout.file)
    next_driver.begin()
    Driver(next_driver, runner_of(next_driver)).step()
    assert next_driver.read().trials["t0001"].stage is Stage.CANCELLED
    cancel(next_driver, runner_of(next_driver), [t.name for t in next_driver.journal.ledger.open()])


def test_a_run_that_ended_before_it_was_stopped_keeps_its_result(tmp_path: Path):
    study = small_study(tmp_path)
    study.begin()
    runner = runner_of(study)
    Driver(study, runner).step()
    job = Job("t0001", study.layout.attempt("t0001", 1), {}, {})
    wait_until(runner, job, ended)
    (event,) = cancel(study, runner, ["t0001"])
    assert (event["event"], event["loss"]) == ("finished", 3.5)


def test_a_run_asked_for_by_hand_is_called_off_at_no_cost(tmp_path: Path):
    study = small_study(tmp_path)
    ask(study, 2)
    cancel(study, None, ["t0001"])
    trial = study.journal.ledger.trials["t0001"]
    assert (trial.stage, trial.spend) == (Stage.CANCELLED, 0.0)
    with pytest.raises(LawsmithError, match="got one that is cancelled"):
        cancel(study, None, ["t0001"])
    with pytest.raises(LawsmithError, match="got 't0099', want one on record"):
        cancel(study, None, ["t0099"])


def test_only_results_can_be_taken_back(tmp_path: Path):
    study = small_study(tmp_path)
    ask(study, 1)
    with pytest.raises(LawsmithError, match="a trial without a result"):
        take_back(study, ["t0001"], because="x")
