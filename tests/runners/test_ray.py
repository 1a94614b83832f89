"""The Ray runner on a real cluster of two nodes on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.runners import make_runner
from lawsmith.runners.base import Ending, Job, Phase
from lawsmith.runners.ray import RayOptions, RayRunner
from lawsmith.study.loop import Driver, drive
from tests.conftest import extra
from tests.runners.contract import (
    Place,
    RunnerContract,
    submitted,
    until,
    until_dead,
    until_ended,
    until_file,
    until_running,
)
from tests.study.trunk_studies import trained_flops, trunk_study

extra("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """A head with four CPUs."""
    from ray.cluster_utils import Cluster

    found = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 4, "include_dashboard": False}
    )
    yield found
    import ray

    ray.shutdown()
    found.shutdown()


def make_place(folder: Path, address: str, **options: object) -> Place:
    told = {"command": ["sh", "{script}", "{note}"], "address": address, "grace": 0.5, **options}
    return Place(
        {"kind": "ray", "options": told}, folder, lambda: RayRunner(RayOptions(**told), folder)
    )


class TestRay(RunnerContract):
    @pytest.fixture
    def place(self, cluster, tmp_path):
        return make_place(tmp_path, cluster.address)


def test_the_time_limit_is_told(cluster, tmp_path):
    place = make_place(tmp_path, cluster.address, timeout=0.5)
    runner = place.make()
    (status,) = until_ended(runner, submitted(runner, [place.job("sleep 300")]))
    assert status.ending is Ending.TIMEOUT


def test_a_run_that_needs_more_than_there_is_waits_and_can_be_cancelled(cluster, tmp_path):
    place = make_place(tmp_path, cluster.address, num_cpus=64.0)
    runner = place.make()
    jobs = submitted(runner, [place.job("echo x > ran")])
    assert runner.poll(jobs)[jobs[0].name].phase is Phase.QUEUED
    runner.cancel(jobs)
    assert until_ended(runner, jobs)[0].ending is Ending.CANCELLED
    assert not (jobs[0].folder / "ran").exists()


def test_a_worker_that_dies_takes_its_run_along_and_is_told(cluster, tmp_path):
    place = make_place(tmp_path, cluster.address)
    runner = place.make()
    jobs = submitted(runner, [place.job("sleep 300 & echo $! $$ > pids; wait")])
    run = [int(word) for word in until_file(jobs[0].folder / "pids").split()]
    os.kill(worker_of(run[1]), signal.SIGKILL)
    assert until_ended(runner, jobs)[0].ending is Ending.NODE_FAILURE
    for pid in run:
        until_dead(pid)


def worker_of(pid: int) -> int:
    """The Ray worker above a run: the parent of its wrapper."""
    for _ in range(2):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(fields[1])
    return pid


def test_a_node_that_dies_is_told(cluster, tmp_path):
    node = cluster.add_node(num_cpus=1, resources={"doomed": 1})
    place = make_place(tmp_path, cluster.address, resources={"doomed": 1.0})
    runner = place.make()
    jobs = submitted(runner, [place.job("sleep 300")])
    until_running(runner, jobs)
    cluster.remove_node(node, allow_graceful=False)
    assert until_ended(runner, jobs)[0].ending is Ending.NODE_FAILURE


def test_a_run_gives_back_what_it_held(cluster, tmp_path):
    place = make_place(tmp_path, cluster.address, num_cpus=4.0)
    runner = place.make()
    jobs = submitted(runner, [place.job("echo x > ran") for _ in range(2)])
    found = until_ended(runner, jobs)
    assert [status.ending for status in found] == 2 * [Ending.COMPLETED]
    until(runner, jobs, lambda _: not {j.name for j in jobs} & runner.alive(), "gone")


def test_a_command_that_cannot_be_started_is_told(cluster, tmp_path):
    place = make_place(tmp_path, cluster.address, command=["no-such-command"])
    runner = place.make()
    (status,) = until_ended(runner, submitted(runner, [place.job("")]))
    assert status.ending is Ending.FAILED
    assert "no-such-command" in status.detail


def test_a_placeholder_that_stands_for_nothing_is_told_before_anything_starts(tmp_path):
    runner = make_place(tmp_path, "127.0.0.1:1", command=["train", "{lr}"]).make()
    with pytest.raises(LawsmithError, match=r"runner.command: got \{lr\}, want one of"):
        runner.submit([Job("a", tmp_path, {"N": 1}, {})])


def test_a_study_of_trunks_goes_on_from_its_checkpoints_when_a_trainer_is_killed(cluster, tmp_path):
    study = trunk_study(
        tmp_path,
        ("[runner]", f'[runner]\nkind = "ray"\naddress = "{cluster.address}"\ngrace = 0.5'),
        ("flops = 4e17", "flops = 6e16"),
        ('"2e7"]', '"2e7", "--pause", "0.05"]'),
    )
    study.begin()
    told = study.spec.runner
    runner, killed = make_runner(told.kind, told.options, study.layout.folder), set[str]()
    for _ in drive(Driver(study, runner)):
        for trial in study.journal.ledger.open():
            pids = study.layout.attempt(trial.name, trial.attempt) / "pid.json"
            if trial.kind == "trunk" and trial.reports and not killed and pids.exists():
                killed.add(trial.name)
                os.kill(json.loads(pids.read_text())["command"], signal.SIGKILL)
    ledger = study.read()
    assert {trial.stage.value for trial in ledger.trials.values()} == {"finished"}
    assert {trial.kind for trial in ledger.trials.values()} == {"trunk", "branch"}
    assert {t.name for t in ledger.trials.values() if t.attempt > 1} == killed != set()
    assert ledger.spend == pytest.approx(trained_flops(study, ledger), rel=1e-12)
