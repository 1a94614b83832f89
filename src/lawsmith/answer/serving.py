"""Training and serving: the N and D that reach a loss with the least compute in total.

Notation
    L*       the best loss to expect at a training compute C
    T        tokens to be served over the life of the model
    cost     k·N·D + (k/3)·N·T: training costs k FLOPs per parameter and token (the study's own
             C/(ND), about 6); serving costs a third of that, the forward pass alone

A smaller model that is trained longer reaches the same loss and costs less to serve. Losses are the
surface's means, so the result has no interval. Models that cost at most NEAR more are as good, and
these are often a wide range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.arrays import FloatArray
from lawsmith.errors import LawsmithError
from lawsmith.surface import Surface

NEAR = 0.01  # of the total cost: what counts as equally cheap
N_SIZES, N_TOKENS = 81, 81  # values that are tried; sizes are 6 % apart
SMALLEST, LARGEST = 1.0 / 50.0, 3.0  # of N, in units of the best N for training alone
MOST_TOKENS = 300.0  # of D, in units of the best D for training alone


@dataclass(frozen=True)
class Serving:
    """The cheapest model for a loss.

    C, loss            training compute, and the best loss to expect at it
    tokens             to be served
    N, D               cheapest for training and serving together; near_N costs at most NEAR more
    training, serving  cost of each, in FLOPs
    alone_N, alone_D   the best for training alone; ``alone`` is its cost of both
    at_edge            whether its D/N lies outside those of the runs
    """

    C: float
    loss: float
    tokens: float
    N: float
    D: float
    near_N: tuple[float, float]
    training: float
    serving: float
    alone_N: float
    alone_D: float
    alone: float
    at_edge: bool

    @property
    def total(self) -> float:
        return self.training + self.serving

    @property
    def saved(self) -> float:
        """The share of the cost that it saves, compared with the best for training alone."""
        return 1.0 - self.total / self.alone


def serve(surface: Surface, C: float, tokens: float) -> Serving:
    """The cheapest N and D with the best loss to expect at C, for ``tokens`` served."""
    if surface.scale_names != ("N", "D") or surface.frame.collinear:
        got = "a study in which N and D cannot be told apart"
        raise LawsmithError("--inference-tokens", got=got, want="runs that vary D at some N")
    if any(axis.price for axis in surface.frame.further):
        got = "experts that runs are paid for"
        raise LawsmithError("--inference-tokens", got=got, want="runs that vary D at some N")
    best = surface.best(C)
    N, D = best.scales["N"].centre, best.scales["D"].centre
    k = surface.frame.multiplier
    # The least mean at C, which may be at a slightly different N than the answer's: so no model of
    # this loss can seem cheaper to train than C.
    line = surface.line(C)
    level = float(_mean_loss(surface, line["N"], line["D"]).min())
    sizes = N * np.geomspace(SMALLEST, LARGEST, N_SIZES)
    longest = np.array([_tokens_for(surface, n, D, level) for n in sizes.tolist()])
    cost = k * sizes * longest + k / 3.0 * sizes * tokens
    i = int(np.argmin(cost))
    if not np.isfinite(cost[i]):
        raise LawsmithError("--inference-tokens", got=f"no size that reaches {level:g}", want="one")
    near = sizes[cost <= (1.0 + NEAR) * cost[i]]
    ratio = np.log(longest[i] / sizes[i])
    low, high = surface.frame.ratio
    return Serving(
        C=C,
        loss=best.loss,
        tokens=tokens,
        N=float(sizes[i]),
        D=float(longest[i]),
        near_N=(float(near.min()), float(near.max())),
        training=float(k * sizes[i] * longest[i]),
        serving=float(k / 3.0 * sizes[i] * tokens),
        alone_N=N,
        alone_D=D,
        alone=float(k * N * D + k / 3.0 * N * tokens),
        at_edge=bool(ratio < low or ratio > high),
    )


def _tokens_for(surface: Surface, N: float, D: float, level: float) -> float:
    """The D at which a model of size N reaches that loss; infinite if it never does."""
    tokens = D * np.geomspace(1.0 / LARGEST**2, MOST_TOKENS, N_TOKENS)
    loss = np.minimum.accumulate(_mean_loss(surface, np.full(N_TOKENS, N), tokens))
    below = np.flatnonzero(loss <= level)
    if not len(below):
        return np.inf
    j = int(below[0])
    if j == 0:
        return float(tokens[0])
    share = (loss[j - 1] - level) / (loss[j - 1] - loss[j])
    return float(tokens[j - 1] * (tokens[j] / tokens[j - 1]) ** share)


def _mean_loss(surface: Surface, N: FloatArray, D: FloatArray) -> FloatArray:
    """(q,) the surface's mean of log loss at N and D, at the best hyperparameters."""
    places = surface.places({"N": N, "D": D})
    means = [m.mean(at) for m, at in zip(surface.members, places, strict=True)]
    return np.asarray(surface.weight @ np.stack(means))
