"""Ticks: round, apart, and written in Vega as lawsmith.formats writes them."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.charts import ticks
from lawsmith.formats import count, flops


def written(expression, values):
    """What Vega makes of a label's expression at each value."""
    rows = [{"v": value, "k": k} for k, value in enumerate(values)]
    spec = {
        "data": {"values": rows},
        "transform": [{"calculate": expression("datum.v"), "as": "t"}],
        "mark": "text",
        "encoding": {"text": {"field": "t", "type": "nominal"}, "y": {"field": "k", "axis": None}},
    }
    return re.findall(r"<text[^>]*>([^<]+)</text>", vl_convert.vegalite_to_svg(spec))


COUNTS = [1.0, 125.0, 999.6, 1e3, 47.6e6, 999_999.0, 1.71e9, 3e11, 1.2e12, 9.99e14, 2e15]


def test_counts_read_as_everywhere_else():
    assert written(ticks.count_label, COUNTS) == [count(value) for value in COUNTS]


def test_computes_read_as_everywhere_else():
    values = [1e18, 1.54e21, 9.999e22, 5.76e23, 1e25]
    assert written(ticks.flops_label, values) == [flops(value) for value in values]


def test_small_numbers_are_written_out():
    texts = written(ticks.number_label, [0.002, 2.5, 512.0, 3e-5, 4e6])
    assert texts == ["0.002", "2.5", "512", "3e-5", "4e6"]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1e18, 1e25, [10.0**e for e in range(18, 26)]),
        (1e18, 2e21, [1e18, 3e18, 1e19, 3e19, 1e20, 3e20, 1e21]),
        (6e9, 3e11, [1e10, 2e10, 5e10, 1e11, 2e11]),
        (2e8, 9e8, [2e8, 3e8, 4e8, 5e8, 6e8, 7e8, 8e8, 9e8]),
    ],
)
def test_log_ticks_are_the_fewest_round_values_that_are_enough(low, high, expected):
    found = ticks.log_ticks(low, high, pixels=700, gap=44)
    assert found == pytest.approx(expected)


def test_many_decades_on_few_pixels_skip_powers():
    found = ticks.log_ticks(1e10, 1e30, pixels=300, gap=44)
    assert found == [1e12, 1e15, 1e18, 1e21, 1e24, 1e27, 1e30]


@given(
    low=st.floats(1e-6, 1e20),
    span=st.floats(1.01, 1e12),
    pixels=st.integers(120, 1200),
    gap=st.integers(20, 60),
)
def test_log_ticks_lie_inside_and_ascend(low, span, pixels, gap):
    found = ticks.log_ticks(low, low * span, pixels=pixels, gap=gap)
    assert len(found) >= 1
    assert all(low * (1 - 1e-6) <= tick <= low * span * (1 + 1e-6) for tick in found)
    assert found == sorted(set(found))


@given(low=st.floats(-1e3, 1e3), width=st.floats(1e-3, 1e4), n_max=st.integers(3, 12))
def test_linear_ticks_are_few_round_and_inside(low, width, n_max):
    found = ticks.linear_ticks(low, low + width, n_max=n_max)
    assert 1 <= len(found) <= n_max
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in found)


def test_linear_ticks_by_hand():
    assert ticks.linear_ticks(1.5, 3.1, n_max=8) == [1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0]
    assert ticks.linear_ticks(-0.38, 0.38, n_max=7) == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (2.0, 3.0, ticks.linear_ticks(2.0, 3.0, n_max=8)),
        (1.1, 6.5, [1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0]),
        (0.7, 9.7, [0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]),
        (0.9, 12.0, [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0]),
    ],
)
def test_losses_are_ticked_all_along_a_log_scale(low, high, expected):
    assert ticks.loss_ticks(low, high, pixels=400) == pytest.approx(expected)


@given(low=st.floats(0.01, 20), span=st.floats(3.01, 50), pixels=st.integers(150, 600))
def test_loss_ticks_lie_inside_and_apart(low, span, pixels):
    found = ticks.loss_ticks(low, low * span, pixels=pixels)
    assert all(low * (1 - 1e-6) <= tick <= low * span * (1 + 1e-6) for tick in found)
    gaps = [math.log(b / a) * pixels / math.log(span) for a, b in pairwise(found)]
    assert min(gaps, default=math.inf) >= ticks.LOSS_GAP - 1e-6


def test_padding_is_a_share_of_the_logarithm():
    assert ticks.padded([1.0, 100.0], share=0.5) == pytest.approx((0.1, 1000.0))
    low, high = ticks.padded([5.0, 5.0])
    assert low < 5.0 < high
