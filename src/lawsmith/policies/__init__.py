"""Policies: which runs of a grid to do next, given the runs so far.

policy = make_policy("window", None)
rows = policy.ask(grid, runs, 4, np.random.default_rng(0))
"""

from __future__ import annotations

from lawsmith.policies.base import Policy, unasked
from lawsmith.policies.catalogue import make_policy, space_named
from lawsmith.policies.cheapest import Cheapest
from lawsmith.policies.choosing import with_pending
from lawsmith.policies.frontier import Frontier
from lawsmith.policies.initial import InitialDesign
from lawsmith.policies.search import Search
from lawsmith.policies.spaces import Full, NewSlice, Space, Window
from lawsmith.policies.vopt import VOptimal

__all__ = [
    "Cheapest",
    "Frontier",
    "Full",
    "InitialDesign",
    "NewSlice",
    "Policy",
    "Search",
    "Space",
    "VOptimal",
    "Window",
    "make_policy",
    "space_named",
    "unasked",
    "with_pending",
]
