"""The contract of policies, run over each of lawsmith's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lawsmith.policies import make_policy
from lawsmith.policies.catalogue import POLICIES as NAMES
from tests.policies.contract import PolicyContract
from tests.policies.fakes import Distance

POLICIES = {
    "frontier": lambda n: make_policy("frontier", Distance(), n_init=n),
    "random": lambda n: make_policy("full", None, n_init=n),
    "random window": lambda n: make_policy("window", None, n_init=n),
    "full lcb": lambda n: make_policy("full", Distance(), n_init=n),
    "window lcb": lambda n: make_policy("window", Distance(), n_init=n),
    "window ei": lambda n: make_policy("window", Distance(), acquisition="ei", n_init=n),
    "full ei per flop": lambda n: replace(
        make_policy("full", Distance(), acquisition="ei", n_init=n), cost_exponent=1.0
    ),
    "slice by slice pi": lambda n: make_policy(
        "window", Distance(), acquisition="pi", reach=None, n_init=n
    ),
}


class TestPolicies(PolicyContract):
    spaces = NAMES

    @pytest.fixture(params=POLICIES)
    def policy_of(self, request):
        return POLICIES[request.param]
