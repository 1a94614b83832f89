"""Surrogates by name, and what is said when a name is not there."""

from __future__ import annotations

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.surrogates import SURROGATES, make_surrogate
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.surface import SurfaceModel


def test_every_name_makes_its_surrogate():
    made = {name: make_surrogate(name) for name in SURROGATES}
    assert {name: surrogate.name for name, surrogate in made.items()} == {n: n for n in made}


def test_options_reach_the_surrogate_they_are_for():
    options = {"kernel": "grouped", "priors": "gamma", "scale": "log"}
    assert make_surrogate("gp", **options) == GP(**options)
    assert make_surrogate("gp") == GP(kernel="matern", priors="free", scale="loss")
    assert make_surrogate("surface", **options) == SurfaceModel()


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize(
    ("option", "word", "message"),
    [
        (
            "kernel",
            "matern+lin",
            "kernel: got 'matern+lin', want one of matern, linear, matern+linear, grouped "
            "(did you mean matern+linear?)",
        ),
        ("priors", "xyz", "priors: got 'xyz', want one of free, lognormal, gamma"),
        ("scale", "logs", "scale: got 'logs', want one of loss, log (did you mean log?)"),
    ],
)
def test_an_unknown_option_is_refused_whatever_the_surrogate(name, option, word, message):
    with pytest.raises(LawsmithError) as caught:
        make_surrogate(name, **{option: word})
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["xgboost", "none"])
def test_an_unknown_surrogate_is_refused_with_the_names_there_are(name):
    with pytest.raises(LawsmithError) as caught:
        make_surrogate(name)
    assert str(caught.value) == f"surrogate: got '{name}', want one of surface, gp"
