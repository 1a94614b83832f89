"""Hyperparameters: maps over two of them at growing scale, and the drift of the best."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lawsmith import charts
from lawsmith.report.forecast import tuning_laws
from lawsmith.report.parts import Absent, Card, Part, figure
from lawsmith.report.source import Source


def tuning(source: Source) -> Card:
    """Where the best hyperparameters lie, and how they move with scale."""
    lead = "Where the best hyperparameters lie, and how they drift as models and data grow."
    grid, runs = source.study.grid, source.study.runs
    observed = runs.config_loss(len(grid))
    loss = observed if source.seen is None else source.seen.mixed
    laws = tuning_laws(source)
    caption = "Darker is better (in dark mode brighter); the star is the best of its cell."
    if source.seen is not None:
        caption += " Squares without a dot are what the surrogate expects."
    draw = partial(charts.maps, grid, loss, np.isfinite(observed), laws, name=source.name)
    parts: list[Part] = [figure("maps", caption, draw)]
    parts.append(_power_laws(source, loss))
    return Card("tuning", "Hyperparameters", lead, tuple(parts))


def _power_laws(source: Source, loss: np.ndarray) -> Part:
    if source.analysis is None:
        return Absent("hyperparameters", source.why_no_law)
    whole = replace(source.analysis, loss=loss, hyperparameters=tuning_laws(source))
    caption = "The best value of each (N, D), and the power law through them."
    if source.seen is not None:
        caption += " Of the mixed grid: observed losses where there are any, expected elsewhere."
    return figure("hyperparameters", caption, partial(charts.hyperparameters, whole))
