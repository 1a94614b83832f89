"""The laws of a report: the one asked for, and one of N and D."""

from __future__ import annotations

from dataclasses import replace

from lawsmith.analysis import Analysis, FitOptions, analyse
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.catalogue import CHINCHILLA


def try_analyse(study: Study, options: FitOptions) -> tuple[Analysis | None, str]:
    """The analysis, or None and why not."""
    try:
        return analyse(study, options), ""
    except LawsmithError as error:
        return None, str(error)


def sizes_of(
    study: Study, options: FitOptions, own: Analysis | None, why_not: str
) -> tuple[Analysis | None, str]:
    """The analysis of a law of N and D: the law's own, else Chinchilla's on the same runs."""
    if can_allocate(options.law):
        return own, why_not
    if not {"N", "D"} <= set(study.grid.names):
        return None, "the runs have no N and D"
    other = replace(options, law=CHINCHILLA, objective=None, fixed={}, priors={})
    return try_analyse(study, other)
