"""What a study writes: no secrets, nothing outside its folder, nothing a spreadsheet would run."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, Ledger, Stage, driver_lock, driver_of, make
from lawsmith.runners import Phase, Runner, Status, make_runner
from lawsmith.study import LiveStudy
from lawsmith.study.answer import NEXT_WORK, summarise, too_many
from lawsmith.study.exporting import csv_text, rows_of
from lawsmith.study.importing import import_runs, read_columns
from lawsmith.study.loop import Driver, drive
from tests.study.studies import shell, small_study
from tests.test_files import at_once

ONE = ("flops = 1e30", "flops = 1.3e16")  # two runs
SECRET = "hunter2-0xFEED"


def finish(study: LiveStudy, runner: Runner | None = None) -> Ledger:
    study.begin()
    told = study.spec.runner
    made = runner or make_runner(told.kind, told.options, study.layout.folder)
    for _ in drive(Driver(study, made)):
        pass
    return study.read()


def test_no_file_of_a_study_holds_the_environment(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("API_KEY", SECRET)
    line = 'test "$API_KEY" = ' + SECRET + ' && echo "{\\"loss\\": 3.5}" > result.json'
    study = small_study(tmp_path, ONE, shell(line.replace(SECRET, '"$API_KEY"')))
    ledger = finish(study)
    assert {trial.stage for trial in ledger.trials.values()} == {Stage.FINISHED}  # it was passed on
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def test_a_folder_of_runs_that_leads_out_of_the_study_is_refused(tmp_path: Path):
    study = small_study(tmp_path / "study", ONE)
    (tmp_path / "away").mkdir()
    (tmp_path / "study" / "trials").symlink_to(tmp_path / "away")
    with pytest.raises(LawsmithError, match=r"a symbolic link to .*away.*move the whole study"):
        finish(study)
    assert list((tmp_path / "away").iterdir()) == []


@pytest.mark.parametrize("name", ["journal.jsonl", "driver.lock"])
def test_a_journal_or_lock_that_is_a_link_is_not_written(tmp_path: Path, name: str):
    study = small_study(tmp_path / "study", ONE)
    (tmp_path / "precious").write_text("")
    (tmp_path / "study" / name).symlink_to(tmp_path / "precious")
    with (
        pytest.raises(LawsmithError, match="a symbolic link"),
        driver_lock(study.layout.lock),
    ):
        study.begin()
    assert (tmp_path / "precious").read_text() == ""


@pytest.mark.parametrize(
    "name", ["log.txt", "pid.json.new", "exit.json.new", "job.json", "config.json"]
)
def test_links_in_the_folder_of_a_run_are_not_followed(tmp_path: Path, name: str):
    line = 'echo a line of the log; echo "{\\"loss\\": 3.5}" > result.json'
    study = small_study(tmp_path / "study", ONE, shell(line))
    (tmp_path / "precious").write_text("mine")
    folder = study.layout.attempt("t0001", 1)
    folder.mkdir(parents=True)
    (folder / name).symlink_to(tmp_path / "precious")
    with suppress(LawsmithError):  # what is only added to cannot be replaced: it is refused
        finish(study)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_study_in_a_folder_that_is_a_link_runs(tmp_path: Path):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "study").symlink_to(tmp_path / "scratch")
    ledger = finish(small_study(tmp_path / "study", ONE))
    assert {trial.stage for trial in ledger.trials.values()} == {Stage.FINISHED}


def test_a_named_pipe_as_a_journal_or_lock_is_told_at_once(tmp_path: Path):
    study = small_study(tmp_path)
    os.mkfifo(study.layout.journal)
    os.mkfifo(study.layout.lock)
    with pytest.raises(LawsmithError, match="a named pipe, no regular file"):
        at_once(study.read)
    with pytest.raises(LawsmithError, match="a named pipe, no regular file"):
        at_once(study.begin)
    assert at_once(lambda: driver_of(study.layout.lock)) is None


class Silent:
    """A runner whose runs never end, as they seem while a wrapper cannot write its last word."""

    name = "silent"

    def submit(self, jobs):
        return {job.name: "x" for job in jobs}

    def poll(self, jobs):
        return {job.name: Status(Phase.RUNNING) for job in jobs}

    def cancel(self, jobs):
        return None


def test_a_driver_that_waits_on_a_full_disk_says_so(tmp_path: Path, monkeypatch):
    study = small_study(tmp_path, ONE)
    study.begin()

    def full(folder: Path) -> None:
        raise LawsmithError(str(folder), got="No space left on device", want="a disk with room")

    monkeypatch.setattr("lawsmith.study.loop.check_disk_space", full)
    waited: list[float] = []
    with pytest.raises(LawsmithError, match="No space left on device"):
        for _ in drive(Driver(study, Silent()), sleep=waited.append):
            pass
    assert 5.0 <= sum(waited) < 10.0


def told(study: LiveStudy) -> Ledger:
    """A study whose only text axis would be run by a spreadsheet."""
    study.begin()
    config = dict(study.candidates.configs[0])
    study.journal.update(
        lambda _: [
            make(Kind.ASKED, "t0001", by="hand", config=config, cost=1e15),
            make(Kind.FINISHED, "t0001", loss=3.5),
        ]
    )
    return study.read()


def test_exported_text_is_no_formula_and_is_imported_as_it_was(tmp_path: Path):
    risky = ('["adamw", "muon"]', '["=cmd|1", "muon"]')
    study = small_study(tmp_path / "one", risky)
    text = csv_text(rows_of(study, told(study)), finished=True)
    assert ",'=cmd|1," in text
    (tmp_path / "runs.csv").write_text(text)
    other = small_study(tmp_path / "two", risky)
    other.begin()
    rows = read_columns(tmp_path / "runs.csv", list(other.spec.axes), {}, where=None)
    done = import_runs(other, rows, source="runs.csv")
    assert (len(done.events), done.unmatched) == (1, 0)
    assert done.events[0]["config"]["opt"] == "=cmd|1"


def test_what_comes_next_is_left_out_of_a_large_study_unless_asked_for(tmp_path: Path, monkeypatch):
    study = small_study(tmp_path)
    ledger = told(study)
    assert too_many(study, ledger) == ""
    assert summarise(study, ledger, n_next=None).proposals
    monkeypatch.setattr("lawsmith.study.answer.NEXT_WORK", len(study.grid) - 1)
    assert NEXT_WORK > 1e6
    left_out = summarise(study, ledger, n_next=None)
    assert left_out.proposals == ()
    assert "1 trials on 20 candidates" in left_out.why_not_next
    assert len(summarise(study, ledger, n_next=2).proposals) == 2
