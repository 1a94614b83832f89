"""The Python front: tables, names and text in, results out; what `lawsmith.fit` and its kin are."""

from __future__ import annotations
