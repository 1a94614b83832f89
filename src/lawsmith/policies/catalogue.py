"""Methods: how runs are chosen, as one value, and the policies that are made of it by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lawsmith.acquisition import KAPPA, get_acquisition
from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.errors import LawsmithError, unknown
from lawsmith.policies.base import InitialDesign, Policy
from lawsmith.policies.frontier import Frontier
from lawsmith.policies.search import REACH, Full, Search, Space, Window
from lawsmith.surface import PUBLIC, Prior
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Surrogate

POLICIES = ("frontier", "window", "full")
N_INIT = 10  # default runs of an initial design, as published; the surface needs none

MakeSurrogate = Callable[..., Surrogate | None]


@dataclass(frozen=True)
class Method:
    """How runs are chosen: one value for command line, study file, Optuna and benchmarks.

    A setting is None if it does not apply or is left to its default.

    n_init    runs drawn at random before the surrogate is used
    replicates  whether 'frontier' may repeat a finished run with another seed
    target    the compute at which the best loss is wanted
    pricing   what a run costs after those before it
    prior     what the surface expects of a study before its runs are seen
    further   settings of other packages' surrogates, by name
    """

    policy: str = "frontier"
    surrogate: str = "surface"
    kernel: str | None = None
    priors: str | None = None
    scale: str | None = None
    acquisition: str | None = None
    kappa: float | None = None
    reach: float | None = None
    slice_by: str | None = None
    n_init: int | None = None
    replicates: bool = False
    target: float | None = None
    pricing: Pricing = field(default_factory=SeparateRuns)
    prior: Prior = field(default=PUBLIC, repr=False)
    further: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """For the record: everything by name but target, prices and prior."""
        skipped = ("further", "target", "pricing", "prior")
        kept = [f.name for f in fields(self) if f.name not in skipped]
        values = {name: getattr(self, name) for name in kept}
        return {**values, "n_init": self.n_first, **self.further}

    @property
    def n_first(self) -> int:
        """Runs of the initial design."""
        if self.n_init is not None:
            return self.n_init
        return 0 if (self.policy, self.surrogate) == ("frontier", "surface") else N_INIT

    def make_surrogate(self, make: MakeSurrogate = make_surrogate) -> Surrogate | None:
        """The model that predicts the runs not made."""
        given = self._given("kernel", "priors", "scale")
        if self.surrogate == "surface":
            given["prior"] = self.prior
        return make(self.surrogate, **given, **self.further)

    def options(self) -> dict[str, Any]:
        """What `make_policy` takes beside the surrogate."""
        given = self._given("acquisition", "kappa", "reach", "replicates", "target", "pricing")
        return {**given, "n_init": self.n_first}

    def _given(self, *names: str) -> dict[str, Any]:
        """The settings that are not left to their defaults."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def space_named(name: str, *, reach: float | None = REACH) -> Space:
    """The space of that name; ``reach`` is the window's, see `Window`."""
    spaces: dict[str, Space] = {space.name: space for space in (Window(reach), Full())}
    if name not in spaces:
        raise unknown("policy", name, POLICIES)
    return spaces[name]


def make_policy(
    name: str,
    surrogate: Surrogate | None,
    *,
    acquisition: str = "lcb",
    kappa: float = KAPPA,
    reach: float | None = REACH,
    n_init: int = N_INIT,
    replicates: bool = False,
    target: float | None = None,
    pricing: Pricing | None = None,
) -> Policy:
    """A policy by name: 'frontier', or a search in the space 'window' or 'full'.

    acquisition, kappa, reach   of a search; without a surrogate it is random
    n_init                      random runs to begin with
    target, replicates          the compute at which 'frontier' wants to know the best loss, and
                                whether it may make a finished run again
    pricing                     what runs cost; by default each its own compute

    >>> import numpy as np
    >>> N, D = (v.ravel() for v in np.meshgrid([1e8, 3e8, 1e9], [2e9, 6e9, 2e10]))
    >>> grid = Grid.from_columns({"N": N, "D": D})
    >>> policy = make_policy("frontier", make_surrogate("surface"), n_init=0)
    >>> rows = policy.ask(grid, Runs.empty(), 2, np.random.default_rng(0))
    >>> len(rows)
    2
    """
    prices = pricing or SeparateRuns()
    if name == "frontier":
        if surrogate is None:
            want = "one that predicts, such as surface"
            raise LawsmithError("policy frontier", got="no surrogate", want=want)
        if n_init < 1 and surrogate.name != "surface":
            got = f"{n_init} initial runs with surrogate {surrogate.name}"
            raise LawsmithError("n_init", got=got, want="at least 1 initial run")
        begin = InitialDesign(n_init)
        return Frontier(surrogate, begin, target, pricing=prices, replicates=replicates)
    return Search(
        surrogate=surrogate,
        acquisition=get_acquisition(acquisition, kappa=kappa),
        space=space_named(name, reach=reach),
        initial=InitialDesign(n_init),
        pricing=prices,
    )
