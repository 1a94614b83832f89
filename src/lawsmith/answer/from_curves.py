"""A forecast at an N and a D from the curve of its trunk or of its own run, where one is known.

A trunk says what a decay from it ends at, with the trunk's own hyperparameters. To the target there
may be two steps: to hyperparameters that are better, and to tokens beyond the end of the trunk. The
surface says what log loss changes by on such a step, and the variance of that is added. What is
particular to a trunk (its shape, its seed) is the same on both sides of the step, so the trunk's
answer has it, and the surface's has not. Beyond its end a trunk can be extrapolated by itself, too;
the narrower of the two intervals decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lawsmith.answer.records import Forecast
from lawsmith.curves import CurveModel, End
from lawsmith.surface import Surface

# Log loss that another λ may be better than a trunk's own, for the trunk to say what the best one
# ends at. Of a trunk further off the surface knows what it says of the best.
AS_GOOD = 0.01
# The surface answers where its interval is narrower by this factor: a trunk that says so little was
# only begun. Short of that a trunk answers, since it may be odd and the surface cannot know.
MUCH_NARROWER = 2.0
SAME = 1e-6  # relative: the end of a trunk is not beyond it
Values = Mapping[str, float | str]


def from_curves(model: CurveModel, surface: Surface, forecast: Forecast, level: float) -> Forecast:
    """The forecast, from a curve if one says more than the surface does."""
    target = forecast.target
    if target.N is None or target.D is None:
        return forecast
    N, D = float(target.N), float(target.D)
    # Of schedules that end there, the best one is meant.
    found = sorted(model.ends_of(N, D, target.hp), key=lambda end: end.loss)[:1]
    for i in model.trunks_of(N, target.hp):
        found += _of_trunk(model, surface, forecast, i, level)
    if not found:
        return forecast
    best = min(found, key=_width)
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
    """What a trunk says of the target: by its own curve, and from its end on by the surface."""
    D, own = forecast.scales["D"].centre, model.trunks.fits[trunk].curve.hp
    reached, found = model.last_annealed(trunk), []
    for start in (D, reached) if (1.0 + SAME) * reached < D else (D,):
        step = _step(surface, forecast, own, start)
        if step is not None:
            found.append(model.trunks.end(trunk, start, level, more=step))
    return found


def _step(
    surface: Surface, forecast: Forecast, own: Values, start: float
) -> tuple[float, float] | None:
    """What log loss changes by from a trunk's λ at ``start`` tokens to the target; its variance.

    None where a λ of the trunk is not known that the surface has, or is far from the best.
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
        return None  # all runs have one D, so the surface knows of no other
    hp = {name: np.array([best[name], own[name]] * 2) for name in names}
    mean, cov = surface.posterior(scales, hp)
    if mean[0] - mean[1] < -AS_GOOD:
        return None
    return float(mean[0] - mean[3]), max(float(cov[0, 0] + cov[3, 3] - 2.0 * cov[0, 3]), 0.0)
