"""A drawn study of trunks and branches whose truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd

SIZES = np.geomspace(1e8, 2e9, 8).round()


def trunk_loss(N, D, shape=0.0):
    """Of a constant rate; ``shape`` is what a trunk has in log loss beyond its size."""
    return (1.8 + 400.0 * N**-0.34 + 600.0 * D**-0.29) * np.exp(shape)


def gain(N, D):
    """What a decay of a tenth takes off the log loss."""
    return 0.03 - 0.002 * np.log(N / 5e8) + 0.001 * np.log(D / 3e10)


def study(seed: int, *, odd: float = 0.01, wander: float = 0.001):
    """(runs, curves): trunks to 1e11 tokens, four branches each, shapes that differ by ``odd``."""
    rng = np.random.default_rng(seed)
    runs, curves = [], []
    for i, N in enumerate(SIZES):
        shape = odd * rng.standard_normal()
        D = np.arange(1, 101) * 1e9
        loss = trunk_loss(N, D, shape) * np.exp(3e-4 * rng.standard_normal(len(D)))
        curves.append(pd.DataFrame({"run": f"trunk-{i}", "D": D, "loss": loss, "N": N}))
        off = wander * rng.standard_normal()
        for k, b in enumerate((1e10, 2e10, 4e10, 9e10)):
            end = b / 0.9
            log_loss = np.log(trunk_loss(N, b, shape)) - gain(N, end) - off
            log_loss += 1e-4 * rng.standard_normal()
            row = {"run": f"branch-{i}-{k}", "N": N, "D": end, "loss": np.exp(log_loss)}
            runs.append(row | {"parent": f"trunk-{i}", "branch_at": b})
    return pd.DataFrame(runs), pd.concat(curves, ignore_index=True).assign(kind="trunk")
