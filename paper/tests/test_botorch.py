"""BoTorch's SingleTaskGP: the model we mean, against closed forms, and fits that repeat."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from paper.tests.botorch_model import (
    Hyperparameters,
    fitted_state,
    polished_state,
    start_state,
    state_of,
)
from scipy import stats

from lawsmith.runs import State as RunState
from lawsmith.surrogates.gp.kernel import kernel_columns
from lawsmith_paper.rivals import botorch as module
from lawsmith_paper.rivals.botorch import BoTorchGP
from tests.surrogates.studies import done, in_state, observed, small_grid

CASES = [
    (kernel, priors)
    for kernel in ("matern", "linear", "matern+linear", "grouped")
    for priors in ("free", "lognormal", "gamma")
]


def some_hyperparameters(grid, kernel: str, priors: str) -> Hyperparameters:
    columns = kernel_columns(grid, kernel)
    return Hyperparameters(
        noise=0.02,
        constant=0.3,
        lengthscales=[0.5 + 0.4 * i for i in range(len(columns.matern))] or None,
        outputscale=1.7 if priors != "lognormal" and columns.matern else None,
        linear_variance=0.8 if columns.linear else None,
    )


def covariance(grid, kernel: str, hyper: Hyperparameters) -> np.ndarray:
    """(m, m) k(x, x') by its formula."""
    X, columns = grid.unit(), kernel_columns(grid, kernel)
    K = np.zeros((len(X), len(X)))
    if columns.linear:
        K += hyper.linear_variance * X[:, columns.linear] @ X[:, columns.linear].T
    if columns.matern:
        Z = X[:, columns.matern] / np.array(hyper.lengthscales)
        r = np.sqrt(5.0 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
        K += (hyper.outputscale or 1.0) * (1.0 + r + r**2 / 3.0) * np.exp(-r)
    return K


def log_prior(hyper: Hyperparameters, priors: str) -> float:
    """Densities as scipy has them: the noise's alone, those of Hvarfner et al. (2024), or
    those of BoTorch before version 0.12."""
    ell = np.array(hyper.lengthscales or [])
    total = 0.0
    if priors == "free":
        return stats.lognorm(1.0, scale=np.exp(-4.0)).logpdf(hyper.noise)
    if hyper.linear_variance is not None:
        total += stats.gamma(2.0, scale=1 / 0.15).logpdf(hyper.linear_variance)
    if priors == "lognormal":
        middle = np.exp(np.sqrt(2.0)) * np.sqrt(max(len(ell), 1))
        total += stats.lognorm(np.sqrt(3.0), scale=middle).logpdf(ell).sum()
        return total + stats.lognorm(1.0, scale=np.exp(-4.0)).logpdf(hyper.noise)
    if hyper.outputscale is not None:
        total += stats.gamma(2.0, scale=1 / 0.15).logpdf(hyper.outputscale)
    total += stats.gamma(3.0, scale=1 / 6.0).logpdf(ell).sum()
    return total + stats.gamma(1.1, scale=1 / 0.05).logpdf(hyper.noise)


@pytest.mark.parametrize(("kernel", "priors"), CASES)
def test_the_model_is_the_closed_form_of_its_hyperparameters(kernel, priors):
    grid, runs = small_grid(), observed(small_grid(), 14)
    hyper = some_hyperparameters(grid, kernel, priors)
    state = state_of(grid, runs, hyper, kernel=kernel, priors=priors)
    mean, sd = runs.loss.mean(), runs.loss.std(ddof=1)
    z, K = (runs.loss - mean) / sd, covariance(grid, kernel, hyper)
    at = runs.index
    noisy = K[np.ix_(at, at)] + hyper.noise * np.eye(len(at))
    gain = np.linalg.solve(noisy, K[at]).T
    variance = np.diag(K) - (gain * K[:, at]).sum(axis=1)
    expected = mean + sd * (hyper.constant + gain @ (z - hyper.constant))
    np.testing.assert_allclose(state.mean, expected, atol=1e-8)
    np.testing.assert_allclose(state.sd**2, sd**2 * np.maximum(variance, 0.0), atol=1e-8)
    normal = stats.multivariate_normal(np.full(len(at), hyper.constant), noisy)
    assert state.log_likelihood == pytest.approx(normal.logpdf(z), abs=1e-8)
    # BoTorch's priors are made in 32 bits.
    assert state.log_prior == pytest.approx(log_prior(hyper, priors), abs=1e-5)


# Without priors there may be none: BoTorch stops on the flat slope of a growing outputscale.
@pytest.mark.parametrize(("kernel", "priors"), [case for case in CASES if case[1] != "free"])
def test_a_fit_finds_a_maximum_of_the_posterior_density(kernel, priors):
    grid, runs = small_grid(), observed(small_grid(), 14)
    options = {"kernel": kernel, "priors": priors}
    best = polished_state(grid, runs, **options)
    assert best.log_posterior > start_state(grid, runs, **options).log_posterior
    for nudge in (0.97, 1.03):
        for name, value in vars(best.hyper).items():
            if value is None or (name == "noise" and value * nudge < 1e-4):
                continue
            other = {**vars(best.hyper), name: (np.asarray(value) * nudge).tolist()}
            moved = state_of(grid, runs, Hyperparameters(**other), **options)
            assert moved.log_posterior < best.log_posterior + 1e-6, (name, nudge)


def test_a_fit_begins_at_the_modes_of_the_present_priors():
    grid, runs = small_grid(), observed(small_grid(), 14)
    hyper = start_state(grid, runs, kernel="matern", priors="lognormal").hyper
    assert hyper.lengthscales == pytest.approx([np.exp(np.sqrt(2.0) - 3.0) * np.sqrt(3.0)] * 3)
    assert hyper.noise == pytest.approx(np.exp(-5.0))
    assert hyper.constant == 0.0


@pytest.mark.parametrize(("kernel", "priors"), CASES)
def test_the_surrogate_answers_as_its_fitted_model_does(kernel, priors):
    grid, runs = small_grid(), observed(small_grid(), 14)
    state = fitted_state(grid, runs, kernel=kernel, priors=priors)
    posterior = BoTorchGP(kernel, priors).fit(grid, runs)
    np.testing.assert_allclose(posterior.mean, state.mean, atol=1e-6)
    np.testing.assert_allclose(posterior.sd, state.sd, atol=1e-6)


def test_the_default_is_what_a_botorch_user_would_write():
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.mlls import ExactMarginalLogLikelihood

    grid, runs = small_grid(), observed(small_grid(), 14)
    X = torch.from_numpy(grid.unit())
    model = SingleTaskGP(
        X[torch.tensor(runs.index)],
        torch.tensor(runs.loss)[:, None],
        covar_module=ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=3)),
    )
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    with torch.no_grad():
        posterior = model.posterior(X)
        mean, sd = posterior.mean[:, 0].numpy(), posterior.variance[:, 0].sqrt().numpy()
    ours = BoTorchGP().fit(grid, runs)
    np.testing.assert_allclose(ours.mean, mean, atol=1e-6)
    np.testing.assert_allclose(ours.sd, sd, atol=1e-6)


def test_a_fantasy_is_an_observation_under_the_same_hyperparameters():
    grid, runs = small_grid(), observed(small_grid(), 14)
    pending = np.setdiff1d(np.arange(len(grid)), runs.index)[[0, 5, 9]]
    posterior = BoTorchGP().fit(grid, runs.append(in_state(RunState.PENDING, pending)))
    hyper = fitted_state(grid, runs, kernel="matern", priors="free").hyper
    at = np.concatenate([runs.index, pending])
    K = covariance(grid, "matern", hyper)
    gain = np.linalg.solve(K[np.ix_(at, at)] + hyper.noise * np.eye(len(at)), K[at])
    variance = np.diag(K) - (gain.T * K[:, at]).sum(axis=1)
    np.testing.assert_allclose(posterior.sd, runs.loss.std(ddof=1) * np.sqrt(variance), rtol=1e-4)


def test_joint_draws_have_the_covariance_of_the_surface():
    grid, runs = small_grid(), observed(small_grid(), 10)
    hyper = fitted_state(grid, runs, kernel="matern", priors="free").hyper
    K, at = covariance(grid, "matern", hyper), runs.index
    noisy = K[np.ix_(at, at)] + hyper.noise * np.eye(len(at))
    exact = runs.loss.var(ddof=1) * (K - K[:, at] @ np.linalg.solve(noisy, K[at]))
    draws = BoTorchGP().fit(grid, runs).sample(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(draws.T), exact, atol=0.05 * np.diag(exact).max())


def test_replicates_of_a_row_count_as_one_observation():
    grid, runs = small_grid(), observed(small_grid(), 10)
    twice = runs.append(done(runs.index[:4], runs.loss[:4]))
    one, other = BoTorchGP().fit(grid, runs), BoTorchGP().fit(grid, twice)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sd, other.sd)


def test_the_order_of_runs_is_of_no_account():
    grid, runs = small_grid(), observed(small_grid(), 14)
    one = BoTorchGP().fit(grid, runs)
    other = BoTorchGP().fit(grid, done(runs.index[::-1], runs.loss[::-1]))
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-5)
    np.testing.assert_allclose(one.sd, other.sd, atol=1e-5)


def test_a_large_grid_is_predicted_in_parts_that_agree_with_the_whole(monkeypatch):
    grid, runs = small_grid(), observed(small_grid(), 14)
    whole = BoTorchGP().fit(grid, runs)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    parts = BoTorchGP().fit(grid, runs)
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-10)
    np.testing.assert_allclose(parts.sd, whole.sd, rtol=1e-6)


def test_a_fit_that_fails_uses_the_starting_values(monkeypatch):
    from botorch.exceptions.errors import ModelFittingError

    def failing(mll):
        raise ModelFittingError("All attempts to fit the model have failed.")

    grid, runs = small_grid(), observed(small_grid(), 14)
    monkeypatch.setattr("botorch.fit.fit_gpytorch_mll", failing)
    posterior = BoTorchGP().fit(grid, runs)
    start = start_state(grid, runs, kernel="matern", priors="free")
    np.testing.assert_allclose(posterior.mean, start.mean, atol=1e-10)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_fit_leaves_torch_as_it_found_it_and_says_nothing(n_threads):
    grid, runs = small_grid(), observed(small_grid(), 14)
    before, random = torch.get_num_threads(), torch.random.get_rng_state()
    torch.set_num_threads(n_threads)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # The covariance of a linear surface has no rank to speak of, and needs jitter.
            BoTorchGP("linear").fit(grid, runs).sample(3, np.random.default_rng(0))
        assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(before)
    assert torch.equal(torch.random.get_rng_state(), random)


def test_where_a_linear_surface_is_its_constant_the_deviation_is_0():
    grid, runs = small_grid(), observed(small_grid(), 14)
    corner = int(np.flatnonzero((grid.unit() == 0.0).all(axis=1))[0])
    assert BoTorchGP("linear").fit(grid, runs).sd[corner] == 0.0


def test_a_fit_does_not_depend_on_torch_s_random_state(monkeypatch):
    """Even where BoTorch draws: when a first attempt fails, it starts anew from the priors."""
    import botorch.fit
    from botorch.optim.fit import fit_gpytorch_mll_scipy
    from linear_operator.utils.errors import NotPSDError

    attempts = []

    def second_time_lucky(mll, **options):
        attempts.append(None)
        if len(attempts) % 2:
            raise NotPSDError("not this time")
        return fit_gpytorch_mll_scipy(mll, **options)

    fit = botorch.fit.fit_gpytorch_mll
    monkeypatch.setattr(
        botorch.fit, "fit_gpytorch_mll", lambda mll: fit(mll, optimizer=second_time_lucky)
    )
    grid, runs = small_grid(), observed(small_grid(), 14)
    one = BoTorchGP().fit(grid, runs)
    with torch.random.fork_rng():
        torch.manual_seed(99)
        other = BoTorchGP().fit(grid, runs)
    assert len(attempts) == 4
    np.testing.assert_array_equal(one.mean, other.mean)


THREADS = """
import sys
import numpy as np, torch
from lawsmith_paper.rivals.botorch import BoTorchGP
from tests.surrogates.studies import large_grid, observed
torch.set_num_threads(int(sys.argv[1]))
grid = large_grid()
p = BoTorchGP().fit(grid, observed(grid, 60))
draws = p.sample(2, np.random.default_rng(0))
print(*(x.hex() for x in (*p.mean, *p.sd, *draws[1])))
"""


def test_a_fit_is_the_same_in_another_process_with_other_threads():
    here = Path(__file__).parents[2]
    said = [
        subprocess.run(
            [sys.executable, "-c", THREADS, n], cwd=here, capture_output=True, text=True, check=True
        ).stdout
        for n in ("1", "2")
    ]
    assert said[0] == said[1]
    assert len(said[0].split()) == 3 * 512
