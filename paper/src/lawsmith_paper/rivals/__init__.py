"""The methods that lawsmith is compared with, by name: policies and surrogates beside its own."""

from __future__ import annotations

from typing import Any, cast

from lawsmith import policies, surrogates
from lawsmith.acquisition import get_acquisition
from lawsmith.costs import SeparateRuns
from lawsmith.errors import LawsmithError, unknown
from lawsmith.policies import Full, InitialDesign, Policy, Search
from lawsmith.policies.catalogue import POLICIES as OWN_POLICIES
from lawsmith.policies.search import REACH
from lawsmith.surface import PUBLIC, Prior
from lawsmith.surrogates import SURROGATES as OWN_SURROGATES
from lawsmith.surrogates.base import Surrogate
from lawsmith.surrogates.gp.kernel import check_names
from lawsmith_paper.rivals.cheapest import Cheapest
from lawsmith_paper.rivals.remember import Remember
from lawsmith_paper.rivals.spaces import NewSlice
from lawsmith_paper.rivals.vopt import VOptimal

POLICIES = (*OWN_POLICIES, "slice", "random", "cheapest", "vopt")
SURROGATES = (*OWN_SURROGATES, "botorch", "xgboost", "tabpfn", "none")


def make_surrogate(
    name: str,
    *,
    kernel: str = "matern",
    priors: str = "free",
    scale: str = "loss",
    seed: int = 0,
    model_path: str | None = None,
    prior: Prior = PUBLIC,
) -> Surrogate | None:
    """The surrogate called ``name``; 'none' is None, for policies that draw at random.

    kernel, priors  of the Gaussian processes, gp and botorch
    scale           what is modelled: 'loss', or 'log' for its logarithm, as surface always does
    seed            of the surrogates that draw: xgboost and tabpfn
    model_path      file of TabPFN's weights; None for those in the user's cache
    """
    if name not in SURROGATES:
        raise unknown("surrogate", name, SURROGATES)
    check_names(kernel=kernel, priors=priors, scale=scale)
    match name:
        case "botorch":
            from lawsmith_paper.rivals.botorch import BoTorchGP

            return Remember(BoTorchGP(kernel, priors, scale))
        case "xgboost":
            from lawsmith_paper.rivals.xgboost import XGBoostEnsemble

            return Remember(XGBoostEnsemble(scale=scale, seed=seed))
        case "tabpfn":
            from lawsmith_paper.rivals.tabpfn import TabPFNSurrogate

            return Remember(TabPFNSurrogate(model_path=model_path, scale=scale, seed=seed))
        case "none":
            return None
    return surrogates.make_surrogate(name, kernel=kernel, priors=priors, scale=scale, prior=prior)


def make_policy(
    name: str, surrogate: Surrogate | None, *, reach: float | None = REACH, **options: Any
) -> Policy:
    """A policy by name, a rival or one of lawsmith's; ``options`` as `lawsmith.make_policy` has."""
    if name not in POLICIES:
        raise unknown("policy", name, POLICIES)
    initial = InitialDesign(options.get("n_init", 10))
    prices = options.get("pricing") or SeparateRuns()
    match name:
        case "cheapest":
            return Cheapest(surrogate, pricing=prices)
        case "vopt":
            return VOptimal(initial, surrogate, pricing=prices)
        case "random" if surrogate is not None:
            raise LawsmithError("policy random", got=f"surrogate {surrogate.name}", want="none")
        case "random" | "slice":
            space = Full() if name == "random" else NewSlice(reach)
            acquisition = get_acquisition(
                options.get("acquisition", "lcb"), kappa=options.get("kappa", 2.0)
            )
            return Search(surrogate, acquisition, space, initial, pricing=prices)
    return policies.make_policy(name, surrogate, reach=reach, **options)
