"""Colours and fonts of the charts: a chart names styles, and a theme defines them.

A chart has no colours of its own. Its marks name a style ('fitted', 'band', …), and ordered colours
are the theme's ramp. So one chart serves light pages, dark pages and paper: only the Vega-Lite
``config`` changes. Blue and vermilion are those of Okabe and Ito, which colour-blind readers can
tell apart; kinds of points also differ in shape and lightness, for greyscale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

import altair as alt

AnyChart = TypeVar("AnyChart", bound=alt.LayerChart | alt.ConcatChart | alt.VConcatChart)
Style = dict[str, Any]

# 'sans-serif' must stay: in a PNG, a font that is not installed draws nothing.
FONT = "Helvetica Neue, Arial, sans-serif"


# A five-pointed star as an SVG path in [-1, 1]²; Vega has no star of its own.
STAR = (
    "M0.000,-1.000L0.247,-0.340L0.951,-0.309L0.399,0.130L0.588,0.809L0.000,0.420"
    "L-0.588,0.809L-0.399,0.130L-0.951,-0.309L-0.247,-0.340Z"
)
DASHED = {"strokeDash": [6, 4]}
TITLE = {
    "anchor": "start",
    "frame": "group",
    "offset": 12,
    "fontSize": 15,
    "fontWeight": 600,
    "lineHeight": 20,
    "subtitleFontSize": 12,
    "subtitleLineHeight": 17,
    "subtitlePadding": 5,
}
AXIS = {
    "titleFontSize": 12,
    "titlePadding": 8,
    "labelFlush": False,
    "labelPadding": 6,
    "ticks": False,
}
LEGEND = {"titleFontSize": 11, "gradientLength": 140, "symbolOpacity": 1, "symbolStrokeWidth": 2}


@dataclass(frozen=True)
class Theme:
    """The colours of one kind of page.

    ramp    Vega's scheme and the part of it that is used, from small to large: lightness is
            monotonic, and the small end differs from the background
    series  colours of compared series, in order; on paper, neighbours differ most in lightness
    """

    name: str
    background: str
    tint: str  # background of boxes on the page
    ink: str  # titles, the law
    text: str  # labels and notes
    faint: str  # grid lines
    run: str  # a run that was not fitted
    fitted: str  # frontier points and the band
    held_out: str  # runs that the law was not fitted to
    ramp: tuple[str, float, float]
    series: tuple[str, ...]


LIGHT = Theme(
    name="light",
    background="#ffffff",
    tint="#f3f6f9",
    ink="#16191d",
    text="#4a5158",
    faint="#e6e8eb",
    run="#a3abb3",
    fitted="#0072b2",
    held_out="#d55e00",
    ramp=("viridis", 0.88, 0.0),
    series=("#0072b2", "#d55e00", "#009e73", "#b8578f", "#e69f00", "#56b4e9"),
)
DARK = Theme(
    name="dark",
    background="#15181c",
    tint="#1d2228",
    ink="#f1f3f5",
    text="#b4bbc2",
    faint="#2c3238",
    run="#6b747d",
    fitted="#56b4e9",
    held_out="#ff9445",
    ramp=("viridis", 0.3, 1.0),
    series=("#56b4e9", "#ff9445", "#2fc79a", "#e39cc4", "#f0d264", "#9aa7ff"),
)
PRINT = Theme(
    name="print",
    background="#ffffff",
    tint="#f4f4f4",
    ink="#000000",
    text="#262626",
    faint="#dddddd",
    run="#a6a6a6",
    fitted="#00538a",
    held_out="#a63603",
    ramp=("viridis", 0.88, 0.0),
    series=("#003f6b", "#d1640f", "#1f6e54", "#b878a8", "#5e3370", "#e0a500"),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK, PRINT)}
N_SERIES = len(LIGHT.series)


def config(theme: Theme) -> dict[str, Any]:
    """The Vega-Lite configuration of a theme."""
    scheme, small, large = theme.ramp
    ramp = {"scheme": scheme, "extent": [small, large]}
    labels = {"labelColor": theme.text, "labelFontSize": 11}
    labels |= {"titleColor": theme.text, "titleFontWeight": "normal"}
    return {
        "background": theme.background,
        "font": FONT,
        "padding": 12,
        "view": {"stroke": None},
        "title": {"color": theme.ink, "subtitleColor": theme.text, **TITLE},
        "axis": {
            **labels,
            **AXIS,
            **dict.fromkeys(("gridColor", "domainColor", "tickColor"), theme.faint),
        },
        "legend": {**labels, **LEGEND},
        "range": {"ordinal": ramp, "ramp": ramp, "heatmap": ramp},
        "style": styles(theme),
    }


def styles(theme: Theme) -> dict[str, Style]:
    """Vega-Lite properties of each style."""
    return _points(theme) | _lines(theme) | _areas(theme) | _series(theme) | _texts(theme)


def _dot(size: float, color: str = "", shape: str = "circle", **more: Any) -> Style:
    colored = {"color": color} if color else {}
    return {"filled": True, "shape": shape, "opacity": 1, "size": size, **colored, **more}


def _ring(size: float, color: str = "", shape: str = "circle", **more: Any) -> Style:
    return _dot(size, color, shape, **more) | {"filled": False}


def _points(theme: Theme) -> dict[str, Style]:
    """Points; those coloured by a scale ('cell', …) have their own colour in keys ('key-cell').

    States of runs ('state-…') differ in shape first. On coloured squares ('map-…'), points have an
    outline in the page's colour.
    """
    outline: Style = {"stroke": theme.background, "strokeWidth": 1.2}
    scaled = {
        "cell": _dot(34),
        "cell-star": _dot(130, shape=STAR),
        "cell-square": _dot(30, shape="square"),
        "minimum": _dot(120, shape="diamond"),
        "minimum-open": _ring(110, shape="diamond", strokeWidth=2),
    }
    keys = {f"key-{name}": style | {"color": theme.text} for name, style in scaled.items()}
    return {
        **scaled,
        **keys,
        "run": _dot(14, theme.run, fillOpacity=0.55),
        "fitted": _dot(46, theme.fitted),
        "fitted-many": _dot(26, theme.fitted, fillOpacity=0.8),
        "fantasized": _ring(46, theme.fitted, strokeWidth=1.6),
        "held-out": _dot(130, theme.held_out, STAR),
        "target": _dot(70, theme.ink, "diamond"),
        "chosen": _dot(22, theme.fitted, fillOpacity=0.5),
        "unfitted": _ring(34, theme.text),
        "envelope": _ring(90, theme.ink),
        "map-run": _dot(16, theme.ink, **outline),
        "map-best": _dot(150, theme.ink, STAR, **outline),
        "state-initial": _dot(30, theme.run, "square"),
        "state-done": _dot(26, theme.fitted, fillOpacity=0.85),
        "state-diverged": _dot(44, theme.held_out, "triangle-up"),
        "state-failed": _ring(50, theme.held_out, "cross", strokeWidth=1.6),
        "state-retried": _ring(30, theme.run, "square"),
        "state-pending": _ring(44, theme.fitted, strokeWidth=1.6),
    }


def _line(color: str, width: float, **more: Any) -> Style:
    colored = {"color": color} if color else {}
    return {"strokeWidth": width, "opacity": 1, **colored, **more}


def _lines(theme: Theme) -> dict[str, Style]:
    law, faded = _line(theme.ink, 2), {"strokeOpacity": 0.8}
    curve, key = _line("", 1.8), _line(theme.text, 1.8)
    return {
        "law": law,
        "target-bar": law,
        "law-behind": _line(theme.ink, 6, strokeOpacity=0.25),
        "map-drift": _line(theme.held_out, 1.6),
        "off-scale": {"color": theme.run, "thickness": 1.5, "opacity": 1},
        "reference": _line(theme.text, 1, **faded),
        "threshold": _line(theme.text, 1, strokeDash=[2, 3], **faded),
        "stem": _line(theme.fitted, 1.5),
        "curve": curve,
        "curve-reached": _line(theme.text, 1.2),
        "curve-thin": _line("", 1.2, strokeOpacity=0.7),
        "curve-dashed": curve | DASHED,
        "key-curve": key,
        "key-curve-dashed": key | DASHED,
    }


def _areas(theme: Theme) -> dict[str, Style]:
    shades = {"band": 0.18, "region-2": 0.18, "region-1": 0.45, "region-half": 0.85}
    areas = {name: _area(theme.fitted, opacity) for name, opacity in shades.items()}
    return areas | {"band-grey": _area(theme.text, 0.18)}


def _area(color: str, opacity: float) -> Style:
    return {"color": color, "fillOpacity": opacity, "opacity": 1}


def _series(theme: Theme) -> dict[str, Style]:
    """Compared series: 'series-0' is a line, 'series-0-dashed' too, 'series-0-band' an area."""
    styles: dict[str, Style] = {}
    for k, color in enumerate(theme.series):
        styles[f"series-{k}"] = _line(color, 1.8)
        styles[f"series-{k}-dashed"] = _line(color, 1.6, strokeDash=[4, 3])
        styles[f"series-{k}-band"] = _area(color, 0.1)
    return styles


def _texts(theme: Theme) -> dict[str, Style]:
    note = {"color": theme.text, "fontSize": 11, "baseline": "middle", "align": "left"}
    ink = note | {"color": theme.ink}
    return {"note": note, "note-ink": ink, "panel": ink | {"fontSize": 12}}


def themed(chart: AnyChart, theme: Theme) -> AnyChart:
    """The chart in another theme; all charts of lawsmith are made in LIGHT."""
    copy = cast(AnyChart, chart.copy(deep=False))
    copy["config"] = config(theme)
    return copy


def variables(theme: Theme) -> str:
    """The colours of a theme for the page around charts, as CSS variables."""
    return (
        f"--page: {theme.background}; --ink: {theme.ink}; --text: {theme.text}; "
        f"--faint: {theme.faint}; --accent: {theme.fitted}; --warm: {theme.held_out}; "
        f"--tint: {theme.tint};"
    )
