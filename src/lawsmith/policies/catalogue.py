"""Policies by name: the one place where the words of a user become a search."""

from __future__ import annotations

from lawsmith.acquisition import KAPPA, get_acquisition
from lawsmith.errors import unknown
from lawsmith.policies.initial import InitialDesign
from lawsmith.policies.search import Search
from lawsmith.policies.spaces import REACH, Full, NewSlice, Space, Window
from lawsmith.surrogates.base import Surrogate


def space_named(name: str, *, reach: float | None = REACH) -> Space:
    """The space of that name; ``reach`` is the window's, see `Window`."""
    spaces: dict[str, Space] = {
        space.name: space for space in (Window(reach), Full(), NewSlice(reach))
    }
    if name not in spaces:
        raise unknown("policy", name, spaces)
    return spaces[name]


def make_policy(
    space: str,
    surrogate: Surrogate | None,
    *,
    acquisition: str = "lcb",
    kappa: float = KAPPA,
    reach: float | None = REACH,
    n_init: int = 10,
) -> Search:
    """A search by the names of its space and acquisition; without a surrogate it is random."""
    return Search(
        surrogate=surrogate,
        acquisition=get_acquisition(acquisition, kappa=kappa),
        space=space_named(space, reach=reach),
        initial=InitialDesign(n_init),
    )
