"""Results made by hand, and a suite small enough to run."""

from __future__ import annotations

import numpy as np

from lawsmith_paper.methods.results import Outcome
from lawsmith_paper.trial import BUDGETS


def outcome(seeds=None, **columns) -> Outcome:
    """Columns given as one value a seed, the same at every budget, or as (seeds, budgets)."""
    made = {}
    for name, values in columns.items():
        array = np.asarray(values, dtype=float)
        made[name] = array if array.ndim == 2 else np.repeat(array[:, None], len(BUDGETS), axis=1)
    n = len(next(iter(made.values())))
    known = np.arange(n) if seeds is None else np.array(seeds)
    return Outcome(known, made, np.ones(n), np.full(n, 10))
