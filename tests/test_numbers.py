"""Numbers and JSON from anywhere: a number, or no number, and never another exception."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.errors import LawsmithError
from lawsmith.numbers import as_finite, as_float, read_json, short_repr
from lawsmith.plausible import LOSS, SCALE, SETTING, SIGNED_LOSS
from lawsmith.spreadsheet import csv_text, guarded, unguarded


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *(("1e9", 1e9), (" 2.5 ", 2.5), (10**400, math.inf), (-(10**400), -math.inf), (3, 3.0)),
        *(("inf", math.inf), ("9" * 400, math.inf), (np.float32(0.5), 0.5), (np.int64(7), 7.0)),
        *(("", None), ("70M", None), ("1_000", None), (True, None), (None, None), ([1.0], None)),
        *((np.array([1.0]), None), (1j, None), ({}, None), (b"1", None), ("\ud800", None)),
    ],
)
def test_a_value_is_a_number_or_none(value, number):
    assert as_float(value) == number


@given(st.one_of(st.text(), st.integers(), st.floats(), st.binary(), st.lists(st.floats())))
def test_no_value_raises_anything_but_the_error_that_names_its_place(value):
    number = as_float(value)
    if number is not None and math.isfinite(number):
        assert as_finite(value, where="here") == number
    else:
        with pytest.raises(LawsmithError, match=r"^here: got "):
            as_finite(value, where="here")


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(), st.lists))
def test_what_is_read_can_be_written_again(value):
    # Text of hypothesis has no lone surrogates unless it is asked for them.
    found = read_json(json.dumps(value))
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("9" * 5000, "thousands of digits"),
        ("[" * 100_000, "nested"),
        ('"\\ud800"', "surrogate"),
        (b"\xff\xfe{", "UTF"),
        ("{", "Expecting"),
    ],
)
def test_what_is_no_json_is_a_value_error(text, why):
    with pytest.raises(ValueError, match=why):
        read_json(text)


def test_a_huge_integer_is_shown_in_words():
    assert short_repr(10**5000) == "a whole number of more than 60 digits"


def test_every_public_table_and_unit_is_plausible_and_what_overflows_is_not():
    # Chinchilla in parameters, in billions, in PF-days; a perplexity; a loss in bits.
    assert SCALE.contains([7e10, 0.0000070, 70.0, 1.4e12, 5.76e23, 1e-6]).all()
    assert LOSS.contains([1.69, 0.02, 1e5, 1e-6]).all()
    for bounds in (LOSS, SCALE, SETTING, SIGNED_LOSS):
        assert not bounds.contains([1e-300, 1e280, math.nan, math.inf, -math.inf]).any()
        largest = bounds.high**2 * bounds.high**2 if bounds.high < 1e70 else bounds.high
        assert math.isfinite(largest)
    assert SETTING.contains([0.0, -0.1, 1e-8]).all()


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "'=1", "''-x"])
def test_text_that_a_spreadsheet_would_run_is_guarded_and_read_back(text):
    cell = guarded(text)
    assert isinstance(cell, str)
    assert cell.startswith("'")
    assert unguarded(cell) == text


@pytest.mark.parametrize("value", [-1.5, "-1.5", "+2e9", "adamw", "a=b", "", "it's", "'quoted'"])
def test_numbers_and_other_text_stay_as_they_are(value):
    assert guarded(value) == value
    assert unguarded(str(value)) == str(value)


def test_a_table_is_guarded_in_its_header_too():
    assert csv_text(["=a", "b"], [{"=a": "@x", "b": -2.0}, {"b": None}]) == "'=a,b\n'@x,-2.0\n,\n"
