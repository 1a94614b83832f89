"""Hyperparameters: maps over two of them at growing scale, and the drift of the best."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lawsmith import charts
from lawsmith.analysis import HyperparameterLaw, hyperparameter_laws
from lawsmith.grid import FloatArray
from lawsmith.report.parts import Absent, Card, Part, figure
from lawsmith.report.source import Source


def tuning(source: Source) -> Card:
    """Where the best hyperparameters lie, and how they move with scale."""
    lead = "Where the best hyperparameters lie, and how they drift as models and data grow."
    grid, runs = source.study.grid, source.study.runs
    observed, loss = runs.config_loss(len(grid)), source.expected
    known = np.flatnonzero(np.isfinite(loss))
    laws = hyperparameter_laws(grid, known, loss) if len(known) else ()
    caption = (
        "Each map is one size and token count; its squares show how far each pair of values lies "
        "above the best, the star. Darker is better (in dark mode brighter)."
    )
    if laws:
        caption += " The line is how the best moves as compute grows, by the power laws below."
    if source.kind != "table" and not np.isfinite(observed).all():
        caption += " Squares without a dot were not run: they are what the answer expects."
    draw = partial(charts.maps, grid, loss, np.isfinite(observed), laws, name=source.name)
    parts: list[Part] = [figure("maps", caption, draw)]
    parts.append(_power_laws(source, loss, laws))
    return Card("tuning", "Hyperparameters", lead, tuple(parts))


def _power_laws(source: Source, loss: FloatArray, laws: tuple[HyperparameterLaw, ...]) -> Part:
    if source.analysis is None:
        return Absent("hyperparameters", source.why_no_law)
    whole = replace(source.analysis, loss=loss, hyperparameters=laws)
    caption = (
        "Points: the best value at each size and token count. Lines: the power law through them, "
        "one for each size."
    )
    if source.kind != "table":
        caption += " Of observed losses where there are any, of expected ones elsewhere."
    return figure("hyperparameters", caption, partial(charts.hyperparameters, whole))
