"""Colours and type of the charts: a chart names styles, a theme says how they look.

A chart holds no colour of its own. Its marks name a style ('fitted', 'band', …) and its ordered
colours are the theme's ramp, so that one chart serves light pages, dark pages and paper: only the
Vega-Lite ``config`` changes. Blue and vermilion are Okabe and Ito's, told apart by colour-blind
readers; kinds of points differ in shape and lightness too, for greyscale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import altair as alt

AnyChart = TypeVar("AnyChart", bound=alt.LayerChart | alt.ConcatChart | alt.VConcatChart)

# 'sans-serif' must stay: a font that is not there draws nothing in PNG.
FONT = "Helvetica Neue, Arial, sans-serif"


def _star_path() -> str:
    """A five-pointed star as an SVG path in [-1, 1]²; Vega has no star of its own."""
    corners = []
    for k in range(10):
        radius = 1.0 if k % 2 == 0 else 0.42
        angle = math.pi * k / 5
        corners.append(f"{radius * math.sin(angle):.3f},{-radius * math.cos(angle):.3f}")
    return "M" + "L".join(corners) + "Z"


STAR = _star_path()


@dataclass(frozen=True)
class Theme:
    """The colours of one kind of page.

    ramp    Vega's scheme and the part of it in use, from small (first) to large (last): the small
            end stays clear of the background, lightness runs one way
    series  colours of things compared, in order; on paper neighbours differ in lightness most
    """

    name: str
    background: str
    ink: str  # titles, the law
    text: str  # labels and notes
    faint: str  # grid lines
    run: str  # a run that was not fitted
    fitted: str  # frontier points and the band
    held_out: str  # what the law did not see
    ramp: tuple[str, float, float]
    series: tuple[str, ...]


LIGHT = Theme(
    name="light",
    background="#ffffff",
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
    return {
        "background": theme.background,
        "font": FONT,
        "padding": 12,
        "view": {"stroke": None},
        "title": _title(theme),
        "axis": _axis(theme),
        "legend": _legend(theme),
        "range": {"ordinal": ramp, "ramp": ramp, "heatmap": ramp},
        "style": styles(theme),
    }


def _title(theme: Theme) -> dict[str, Any]:
    return {
        "anchor": "start",
        "frame": "group",
        "offset": 12,
        "color": theme.ink,
        "fontSize": 15,
        "fontWeight": 600,
        "lineHeight": 20,
        "subtitleColor": theme.text,
        "subtitleFontSize": 12,
        "subtitleLineHeight": 17,
        "subtitlePadding": 5,
    }


def _axis(theme: Theme) -> dict[str, Any]:
    return {
        "labelColor": theme.text,
        "labelFontSize": 11,
        "labelFlush": False,
        "titleColor": theme.text,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": theme.faint,
        "domainColor": theme.faint,
        "tickColor": theme.faint,
        "ticks": False,
        "labelPadding": 6,
    }


def _legend(theme: Theme) -> dict[str, Any]:
    return {
        "labelColor": theme.text,
        "labelFontSize": 11,
        "titleColor": theme.text,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "symbolOpacity": 1,
        "symbolStrokeWidth": 2,
        "gradientLength": 140,
    }


def styles(theme: Theme) -> dict[str, dict[str, Any]]:
    """How each named style looks."""
    marks = _points(theme) | _maps(theme) | _lines(theme)
    return marks | _series(theme) | _texts(theme)


def _points(theme: Theme) -> dict[str, dict[str, Any]]:
    """Points; those of a coloured scale ('cell', …) take their colour in keys from 'key-cell', …"""
    dot = {"filled": True, "shape": "circle", "opacity": 1}
    hollow = {"filled": False, "shape": "diamond", "opacity": 1}
    scaled: dict[str, dict[str, Any]] = {
        "cell": dot | {"size": 34},
        "cell-star": dot | {"size": 130, "shape": STAR},
        "cell-square": dot | {"size": 30, "shape": "square"},
        "minimum": dot | {"size": 120, "shape": "diamond"},
        "minimum-open": hollow | {"size": 110, "strokeWidth": 2},
    }
    keys = {f"key-{name}": style | {"color": theme.text} for name, style in scaled.items()}
    ring = hollow | {"shape": "circle"}
    own = {
        "run": dot | {"color": theme.run, "size": 14, "fillOpacity": 0.55},
        "fitted": dot | {"color": theme.fitted, "size": 46},
        "fitted-many": dot | {"color": theme.fitted, "size": 26, "fillOpacity": 0.8},
        "fantasized": ring | {"color": theme.fitted, "size": 46, "strokeWidth": 1.6},
        "held-out": dot | {"color": theme.held_out, "size": 130, "shape": STAR},
        "target": dot | {"color": theme.ink, "size": 70, "shape": "diamond"},
        "chosen": dot | {"color": theme.fitted, "size": 22, "fillOpacity": 0.5},
        "unfitted": ring | {"color": theme.text, "size": 34},
        "envelope": ring | {"color": theme.ink, "size": 90},
    }
    # Runs by what became of them: told apart by shape first.
    failed = {"color": theme.held_out, "shape": "cross", "size": 50, "strokeWidth": 1.6}
    states = {
        "state-initial": dot | {"color": theme.run, "shape": "square", "size": 30},
        "state-done": dot | {"color": theme.fitted, "size": 26, "fillOpacity": 0.85},
        "state-diverged": dot | {"color": theme.held_out, "shape": "triangle-up", "size": 44},
        "state-failed": hollow | failed,
        "state-retried": hollow | {"color": theme.run, "shape": "square", "size": 30},
        "state-pending": ring | {"color": theme.fitted, "size": 44, "strokeWidth": 1.6},
    }
    return scaled | keys | own | states


def _maps(theme: Theme) -> dict[str, dict[str, Any]]:
    """Marks on coloured squares: an outline in the page's colour keeps them clear of any."""
    outlined = {"filled": True, "opacity": 1, "stroke": theme.background, "strokeWidth": 1.2}
    drift = {"color": theme.held_out, "strokeWidth": 1.6, "opacity": 1}
    return {
        "map-run": outlined | {"color": theme.ink, "shape": "circle", "size": 16},
        "map-best": outlined | {"color": theme.ink, "shape": STAR, "size": 150},
        "map-drift": drift,
    }


def _lines(theme: Theme) -> dict[str, dict[str, Any]]:
    dashed, thin = {"strokeDash": [6, 4]}, {"strokeWidth": 1, "strokeOpacity": 0.8}
    curve = {"strokeWidth": 1.8, "opacity": 1}
    return {
        "law": {"color": theme.ink, "strokeWidth": 2, "opacity": 1},
        "law-behind": {"color": theme.ink, "strokeWidth": 6, "opacity": 1, "strokeOpacity": 0.25},
        "band": {"color": theme.fitted, "fillOpacity": 0.18, "opacity": 1},
        "region-half": {"color": theme.fitted, "fillOpacity": 0.85, "opacity": 1},
        "region-1": {"color": theme.fitted, "fillOpacity": 0.45, "opacity": 1},
        "region-2": {"color": theme.fitted, "fillOpacity": 0.18, "opacity": 1},
        "band-grey": {"color": theme.text, "fillOpacity": 0.18, "opacity": 1},
        "target-bar": {"color": theme.ink, "strokeWidth": 2, "opacity": 1},
        "off-scale": {"color": theme.run, "thickness": 1.5, "opacity": 1},
        "reference": {"color": theme.text} | thin,
        "threshold": {"color": theme.text, "strokeDash": [2, 3]} | thin,
        "stem": {"color": theme.fitted, "opacity": 1, "strokeWidth": 1.5},
        "curve": curve,
        "curve-reached": {"color": theme.text, "strokeWidth": 1.2, "opacity": 1},
        "curve-thin": curve | {"strokeWidth": 1.2, "strokeOpacity": 0.7},
        "curve-dashed": curve | dashed,
        "key-curve": curve | {"color": theme.text},
        "key-curve-dashed": curve | {"color": theme.text} | dashed,
    }


def _series(theme: Theme) -> dict[str, dict[str, Any]]:
    """Things compared: 'series-0' a line, 'series-0-dashed', 'series-0-band' the area about it."""
    found: dict[str, dict[str, Any]] = {}
    for k, color in enumerate(theme.series):
        line = {"color": color, "strokeWidth": 1.8, "opacity": 1}
        found[f"series-{k}"] = line
        found[f"series-{k}-dashed"] = line | {"strokeDash": [4, 3], "strokeWidth": 1.6}
        found[f"series-{k}-band"] = {"color": color, "fillOpacity": 0.1, "opacity": 1}
    return found


def _texts(theme: Theme) -> dict[str, dict[str, Any]]:
    note = {"color": theme.text, "fontSize": 11, "baseline": "middle", "align": "left"}
    ink = note | {"color": theme.ink}
    return {"note": note, "note-ink": ink, "panel": ink | {"fontSize": 12}}


def themed(chart: AnyChart, theme: Theme) -> AnyChart:
    """The chart in that theme; every chart of lawsmith comes in LIGHT."""
    copy = cast(AnyChart, chart.copy(deep=False))
    copy["config"] = config(theme)
    return copy


def variables(theme: Theme) -> str:
    """The colours of a page around charts, as CSS variables."""
    tint = {"light": "#f3f6f9", "dark": "#1d2228", "print": "#f4f4f4"}[theme.name]
    return (
        f"--page: {theme.background}; --ink: {theme.ink}; --text: {theme.text}; "
        f"--faint: {theme.faint}; --accent: {theme.fitted}; --warm: {theme.held_out}; "
        f"--tint: {tint};"
    )
