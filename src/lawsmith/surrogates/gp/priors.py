"""Hyperpriors of the Gaussian process, as BoTorch users have them.

A density is that of the parameter itself, without the Jacobian of the logarithm it is searched in,
so that its mode is BoTorch's. Values are for inputs in the unit cube and standard targets.

    free        lengthscale, outputscale and linear variance without a prior, noise variance
                LogNormal(−4, 1): SingleTaskGP(X, y, covar_module=ScaleKernel(MaternKernel(2.5)))
    lognormal   lengthscale LogNormal(√2 + ½ ln d, √3) on d columns, noise variance
                LogNormal(−4, 1), no outputscale (Hvarfner et al. 2024, BoTorch since 0.12)
    gamma       lengthscale Γ(3, 6), outputscale Γ(2, 0.15), noise variance Γ(1.1, 0.05)

The variance of a linear kernel has Γ(2, 0.15) under the last two: BoTorch has no default for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from lawsmith.grid import FloatArray


class Density(Protocol):
    """A prior density of a positive parameter, in terms of its logarithm."""

    def log_density(self, log_value: FloatArray) -> FloatArray: ...

    def slope(self, log_value: FloatArray) -> FloatArray:
        """Derivative of the log density by the logarithm of the parameter."""
        ...


@dataclass(frozen=True)
class LogNormal:
    """ln value ~ N(location, spread²)."""

    location: float
    spread: float

    def log_density(self, log_value: FloatArray) -> FloatArray:
        z = (log_value - self.location) / self.spread
        constant = np.log(self.spread) + 0.5 * np.log(2.0 * np.pi)
        return np.asarray(-0.5 * z**2 - log_value - constant)

    def slope(self, log_value: FloatArray) -> FloatArray:
        return np.asarray(-(log_value - self.location) / self.spread**2 - 1.0)


@dataclass(frozen=True)
class Gamma:
    """Γ(shape, rate)."""

    shape: float
    rate: float

    def log_density(self, log_value: FloatArray) -> FloatArray:
        constant = self.shape * np.log(self.rate) - gammaln(self.shape)
        powers = (self.shape - 1.0) * log_value - self.rate * np.exp(log_value)
        return np.asarray(constant + powers)

    def slope(self, log_value: FloatArray) -> FloatArray:
        return np.asarray((self.shape - 1.0) - self.rate * np.exp(log_value))


@dataclass(frozen=True)
class Flat:
    """No prior."""

    def log_density(self, log_value: FloatArray) -> FloatArray:
        return np.zeros_like(log_value)

    def slope(self, log_value: FloatArray) -> FloatArray:
        return np.zeros_like(log_value)


@dataclass(frozen=True)
class Hyper:
    """One kind of hyperparameter: its prior, where a search starts, and the least value allowed."""

    prior: Density
    start: float
    least: float


@dataclass(frozen=True)
class Priors:
    """The hyperparameters of a kernel; ``outputscale`` None fixes the Matérn's variance at 1."""

    lengthscale: Hyper
    outputscale: Hyper | None
    linear: Hyper
    noise: Hyper


# Where GPyTorch starts a parameter without a prior: softplus(0).
FREE = Hyper(Flat(), start=np.log(2.0), least=1e-8)
LINEAR = Hyper(Gamma(2.0, 0.15), start=np.log(2.0), least=1e-8)


LOGNORMAL_NOISE = Hyper(LogNormal(-4.0, 1.0), start=np.exp(-5.0), least=1e-4)


def _free(d: int) -> Priors:
    # Below a thousandth of the grid, a lengthscale joins no two rows; shorter ones change nothing.
    lengthscale = Hyper(Flat(), start=np.log(2.0), least=1e-3)
    return Priors(lengthscale, outputscale=FREE, linear=FREE, noise=LOGNORMAL_NOISE)


def _lognormal(d: int) -> Priors:
    location = np.sqrt(2.0) + 0.5 * np.log(max(d, 1))
    return Priors(
        lengthscale=Hyper(
            LogNormal(location, np.sqrt(3.0)), start=np.exp(location - 3.0), least=2.5e-2
        ),
        outputscale=None,
        linear=LINEAR,
        noise=LOGNORMAL_NOISE,
    )


def _gamma(d: int) -> Priors:
    return Priors(
        lengthscale=Hyper(Gamma(3.0, 6.0), start=np.log(2.0), least=1e-4),
        outputscale=Hyper(Gamma(2.0, 0.15), start=np.log(2.0), least=1e-8),
        linear=LINEAR,
        noise=Hyper(Gamma(1.1, 0.05), start=2.0, least=1e-4),
    )


PRIORS = {"free": _free, "lognormal": _lognormal, "gamma": _gamma}
