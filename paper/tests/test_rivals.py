"""Rivals by name beside lawsmith's own, and what is said when a name or a package is absent."""

from __future__ import annotations

import sys

import pytest

from lawsmith import policies, surrogates
from lawsmith.errors import LawsmithError
from lawsmith.policies import Full, InitialDesign, Search
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.surface import SurfaceModel
from lawsmith_paper.rivals import POLICIES, SURROGATES, make_policy, make_surrogate
from lawsmith_paper.rivals.botorch import BoTorchGP
from lawsmith_paper.rivals.cheapest import Cheapest
from lawsmith_paper.rivals.extras import needs_extra
from lawsmith_paper.rivals.remember import Remember
from lawsmith_paper.rivals.tabpfn import TabPFNSurrogate
from lawsmith_paper.rivals.vopt import VOptimal
from lawsmith_paper.rivals.xgboost import XGBoostEnsemble
from tests.surrogates.studies import observed, small_grid


def test_every_name_makes_its_surrogate_and_none_makes_none():
    made = {name: make_surrogate(name) for name in SURROGATES}
    assert made.pop("none") is None
    assert {name: surrogate.name for name, surrogate in made.items()} == {n: n for n in made}


def test_options_reach_the_surrogate_they_are_for():
    options = {"kernel": "grouped", "priors": "gamma", "scale": "log"}
    rest = {"seed": 7, "model_path": "w.ckpt"}
    assert make_surrogate("gp", **options, **rest) == GP(**options)
    assert make_surrogate("surface", **options, **rest) == SurfaceModel()
    assert make_surrogate("botorch", **options, **rest) == Remember(BoTorchGP(**options))
    assert make_surrogate("xgboost", **options, **rest) == Remember(
        XGBoostEnsemble(scale="log", seed=7)
    )
    assert make_surrogate("tabpfn", **options, **rest) == Remember(
        TabPFNSurrogate("w.ckpt", "log", 7)
    )


@pytest.mark.parametrize("name", surrogates.SURROGATES)
def test_lawsmiths_own_surrogates_are_lawsmiths(name):
    options = {"kernel": "linear", "priors": "lognormal", "scale": "log"}
    assert make_surrogate(name, **options) == surrogates.make_surrogate(name, **options)
    assert make_surrogate(name) == surrogates.make_surrogate(name)


@pytest.mark.parametrize("name", policies.catalogue.POLICIES)
def test_lawsmiths_own_policies_are_lawsmiths(name):
    options = {"acquisition": "ei", "reach": 3.0, "n_init": 4, "target": 1e22}
    surrogate = SurfaceModel()
    assert make_policy(name, surrogate, **options) == policies.make_policy(
        name, surrogate, **options
    )


def test_every_policy_has_its_name():
    made = {
        name: make_policy(name, None if name == "random" else SurfaceModel()).name
        for name in POLICIES
    }
    words = {name: text.split("+")[:2] for name, text in made.items()}
    assert words.pop("random") == ["full", "none"]
    assert words == {name: [name, "surface"] for name in words}


def test_rival_policies_take_their_initial_design_and_surrogate():
    surrogate = SurfaceModel()
    assert make_policy("vopt", surrogate, n_init=3) == VOptimal(InitialDesign(3), surrogate)
    assert make_policy("cheapest", surrogate, n_init=3) == Cheapest(surrogate)
    random = make_policy("random", None, n_init=3)
    assert isinstance(random, Search)
    assert (random.space, random.initial, random.surrogate) == (Full(), InitialDesign(3), None)


def test_random_search_with_a_surrogate_is_refused():
    with pytest.raises(LawsmithError, match="policy random: got surrogate surface, want none"):
        make_policy("random", SurfaceModel())


def test_an_unknown_policy_is_refused_with_the_names_there_are():
    with pytest.raises(LawsmithError, match=r"policy: got 'vop', want one of frontier, .*vopt\?"):
        make_policy("vop", None)


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


def test_an_unknown_surrogate_is_refused_with_the_names_there_are():
    with pytest.raises(LawsmithError) as caught:
        make_surrogate("xgbost")
    assert str(caught.value) == (
        "surrogate: got 'xgbost', want one of surface, gp, botorch, xgboost, tabpfn, "
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


@pytest.mark.parametrize(
    ("name", "extra"), [("botorch", ""), ("xgboost", ""), ("tabpfn", "[tabpfn]")]
)
def test_an_absent_package_is_told_with_what_installs_it(name, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    grid = small_grid()
    with pytest.raises(LawsmithError) as caught:
        make_surrogate(name).fit(grid, observed(grid, 5))
    assert str(caught.value) == (
        f"surrogate {name}: got no package {name}, want what lawsmith-paper{extra} installs"
    )


def test_the_package_named_is_the_one_that_is_absent():
    said = "surrogate botorch: got no package torch, want"
    with pytest.raises(LawsmithError, match=said), needs_extra("botorch"):
        raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")


def test_an_error_inside_a_package_that_is_there_is_not_hidden():
    with pytest.raises(ImportError, match="cannot import name"), needs_extra("botorch"):
        raise ImportError("cannot import name 'fit' from 'botorch'", name="botorch")
