"""Surrogates: models of the loss on a grid, chosen by name."""

from __future__ import annotations

from typing import Literal, cast, get_args

from lawsmith.errors import unknown
from lawsmith.surrogates.base import Posterior as Posterior
from lawsmith.surrogates.base import Scale, Surrogate
from lawsmith.surrogates.inputs import Kernel, Priors, check_names
from lawsmith.surrogates.remember import Remember

SurrogateName = Literal["trend", "gp", "botorch", "xgboost", "tabpfn", "none"]
SURROGATES: tuple[str, ...] = get_args(SurrogateName)


def make_surrogate(
    name: str,
    *,
    kernel: str = "matern",
    priors: str = "lognormal",
    scale: str = "loss",
    seed: int = 0,
    model_path: str | None = None,
) -> Surrogate | None:
    """The surrogate called ``name``; 'none' is None, for policies that draw at random.

    kernel, priors  of the Gaussian processes, gp and botorch
    scale           what is modelled: 'loss', or 'log' for its logarithm, as trend always does
    seed            of the surrogates that draw: xgboost and tabpfn
    model_path      file of TabPFN's weights; None for those in the user's cache
    """
    if name not in SURROGATES:
        raise unknown("surrogate", name, SURROGATES)
    check_names(kernel=kernel, priors=priors, scale=scale)
    model = cast(Scale, scale)
    match cast(SurrogateName, name):
        case "trend":
            from lawsmith.surrogates.trend import TrendGP

            return TrendGP()
        case "gp":
            from lawsmith.surrogates.gp import GP

            return GP(kernel=kernel, priors=priors, scale=model)
        case "botorch":
            from lawsmith.surrogates.botorch import BoTorchGP

            return Remember(BoTorchGP(cast(Kernel, kernel), cast(Priors, priors), model))
        case "xgboost":
            from lawsmith.surrogates.xgboost import XGBoostEnsemble

            return Remember(XGBoostEnsemble(scale=model, seed=seed))
        case "tabpfn":
            from lawsmith.surrogates.tabpfn import TabPFNSurrogate

            return Remember(TabPFNSurrogate(model_path=model_path, scale=model, seed=seed))
        case "none":
            return None
