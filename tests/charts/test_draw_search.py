"""The charts of a search in every width: valid, in known styles, without colours of their own."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
import vl_convert

from lawsmith.charts import NARROW, THEMES, WIDE, maps, narrowing, pairs, timeline
from lawsmith.charts.theme import config

from .test_draw import styles_of
from .test_maps import tuned
from .test_narrowing import moment
from .test_timeline import event

NAMES = ("narrowing", "timeline", "pairs", "maps")


@pytest.fixture
def drawings(compute_law):
    grid, loss = tuned()
    runs = [moment(0.01, 5, 0.4), moment(0.1, 20, 0.1)]
    events = [event(f"t{i}", 1e18 * 2.0**i) for i in range(8)]
    return {
        "narrowing": partial(narrowing, runs, name="small", reference=1.99),
        "timeline": partial(timeline, events, name="small"),
        "pairs": partial(pairs, compute_law),
        "maps": partial(maps, grid, loss, np.arange(len(grid)) % 3 == 0, name="small"),
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
