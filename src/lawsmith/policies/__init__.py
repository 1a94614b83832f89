"""Policies: which runs of a grid to do next, given the runs so far.

policy = make_policy("window", None)
rows = policy.ask(grid, runs, 4, np.random.default_rng(0))
"""

from __future__ import annotations

from lawsmith.policies.base import (
    Choice,
    InitialDesign,
    Policy,
    unasked,
    with_pending,
)
from lawsmith.policies.catalogue import Method, make_policy, space_named
from lawsmith.policies.frontier import Frontier
from lawsmith.policies.search import Full, Search, Window
