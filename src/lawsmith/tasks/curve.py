"""Accuracy as a bounded, monotone curve of x, with the scatter of runs and questions.

Notation and shapes
    x         what accuracy depends on, lower is better: log loss, or minus a log scale
    c, t      floor (chance) and ceiling
    k, m      slope and middle:  g(x) = c + (t − c)·expit(k·(m − x))
    s, e      how far runs are from the curve: everywhere, and along x
    Q         questions; 0 if not known
    u         (b, 6) parameter vectors as standard normals, see `priors`

The accuracy of a run is Student's t about g(x) with

    scale² = s² + (e·g′(x))² + g(1 − g)/Q

The last term is the noise of Q questions, each right with probability g. Without Q, s covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln

from lawsmith.arrays import FloatArray
from lawsmith.errors import LawsmithError
from lawsmith.tasks import priors
from lawsmith.tasks.priors import DF, Prior

N_PARAMS = 6
_T = float(gammaln(0.5 * (DF + 1.0)) - gammaln(0.5 * DF) - 0.5 * np.log(DF * np.pi))


@dataclass(frozen=True)
class Task:
    """A task and how it is scored.

    name       the column of its accuracies
    chance     the accuracy of guessing; None: it is estimated
    questions  the number of questions; 0: not known

    >>> Task("arc_easy", chance=0.25, questions=2376)
    Task(name='arc_easy', chance=0.25, questions=2376)
    """

    name: str
    chance: float | None = None
    questions: int = 0

    def __post_init__(self) -> None:
        if self.chance is not None and not 0.0 <= self.chance < 1.0:
            got, want = f"{self.chance:g}", "an accuracy from 0 to below 1, such as 0.25"
            raise LawsmithError("chance", got=got, want=want)
        if self.questions < 0:
            raise LawsmithError("questions", got=self.questions, want="a number above 0")


class Shape(NamedTuple):
    """Parameters of b curves, (b, 1) each."""

    floor: FloatArray
    ceiling: FloatArray
    slope: FloatArray
    middle: FloatArray
    spread: FloatArray
    along: FloatArray


def shape_of(u: FloatArray, task: Task, prior: Prior, reference: float) -> Shape:
    """The curves of parameter vectors; ``reference`` is the x that the middle is relative to."""
    z = [u[:, j, None] for j in range(N_PARAMS)]
    floor = _floor(z[0], task.chance)
    return Shape(
        floor=floor,
        ceiling=floor + (1.0 - floor) * expit(priors.CEILING * z[1]),
        slope=prior.slope[0] * np.exp(prior.slope[1] * z[2]),
        middle=reference + prior.middle[0] + prior.middle[1] * z[3],
        spread=priors.SPREAD[0] * np.exp(priors.SPREAD[1] * z[4]),
        along=prior.along[0] * np.exp(prior.along[1] * z[5]),
    )


def _floor(z: FloatArray, chance: float | None) -> FloatArray:
    if chance is None:  # nearly uniform
        return np.asarray(priors.MOST_CHANCE * expit(1.7 * z))
    if chance == 0.0:
        return np.asarray(priors.FLOOR_OF_NONE * np.abs(z))
    return np.asarray(np.minimum(np.abs(chance * (1.0 + priors.FLOOR * z)), 0.999))


def mean_and_scale(shape: Shape, x: FloatArray, questions: int) -> tuple[FloatArray, FloatArray]:
    """g(x), and the scale of the accuracy of a run; x (k,), (1, k) or (b, k)."""
    rise = expit(shape.slope * (shape.middle - x))
    height = shape.ceiling - shape.floor
    mean = shape.floor + height * rise
    variance = shape.spread**2 + (shape.along * height * shape.slope * rise * (1.0 - rise)) ** 2
    if questions:
        # A task of Q questions cannot tell accuracies nearer to 0 or 1 than half a question.
        p = np.clip(mean, 0.5 / questions, 1.0 - 0.5 / questions)
        variance = variance + p * (1.0 - p) / questions
    return mean, np.sqrt(variance)


def log_density(y: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """The log density of Student's t."""
    off = ((y - mean) / scale) ** 2
    return np.asarray(_T - np.log(scale) - 0.5 * (DF + 1.0) * np.log1p(off / DF))
