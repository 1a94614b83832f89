"""The Python API, `lawsmith.fit` and others: tables, names and text in, results out."""

from __future__ import annotations
