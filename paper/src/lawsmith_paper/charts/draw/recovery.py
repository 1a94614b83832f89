"""The recovery chart: the paper's panels of how fast a replay finds the pool's law."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from lawsmith.charts.draw import (
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    KeyEntry,
    field,
    key_view,
    layer,
    linear_axis,
    log_axis,
    mark,
    view,
)
from lawsmith.charts.runs import rounded
from lawsmith.charts.text import title as title_of
from lawsmith.charts.theme import LIGHT, N_SERIES, themed
from lawsmith.charts.ticks import flops_label, number_label, padded
from lawsmith.errors import LawsmithError
from lawsmith_paper import titles
from lawsmith_paper.charts.data.recovery import (
    FITS,
    Panel,
    RecoveryData,
    Replays,
    Value,
    labelled_curves,
    recovery_data,
)
from lawsmith_paper.curves import Curves, FitName

HEIGHT, SPACING = 150, 22
LEFT = 38  # the labels of a vertical axis, which has no title of its own
TITLE = "Recovery of the law"
ONE_ROW = 1000  # from this width five panels stand in one row, as in the paper
FIT_TEXTS = {"fantasized": "observed + fantasized", "observed": "observed only"}
ON_TEXTS = {"fantasized": "observed and fantasized losses", "observed": "observed losses only"}
DASHES = {"fantasized": "", "observed": "-dashed"}
# 0.01 and 1e-3: four panels abreast have no room for 0.0001.
SHORT_LABEL = f"datum.value < 0.009 ? {flops_label('datum.value')} : {number_label('datum.value')}"


def recovery(
    replays: Replays,
    *,
    value: Value = "current",
    fits: Sequence[FitName] = FITS,
    title: str = TITLE,
    width: int = WIDE,
) -> alt.VConcatChart:
    """Regret of each parameter, held-out MSE and envelope recovery against compute spent.

    ``replays`` is one replay (a Trace or its Curves), or label → replays that differ in their
    seed: mean ± 1 SD. ``fits`` are the laws shown; the study and the law follow the ``title``.
    """
    runs = labelled_curves(replays)
    data = recovery_data(runs, value=value, fits=fits)
    if len(data.n_seeds) > N_SERIES:
        got, want = f"{len(data.n_seeds)} labels", f"at most {N_SERIES}, to be told apart"
        raise LawsmithError("recovery", got=got, want=want)
    first = next(iter(runs.values()))[0]
    return themed(draw_recovery(data, first, title=title, width=width), LIGHT)


def draw_recovery(
    data: RecoveryData, run: Curves, *, title: str = TITLE, width: int
) -> alt.VConcatChart:
    """The chart; ``run`` is any one of the replays, for what they have in common."""
    n_columns = _n_columns(len(data.panels), width)
    inner = width - MARGIN
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    domain = padded([*pd.concat([panel.lines["spent"] for panel in data.panels])], share=0.02)
    last_row = (len(data.panels) - 1) // n_columns  # the title of the spend is said below it
    panels = [
        _panel(panel, data, _spend_axis(domain, pixels, titled=i // n_columns == last_row), pixels)
        for i, panel in enumerate(data.panels)
    ]
    heading = titles.task_heading(title, run.task)
    words = title_of(heading, _subtitle(data, run), pixels=inner - LEFT)
    above = key_view(key_entries(data), pixels=inner - LEFT)
    rows = alt.concat(*panels, columns=n_columns, spacing=SPACING)
    return alt.VConcatChart(vconcat=[above, rows], spacing=4, title=words)


def _n_columns(n_panels: int, width: int) -> int:
    if width < TWO_COLUMNS:
        return 1
    return n_panels if width >= ONE_ROW else 3


def _spend_axis(domain: tuple[float, float], pixels: int, *, titled: bool) -> Channel:
    axis = log_axis("spent", domain, pixels=pixels, gap=30)
    return {**axis, "title": "Compute spent (% of the pool)" if titled else None}


def _panel(panel: Panel, data: RecoveryData, x: Channel, pixels: int) -> alt.LayerChart:
    y = _value_axis(panel)
    layers = []
    for k, label in enumerate(data.n_seeds):
        for fit in reversed(data.fits):  # the solid line above the dashed one
            of = (panel.lines["label"] == label) & (panel.lines["fit"] == fit)
            lines = panel.lines[of].drop(columns=["label", "fit", "n"])
            layers += _line_layers(lines, panel.floor, f"series-{k}", DASHES[fit], x, y)
    layers.sort(key=lambda one: one.mark["type"] != "area")  # bands below every line
    if panel.reference > 0:
        frame = pd.DataFrame({"mean": [panel.reference]})
        layers.append(layer(frame, mark("rule", "threshold"), y=field("mean", y)))
    # A text and not a title: Vega lifts titles clear of tick labels, each panel's by its own.
    head = mark("text", "panel", text=panel.title)
    layers.append(layer(pd.DataFrame({"x": [0]}), head, x={"value": 0}, y={"value": -13}))
    return view(layers, width=pixels, height=HEIGHT)


def _line_layers(
    lines: pd.DataFrame, floor: float, style: str, dash: str, x: Channel, y: Channel
) -> list[alt.Chart]:
    if lines.empty:
        return []
    banded = lines["low"].notna().any()
    values = ["mean", "low", "high"] if banded else ["mean"]
    # What lies below the foot, the mean less its SD most of all, is drawn at the foot.
    clipped = lines[values].clip(lower=floor if floor > 0 else None)
    # One frame for both marks, which Altair then holds once.
    drawn = lines[["spent"]].assign(**{name: rounded(clipped[name], 4) for name in values})
    at, step = field("spent", x), "step-after"
    line = mark("line", f"{style}{dash}", interpolate=step, clip=True)
    layers = [layer(drawn, line, x=at, y=field("mean", y))]
    if banded:
        band = mark("area", f"{style}-band", interpolate=step, clip=True)
        ends = {"y": field("low", y), "y2": field("high")}
        layers.append(layer(drawn, band, x=at, **ends))
    return layers


def _value_axis(panel: Panel) -> Channel:
    if not panel.is_log:
        return {**linear_axis("", (0.0, 102.0), n_ticks=6), "title": None}
    known = panel.lines["mean"].dropna()
    top = max([panel.floor * 10, *known, *([panel.reference] if panel.reference > 0 else [])])
    domain = (panel.floor / 1.15, padded([panel.floor, top])[1])
    axis = log_axis(panel.key, domain, pixels=HEIGHT, gap=22)
    axis["axis"]["labelExpr"] = SHORT_LABEL
    return {**axis, "title": None}


def key_entries(data: RecoveryData) -> list[KeyEntry]:
    """What colours, dashes and bands mean, only those that there are."""
    lines = pd.concat([panel.lines for panel in data.panels])
    fits = [fit for fit in data.fits if (lines["fit"] == fit).any()]
    one = len(data.n_seeds) == 1
    style = "series-0" if one else "key-curve"
    entries = []
    if not one:
        entries = [KeyEntry("line", f"series-{k}", label) for k, label in enumerate(data.n_seeds)]
    if len(data.fits) > 1:  # else the subtitle says which
        entries += [KeyEntry("line", f"{style}{DASHES[fit]}", FIT_TEXTS[fit]) for fit in fits]
    if lines["low"].notna().any():
        entries.append(KeyEntry("area", "series-0-band" if one else "band-grey", "± 1 SD"))
    if any(panel.reference > 0 for panel in data.panels):
        entries.append(KeyEntry("line", "threshold", "MSE of the pool's own law"))
    return entries


def _subtitle(data: RecoveryData, run: Curves) -> list[str]:
    counts = sorted(set(data.n_seeds.values()))
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    several = counts[-1] > 1
    who = f"mean over {seeds} seeds" if several else f"{run.policy}, seed {run.seed}"
    if len(data.n_seeds) > 1 and not several:
        who = f"seed {run.seed}"
    parts = [who, titles.pool_text(run.task)]
    if len(data.fits) == 1:
        parts.append(f"laws on {ON_TEXTS[data.fits[0]]}")
    kind = "its least so far (incumbent)" if data.value == "incumbent" else "at that moment"
    regret = f"regret: distance from the parameter of the pool's law, {kind}; zero is at the foot"
    return [" · ".join(parts), regret]
