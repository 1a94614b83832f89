"""The exact Gaussian process on a grid: kernel, priors, refits on a schedule, a growing factor."""

from __future__ import annotations

from lawsmith.surrogates.gp.kernel import KERNELS
from lawsmith.surrogates.gp.model import GP
from lawsmith.surrogates.gp.priors import PRIORS
