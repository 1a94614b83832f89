"""The loss surface of a study: the loss at any N, D and λ, with intervals, from every run.

surface = fit({"N": N, "D": D}, loss, hp={"lr": lr})
surface.best(1e21)                # loss, low, high, run_low, run_high, N*, D*, λ*
"""

from __future__ import annotations

from lawsmith.surface.fit import fit as fit
from lawsmith.surface.fit import fit_surface as fit_surface
from lawsmith.surface.inferred import Inferred as Inferred
from lawsmith.surface.learning import learn_from_surfaces as learn_from_surfaces
from lawsmith.surface.locate import Range as Range
from lawsmith.surface.prior import BROAD as BROAD
from lawsmith.surface.prior import Lesson as Lesson
from lawsmith.surface.prior import Prior as Prior
from lawsmith.surface.public import PUBLIC as PUBLIC
from lawsmith.surface.surface import Estimate as Estimate
from lawsmith.surface.surface import OddRun as OddRun
from lawsmith.surface.surface import Surface as Surface
