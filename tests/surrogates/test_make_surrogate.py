"""Surrogates by name, and what is said when a name or a package is not there."""

from __future__ import annotations

import sys

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.surrogates import SURROGATES, make_surrogate
from lawsmith.surrogates.botorch import BoTorchGP
from lawsmith.surrogates.extras import needs_extra
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.remember import Remember
from lawsmith.surrogates.tabpfn import TabPFNSurrogate
from lawsmith.surrogates.xgboost import XGBoostEnsemble
from tests.surrogates.studies import observed, small_grid


def test_every_name_makes_its_surrogate_and_none_makes_none():
    made = {name: make_surrogate(name) for name in SURROGATES}
    assert made.pop("none") is None
    assert {name: surrogate.name for name, surrogate in made.items()} == {n: n for n in made}


def test_options_reach_the_surrogate_they_are_for():
    options = {"kernel": "grouped", "priors": "gamma", "scale": "log"}
    rest = {"seed": 7, "model_path": "w.ckpt"}
    assert make_surrogate("gp", **options, **rest) == GP(**options)
    assert make_surrogate("botorch", **options, **rest) == Remember(BoTorchGP(**options))
    assert make_surrogate("xgboost", **options, **rest) == Remember(
        XGBoostEnsemble(scale="log", seed=7)
    )
    assert make_surrogate("tabpfn", **options, **rest) == Remember(
        TabPFNSurrogate("w.ckpt", "log", 7)
    )


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
        ("priors", "xyz", "priors: got 'xyz', want one of lognormal, gamma"),
        ("scale", "logs", "scale: got 'logs', want one of loss, log (did you mean log?)"),
    ],
)
def test_an_unknown_option_is_refused_whatever_the_surrogate(name, option, word, message):
    with pytest.raises(LawsmithError) as caught:
        make_surrogate(name, **{option: word})
    assert str(caught.value) == message


def test_an_unknown_surrogate_is_refused_with_the_names_there_are():
    with pytest.raises(LawsmithError) as caught:
        make_surrogate("xgbost")
    assert str(caught.value) == (
        "surrogate: got 'xgbost', want one of trend, gp, botorch, xgboost, tabpfn, "
        "none (did you mean xgboost?)"
    )


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: BoTorchGP(kernel="rbf"), "kernel"),
        (lambda: BoTorchGP(priors="flat"), "priors"),
        (lambda: BoTorchGP(scale="linear"), "scale"),
        (lambda: XGBoostEnsemble(scale="linear"), "scale"),
        (lambda: TabPFNSurrogate(scale="linear"), "scale"),
    ],
)
def test_a_surrogate_made_directly_refuses_an_unknown_option_too(make, option):
    with pytest.raises(LawsmithError, match=f"^{option}: got"):
        make()


@pytest.mark.parametrize("name", ["botorch", "xgboost", "tabpfn"])
def test_an_absent_package_is_told_with_the_extra_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    grid = small_grid()
    with pytest.raises(LawsmithError) as caught:
        make_surrogate(name).fit(grid, observed(grid, 5))
    assert str(caught.value) == (
        f"surrogate {name}: got no package {name}, want the extra (pip install 'lawsmith[{name}]')"
    )


def test_the_package_named_is_the_one_that_is_absent():
    said = "surrogate botorch: got no package torch, want"
    with pytest.raises(LawsmithError, match=said), needs_extra("botorch"):
        raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")


def test_an_error_inside_a_package_that_is_there_is_not_hidden():
    with pytest.raises(ImportError, match="cannot import name"), needs_extra("botorch"):
        raise ImportError("cannot import name 'fit' from 'botorch'", name="botorch")
