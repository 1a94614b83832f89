"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.formats import count, flops, interval, number, percent, scientific


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (1_713_504_256, "1.71B"),
        (124_455_168, "124M"),
        (125e6, "125M"),
        (300e9, "300B"),
        (1.2e12, "1.2T"),
        (999, "999"),
        (999.6, "1K"),
        (999_999, "1M"),
        (1500, "1.5K"),
        (0, "0"),
        (0.25, "0.25"),
        (999.9e12, "1e15"),
        (2.5e16, "2.5e16"),
        (-2e9, "-2B"),
        (math.nan, "n/a"),
        (math.inf, "unbounded"),
    ],
)
def test_counts_carry_a_suffix(x, text):
    assert count(x) == text


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.449812, 4, "0.4498"),
        (6.6776, 3, "6.68"),
        (-0.15182, 4, "-0.1518"),
        (1.5, 4, "1.5"),
        (100.0, 4, "100"),
        (123456, 3, "123000"),
        (999_999.9, 4, "1e6"),
        (0.0001, 4, "0.0001"),
        (0.00001234, 3, "1.23e-5"),
        (0.099996, 4, "0.1"),
        (-0.0, 4, "0"),
        (math.nan, 4, "n/a"),
        (-math.inf, 4, "unbounded"),
    ],
)
def test_numbers_have_significant_digits_and_no_trailing_zeros(x, digits, text):
    assert number(x, digits) == text


@given(x=st.floats(1e-300, 1e300), digits=st.integers(1, 8))
def test_a_written_number_reads_back_to_its_significant_digits(x, digits):
    for text in (number(x, digits), scientific(x, digits), flops(x, digits)):
        assert float(text) == pytest.approx(x, rel=0.5000001 * 10.0 ** (1 - digits))


def test_compute_is_written_as_mantissa_and_exponent():
    assert [flops(x) for x in (1.5e21, 6e18, 9.999e20, 0.0)] == ["1.5e21", "6e18", "1e21", "0"]


def test_percentages_and_intervals():
    assert [percent(x) for x in (0.0123, 0.95, -0.5, math.nan)] == ["1.23%", "95%", "-50%", "n/a"]
    assert interval(1.6212, 1.8) == "[1.621, 1.8]"
    assert interval(7e9, 1.25e10, form=count) == "[7B, 12.5B]"
    assert interval(1.0, math.inf) == "[1, unbounded]"
