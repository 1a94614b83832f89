"""A forecast at an N and a D from the curve of a trunk, or of the run itself, if there is one.

A trunk tells the loss after a decay, with the trunk's own hyperparameters. The target may differ in
two ways: it has the best hyperparameters, and its tokens may lie beyond the end of the trunk. The
surface predicts how log loss changes between the two, and the variance of this change is added.
What is particular to a trunk (its shape, its seed) cancels in that difference, so it is part of the
forecast from the trunk, and not of the surface's. Beyond its end a trunk can be extrapolated by
itself too; the forecast with the narrower interval is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lawsmith.answer.records import Forecast
from lawsmith.curves import CurveModel, End
from lawsmith.surface import Surface

# A trunk is used if the best λ is better than its own by at most this in log loss. All that a worse
# trunk tells about the best λ is in the surface already.
AS_GOOD = 0.01
# The surface is used if its interval is narrower by this factor: such a trunk has only just begun.
# Otherwise the trunk is used, because it may be unusual in a way that the surface does not know.
MUCH_NARROWER = 2.0
SAME = 1e-6  # relative tolerance of equal tokens
Values = Mapping[str, float | str]


def from_curves(model: CurveModel, surface: Surface, forecast: Forecast, level: float) -> Forecast:
    """The forecast, from a curve if one predicts the loss better than the surface."""
    target = forecast.target
    if target.N is None or target.D is None:
        return forecast
    N, D = float(target.N), float(target.D)
    # Of several scheduled runs that end there, the best one counts.
    ends = sorted(model.ends_of(N, D, target.hp), key=lambda end: end.loss)[:1]
    for i in model.trunks_of(N, target.hp):
        ends += _of_trunk(model, surface, forecast, i, level)
    if not ends:
        return forecast
    best = min(ends, key=_width)
    if _width(best) > MUCH_NARROWER * np.log(forecast.run_high / forecast.run_low):
        return forecast
    return replace(
        forecast,
        loss=best.loss,
        low=best.low,
        high=best.high,
        run_low=best.run_low,
        run_high=best.run_high,
        source=best.run,
    )


def _width(end: End) -> float:
    return float(np.log(end.run_high / end.run_low))


def _of_trunk(
    model: CurveModel, surface: Surface, forecast: Forecast, trunk: int, level: float
) -> list[End]:
    """The loss at the target by the trunk's own curve, and from its end on by the surface."""
    D, own = forecast.scales["D"].centre, model.trunks.fits[trunk].curve.hp
    reached, ends = model.last_annealed(trunk), []
    for start in (D, reached) if (1.0 + SAME) * reached < D else (D,):
        step = _step(surface, forecast, own, start)
        if step is not None:
            ends.append(model.trunks.end(trunk, start, level, more=step))
    return ends


def _step(
    surface: Surface, forecast: Forecast, own: Values, start: float
) -> tuple[float, float] | None:
    """The change of log loss from a trunk's λ at ``start`` tokens to the target, and its variance.

    None if a hyperparameter of the surface is not known of the trunk, or if λ is far from the best.
    """
    names = [axis.name for axis in surface.frame.axes]
    if not set(names) <= set(own):
        return None
    best: dict[str, float | str] = {name: r.centre for name, r in forecast.hp.items()}
    best |= {**forecast.levels, **forecast.target.hp}
    scales = {name: np.full(4, forecast.scales[name].centre) for name in surface.scale_names}
    if "D" in scales:
        scales["D"][2:] = start
    elif start != forecast.scales["D"].centre:
        return None  # all runs have the same D, so the surface cannot predict another
    hp = {name: np.array([best[name], own[name]] * 2) for name in names}
    mean, cov = surface.posterior(scales, hp)
    if mean[0] - mean[1] < -AS_GOOD:
        return None
    return float(mean[0] - mean[3]), max(float(cov[0, 0] + cov[3, 3] - 2.0 * cov[0, 3]), 0.0)
