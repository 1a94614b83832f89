"""The folder of the example on the path, as for its own commands, and one thread for torch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TINYLM = Path(__file__).parents[2] / "examples" / "tinylm"
sys.path.insert(0, str(TINYLM))


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Threads only hinder models this small, and other tests run beside these."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
