"""lawsmith: scaling laws with honest uncertainty, found with less compute."""

from __future__ import annotations

__version__ = "0.1.0"
