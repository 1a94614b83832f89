"""One worker of an Optuna study, a process of its own; arguments: storage, study, budget, dies."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np
import optuna

from lawsmith.grid import Grid
from lawsmith.integrations.optuna import LawsmithSampler
from lawsmith.policies import make_policy
from lawsmith.surrogates import make_surrogate


def make_grid() -> Grid:
    """Thirty-six candidates."""
    N, D, lr = np.meshgrid([1e8, 2e8, 8e8], [2e9, 4e9, 8e9, 1.6e10], [1e-3, 3e-3, 1e-2])
    return Grid.from_columns({"N": N.ravel(), "D": D.ravel(), "lr": lr.ravel()})


def loss(config: dict[str, Any]) -> float:
    """A Chinchilla law with an optimum of the learning rate; the largest rate diverges at size."""
    if config["lr"] > 5e-3 and config["N"] > 5e8:
        return math.nan
    base = 1.7 + 400 * config["N"] ** -0.34 + 410 * config["D"] ** -0.28
    return float(base + 0.02 * math.log(config["lr"] / 3e-3) ** 2)


def main(storage: str, name: str, budget: float, dies: str = "") -> None:
    sampler = LawsmithSampler(
        make_grid(),
        make_policy("window", make_surrogate("gp"), n_init=8),
        budget=budget,
    )
    study = optuna.load_study(study_name=name, storage=storage, sampler=sampler)

    def train(config: dict[str, Any]) -> float:
        if dies:
            os._exit(9)
        return loss(config)

    study.optimize(sampler.objective(train))


if __name__ == "__main__":
    main(*sys.argv[1:3], float(sys.argv[3]), *sys.argv[4:])
