"""What every runner that starts processes promises, on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawsmith.runners import make_runner
from tests.runners.contract import Place, RunnerContract


class TestLocal(RunnerContract):
    """The local runner."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        options = {"command": ["/bin/sh", "{script}", "{note}"], "grace": 0.5}
        spec = {"kind": "local", "options": options}
        return Place(spec, tmp_path, lambda: make_runner("local", options, tmp_path))
