"""Fantasies: the losses of runs not made, as a surrogate sees them.

Notation and shapes
    m candidates
    mixed grid   observed losses where there are any, fantasized ones elsewhere

A fantasized loss is never data: what is made of it counts how well it is known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


def mixed_losses(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) the mixed grid: observed losses where there are any, fantasized ones elsewhere.

    A configuration that diverged is known to be no use: NaN, which no frontier takes.
    """
    observed = runs.config_loss(m)
    mixed = np.where(np.isfinite(observed), observed, posterior.loss)
    only_diverged = np.zeros(m, dtype=np.bool_)
    only_diverged[runs.of(State.DIVERGED).index] = True
    mixed[only_diverged & ~np.isfinite(observed)] = np.nan
    return mixed


Weigh = Callable[[int, Runs, Posterior], FloatArray]  # m, runs, posterior → (m,) weights


def equal_weights(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) 1 for every row: a fantasized point counts as much as a run, as in the paper."""
    return np.ones(m)
