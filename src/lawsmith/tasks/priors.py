"""What is assumed of tasks in general, before any run is seen.

A parameter is exp(log median + SD·u) or offset + SD·u with u standard normal. x is what accuracy
depends on: the log of a loss, or minus the log of a scale (`lawsmith.tasks.members`); lower is
better. Provenance: none of these numbers was fitted. They were written down once, wide enough for
tasks of all kinds, and then judged on Gadre's 46 tasks and on Pythia's (docs/tasks.md). One choice
was made with Gadre's tables in sight: to fit the upper runs beside all runs, which held more of the
larger models (98 for 97 %, 96 for 94 %), in intervals 4 % wider, at both cuts that were tried.

slope     how fast the logit of accuracy rises as x falls. 8 per e-fold of loss: a task goes from a
          tenth to nine tenths of its rise while loss falls by 40 %. Log loss falls by about 0.15
          per e-fold of N and D together, hence 1.2 for scale
middle    the x at half of the rise, relative to the best x of the runs: some way beyond it
along     how far a run may be from the curve, as an error of x
"""

from __future__ import annotations

from dataclasses import dataclass

DF = 5.0  # of Student's t about the curve
DRIFT = 0.15  # error of x beyond the data, relative to the distance
FLOOR = 0.15  # how far small models may be from chance, relative to it: they prefer some answers
FLOOR_OF_NONE = 0.002  # the same if chance is 0
MOST_CHANCE = 0.6  # an estimated floor lies between 0 and this
SPREAD = (0.01, 1.0)  # of runs about the curve, anywhere on it: median, SD of the log
CEILING = 1.5  # SD of the logit of (ceiling − floor)/(1 − floor), about 0

UPPER = 0.6  # share of the runs in the upper window
LEAST_UPPER = 8  # runs in that window
TOP = 4.0  # runs within this factor of the largest compute judge the members
EFFECTIVE_ROWS = 5.0  # the number of independent runs that these count as, at most


@dataclass(frozen=True)
class Prior:
    """Of slope and misfit along x (median, SD of the log), and of the middle (offset, SD)."""

    slope: tuple[float, float]
    middle: tuple[float, float]
    along: tuple[float, float]


LOSS = Prior(slope=(8.0, 0.7), middle=(-0.25, 0.5), along=(0.02, 0.8))
SCALE = Prior(slope=(1.2, 0.7), middle=(-2.0, 3.0), along=(0.15, 0.8))
# N and D join as ((N·r)^−a + (D/r)^−a)^(−1/a): a as loss laws have it, r free over e-folds.
EXPONENT = (0.35, 0.3)
RATIO = 0.75
