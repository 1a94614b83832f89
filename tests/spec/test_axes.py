"""Axes of a study file: lists, ranges, categories, tokens per parameter."""

from __future__ import annotations

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.spec.axes import read_axis
from lawsmith.spec.reading import seconds_of


@pytest.mark.parametrize(
    ("written", "values", "kind"),
    [
        ([1e-3, 2e-3], (1e-3, 2e-3), "log"),
        ([0, 1, 2], (0, 1, 2), "linear"),
        (["a", "b"], ("a", "b"), "categorical"),
        ({"values": [1, 2], "scale": "categorical"}, (1, 2), "categorical"),
        ({"from": 1e-4, "to": 1e-2, "n": 3}, (1e-4, 1e-3, 1e-2), "log"),
        ({"from": 0.0, "to": 1.0, "n": 3, "scale": "linear"}, (0.0, 0.5, 1.0), "linear"),
        ({"from": 32, "to": 512, "n": 5, "whole": True}, (32, 64, 128, 256, 512), "log"),
    ],
)
def test_an_axis_is_read(written, values, kind):
    axis = read_axis(written)
    assert (axis.values, axis.kind) == (values, kind)


def test_whole_values_are_integers():
    assert all(
        isinstance(v, int) for v in read_axis({"from": 1, "to": 9, "n": 3, "whole": True}).values
    )


@pytest.mark.parametrize(
    "written",
    [
        *([], "abc", 5, None, [1, "a"], [1, 1], [True], [float("nan")], [[1]], [2**60]),
        *({"from": 1}, {"from": 2, "to": 1, "n": 3}, {"from": 0, "to": 1, "n": 3}, {}),
        *({"from": 1, "to": 2, "n": 1}, {"from": 1, "to": 2, "n": True}, {"vals": [1]}),
        *({"from": 1, "to": 2, "n": 3, "scale": "lin"}, {"values": [1], "n": 3}),
        *({"from": 1, "to": 3, "n": 9, "whole": True}, {"per_param": [5]}),
        *({"values": ["a"], "scale": "log"}, {"values": [0, 1], "scale": "log"}),
        {"from": float("inf"), "to": 1, "n": 3},
    ],
)
def test_what_is_no_axis_is_refused(written):
    with pytest.raises(LawsmithError):
        read_axis(written)


def test_tokens_may_be_told_per_parameter_and_must_be_above_0():
    assert read_axis({"per_param": [5, 20]}, tokens=True).per_param
    for bad in ([0, 1], ["a"], [-1.0]):
        with pytest.raises(LawsmithError):
            read_axis(bad, tokens=True)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(5, 5), (0.5, 0.5), ("90s", 90), ("2h", 7200), ("1.5 min", 90), ("1d", 86400)],
)
def test_a_duration_is_seconds_or_text_with_a_unit(written, seconds):
    assert seconds_of(written) == seconds


@pytest.mark.parametrize("written", ["", "h", "5", "5y", -1, True, None, [], float("nan"), 1e30])
def test_what_is_no_duration_is_refused(written):
    with pytest.raises(LawsmithError):
        seconds_of(written)
