"""`lawsmith-paper`: what it says and writes, bad input, and what a kill or Ctrl-C leaves behind."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

import lawsmith_paper.cli.run as command_run
from lawsmith_paper.cli.progress import already_done, described, duration, share
from lawsmith_paper.jobs import Job
from lawsmith_paper.work import Failure, Progress

TINY = ("--seeds", 1, "--iterations", 13, "--jobs", 1)
FULL = ("main", "--seeds", "2", "--iterations", "60", "--no-page")
PATIENCE = 120.0  # seconds, before a test says that nothing happens


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """A folder in which a tiny run is finished."""
    from lawsmith_paper.cli import main

    folder = tmp_path_factory.mktemp("done") / "out"
    args = ["run", "main", *TINY, "--no-page", "--out", folder]
    assert main([str(arg) for arg in args]) == 0
    return folder


def test_list_names_every_suite_with_its_jobs_and_time(lawsmith_paper):
    result = lawsmith_paper("list")
    assert result.code == 0
    for name in ("paper", "pitch", "main", "datasets", "lnd", "window", "speed", "scalebench"):
        assert re.search(rf"^  {name} ", result.out, re.MULTILINE)
    assert re.search(r"^  main +20 +\d+ \w+ +Main result", result.out, re.MULTILINE)
    assert re.search(r"^  pitch +none +at once", result.out, re.MULTILINE)
    assert "10 seeds, 2 processes" in result.text
    assert lawsmith_paper().out == result.out


def test_a_run_says_what_it_found_and_where_it_is(lawsmith_paper, done):
    result = lawsmith_paper("run", "main", *TINY, "--no-page", "--out", done)
    assert result.code == 0
    assert "L(C) at round budgets" in result.text
    assert re.search(r"Written .*results\.parquet .*results\.csv .*summary\.json", result.text)
    assert "2 of 2 jobs finished; this took" in result.text
    table = pd.read_parquet(done / "results.parquet")
    assert set(table["space"]) == {"window", "full"}


def test_what_is_done_is_said_at_once_and_not_done_again(lawsmith_paper, done, monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("lawsmith_paper.work.do", never)
    before = (done / "results.csv").read_bytes()
    result = lawsmith_paper("run", "main", *TINY, "--no-page", "--out", done)
    assert "all 2 jobs are done already" in result.err
    assert (done / "results.csv").read_bytes() == before
    # Its two tables are of the same replays.
    again = lawsmith_paper("run", "extrapolation", *TINY, "--no-page", "--out", done)
    assert "all 2 jobs are done already" in again.err


def test_json_is_the_summary_with_tables_and_files(lawsmith_paper, done):
    args = ("run", "main", *TINY, "--no-page", "--out", done, "--json")
    found = lawsmith_paper(*args).json
    summary = json.loads((done / "summary.json").read_text())
    assert {name: found[name] for name in summary} == summary
    assert found["complete"] is True
    assert found["failures"] == []
    assert [Path(path).name for path in found["files"]] == [
        "results.parquet",
        "results.csv",
        "summary.json",
    ]
    for table in found["tables"]:
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}
    assert "main-budgets" in {table["name"] for table in found["tables"]}


def test_a_page_can_be_had_later(lawsmith_paper, tmp_path):
    out = tmp_path / "out"
    result = lawsmith_paper("run", "pitch", "--no-page", "--out", out)
    assert result.code == 0
    assert "nothing to run" in result.err
    page = out / "index.html"
    assert not page.exists()
    assert lawsmith_paper("page", out).out.split() == [str(page)]
    assert "<html" in page.read_text()[:200].lower()


def test_a_page_comes_with_a_run(lawsmith_paper, done, monkeypatch):
    monkeypatch.setattr("lawsmith_paper.page.page_of", lambda folder: folder / "index.html")
    result = lawsmith_paper("run", "main", *TINY, "--out", done)
    assert result.code == 0
    assert str(done / "index.html") in result.out


def test_twins_are_named_before_anything_is_run(lawsmith_paper, tmp_path, monkeypatch):
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    asked = ("main", "--seeds", 1, "--iterations", 3, "--jobs", 1, "--no-page")
    result = lawsmith_paper("run", *asked, "--out", tmp_path)
    assert result.code == 0
    assert result.err.startswith("note: tables that are not here are replaced by synthetic ones")
    assert "synthetic-oellm-english" in result.err
    assert (
        "synthetic-oellm-english" in pd.read_parquet(tmp_path / "results.parquet")["study"].iat[0]
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run"], "missing argument 'SUITE"),
        (["run", "mian"], "suite: got 'mian', want one of paper, claims, pitch, main"),
        (["run", "mian"], "(did you mean main?)"),
        (["run", "main", "--seeds", "0"], "--seeds: got 0, want at least 1"),
        (["run", "main", "--jobs", "0"], "--jobs: got 0, want at least 1"),
        (["run", "main", "--jobs", "two"], "--jobs: got 'two', want a whole number"),
        (["run", "main", "--iterations", "0"], "--iterations: got 0, want at least 1"),
        (["run", "main", "--out", "{file}"], "--out: got {file}: File exists, want a folder"),
        (["page", "{absent}"], "{absent}: got no summary.json (lawsmith-paper run"),
        (["pages"], "no such command 'pages'. Did you mean 'page'?"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(lawsmith_paper, tmp_path, args, message):
    names = {"file": str(tmp_path / "file"), "absent": str(tmp_path / "absent")}
    (tmp_path / "file").touch()
    result = lawsmith_paper(*(arg.format(**names) for arg in args))
    assert (result.code, result.out) == (2, "")
    assert message.format(**names).lower() in result.err.lower()
    assert result.err.count("\n") == 1
    assert not (tmp_path / "absent").exists()


def test_without_its_tables_scalebench_says_how_to_have_them(lawsmith_paper, tmp_path, monkeypatch):
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    result = lawsmith_paper("run", "scalebench", "--out", tmp_path)
    assert result.code == 2
    assert "studies.load downloads them: scalebench-lr_bsz" in result.err


def test_failures_are_a_line_each_and_exit_code_1_and_the_rest_is_kept(
    lawsmith_paper, tmp_path, monkeypatch
):
    true_work = command_run.work

    def broken(folder, jobs, **options):
        bad = [Job(job.kind, {**job.settings, "kernel": "odd"}, job.data) for job in jobs[:2]]
        return true_work(folder, [*jobs, *bad], **options)

    monkeypatch.setattr(command_run, "work", broken)
    args = ("run", "main", "--seeds", 2, "--iterations", 3, "--jobs", 1, "--no-page")
    result = lawsmith_paper(*args, "--out", tmp_path)
    assert result.code == 1
    lines = [line for line in result.err.splitlines() if line.startswith("failed: ")]
    assert len(lines) == 2
    assert "window gp lcb seed 0: kernel: got 'odd'" in lines[0]
    assert "4 of 4 jobs finished" in result.text
    found = lawsmith_paper(*args, "--out", tmp_path, "--json")
    assert found.code == 1
    assert [failure["settings"]["kernel"] for failure in found.json["failures"]] == ["odd", "odd"]
    assert found.json["complete"] is False


def progress(**given) -> Progress:
    known = {"n_done": 7, "n_jobs": 20, "weight_done": 34.0, "weight": 100.0, "seconds": 9.0}
    return Progress(**{**known, **given})


def test_the_bar_says_jobs_share_time_left_and_what_is_running():
    assert described(progress()) == "7/20 jobs · 34%"
    busy = progress(seconds_left=130.0, running=("oellm-english window gp lcb seed 3", "b", "c"))
    left = "7/20 jobs · 34% · 2 min left · oellm-english window gp lcb seed 3 and 2 more"
    assert described(busy) == left
    assert share(progress(weight=0.0, weight_done=0.0)) == 1.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (5400, "1 h 30 min")],
)
def test_durations_are_as_exact_as_an_estimate_deserves(seconds, text):
    assert duration(seconds) == text


def test_one_job_and_no_job_have_words_of_their_own():
    assert already_done(1) == "the only job is done already"
    assert already_done(0).startswith("nothing to run")


def test_a_failure_of_several_lines_would_still_be_one(capsys):
    from lawsmith.cli.console import stderr
    from lawsmith_paper.cli.view import show_failures

    show_failures(stderr(), [Failure(Job("replay", {"study": "s" * 150, "seed": 1}, "d"), "bad")])
    assert capsys.readouterr().err.count("\n") == 1


# From here on in processes of their own.


def start(out: Path, *more: object, **options: object) -> subprocess.Popen[str]:
    """A run as the leader of a group of its own, so that all it starts can be found."""
    command = [sys.executable, "-m", "lawsmith_paper", "run", *FULL, "--out", str(out), *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([str(word) for word in command], start_new_session=True, **pipes)


def wait_until(met: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if met():
            return True
        time.sleep(0.05)
    return met()


def n_finished(out: Path) -> int:
    return sum(b'\n{"end": ' in path.read_bytes() for path in out.glob("runs/*.jsonl"))


def alive(group: int) -> list[str]:
    """The processes of a group that are not zombies."""
    shown = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True)
    rows = [line.split() for line in shown.stdout.splitlines()]
    return [stat for pgid, stat in rows if int(pgid) == group and not stat.startswith("Z")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Iterator[Path]:
    out = tmp_path_factory.mktemp("undisturbed")
    process = start(out)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def test_a_run_that_was_killed_goes_on_to_the_table_of_one_that_was_not(undisturbed, tmp_path):
    process = start(tmp_path)
    # In the middle: the first job has ended, and others have not.
    assert wait_until(lambda: n_finished(tmp_path) > 0)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 0 < n_finished(tmp_path) < 4
    assert not (tmp_path / "results.parquet").exists()
    try:  # what it had started does not outlive it
        assert wait_until(lambda: alive(process.pid) == []), alive(process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    again = start(tmp_path)
    _, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    for name in ("results.csv", "results.parquet"):
        assert (tmp_path / name).read_bytes() == (undisturbed / name).read_bytes()


def test_ctrl_c_stops_with_130_and_keeps_what_is_finished(undisturbed, tmp_path):
    process = start(tmp_path)
    assert wait_until(lambda: n_finished(tmp_path) > 0)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to all of the group
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "stopped; run the same command to go on"
    assert "Traceback" not in err
    n = n_finished(tmp_path)
    assert f"{n} of 4 jobs finished" in " ".join(out.split())
    assert json.loads((tmp_path / "summary.json").read_text())["jobs"]["finished"] == n > 0
    table = pd.read_parquet(tmp_path / "results.parquet")
    whole = pd.read_parquet(undisturbed / "results.parquet")
    key = ["space", "seed"]
    kept = table[key].drop_duplicates()
    assert len(kept) == n
    pd.testing.assert_frame_equal(
        table.sort_values([*key, "fit", "budget"]).reset_index(drop=True),
        whole.merge(kept, on=key).sort_values([*key, "fit", "budget"]).reset_index(drop=True),
    )
    assert wait_until(lambda: alive(process.pid) == [])


def test_a_terminal_sees_a_bar_on_stderr_and_stdout_stays_pure(tmp_path):
    reader, writer = pty.openpty()
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    with (tmp_path / "out.json").open("wb") as file:
        options = {"stdout": file, "stderr": writer, "env": environment, "text": False}
        process = start(tmp_path / "results", "--json", "--iterations", 30, "--seeds", 1, **options)
        os.close(writer)
        shown = b"".join(iter(lambda: read_or_end(reader), b"")).decode()
        assert process.wait() == 0
    os.close(reader)
    assert json.loads((tmp_path / "out.json").read_bytes())["complete"] is True
    assert re.search(r"[01]/2 jobs · \d+%", shown)
    assert re.search(r"oellm-english \w+ gp lcb seed 0", shown)


def read_or_end(reader: int) -> bytes:
    try:
        return os.read(reader, 4096)
    except OSError:  # how Linux tells that the other end was closed
        return b""
