"""Drawn worlds: losses by a known law, accuracies by a known curve of the loss, questions drawn."""

from __future__ import annotations

import numpy as np

from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.tasks import ScoredRuns

N = np.geomspace(2e7, 4e8, 4)
RATIO = np.array([5.0, 10.0, 20.0, 40.0, 80.0, 160.0])


def loss_at(N, D):
    return 1.7 + 400.0 / N**0.34 + 410.0 / D**0.28


def accuracy_at(loss, *, chance=0.25, ceiling=0.95, slope=9.0, middle=2.6):
    return chance + (ceiling - chance) / (1.0 + (loss / middle) ** slope)


def world(seed, *, questions=2000, noise=0.003, accuracy=accuracy_at, via="loss"):
    """24 runs up to 4e8 parameters, and the accuracies that they measure."""
    rng = np.random.default_rng(seed)
    n, r = (part.ravel() for part in np.meshgrid(N, RATIO))
    d = n * r
    loss = loss_at(n, d) * np.exp(noise * rng.standard_normal(len(n)))
    measured = rng.binomial(questions, accuracy(loss)) / questions
    grid = Grid.from_columns({"N": n, "D": d}, axes={"N": "log", "D": "log"}, compute="6ND")
    runs = Runs.from_losses(np.arange(len(n)), loss)
    return ScoredRuns("drawn", grid, runs, measured, via)
