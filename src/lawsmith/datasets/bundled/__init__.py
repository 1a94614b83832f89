"""Tables that are part of the package, and where they lie."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
