"""Placeholders: whole values, nothing read twice, unknown ones told."""

from __future__ import annotations

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.runners.template import fill, fill_shell, placeholders, value_text

VALUES = {"N": 1e7, "lr": 0.003, "name": "a{N}b", "batch": 64}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("--n={N}", "--n=10000000"),
        ("{lr}", "0.003"),
        ("{name}", "a{N}b"),
        ("{{N}}", "{N}"),
        ("{batch}{batch}", "6464"),
        ("plain", "plain"),
        ("{{{N}}}", "{10000000}"),
    ],
)
def test_placeholders_become_values(template, filled):
    assert fill(template, VALUES) == filled


@pytest.mark.parametrize("template", ["{M}", "{", "}", "{N", "{N!r}", "{N:x}", "{0}", "{N.real}"])
def test_anything_else_in_braces_is_told(template):
    with pytest.raises(LawsmithError):
        fill(template, VALUES)


def test_names_are_listed_once_in_order():
    assert placeholders("{b} {a} {{c}} {b}") == ("b", "a")


@pytest.mark.parametrize(
    ("value", "text"), [(1e6, "1000000"), (3e-4, "0.0003"), (7, "7"), (1e20, "1e+20"), ("x", "x")]
)
def test_a_value_is_written_as_a_trainer_reads_it(value, text):
    assert value_text(value) == text
    assert isinstance(value, str) or float(text) == value


def test_a_shell_line_takes_plain_values_only():
    assert fill_shell("run --lr {lr}", VALUES) == "run --lr 0.003"
    with pytest.raises(LawsmithError, match=r"\{name\}: got 'a\{N\}b'"):
        fill_shell("{name}", VALUES)
    with pytest.raises(LawsmithError, match="want one of"):
        fill_shell("{nope}", VALUES)
