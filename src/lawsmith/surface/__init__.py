"""The loss surface of a study: the loss at any N, D and λ, with intervals, from every run.

surface = fit({"N": N, "D": D}, loss, hp={"lr": lr})
surface.best(1e21)                # loss, low, high, run_low, run_high, N*, D*, λ*
"""

from __future__ import annotations

from lawsmith.surface.data import Inferred
from lawsmith.surface.fit import fit, fit_surface
from lawsmith.surface.learning import learn_from_surfaces
from lawsmith.surface.locate import Range
from lawsmith.surface.prior import BROAD, PUBLIC, Lesson, Prior
from lawsmith.surface.surface import Estimate, OddRun, Surface
