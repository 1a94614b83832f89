"""How far the answer moves if N is counted in another way, such as with embeddings.

A law of N without embeddings differs from one of N with them, the more so the smaller the models.
The same runs are answered twice, once with each N. C = 6ND follows from the N that is used, unless
the table has a compute of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lawsmith.answer import Answer, Forecast
from lawsmith.arrays import FloatArray, distinct
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.expressions import evaluate
from lawsmith.grid import Grid
from lawsmith.plausible import SCALE
from lawsmith.runs import Runs


@dataclass(frozen=True)
class Moved:
    """The forecasts of one target: with N as the table counts it, and with the other N."""

    expression: str
    forecast: Forecast
    other: Forecast

    @property
    def loss(self) -> float:
        """Relative difference of the loss."""
        return self.other.loss / self.forecast.loss - 1.0

    @property
    def matters(self) -> bool:
        """Whether the loss with the other N lies outside the interval."""
        return not self.forecast.low <= self.other.loss <= self.forecast.high


def other_n(study: Study, expression: str) -> FloatArray:
    """(n,) N of each run: an expression of N, D, hyperparameters and the study's metrics."""
    rows = study.runs.index
    columns = {name: study.grid.columns[name][rows] for name in study.grid.names}
    found = evaluate(expression, {**study.metrics, **columns})
    if found.dtype.kind != "f" or not SCALE.contains(found).all():
        got = f"{expression!r}, which is not above 0 for every run"
        raise LawsmithError("--other-n", got=got, want="a number of parameters of each run")
    return np.asarray(found, dtype=np.float64)


def recounted(study: Study, N: FloatArray) -> Study:
    """The study with another N (n,) of each run; C follows, unless the table has its own."""
    grid, rows = study.grid, study.runs.index
    columns = {name: grid.columns[name][rows] for name in grid.names} | {"N": N}
    first, index = distinct({axis.name: columns[axis.name] for axis in grid.axes})
    compute = "C" if "C" in grid.names else "6ND" if "D" in grid.names else None
    recast = Grid.from_columns(
        {name: values[first] for name, values in columns.items()},
        axes={axis.name: axis.kind for axis in grid.axes},
        compute=compute,
    )
    runs = Runs(index, study.runs.loss, study.runs.state)
    return replace(study, grid=recast, runs=runs, target=study.target[rows][first])


def moved(expression: str, answer: Answer, other: Answer) -> tuple[Moved, ...]:
    """The forecasts of each target by both answers."""
    pairs = zip(answer.forecasts, other.forecasts, strict=True)
    return tuple(Moved(expression, *pair) for pair in pairs)
