"""The curve of a trunk: smoothed where it has losses, extrapolated beyond by a law in D.

Both are surfaces (:mod:`lawsmith.surface`) on one scale axis: a law, a residual, and noise that is
Student's t, for spikes. Inside, the priors are those of a curve: the noise of a loss is the same
along a run, and early on the curve bends more than a law does. Beyond the last loss, what is added
to the curve there is what the usual surface says of the last part of the curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from lawsmith.arrays import FloatArray
from lawsmith.surface import Surface, fit
from lawsmith.surface.data import observe
from lawsmith.surface.fit import level_of
from lawsmith.surface.fit_member import fit_member
from lawsmith.surface.process import Kernel, kernel_of
from lawsmith.surface.trend import trend
from lawsmith.trajectory import Curve

LEAST_POINTS = 4  # of a trunk that can be extrapolated
SAME = 1e-9  # relative: the last loss itself is not beyond the end
FORM = "early+power"
LATE = 20.0  # the part of a curve that it is extrapolated from reaches this factor of D back
# Medians and SDs as in `surface.process`: lengthscale in e-folds of D, SDs of log loss, slopes.
LENGTH, LENGTH_SPREAD = 1.0, 0.7
RESIDUAL, RESIDUAL_SPREAD = 0.003, 1.0
RESIDUAL_SLOPE, RESIDUAL_SLOPE_SD = 0.3, 0.3
NOISE, NOISE_SPREAD = 0.001, 1.0
NOISE_SLOPE_SD = 0.01
# Factor on the SD of the step beyond the end. Ends of tinylm-wsd, from half of the trunk and from
# four fifths of it, lay inside 84 and 89 % of 95 % intervals without it, 88 and 92 % with it. 1.8
# holds 88 and 93 %: what is left are trunks that learn something late and suddenly.
WIDER = 1.4


@dataclass(frozen=True, eq=False)
class TrunkCurve:
    """Log loss along a trunk, at any D of its own or beyond."""

    curve: Curve
    inside: Surface

    @cached_property
    def beyond(self) -> Surface:
        late = self.curve.D[-1] <= self.curve.D * LATE
        if late.sum() < LEAST_POINTS:
            late[-LEAST_POINTS:] = True
        return fit({"D": self.curve.D[late]}, self.curve.loss[late])

    def at(self, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(q,) mean and (q, q) covariance of the errors of log loss."""
        D, end = np.asarray(D, dtype=np.float64), self.curve.D[-1]
        mean, cov = self.inside.posterior({"D": np.minimum(D, end)}, {})
        far = np.flatnonzero((1.0 + SAME) * end < D)
        if len(far):
            more, spread = self.beyond.posterior({"D": np.append(D[far], end)}, {})
            mean[far] += more[:-1] - more[-1]
            step = spread[:-1, :-1] + spread[-1, -1] - spread[:-1, -1:] - spread[-1:, :-1]
            cov[np.ix_(far, far)] += WIDER**2 * step
        return mean, cov


def fit_trunk(curve: Curve) -> TrunkCurve:
    """Smooth a trunk of LEAST_POINTS losses or more."""
    return TrunkCurve(curve, _smoothed(curve.D.tobytes(), curve.loss.tobytes()))


@lru_cache(maxsize=256)
def _smoothed(D_bytes: bytes, loss_bytes: bytes) -> Surface:
    """The surface of a curve; a live study asks of the same curves again and again."""
    D, loss = (np.frombuffer(part, dtype=np.float64) for part in (D_bytes, loss_bytes))
    data = observe({"D": D}, loss)
    # Nothing is compressed: a curve is above its own end because it is earlier.
    data = replace(data, y=np.log(loss[np.argsort(D)]), extra=np.zeros(len(data)))
    kernel = _kernel(kernel_of(data.frame))
    shape = trend(FORM, data.frame, level_of(data))
    member = fit_member(FORM, shape, kernel, data, few=data)
    return Surface(data.frame, (member,), np.ones(1))


def _kernel(usual: Kernel) -> Kernel:
    mean, sd = usual.mean.copy(), usual.sd.copy()
    mean[:1], sd[:1] = np.log(LENGTH), LENGTH_SPREAD
    mean[-4:] = np.log(RESIDUAL), RESIDUAL_SLOPE, np.log(NOISE), 0.0
    sd[-4:] = RESIDUAL_SPREAD, RESIDUAL_SLOPE_SD, NOISE_SPREAD, NOISE_SLOPE_SD
    return replace(usual, mean=mean, sd=sd)
