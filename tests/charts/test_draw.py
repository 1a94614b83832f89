"""Every chart in every theme and width: valid, in known styles, within its width, still."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import vl_convert

from lawsmith.charts import (
    ANSWER_CHARTS,
    CHARTS,
    NARROW,
    THEMES,
    WIDE,
    ChartUnavailable,
    themed,
)
from lawsmith.charts.draw import KeyEntry, entries_of, key_places, layer, mark, tooltip_parts
from lawsmith.charts.text import text_width, wrap
from lawsmith.charts.theme import config

from .answers import answered


def styles_of(part):
    """Every style that a specification names."""
    if isinstance(part, list):
        return {style for item in part for style in styles_of(item)}
    if not isinstance(part, dict):
        return set()
    here = {part["style"]} if isinstance(part.get("style"), str) else set()
    return here | {s for key, item in part.items() if key != "config" for s in styles_of(item)}


@pytest.mark.parametrize("width", [NARROW, WIDE, 1200])
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_valid_names_known_styles_and_keeps_its_width(name, width, demo):
    check(CHARTS[name](demo, width=width), width)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("width", [NARROW, WIDE, 1200])
@pytest.mark.parametrize("name", ["answer", "allocation", "hyperparameters"])
def test_a_chart_of_an_answer_is_valid_too(name, width, whole):
    made = answered(factor=1.1) if whole else answered(held_out=False)
    check(ANSWER_CHARTS[name](made, width=width), width)


@pytest.mark.parametrize("name", ["answer", "allocation", "hyperparameters"])
def test_a_chart_of_an_answer_holds_no_colour_and_changes_with_the_theme_alone(name):
    chart = ANSWER_CHARTS[name](answered())
    spec = chart.to_dict()
    spec.pop("config")
    assert not re.search(r"#[0-9a-f]{6}", str(spec))
    for theme in THEMES.values():
        other = themed(chart, theme).to_dict()
        assert other.pop("config")["background"] == theme.background
        assert other == spec


def check(chart, width):
    spec = chart.to_dict()  # to_dict validates against Vega-Lite's schema
    assert styles_of(spec) <= set(config(THEMES["light"])["style"])
    svg = vl_convert.vegalite_to_svg(spec)
    drawn = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
    assert drawn <= width + 8
    assert drawn >= 0.9 * width


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", CHARTS)
def test_a_theme_changes_only_the_configuration(name, theme, demo):
    chart = CHARTS[name](demo)
    spec, other = chart.to_dict(), themed(chart, THEMES[theme]).to_dict()
    assert other.pop("config")["background"] == THEMES[theme].background
    spec.pop("config")
    assert other == spec


def test_all_themes_have_the_same_styles():
    names = {frozenset(config(theme)["style"]) for theme in THEMES.values()}
    assert len(names) == 1


def test_drawing_twice_gives_the_same_chart(demo):
    for name, draw in CHARTS.items():
        assert draw(demo).to_dict() == draw(demo).to_dict(), name


def test_tooltips_say_N_D_lambda_and_loss(demo):
    spec = CHARTS["law"](demo).to_dict()
    runs = next(p for p in spec["layer"] if p["mark"]["style"] == "run")
    assert [t["title"] for t in runs["encoding"]["tooltip"]] == [
        *("N", "D", "C", "lr", "batch", "loss")
    ]


def test_a_tooltip_never_becomes_a_picture_or_a_heading(demo):
    frame = CHARTS["law"](demo).layer[0].data
    _, shown = tooltip_parts(frame, {"C": "image", "low": "title"})
    assert [t["title"] for t in shown] == ["image ", "title "]


def test_a_number_that_is_not_there_is_a_dash_in_a_tooltip():
    frame = pd.DataFrame({"loss": [2.5, np.nan], "N": [1e8, 2e8]})
    transforms, _ = tooltip_parts(frame, {"loss": "loss", "N": "N"})
    svg = vl_convert.vegalite_to_svg(
        {
            "data": {"values": [{"loss": 2.5, "N": 1e8}, {"loss": None, "N": 2e8}]},
            "transform": transforms,
            "mark": "text",
            "encoding": {"text": {"field": "loss_text"}, "x": {"field": "N_text"}},
        }
    )
    assert ">2.5<" in svg
    assert ">–<" in svg
    assert ">200M<" in svg


def test_a_chart_that_cannot_be_made_says_why(compute_law):
    reasons = {}
    for name, draw in CHARTS.items():
        try:
            draw(compute_law)
        except ChartUnavailable as error:
            reasons[name] = str(error)
    assert set(reasons) == {"curves"}


def test_text_is_wrapped_at_its_width():
    lines = wrap("Loss against compute: a study, L(N, D) = E + A·N^-α + B·D^-β", 15, 200)
    assert len(lines) > 1
    assert all(text_width(line, 15) <= 200 for line in lines)
    assert " ".join(lines) == "Loss against compute: a study, L(N, D) = E + A·N^-α + B·D^-β"


def test_a_word_longer_than_a_line_is_broken():
    assert "".join(wrap("x" * 100, 10, 200)) == "x" * 100
    assert len(wrap("x" * 100, 10, 200)) == 5


def test_a_key_wraps_into_rows():
    assert key_places([50, 50, 100], pixels=200) == [(0, 0), (0, 92), (1, 0)]


def test_a_key_names_each_meaning_of_the_layers_with_rows_once_and_points_first():
    rows = pd.DataFrame({"a": [1.0]})
    color = {"field": "a", "type": "quantitative"}
    layers = [
        layer(rows, mark("area", "band"), "interval"),
        layer(rows, mark("rule", "law"), "law"),
        layer(rows, mark("line", "law"), "law"),
        layer(rows.iloc[:0], mark("point", "run"), "run"),
        layer(rows, mark("point", "cell"), "best", color=color),
        layer(rows, mark("rule", "threshold")),
    ]
    assert entries_of(layers) == [
        KeyEntry("point", "key-cell", "best"),  # no colour of its own: that is the scale's
        KeyEntry("line", "law", "law"),
        KeyEntry("area", "band", "interval"),
    ]


def test_a_hyphenated_word_that_fits_a_line_is_not_broken():
    assert wrap("Recovery of the law: synthetic-oellm-multilingual, L(C)", 15.5, 290) == [
        "Recovery of the law:",
        "synthetic-oellm-multilingual, L(C)",
    ]
