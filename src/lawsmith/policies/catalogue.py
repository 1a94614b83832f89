"""Policies by name: the one place where the words of a user become a search."""

from __future__ import annotations

from dataclasses import replace

from lawsmith.acquisition import KAPPA, get_acquisition
from lawsmith.costs import Pricing
from lawsmith.errors import LawsmithError, unknown
from lawsmith.laws.catalogue import LC
from lawsmith.laws.law import Law
from lawsmith.policies.base import Policy
from lawsmith.policies.cheapest import Cheapest
from lawsmith.policies.frontier import Frontier
from lawsmith.policies.initial import InitialDesign
from lawsmith.policies.search import Search
from lawsmith.policies.spaces import REACH, Full, NewSlice, Space, Window
from lawsmith.policies.vopt import VOptimal
from lawsmith.surrogates.base import Surrogate


def space_named(name: str, *, reach: float | None = REACH) -> Space:
    """The space of that name; ``reach`` is the window's, see `Window`."""
    spaces: dict[str, Space] = {
        space.name: space for space in (Window(reach), Full(), NewSlice(reach))
    }
    if name not in spaces:
        raise unknown("policy", name, ["frontier", *spaces, "random", "cheapest", "vopt"])
    return spaces[name]


def make_policy(
    name: str,
    surrogate: Surrogate | None,
    *,
    acquisition: str = "lcb",
    kappa: float = KAPPA,
    reach: float | None = REACH,
    n_init: int = 10,
    law: Law = LC,
    target: float | None = None,
    budget: float | None = None,
    pricing: Pricing | None = None,
) -> Policy:
    """A policy by name: 'frontier', 'random', 'cheapest', 'vopt', or a search in such a space.

    acquisition, kappa, reach   of a search; without a surrogate it is random
    law, target, budget, pricing   what 'frontier', which needs a surrogate, is after
    """
    if name == "frontier":
        if surrogate is None:
            want = "one that predicts, such as trend"
            raise LawsmithError("policy frontier", got="no surrogate", want=want)
        goal = Frontier(surrogate, InitialDesign(n_init), law, target, budget)
        return goal if pricing is None else replace(goal, pricing=pricing)
    if name == "cheapest":
        return Cheapest(surrogate)
    if name == "vopt":
        return VOptimal(InitialDesign(n_init), surrogate)
    if name == "random" and surrogate is not None:
        raise LawsmithError("policy random", got=f"surrogate {surrogate.name}", want="none")
    return Search(
        surrogate=surrogate,
        acquisition=get_acquisition(acquisition, kappa=kappa),
        space=Full() if name == "random" else space_named(name, reach=reach),
        initial=InitialDesign(n_init),
    )
