"""The critical batch: the largest batch that needs few more tokens for the same loss.

Notation
    L(B, D)   loss at one N, a batch B and D tokens, other hyperparameters at their best
    L*        the least loss over B at D
    critical  the B above the best one at which L(B, (1 + OVERHEAD)·D) = L*: a fifth more tokens
              make up for the larger batch (Zhang et al. 2024, "How does critical batch size scale
              in pre-training?", use the same overhead)

Its interval comes from draws of the surface at all of these points. If most draws have no such
batch among those that were run, it is not identified: it lies beyond the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.answer.records import Forecast
from lawsmith.arrays import FloatArray
from lawsmith.errors import LawsmithError
from lawsmith.surface import Surface
from lawsmith.surface.axes import Axis, known_name

OVERHEAD = 0.2  # as in Zhang et al.
N_BATCHES, N_DRAWS = 25, 400  # batches from the smallest to the largest; draws of the surface


@dataclass(frozen=True)
class CriticalBatch:
    """The critical batch at one N and D, in the unit of the table's column.

    axis      name of the column
    best      the batch of least loss
    critical  the critical batch, with the interval ``low`` to ``high``; infinite beyond the largest
    largest   the largest batch that was run
    """

    axis: str
    N: float
    D: float
    best: float
    critical: float
    low: float
    high: float
    largest: float

    @property
    def identified(self) -> bool:
        """Whether the runs tell the batch itself, not only a lower bound."""
        return bool(np.isfinite(self.critical))


def batch_of(surface: Surface, forecast: Forecast, level: float) -> CriticalBatch:
    """The critical batch at the N and D of a forecast."""
    scales = forecast.scales
    if not {"N", "D"} <= set(scales):
        want = "a study with N and D"
        raise LawsmithError("critical batch", got="a study without N and D", want=want)
    return critical_batch(surface, scales["N"].centre, scales["D"].centre, level=level)


def critical_batch(surface: Surface, N: float, D: float, *, level: float = 0.95) -> CriticalBatch:
    """The critical batch at N and D, of a study whose runs vary the batch at given N and D."""
    axes = [axis for axis in surface.frame.numeric if known_name(axis.name) == "batch"]
    if surface.scale_names != ("N", "D") or not axes or axes[0].kind != "log":
        got = ", ".join(axis.name for axis in surface.frame.axes) or "no hyperparameter"
        hint = "a batch that is a function of N and D does not count"
        raise LawsmithError(
            "critical batch", got=got, want="a batch size that varies at given N and D", hint=hint
        )
    axis = axes[0]
    batches = np.array([axis.value(u) for u in np.linspace(*axis.tried, N_BATCHES).tolist()])
    drawn = _draws(surface, axis, batches, N, D)
    at, longer = drawn[:, :N_BATCHES], drawn[:, N_BATCHES:]
    crossings = np.array([_crossing(*pair) for pair in zip(at, longer, strict=True)])
    values = np.append(batches, np.inf)[np.minimum(np.ceil(crossings), N_BATCHES).astype(int)]
    inside = np.isfinite(values)
    values[inside] = np.exp(np.interp(crossings[inside], np.arange(N_BATCHES), np.log(batches)))
    tail = 0.5 * (1.0 - level)
    # Nearest ranks: the mean of a batch and infinity is no batch.
    low, centre, high = np.quantile(values, [tail, 0.5, 1.0 - tail], method="nearest").tolist()
    best = float(batches[int(np.argmin(at.mean(axis=0)))])
    return CriticalBatch(axis.name, N, D, best, centre, low, high, float(batches[-1]))


def _draws(surface: Surface, axis: Axis, batches: FloatArray, N: float, D: float) -> FloatArray:
    """(n, 2·N_BATCHES) log losses at D, then at D and the overhead."""
    tokens = np.repeat([D, (1.0 + OVERHEAD) * D], N_BATCHES)
    scales = {"N": np.full(len(tokens), N), "D": tokens}
    at = surface.best_hp(surface.heaviest, scales, {axis.name: np.tile(batches, 2)})
    return surface.sample(scales, surface.frame.hp_of(at), N_DRAWS, np.random.default_rng(0))


def _crossing(at: FloatArray, longer: FloatArray) -> float:
    """The index at which the loss with the overhead first exceeds the least one; n if nowhere."""
    i = int(np.argmin(at))
    excess = longer - at[i]
    above = np.flatnonzero(excess[i:] > 0.0)
    if not len(above):
        return float(len(at))
    j = i + int(above[0])
    if j == i:
        return float(i)
    return j - 1 + float(-excess[j - 1] / (excess[j] - excess[j - 1]))
