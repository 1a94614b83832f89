"""The driver's lock: one at a time, told who, gone with the process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import driver_lock, driver_of

HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from lawsmith.journal import driver_lock\n"
    "with driver_lock(Path(sys.argv[1])):\n"
    "    print('held', flush=True)\n"
    "    time.sleep(60)\n"
)


def test_a_second_driver_is_refused_with_the_firsts_pid_and_host(tmp_path: Path):
    path = tmp_path / "driver.lock"
    first = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        who = f"process {first.pid} on {socket.gethostname()}"
        assert driver_of(path) == who
        with pytest.raises(LawsmithError, match=who), driver_lock(path):
            pass
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        first.stdout.close()
    assert driver_of(path) is None
    with driver_lock(path):
        assert driver_of(path) == f"process {os.getpid()} on {socket.gethostname()}"


def test_nobody_drives_a_study_that_was_never_driven(tmp_path: Path):
    assert driver_of(tmp_path / "driver.lock") is None


def test_a_lock_file_that_says_nothing_is_no_obstacle(tmp_path: Path):
    path = tmp_path / "driver.lock"
    path.write_bytes(b"\xff{")
    with driver_lock(path):
        assert driver_of(path) is not None


def test_a_folder_that_is_not_there_is_told(tmp_path: Path):
    with (
        pytest.raises(LawsmithError, match="a study folder that can be written"),
        driver_lock(tmp_path / "no" / "driver.lock"),
    ):
        pass
