"""The charts of an answer, a law and a replay by name, in the order a reader wants them."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt

from lawsmith.charts.draw.allocation import allocation
from lawsmith.charts.draw.answer import answer
from lawsmith.charts.draw.choices import choices
from lawsmith.charts.draw.curves import curves
from lawsmith.charts.draw.hyperparameters import hyperparameters
from lawsmith.charts.draw.isoflop import isoflop
from lawsmith.charts.draw.law import law
from lawsmith.charts.draw.residuals import residuals
from lawsmith.charts.draw.tasks import accuracy_by_compute, accuracy_by_loss

Chart = alt.LayerChart | alt.ConcatChart | alt.VConcatChart

# Each is called with an Answered and, by keyword, the width in pixels.
ANSWER_CHARTS: dict[str, Callable[..., Chart]] = {"answer": answer, "allocation": allocation}

# Each is called with an Analysis and, by keyword, the width in pixels.
CHARTS: dict[str, Callable[..., Chart]] = {
    "law": law,
    "curves": curves,
    "isoflop": isoflop,
    "residuals": residuals,
    "hyperparameters": hyperparameters,
}

# Each is called with a TaskAnswer and, by keyword, the study's name and the width in pixels.
TASK_CHARTS: dict[str, Callable[..., Chart]] = {
    "accuracy-by-compute": accuracy_by_compute,
    "accuracy-by-loss": accuracy_by_loss,
}

# Each is called with a Trace and, by keyword, the width in pixels.
REPLAY_CHARTS: dict[str, Callable[..., Chart]] = {"choices": choices}
