"""The charts of a search in every width: valid, in known styles, without colours of their own."""

from __future__ import annotations

import re
from functools import partial

import pytest
import vl_convert

from lawsmith.charts import NARROW, THEMES, WIDE, narrowing, timeline
from lawsmith.charts.theme import config

from .test_draw import styles_of
from .test_narrowing import moment
from .test_timeline import MIDNIGHT, attempt, timed

NAMES = ("narrowing", "timeline", "clock")


@pytest.fixture
def drawings():
    runs = [moment(0.01, 5, 0.4), moment(0.1, 20, 0.1)]
    runs_made = [attempt(f"t{i}", 1e18 * 2.0**i) for i in range(8)]
    at_once = [timed(f"t{i}", 60 * i, 100 + 60 * i) for i in range(8)]
    return {
        "narrowing": partial(narrowing, runs, name="small", reference=1.99),
        "timeline": partial(timeline, runs_made, name="small"),
        "clock": partial(timeline, at_once, until=MIDNIGHT, name="small"),
    }


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_valid_and_keeps_its_width(drawings, name, width):
    spec = drawings[name](width=width).to_dict()  # to_dict validates against Vega-Lite's schema
    assert styles_of(spec) <= set(config(THEMES["light"])["style"])
    svg = vl_convert.vegalite_to_svg(spec)
    drawn = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
    assert 0.88 * width <= drawn <= width + 8


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_holds_no_colour_of_its_own(drawings, name):
    spec = drawings[name]().to_dict()
    spec.pop("config")
    assert not re.search(r"#[0-9a-f]{6}", str(spec))


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_shows_itself_in_a_notebook(drawings, name):
    bundle = drawings[name]()._repr_mimebundle_()
    found = bundle[0] if isinstance(bundle, tuple) else bundle
    assert any("vegalite" in kind or kind == "text/html" for kind in found)
