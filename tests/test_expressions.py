"""The expression language: what it says, what it refuses, and that nothing gets out of it."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.errors import LawsmithError
from lawsmith.expressions import evaluate, mask, names

COLUMNS = {
    "N": np.array([1e8, 1e9, 2e9]),
    "D": np.array([20, 40, 60]),
    "optimizer": np.array(["adamw", "muon", "adamw"]),
    "smooth loss": np.array([2.5, np.nan, 3.5]),
    "tied": np.array([True, False, False]),
    "note": np.array(["x", None, np.nan], dtype=object),
}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("optimizer == 'adamw'", [0, 2]),
        ('optimizer != "adamw"', [1]),
        ("1e8 < N <= 2e9", [1, 2]),
        ("optimizer == 'adamw' and N > 1e8", [2]),
        ("N > 1e9 or optimizer == 'muon'", [1, 2]),
        ("not optimizer == 'adamw'", [1]),
        ("tied", [0]),
        ("not tied", [1, 2]),
        ("tied == False", [1, 2]),
        ("optimizer in ['muon', 'sgd']", [1]),
        ("optimizer not in ('muon',)", [0, 2]),
        ("D in [20, 60.0]", [0, 2]),
        ("10 < D in [20, 60]", [0, 2]),
        ("N in [D * 5e6, 2e9]", [0, 2]),
        ('col("smooth loss") < 3', [0]),
        ('col("smooth loss") == col("smooth loss")', [0, 2]),
        ("col('N') >= 1e9", [1, 2]),
        ("D / 2 + 1 > 3 * 2 ** 2 - 1", [1, 2]),
        ("-D < -30", [1, 2]),
        ("+D > (30)", [1, 2]),
        ("note == ''", [1, 2]),
        ("optimizer < 'b'", [0, 2]),
        ("1 < 2", [0, 1, 2]),
        ("True", [0, 1, 2]),
    ],
)
def test_an_expression_picks_the_rows_it_says(text, rows):
    assert np.flatnonzero(mask(text, COLUMNS)).tolist() == rows


def test_arithmetic_is_elementwise_in_floats():
    np.testing.assert_array_equal(evaluate("N / D ** 2", COLUMNS), COLUMNS["N"] / COLUMNS["D"] ** 2)
    assert evaluate("2 + 3 * 4 - 6 / 3", COLUMNS).tolist() == [12.0] * 3
    assert evaluate("2 ** 3 ** 2", COLUMNS).tolist() == [512.0] * 3


@given(
    low=st.floats(-10, 10),
    high=st.floats(-10, 10),
    x=st.lists(st.floats(-10, 10), min_size=1, max_size=8),
)
def test_a_chain_is_the_and_of_its_links(low, high, x):
    columns = {"x": np.array(x)}
    chained = mask(f"{low} <= x < {high}", columns)
    assert chained.tolist() == [low <= value < high for value in x]
    assert chained.tolist() == mask(f"not (x < {low} or x >= {high})", columns).tolist()


def test_the_columns_of_an_expression_are_named_once_in_reading_order():
    assert names("D > 1 and col('smooth loss') < N and D < 5") == ("D", "smooth loss", "N")
    assert names("1 < 2") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("optimzer == 'a'", r"character 1: got no column 'optimzer'.*did you mean optimizer\?"),
        ("N > 1 and col('smoth loss') < 3", r"character 11: .*did you mean smooth loss\?"),
        ("optimizer == sgd", r"character 14: got no column 'sgd'.*text is quoted: 'sgd'"),
        ("optimizer = 'adamw'", "character 11: .*write == to compare"),
        ("N > 1 && D > 1", "write and"),
        ("(N > 1) & (D > 1)", "write and"),
        ("(N > 1) | (D > 1)", "write or"),
        ("`smooth loss` < 3", r"col\(\"a name\"\)"),
        ("N > '1'", "character 5: got text, want a number"),
        ("optimizer == 3", "character 14: got a number, want text, as on the left"),
        ("optimizer in ['a', 3]", "character 20: got a number, want text"),
        ("N in 'abc'", "want a list such as"),
        ("N in []", "want a list such as"),
        ("N in [1] < 3", "in as the last comparison"),
        ("N and D", "character 1: got a number, want a truth value"),
        ("not optimizer", "character 5: got text, want a truth value"),
        ("-optimizer == 'a'", "got text, want a number"),
        ("'a' * 1000000000 == optimizer", "got text, want a number"),
        ("tied + 1 > 1", "got a truth value, want a number"),
        ("N is 3", "got is, want == or !="),
        ("N == None", "got 'None'"),
        ("N > 1j", "got '1j'"),
        ("N", "which is a number, want a comparison"),
        ("", "got '', want a comparison"),
        ("N >", "got 'N >', want a comparison"),
        ("N > 1; D", "character 6"),
        ("9" * 400 + " > N", "a number too large"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_place(text, message):
    with pytest.raises(LawsmithError, match=message) as caught:
        mask(text, COLUMNS)
    assert str(caught.value).startswith("expression")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "N.__class__",
        "().__class__.__bases__",
        "[x for x in N]",
        "(lambda: 1)()",
        "(N := 3) > 1",
        "N[0] > 1",
        "f'{N}' == 'a'",
        "N if tied else D",
        "open('/etc/passwd')",
        "col(optimizer) > 1",
        "col('N', 'D') > 1",
        "N % 2 == 0",
        "N << 100 > 1",
        "~tied",
        "...",
        "b'a' == optimizer",
        "N > 1\x00",
        "optimizer == '\ud800'",
    ],
)
def test_anything_beyond_the_language_is_refused(text):
    with pytest.raises(LawsmithError, match="expression"):
        mask(text, COLUMNS)


@pytest.mark.parametrize(
    "text",
    [
        "N > 1" + " " * 3000,
        "-" * 1900 + "N > 1",
        "(" * 900 + "N" + ")" * 900,
        "+".join(["N"] * 500) + " > 1",
        "not " * 450 + "tied",
    ],
)
def test_a_long_or_deep_expression_is_refused(text):
    with pytest.raises(LawsmithError, match="expression"):
        mask(text, COLUMNS)


def test_powers_overflow_to_infinity_instead_of_never_ending():
    assert mask("10 ** 10 ** 10 ** 10 > N", COLUMNS).all()


@pytest.mark.parametrize("shell", ["({}) in [True, True]", "True == ({}) == True"])
def test_nested_comparisons_take_linear_time(shell):
    shallow, deep = (calls_of_mask(nested(shell, depth)) for depth in (6, 12))
    assert shallow < deep < 3 * shallow


def nested(shell: str, depth: int) -> str:
    text = "tied"
    for _ in range(depth):
        text = shell.format(text)
    return text


def calls_of_mask(text: str) -> int:
    """How many calls of functions it takes: seconds would depend on the machine."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    profile = sys.getprofile()
    sys.setprofile(count)
    try:
        assert mask(text, COLUMNS).dtype == bool
    finally:
        sys.setprofile(profile)
    return calls


VOCABULARY = (
    "N D optimizer tied col('N') x 1 1e400 'a' ( ) [ ] , < == != in not and or + - * / ** is if . "
    ": = lambda"
)


@given(
    st.one_of(
        st.text(max_size=40),
        st.lists(st.sampled_from(VOCABULARY.split()), max_size=12).map(" ".join),
    )
)
def test_no_text_raises_anything_but_our_error(text):
    try:
        value = evaluate(text, COLUMNS)
    except LawsmithError:
        return
    assert value.shape == (3,)


def test_a_column_that_is_neither_numbers_nor_text_is_refused_by_name():
    with pytest.raises(LawsmithError, match="column when: got datetime64"):
        mask("when > 1", {"when": np.array(["2024-01-01"], dtype="datetime64[ns]")})
    with pytest.raises(LawsmithError, match="column z: got complex128"):
        mask("z > 1", {"z": np.array([1j])})
