"""Whole studies on a real Slurm: the example, and one whose driver, job and node fare badly."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lawsmith.runners import make_runner
from lawsmith.study import LiveStudy, open_study
from lawsmith.study import outcomes as outcomes_module
from lawsmith.study.loop import Driver, drive
from tests.runners.clusters import call, slurm_conf
from tests.study.studies import COMMAND, N_CANDIDATES, study_text
from tests.study.trunk_studies import TRAINER, chunks, trained_flops, trunk_study

EXAMPLE = Path(__file__).parents[2] / "examples" / "slurm"
TEMPLATE = """#!/bin/bash
#SBATCH --partition=study --time=5 --mem=50
echo x >> {{study}}/ran-{{trial}}
sleep 0.{{pause}}
echo '{"loss": 3.5}' > "$LAWSMITH_RESULT.new"
mv "$LAWSMITH_RESULT.new" "$LAWSMITH_RESULT"
"""


def finish(file: Path) -> LiveStudy:
    """Drive a study to its end, in this process."""
    study = open_study(file)
    study.begin()
    told = study.spec.runner
    driver = Driver(study, make_runner(told.kind, told.options, study.layout.folder))
    deadline = time.monotonic() + 120
    for _ in drive(driver):
        assert time.monotonic() < deadline, "the study does not end"
    return study


def test_the_example_runs_to_its_law(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(slurm_conf("accounting")))
    shutil.copytree(EXAMPLE, tmp_path / "study")
    file = tmp_path / "study" / "study.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('poll = "30s"', "poll = 0.5"), encoding="utf-8")
    command = [sys.executable, "-m", "lawsmith", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    ledger = finish(file).journal.ledger
    assert f"Answer, from {len(ledger.trials)} runs" in done.stdout
    assert ledger.ended == "budget"
    assert {trial.stage.value for trial in ledger.trials.values()} == {"finished"}


@pytest.mark.parametrize("cluster", ["accounting", "plain"])
def test_killed_drivers_a_cancelled_job_and_a_drained_node_cost_no_run_and_repeat_none(
    cluster, tmp_path, monkeypatch
):
    monkeypatch.setenv("SLURM_CONF", str(slurm_conf(cluster)))
    file = write_study(tmp_path)
    for n_events in (1, 6, 4, 9):
        kill_a_driver_when(file, grown(file, n_events))
    node("study", "drain")
    try:
        kill_a_driver_when(file, lambda: waiting(file))
        name, handle = waiting(file)[0]
        call("scancel", handle)  # by hand, as a user or an operator would
        kill_a_driver_when(file, lambda: on_its_way(file))
    finally:
        node("study", "resume")
    for n_events in (3, 8):
        kill_a_driver_when(file, grown(file, n_events))
    monkeypatch.setattr(outcomes_module, "PATIENCE", 0.5)  # the disk is here: no need to wait
    study = finish(file)
    trials = study.journal.ledger.trials
    assert len(trials) == N_CANDIDATES
    cancelled = [t.name for t in trials.values() if t.stage.value == "cancelled"]
    assert cancelled == [name]
    assert {t.stage.value for t in trials.values() if t.name != name} == {"finished"}
    assert {t.attempt for t in trials.values()} == {1}
    ran = {path.name.removeprefix("ran-"): path.read_text() for path in tmp_path.glob("ran-*")}
    assert ran == dict.fromkeys(set(trials) - {name}, "x\n")


def write_study(folder: Path) -> Path:
    (folder / "job.sbatch").write_text(TEMPLATE, encoding="utf-8")
    text = study_text(
        ('kind = "local"', 'kind = "slurm"'),
        (COMMAND, 'template = "job.sbatch"\narray = 3'),
        ("slots = 2", "slots = 5"),
        ("layers = 4", "layers = 4\npause = 2"),
        ("layers = 8", "layers = 8\npause = 6"),
    )
    file = folder / "study.toml"
    file.write_text(text, encoding="utf-8")
    return file


def kill_a_driver_when(file: Path, reached: Callable[[], object]) -> None:
    """Let `lawsmith run` drive until something is so, and kill it there."""
    command = [sys.executable, "-m", "lawsmith", "run", str(file)]
    log = (file.parent / "driver.log").open("wb")
    with log, subprocess.Popen(command, stdout=log, stderr=log) as driver:
        deadline = time.monotonic() + 90
        while not reached():
            assert time.monotonic() < deadline, "the driver gets nowhere"
            assert driver.poll() is None, Path(log.name).read_text()
            time.sleep(0.02)
        driver.send_signal(signal.SIGKILL)


def grown(file: Path, n_events: int) -> Callable[[], bool]:
    """Whether the journal has so many more lines than now."""
    journal = open_study(file).layout.journal

    def count() -> int:
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    target = count() + n_events
    return lambda: count() >= target


def waiting(file: Path) -> list[tuple[str, str]]:
    """(trial, handle) of the jobs that are on record and wait in Slurm's queue."""
    study = open_study(file)
    study.journal.refresh()
    queue = call("squeue", "-h", "-r", "-t", "PENDING", f"--user={os.getuid()}", "-o", "%i")
    handles = {trial.handle: trial.name for trial in study.journal.ledger.open() if trial.handle}
    return [(handles[id_], id_) for id_ in queue.split() if id_ in handles]


def on_its_way(file: Path) -> bool:
    """Whether nothing of the study runs: all that is open waits for the node."""
    study = open_study(file)
    study.journal.refresh()
    n_open = sum(bool(trial.handle) for trial in study.journal.ledger.open())
    return len(waiting(file)) >= n_open - 1


def node(name: str, state: str) -> None:
    call("scontrol", "update", f"nodename={name}", f"state={state}", "reason=test")


TRUNK_TEMPLATE = """#!/bin/bash
#SBATCH --partition=main --time=5 --mem=50 --requeue
exec {{python}} -I -S TRAINER --chunk 2e7 --pause 0.2
"""


def test_a_requeued_trunk_goes_on_from_its_checkpoint_and_pays_what_it_trained(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("SLURM_CONF", str(slurm_conf("plain")))
    monkeypatch.setattr(outcomes_module, "PATIENCE", 0.5)
    template = TRUNK_TEMPLATE.replace("TRAINER", str(TRAINER))
    (tmp_path / "job.sbatch").write_text(template, encoding="utf-8")
    study = trunk_study(
        tmp_path,
        ('command = ["{python}", "-I", "-S", "TRAINER", "--chunk", "2e7"]', 'kind = "slurm"'),
        ("slots = 2", 'slots = 2\ntemplate = "job.sbatch"'),
        ("flops = 4e17", "flops = 6e16"),
    )
    study.begin()
    told = study.spec.runner
    driver = Driver(study, make_runner(told.kind, told.options, study.layout.folder))
    requeued, deadline = set[str](), time.monotonic() + 120
    for _ in drive(driver):
        assert time.monotonic() < deadline, "the study does not end"
        for trial in study.journal.ledger.open():
            if trial.kind == "trunk" and trial.reports and not requeued:
                requeued.add(trial.name)
                requeue(trial.handle, study.layout.attempt(trial.name, 1))
    ledger = study.read()
    assert {trial.stage.value for trial in ledger.trials.values()} == {"finished"}
    assert {trial.attempt for trial in ledger.trials.values()} == {1}
    (name,) = requeued
    assert max(chunks(study, ledger.trials[name]).values()) == 2  # trained again
    assert ledger.trials[name].spend > ledger.trials[name].cost
    assert ledger.spend == pytest.approx(trained_flops(study, ledger), rel=1e-12)


def requeue(handle: str, folder: Path) -> None:
    """Have Slurm end a job and start it again, in a later second than that of its end."""
    call("scontrol", "requeue", handle)
    deadline = time.monotonic() + 60
    while not (folder / "slurm" / "exit").exists():
        assert time.monotonic() < deadline, "the job does not end"
        time.sleep(0.1)
    call("scontrol", "update", f"jobid={handle}", "StartTime=now+2")
