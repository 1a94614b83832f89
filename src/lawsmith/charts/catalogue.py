"""The charts of an analysis and of a replay by name, in the order a reader wants them."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt

from lawsmith.charts.draw.allocation import allocation
from lawsmith.charts.draw.choices import choices
from lawsmith.charts.draw.curves import curves
from lawsmith.charts.draw.hyperparameters import hyperparameters
from lawsmith.charts.draw.isoflop import isoflop
from lawsmith.charts.draw.law import law
from lawsmith.charts.draw.recovery import recovery
from lawsmith.charts.draw.residuals import residuals

Chart = alt.LayerChart | alt.ConcatChart | alt.VConcatChart

# Each is called with an Analysis and, by keyword, the width in pixels.
CHARTS: dict[str, Callable[..., Chart]] = {
    "law": law,
    "curves": curves,
    "isoflop": isoflop,
    "allocation": allocation,
    "residuals": residuals,
    "hyperparameters": hyperparameters,
}

# Each is called with a Trace and, by keyword, the width in pixels.
REPLAY_CHARTS: dict[str, Callable[..., Chart]] = {"recovery": recovery, "choices": choices}
