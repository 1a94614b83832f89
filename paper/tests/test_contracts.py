"""The contracts of surrogates and of policies, run over the rivals."""

from __future__ import annotations

import pytest
from paper.tests import tabpfn_stand_in

from lawsmith_paper.rivals import POLICIES as NAMES
from lawsmith_paper.rivals import make_policy, make_surrogate
from tests.policies.contract import PolicyContract
from tests.policies.fakes import Distance
from tests.surrogates.contract import Make, ProcessContract, SurrogateContract, maker

PROCESSES = [
    ("botorch", "matern", "free"),
    ("botorch", "matern", "lognormal"),
    ("botorch", "grouped", "gamma"),
]
OTHERS = [("xgboost", "matern", "lognormal"), ("tabpfn", "matern", "lognormal")]

POLICIES = {
    "random": lambda n: make_policy("random", None, n_init=n),
    "slice lcb": lambda n: make_policy("slice", Distance(), n_init=n),
    "next slice pi": lambda n: make_policy(
        "slice", Distance(), acquisition="pi", reach=None, n_init=n
    ),
    "random slice": lambda n: make_policy("slice", None, n_init=n),
    "cheapest": lambda n: make_policy("cheapest", None),
    "V-optimal": lambda n: make_policy("vopt", None, n_init=n),
    "cheapest, fantasized": lambda n: make_policy("cheapest", Distance()),
    "V-optimal, fantasized": lambda n: make_policy("vopt", Distance(), n_init=n),
}


class TestSurrogates(SurrogateContract):
    @pytest.fixture(params=PROCESSES + OTHERS, ids=" ".join)
    def make(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Make:
        stand_in = tabpfn_stand_in.new_regressor
        monkeypatch.setattr("lawsmith_paper.rivals.tabpfn.new_regressor", stand_in)
        return maker(make_surrogate, *request.param)

    def test_the_unit_of_an_axis_is_of_no_account(self, make, request, monkeypatch):
        """Of BoTorch's model, that is: without priors on the kernel its optimiser ends wherever
        the last digits of the inputs take it, so it is asked at its starting values."""
        if "botorch matern free" in request.node.name:
            monkeypatch.setattr("lawsmith_paper.rivals.botorch.maximise_map", lambda model: None)
        super().test_the_unit_of_an_axis_is_of_no_account(make)


class TestProcesses(ProcessContract):
    @pytest.fixture(params=PROCESSES, ids=" ".join)
    def make(self, request: pytest.FixtureRequest) -> Make:
        return maker(make_surrogate, *request.param)


class TestPolicies(PolicyContract):
    spaces = NAMES

    @pytest.fixture(params=POLICIES)
    def policy_of(self, request):
        return POLICIES[request.param]
