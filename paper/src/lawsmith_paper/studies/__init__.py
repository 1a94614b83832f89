"""The studies of the paper and of ScaleBench: tables, synthetic twins, studies drawn afresh."""

from __future__ import annotations

from pathlib import Path

from lawsmith import datasets
from lawsmith.datasets import Entry, ReadOptions, Study
from lawsmith.datasets.fetch import Progress
from lawsmith_paper.studies.catalogue import CATALOGUE

__all__ = ["CATALOGUE", "entry", "load"]


def entry(name: str) -> Entry:
    """The study ``name`` of the catalogue, which may carry a :variant."""
    return datasets.entry(name, CATALOGUE)


def load(
    source: str | Path, options: ReadOptions | None = None, *, progress: Progress | None = None
) -> Study:
    """A study of the catalogue, or the table at a path."""
    return datasets.load(source, options, progress=progress, entries=CATALOGUE)
