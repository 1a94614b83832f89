"""The batch script around a run, run by bash as Slurm would run it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from lawsmith.runners.base import Job
from lawsmith.runners.slurm.script import Template, batch_script
from lawsmith.runners.slurm.status import Exit, read_exit, read_owner
from tests.runners.contract import until_file


def prepare(folder: Path, body: str, directives: str = "") -> str:
    """A run's folder with its script, and the batch script around it."""
    rendered = Template("t", f"#!/bin/bash\n{directives}\n{body}\n").render({}, {})
    (folder / "slurm").mkdir(parents=True)
    (folder / "slurm" / "job.sh").write_text(rendered.script, encoding="utf-8")
    return batch_script([folder], rendered)


def start(script: str, **env: str) -> subprocess.Popen[bytes]:
    path = {"PATH": os.environ["PATH"]}
    return subprocess.Popen(["bash", "-c", script], env=path | env, stdout=subprocess.PIPE)


def job_of(folder: Path) -> Job:
    return Job("a", folder, {}, {})


def test_a_run_leaves_its_exit_code_and_its_owner(tmp_path):
    done = start(prepare(tmp_path / "run", "echo out; exit 3"), SLURM_JOB_ID="12")
    assert done.wait() == 3
    job = job_of(tmp_path / "run")
    assert (read_owner(job), read_exit(job)) == ("12", Exit("12", 3, "no"))
    assert (tmp_path / "run" / "log.txt").read_text() == "out\n"
    left = {path.name for path in (tmp_path / "run" / "slurm").iterdir()}
    assert left == {"job.sh", "owner", "exit"}


def test_a_run_that_replaces_its_shell_or_traps_its_exit_leaves_its_code_as_well(tmp_path):
    for n, body in enumerate(
        ["exec sh -c 'exit 4'", "trap 'exit 4' EXIT; false", "set -e; (exit 4)"]
    ):
        folder = tmp_path / str(n)
        assert start(prepare(folder, body), SLURM_JOB_ID="12").wait() == 4
        assert read_exit(job_of(folder)) == Exit("12", 4, "no")


def test_a_task_of_an_array_runs_in_its_own_folder(tmp_path):
    folders = [tmp_path / name for name in ("a b", "it's", "100%")]
    scripts = [prepare(folder, "pwd > here") for folder in folders]
    rendered = Template("t", "#!/bin/bash\n").render({}, {})
    script = batch_script(folders, rendered)
    assert len(scripts) == 3
    for task in (2, 0):
        env = {"SLURM_JOB_ID": f"9{task}", "SLURM_ARRAY_JOB_ID": "90"}
        assert start(script, SLURM_ARRAY_TASK_ID=str(task), **env).wait() == 0
    assert [(folder / "here").exists() for folder in folders] == [True, False, True]
    assert read_owner(job_of(folders[2])) == "90_2"
    assert start(script, SLURM_JOB_ID="1", SLURM_ARRAY_TASK_ID="7").wait() == 1


def test_of_many_jobs_that_begin_at_once_one_runs(tmp_path):
    script = prepare(tmp_path / "run", "echo x >> starts; sleep 0.2; exit 6")
    jobs = {str(n): start(script, SLURM_JOB_ID=str(n)) for n in range(12)}
    codes = {n: job.wait() for n, job in jobs.items()}
    owner = read_owner(job_of(tmp_path / "run"))
    assert codes == {n: 6 if n == owner else 0 for n in jobs}
    assert (tmp_path / "run" / "starts").read_text() == "x\n"


def test_a_requeued_job_runs_again_and_what_it_left_before_is_gone_meanwhile(tmp_path):
    script = prepare(tmp_path / "run", "[ ! -e slurm/exit ] || exit 9; echo x >> starts")
    for _ in range(2):
        assert start(script, SLURM_JOB_ID="5").wait() == 0
    assert (tmp_path / "run" / "starts").read_text() == "x\nx\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP])
def test_signals_to_the_batch_shell_reach_the_run(tmp_path, number):
    name = number.name.removeprefix("SIG")
    body = f"trap 'exit 42' {name}; echo up > up; while true; do sleep 0.05; done"
    batch = start(prepare(tmp_path / "run", body), SLURM_JOB_ID="12")
    until_file(tmp_path / "run" / "up")
    batch.send_signal(number)
    assert batch.wait(timeout=60) == 42
    assert read_exit(job_of(tmp_path / "run")) == Exit("12", 42, name)


def test_a_run_that_goes_on_after_a_signal_is_waited_for(tmp_path):
    body = "trap 'echo saved > saved' USR1; echo up > up; while [ ! -e saved ]; do sleep 0.05; done"
    batch = start(prepare(tmp_path / "run", body + "; sleep 0.3; exit 7"), SLURM_JOB_ID="12")
    until_file(tmp_path / "run" / "up")
    batch.send_signal(signal.SIGUSR1)
    assert batch.wait(timeout=60) == 7


def test_a_log_that_is_a_link_is_not_written(tmp_path):
    script = prepare(tmp_path / "run", "echo x")
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "run" / "log.txt").symlink_to(tmp_path / "precious")
    assert start(script, SLURM_JOB_ID="5").wait() == 1
    assert (tmp_path / "precious").read_text() == "mine"


def test_what_is_for_sbatch_comes_first(tmp_path):
    script = prepare(tmp_path / "run", "true", directives="#SBATCH --mem=1\n# note\n#SBATCH -n 2")
    assert script.splitlines()[:3] == ["#!/bin/bash", "#SBATCH --mem=1", "#SBATCH -n 2"]
