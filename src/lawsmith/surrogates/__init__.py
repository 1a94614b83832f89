"""Surrogates: models of the loss on a grid, chosen by name."""

from __future__ import annotations

from lawsmith.errors import unknown
from lawsmith.surface import PUBLIC, Prior
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.gp.kernel import check_names
from lawsmith.surrogates.surface import SurfaceModel

SURROGATES = ("surface", "gp")


def make_surrogate(
    name: str,
    *,
    kernel: str = "matern",
    priors: str = "free",
    scale: str = "loss",
    prior: Prior = PUBLIC,
) -> SurfaceModel | GP:
    """The surrogate called ``name``.

    kernel, priors  of gp
    prior           of surface: what is expected of a study before its runs are seen
    scale           of gp: whether it models the 'loss' or its 'log', as surface always does

    >>> make_surrogate("gp").name
    'gp'
    """
    if name not in SURROGATES:
        raise unknown("surrogate", name, SURROGATES)
    check_names(kernel=kernel, priors=priors, scale=scale)
    if name == "surface":
        return SurfaceModel(prior)
    return GP(kernel=kernel, priors=priors, scale=scale)
