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
    caption = (
        "Each map is one size and token count; its squares show how far each pair of values lies "
        "above the best, the star. Darker is better (in dark mode brighter)."
    )
    if laws:
        caption += " The line is how the best moves as compute grows, by the power laws below."
    if source.seen is not None and not np.isfinite(observed).all():
        caption += " Squares without a dot were not run: they are what the surrogate expects."
    draw = partial(charts.maps, grid, loss, np.isfinite(observed), laws, name=source.name)
    parts: list[Part] = [figure("maps", caption, draw)]
    parts.append(_power_laws(source, loss))
    return Card("tuning", "Hyperparameters", lead, tuple(parts))


def _power_laws(source: Source, loss: np.ndarray) -> Part:
    if source.analysis is None:
        return Absent("hyperparameters", source.why_no_law)
    whole = replace(source.analysis, loss=loss, hyperparameters=tuning_laws(source))
    caption = (
        "Points: the best value at each size and token count. Lines: the power law through them, "
        "one for each size."
    )
    if source.seen is not None:
        caption += " Of observed losses where there are any, of expected ones elsewhere."
    return figure("hyperparameters", caption, partial(charts.hyperparameters, whole))
