"""BoTorch's SingleTaskGP on the grid, refitted from scratch at every fit: the faithful surrogate.

Notation and shapes
    X      (m, d) the unit cube, `Grid.unit`: logs min–max scaled, categorical axes one-hot
    y      (k, 1) targets, standardised by BoTorch: (y − mean) / SD with k − 1 degrees of freedom
    f      the surface, constant mean c plus a zero-mean process of covariance k(x, x')
    v, ℓ   variance of the linear part v·x·x', lengthscales of the Matérn-5/2 part
    σ²     variance of the noise, on the standardised scale, at least 1e-4

Covariances are those of `kernel_columns`. Priors 'free' are what users write in one line,
SingleTaskGP(X, y, covar_module=ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=d))): with an output
scale, and no prior but that of the noise. 'lognormal' are BoTorch's present defaults (Hvarfner et
al. 2024: ℓ scaled with the number of columns, no output scale), 'gamma' its older ones (with an
output scale); v has Gamma(2, 0.15) in these two. Every observed row counts once, as BoTorch has
it: how many replicates a mean is of is not used. Where BoTorch cannot standardise (one observation,
or a constant loss), the SD is taken as 1, so the deviation is then in units of the loss.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Observations, Posterior, Sampler, observations
from lawsmith.surrogates.gp.kernel import check_names, kernel_columns
from lawsmith_paper.rivals.extras import needs_extra

if TYPE_CHECKING:
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import Kernel as Covariance
    from torch import Tensor

ROWS_AT_ONCE = 2048  # candidates predicted together, which bounds the memory of a large grid


@dataclass(frozen=True)
class BoTorchGP:
    """``botorch.models.SingleTaskGP`` with its defaults, but for the kernel; see the module."""

    kernel: str = "matern"
    priors: str = "free"
    scale: str = "loss"

    def __post_init__(self) -> None:
        check_names(kernel=self.kernel, priors=self.priors, scale=self.scale)

    @property
    def name(self) -> str:
        return "botorch"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """The posterior over the grid; hyperparameters maximise the posterior density (MAP)."""
        seen = observations(grid, runs, self.scale)
        with needs_extra("botorch"):
            import botorch  # noqa: F401
            import torch
        X = torch.from_numpy(grid.unit())
        with _reproducible():
            model = single_task_gp(grid, seen, kernel=self.kernel, priors=self.priors)
            maximise_map(model)
            mean, sd = marginals(model, X)
            if len(seen.pending):
                # The mean stays as it was to the last digit: fantasies at it teach nothing.
                _add_fantasies(model, X[seen.pending], mean[seen.pending])
                sd = marginals(model, X)[1]
        return Posterior(mean, sd, self.scale, float(seen.y.min()), _joint_draws(model, X, mean))


def single_task_gp(grid: Grid, seen: Observations, *, kernel: str, priors: str) -> SingleTaskGP:
    """The model before its fit, hyperparameters at BoTorch's starting values."""
    import torch
    from botorch.models import SingleTaskGP
    from botorch.models.utils.gpytorch_modules import (
        get_gaussian_likelihood_with_gamma_prior,
        get_gaussian_likelihood_with_lognormal_prior,
    )

    likelihood = {
        "free": get_gaussian_likelihood_with_lognormal_prior,
        "lognormal": get_gaussian_likelihood_with_lognormal_prior,
        "gamma": get_gaussian_likelihood_with_gamma_prior,
    }[priors]
    return SingleTaskGP(
        torch.from_numpy(grid.unit()[seen.rows]),
        torch.from_numpy(seen.y[:, None].copy()),
        likelihood=likelihood(),
        covar_module=_covariance(grid, kernel, priors),
    )


def _covariance(grid: Grid, kernel: str, priors: str) -> Covariance:
    """k(x, x'): a linear part, a Matérn-5/2 part, or their sum."""
    from gpytorch.kernels import LinearKernel
    from gpytorch.priors import GammaPrior

    columns = kernel_columns(grid, kernel)
    if not columns.linear:
        return _matern(columns.matern, priors)
    prior = None if priors == "free" else GammaPrior(2.0, 0.15)
    linear = LinearKernel(variance_prior=prior, active_dims=columns.linear)
    return linear + _matern(columns.matern, priors) if columns.matern else linear


def _matern(columns: tuple[int, ...], priors: str) -> Covariance:
    """ARD Matérn-5/2 over ``columns``, as users write it or as BoTorch's own helpers make it."""
    import torch
    from botorch.models.utils.gpytorch_modules import (
        get_covar_module_with_dim_scaled_prior,
        get_matern_kernel_with_gamma_prior,
    )
    from gpytorch.kernels import MaternKernel, ScaleKernel

    if priors == "free":
        matern = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=len(columns)))
    elif priors == "lognormal":
        matern = get_covar_module_with_dim_scaled_prior(len(columns), use_rbf_kernel=False)
    else:
        matern = get_matern_kernel_with_gamma_prior(len(columns))
    matern.active_dims = torch.tensor(columns)  # the older helper takes no columns
    return matern


def maximise_map(model: SingleTaskGP) -> None:
    """Fit the hyperparameters as BoTorch does: L-BFGS-B, retried from draws of the priors."""
    from botorch.exceptions.errors import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from gpytorch.mlls import ExactMarginalLogLikelihood

    # When every attempt fails, BoTorch has put the starting values back: they are used.
    with suppress(ModelFittingError):
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    model.eval()


def marginals(model: SingleTaskGP, X: Tensor) -> tuple[FloatArray, FloatArray]:
    """(mean, SD) of f at the rows of X, each (m,), on the scale of the targets."""
    import torch

    means, variances = [], []
    with torch.no_grad():
        for rows in X.split(ROWS_AT_ONCE):
            f = model.posterior(rows).distribution
            means.append(f.mean)
            # Not f.variance: it is at least 1e-10 in units of the loss, whatever those are.
            variances.append(f.lazy_covariance_matrix.diagonal().clamp_min(0.0))
    mean, variance = torch.cat(means).numpy(), torch.cat(variances).numpy()
    return np.asarray(mean, dtype=np.float64), np.sqrt(variance, dtype=np.float64)


def _add_fantasies(model: SingleTaskGP, X: Tensor, mean: FloatArray) -> None:
    """Condition on f = ``mean`` at X, seen with the usual noise, under the same hyperparameters."""
    import torch

    standard = model.outcome_transform
    targets = (torch.from_numpy(mean) - standard.means.squeeze()) / standard.stdvs.squeeze()
    model.set_train_data(
        torch.cat([model.train_inputs[0], X]),
        torch.cat([model.train_targets, targets]),
        strict=False,
    )


def _joint_draws(model: SingleTaskGP, X: Tensor, mean: FloatArray) -> Sampler:
    """The sampler of f over the rows of X: mean + s L z, where s² L Lᵀ is its covariance."""

    def sample(n: int, rng: np.random.Generator, rows: IntArray) -> FloatArray:
        import torch
        from linear_operator.utils.cholesky import psd_safe_cholesky

        z = torch.from_numpy(rng.standard_normal((n, len(rows))))
        with _reproducible(), torch.no_grad():
            # On the standardised scale, where the jitter of 1e-8 and up is small beside the noise.
            s = model.outcome_transform.stdvs.squeeze()
            covariance = model.posterior(X[rows]).distribution.covariance_matrix / s**2
            shift = (z @ psd_safe_cholesky(covariance).T * s).numpy()
        return np.asarray(mean[rows] + shift, dtype=np.float64)

    return sample


@contextmanager
def _reproducible() -> Iterator[None]:
    """One thread, a random state of its own and no warnings: results depend on the data alone."""
    import torch

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            yield
    finally:
        torch.set_num_threads(n_threads)
