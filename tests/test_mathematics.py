"""docs/mathematics.md: the functions it names exist, and its closed forms hold."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import gamma, norm

from lawsmith.laws.allocation import log_optimal_n
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.selection import _spread
from lawsmith.surface import fit
from lawsmith.surface.fit_member import reweigh
from lawsmith.surface.locate import vertex
from lawsmith.surface.member import TAIL_DF
from lawsmith.surrogates.base import Aim

PAGE = (Path(__file__).parents[1] / "docs" / "mathematics.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(lawsmith(?:\.\w+)+)`", PAGE)))


def resolve(name: str) -> object:
    """The object of a dotted name: a module, then attributes of it."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_that_the_page_names_is_there(name):
    assert resolve(name) is not None


def test_the_page_names_functions():
    assert len(NAMES) >= 15


def test_the_best_split_is_where_both_terms_fall_alike():
    """(0.3): α·a·N^-α = β·b·D^-β."""
    law, C = get_law("chinchilla"), np.array([1e21, 1e24, 1e27])
    E, a, alpha, b, beta = 1.7, 400.0, 0.34, 410.0, 0.28
    phi = law.phi({"E": E, "A": a, "alpha": alpha, "B": b, "beta": beta})
    found = log_optimal_n(law, phi[None], C)[0]
    want = (np.log(alpha * a) - np.log(beta * b) + beta * np.log(C / 6)) / (alpha + beta)
    np.testing.assert_allclose(found, want, atol=1e-6)
    N, D = np.exp(found), C / 6 / np.exp(found)
    np.testing.assert_allclose(alpha * a * N**-alpha, beta * b * D**-beta, rtol=1e-6)


def test_the_spread_of_corrected_redraws_is_without_the_scatter_of_the_inner_ones():
    """A correction that is known but for the mean of a few inner redraws."""
    rng = np.random.default_rng(0)
    true, scatter = np.array([[1.0, 0.6], [0.6, 2.0]]), np.array([[0.5, -0.1], [-0.1, 0.3]])
    exact = rng.multivariate_normal([0.0, 0.0], true, 20_000)
    inner = rng.multivariate_normal([0.0, 0.0], scatter, (20_000, 4))
    np.testing.assert_allclose(_spread(exact - inner.mean(axis=1), inner), true, atol=0.06)


def test_the_weight_of_a_row_is_the_expected_precision_of_its_noise():
    """(2.4) against the integral over w ~ Gamma(ν/2, ν/2) of a noise that is N(0, σ²/w)."""
    sigma, noise = 0.7, np.array([0.0, 0.5, 3.0])
    w = np.linspace(1e-6, 12.0, 400_001)
    prior = gamma.pdf(w, TAIL_DF / 2, scale=2 / TAIL_DF)
    density = prior * norm.pdf(noise[:, None], scale=sigma / np.sqrt(w))
    want = np.trapezoid(w * density, w) / np.trapezoid(density, w)
    # With K = diag(V) a row is its noise, without a variance.
    V = np.full(3, sigma**2)
    found = reweigh(V, np.zeros(3), np.ones(3), np.diag(np.sqrt(V)), noise / V)
    np.testing.assert_allclose(found, want, rtol=1e-4)


@pytest.mark.parametrize(("k", "gap"), [(2, 0.564), (3, 0.846), (4, 1.029)])
def test_the_gap_of_ties_is_the_expected_maximum_of_normals(k, gap):
    x = np.linspace(-12.0, 12.0, 200_001)
    density = k * norm.pdf(x) * norm.cdf(x) ** (k - 1)
    assert np.trapezoid(x * density, x) == pytest.approx(gap, abs=5e-4)


def test_at_the_most_probable_parameters_the_linearised_mean_is_the_trend():
    """(2.8) for every member of a surface fitted to a law with noise."""
    rng = np.random.default_rng(0)
    N, D = (
        grid.ravel() for grid in np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6))
    )
    loss = (1.7 + 400.0 * N**-0.34 + 410.0 * D**-0.28) * np.exp(0.003 * rng.standard_normal(len(N)))
    for member in fit({"N": N, "D": D}, loss).members:
        z = member.theta_and_residual(member.data.points)[0][: member.trend.p]
        np.testing.assert_allclose(member.trend.mean + member.trend.sd * z, member.theta, atol=2e-3)


def test_the_bottom_of_a_parabola_is_found_between_its_points():
    places = np.arange(7.0)
    curves = np.stack([(places - 2.3) ** 2, 5.0 * (places - 4.0) ** 2])
    np.testing.assert_allclose(vertex(curves), [2.3, 4.0], rtol=1e-12)


def test_the_gain_is_the_fall_of_the_standard_deviation_and_of_the_regret():
    """Against conditioning the joint normal of (place, centre of a bowl, run), for a weak run."""
    b = 0.7
    cov = np.array([[0.04, 0.0, 3e-4], [0.0, 0.09, 4e-4], [3e-4, 4e-4, 0.25]])
    aim = Aim(
        covariance=cov[:1, 2:],
        variance=cov[0, :1],
        chance=np.ones(1),
        tuning=np.array([b * cov[1, 2] ** 2]),
        regret=b * cov[1, 1],
    )
    after = cov[:2, :2] - np.outer(cov[:2, 2], cov[2, :2]) / cov[2, 2]
    fall = np.sqrt(cov[0, 0]) - np.sqrt(after[0, 0]) + b * (cov[1, 1] - after[1, 1])
    assert aim.gain(np.array([cov[2, 2]]))[0] == pytest.approx(fall, rel=1e-4)


def test_a_run_at_the_expected_bottom_varies_by_twice_the_square_of_what_it_loses():
    """E and Var of b·(c − E c)² for normal c: b·Var c and 2·(b·Var c)²."""
    x = np.linspace(-12.0, 12.0, 200_001)
    square = 0.7 * 0.3 * x**2
    mean = np.trapezoid(square * norm.pdf(x), x)
    variance = np.trapezoid((square - mean) ** 2 * norm.pdf(x), x)
    assert (mean, variance) == (pytest.approx(0.21, rel=1e-6), pytest.approx(2 * 0.21**2, rel=1e-6))
