"""A forecast at an N and a D from the curve of its trunk or of its own run, where one is known.

A trunk says what a decay from it ends at, with the trunk's own hyperparameters. Where a study has
others that are better there, the surface's difference between the two is added, with its variance.
Between the surface and a curve the narrower interval of a further run decides. The surface has rows
from the trunks as well: far beyond the end of a short trunk, or far from its hyperparameters, many
trunks together say more than the one.
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
        own = model.trunks.fits[i].curve.hp
        step = _to_best(surface, forecast, own)
        if step is None or step[0] < -AS_GOOD:
            continue
        found.append(model.trunks.end(i, D, level, more=step))
    if not found:
        return forecast
    best = min(found, key=_width)
    if _width(best) > np.log(forecast.run_high / forecast.run_low):
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


def _to_best(surface: Surface, forecast: Forecast, own: Values) -> tuple[float, float] | None:
    """What log loss changes by from a trunk's λ to the best one, and its variance.

    None where a λ of the trunk is not known that the surface has.
    """
    names = [axis.name for axis in surface.frame.axes]
    if not set(names) <= set(own):
        return None
    best: dict[str, float | str] = {name: r.centre for name, r in forecast.hp.items()}
    best |= {**forecast.levels, **forecast.target.hp}
    if all(best[name] == own[name] for name in names):
        return 0.0, 0.0
    scales = {name: np.full(2, forecast.scales[name].centre) for name in surface.scale_names}
    hp = {name: np.array([best[name], own[name]]) for name in names}
    mean, cov = surface.posterior(scales, hp)
    return float(mean[0] - mean[1]), float(cov[0, 0] + cov[1, 1] - 2.0 * cov[0, 1])
