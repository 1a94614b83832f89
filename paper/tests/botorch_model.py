"""BoTorch's model at given hyperparameters, for comparison with another implementation.

Notation and shapes
    ℓ   (c,) lengthscales of the Matérn part, one a column of the unit cube that varies, in order
    σ²  noise variance, c the constant mean: both on the standardised scale
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.kernels import LinearKernel, MaternKernel, ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood

from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import observations
from lawsmith_paper.rivals.botorch import marginals, maximise_map, single_task_gp


@dataclass(frozen=True)
class Hyperparameters:
    """None for a part that the kernel does not have."""

    noise: float
    constant: float = 0.0
    lengthscales: Sequence[float] | None = None
    outputscale: float | None = None
    linear_variance: float | None = None


@dataclass(frozen=True, eq=False)
class State:
    """A model's posterior over the grid, on the scale of the targets, and what was maximised.

    log_likelihood   log N(z | c, K + σ²I) of the standardised targets
    log_prior        log density of the hyperparameters themselves, not of their logs
    """

    hyper: Hyperparameters
    mean: np.ndarray
    sd: np.ndarray
    log_likelihood: float
    log_prior: float

    @property
    def log_posterior(self) -> float:
        """What BoTorch maximises, but for its division by the number of observations."""
        return self.log_likelihood + self.log_prior


def state_of(
    grid: Grid, runs: Runs, hyper: Hyperparameters, *, kernel: str, priors: str, scale: str = "loss"
) -> State:
    """The model at ``hyper``, without any fit."""
    model = _model(grid, runs, kernel, priors, scale)
    _assign(model, hyper)
    return _state(grid, model)


def fitted_state(grid: Grid, runs: Runs, *, kernel: str, priors: str, scale: str = "loss") -> State:
    """The model at the hyperparameters that BoTorch finds."""
    model = _model(grid, runs, kernel, priors, scale)
    maximise_map(model)
    return _state(grid, model)


def polished_state(
    grid: Grid, runs: Runs, *, kernel: str, priors: str, scale: str = "loss"
) -> State:
    """The model where BoTorch ends when it goes on from where it stopped.

    How early its first search stops depends on the last digits of the machine's arithmetic.
    """
    model = _model(grid, runs, kernel, priors, scale)
    for _ in range(4):
        model.train()
        maximise_map(model)
    return _state(grid, model)


def start_state(grid: Grid, runs: Runs, *, kernel: str, priors: str, scale: str = "loss") -> State:
    """The model at the hyperparameters at which BoTorch begins."""
    return _state(grid, _model(grid, runs, kernel, priors, scale))


def _model(grid: Grid, runs: Runs, kernel: Any, priors: Any, scale: Any) -> SingleTaskGP:
    return single_task_gp(grid, observations(grid, runs, scale), kernel=kernel, priors=priors)


def _state(grid: Grid, model: SingleTaskGP) -> State:
    model.train()
    with torch.no_grad():
        objective = ExactMarginalLogLikelihood(model.likelihood, model)
        prior_of_f = model(*model.train_inputs)
        log_posterior = objective(prior_of_f, model.train_targets) * len(model.train_targets)
        log_likelihood = model.likelihood(prior_of_f).log_prob(model.train_targets)
    mean, sd = marginals(model.eval(), torch.from_numpy(grid.unit()))
    log_prior = float(log_posterior - log_likelihood)
    return State(_read(model), mean, sd, float(log_likelihood), log_prior)


def _parts(model: SingleTaskGP) -> dict[str, Any]:
    """The modules that hold hyperparameters, and the name of each one's hyperparameter."""
    held: dict[str, Any] = {"noise": model.likelihood, "constant": model.mean_module}
    for module in model.covar_module.modules():
        if isinstance(module, MaternKernel):
            held["lengthscale"] = module
        elif isinstance(module, ScaleKernel):
            held["outputscale"] = module
        elif isinstance(module, LinearKernel):
            held["variance"] = module
    return held


def _assign(model: SingleTaskGP, hyper: Hyperparameters) -> None:
    values = {
        "noise": hyper.noise,
        "constant": hyper.constant,
        "lengthscale": hyper.lengthscales,
        "outputscale": hyper.outputscale,
        "variance": hyper.linear_variance,
    }
    parts = _parts(model)
    given = {name for name, value in values.items() if value is not None}
    assert given == set(parts), f"this kernel has {sorted(parts)}, got {sorted(given)}"
    for name, module in parts.items():
        # A float would be rounded to 32 bits on its way.
        value = torch.tensor(values[name], dtype=torch.float64)
        setattr(module, name, value.reshape(getattr(module, name).shape))


def _read(model: SingleTaskGP) -> Hyperparameters:
    read = {name: getattr(module, name) for name, module in _parts(model).items()}
    single = {name: value.item() for name, value in read.items() if name != "lengthscale"}
    ell = read.get("lengthscale")
    return Hyperparameters(
        noise=single["noise"],
        constant=single["constant"],
        lengthscales=None if ell is None else ell.detach().flatten().tolist(),
        outputscale=single.get("outputscale"),
        linear_variance=single.get("variance"),
    )
