"""Losses along runs, of `--curves SOURCE` or of a study that has its own, joined to their study."""

from __future__ import annotations

from dataclasses import replace

from lawsmith.analysis import with_curves
from lawsmith.curves import Along
from lawsmith.datasets import CurveOptions, Study, load_curves


def join_curves(
    study: Study, path: str | None, options: CurveOptions | None
) -> tuple[Study, Along | None]:
    """The study and the curves beside it; notes on the curves are the study's."""
    table = study.curves
    if path is not None and options is not None:
        table = load_curves(path, replace(options, carry=tuple(study.grid.hp)))
    if table is None:
        return study, None
    joined, along = with_curves(study, table)
    return replace(joined, notes=(*joined.notes, *along.notes)), along
