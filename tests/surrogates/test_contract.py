"""The contract of surrogates, run over each of lawsmith's."""

from __future__ import annotations

from functools import partial

import pytest

from lawsmith.surface import BROAD
from lawsmith.surrogates import make_surrogate
from tests.surrogates.contract import Make, ProcessContract, SurrogateContract, maker

PROCESSES = [
    ("gp", "matern", "free"),
    ("gp", "matern", "lognormal"),
    ("gp", "linear", "lognormal"),
    ("gp", "matern+linear", "gamma"),
    ("gp", "grouped", "lognormal"),
]
OTHERS = [("surface", "matern", "free")]


class TestSurrogates(SurrogateContract):
    @pytest.fixture(params=PROCESSES + OTHERS, ids=" ".join)
    def make(self, request: pytest.FixtureRequest) -> Make:
        if request.param in OTHERS:
            # Of any study: the shipped prior knows FLOPs, so to it units matter.
            return maker(partial(make_surrogate, prior=BROAD), *request.param)
        return maker(make_surrogate, *request.param)


class TestProcesses(ProcessContract):
    @pytest.fixture(params=PROCESSES, ids=" ".join)
    def make(self, request: pytest.FixtureRequest) -> Make:
        return maker(make_surrogate, *request.param)
