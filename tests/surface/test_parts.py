"""The parts of the surface against numerical derivatives, closed forms and brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lawsmith.arrays import FloatArray
from lawsmith.errors import LawsmithError
from lawsmith.surface import fit
from lawsmith.surface.data import RowTrunks, observe
from lawsmith.surface.fit_member import fit_theta, log_likelihood, log_likelihood_of_replicates
from lawsmith.surface.frame import Frame, Points
from lawsmith.surface.locate import vertex
from lawsmith.surface.member import Linearised, Member
from lawsmith.surface.mixture import DF, t_mixture_quantile
from lawsmith.surface.process import kernel_of, matern, misfit_of
from lawsmith.surface.tail import compress, compress_last
from lawsmith.surface.trend import Trend, trend


def points(rng: np.random.Generator, n: int = 12, s: int = 2, h: int = 1, g: int = 0) -> Points:
    G = np.eye(max(g, 1))[rng.integers(0, max(g, 1), n)][:, :g]
    S = rng.normal(0.0, 1.5, (n, s))
    return Points(S, rng.normal(0.0, 1.0, (n, h)), G, S.sum(axis=1) - S.sum(axis=1).max())


def frame(s: int = 2, h: int = 1, g: int = 0) -> Frame:
    """The frame of a table with so many scales, hyperparameters and levels of one category."""
    rng = np.random.default_rng(0)
    scales = {name: np.exp(rng.uniform(15.0, 20.0, 12)) for name in "ND"[:s]}
    hp = {f"h{j}": np.exp(rng.normal(0.0, 1.0, 12)) for j in range(h)}
    if g:
        hp["kind"] = np.arange(12).astype(str)[np.arange(12) % g]
    return observe(scales, np.ones(12), hp=hp).frame


@pytest.mark.parametrize(
    ("form", "s"),
    [
        ("early+joined", 2),
        ("early+iso", 2),
        ("early+power", 1),
    ],
)
def test_slopes_of_a_trend_are_those_of_differences(form: str, s: int) -> None:
    rng = np.random.default_rng(1)
    at = points(rng, s=s, h=2, g=2)
    shape = trend(form, frame(s=s, h=2, g=2), 3.0)
    theta = shape.mean + 0.5 * shape.sd * rng.standard_normal(shape.p)
    J = shape.value_and_jac(theta, at)[1]
    for j in range(shape.p):
        step = np.zeros(shape.p)
        step[j] = 1e-6
        up, down = (shape.value_and_jac(theta + sign * step, at)[0] for sign in (1, -1))
        np.testing.assert_allclose(J[:, j], (up - down) / 2e-6, rtol=1e-5, atol=1e-8)


def test_the_joined_law_with_k_one_is_the_sum_of_two_terms() -> None:
    rng = np.random.default_rng(2)
    at = points(rng, h=0)
    never = [-50.0, 0.0]  # the size and the rate of what is lost early
    theta = np.array([0.5, -1.0, np.log(0.3), -0.5, np.log(0.4), 0.0, *never])
    law = trend("early+joined", frame(h=0), 3.0).law(theta, at.S)
    n, d = at.S.T
    want = np.exp(0.5) + np.exp(-1.0 - 0.3 * n) + np.exp(-0.5 - 0.4 * d)
    np.testing.assert_allclose(np.exp(law), want)


@pytest.mark.parametrize("on_trunks", [False, True])
def test_the_gradient_of_the_evidence_is_that_of_differences(on_trunks: bool) -> None:
    rng = np.random.default_rng(3)
    n = 25
    data = observe(
        {"N": np.exp(rng.uniform(15, 20, n)), "D": np.exp(rng.uniform(18, 23, n))},
        np.exp(rng.normal(1.0, 0.05, n)),
        hp={
            "lr": np.exp(rng.normal(-7, 1, n)),
            "kind": np.array(["a", "b"])[rng.integers(0, 2, n)],
        },
    )
    kernel = kernel_of(data.frame)
    eta = kernel.mean + 0.3 * rng.standard_normal(len(kernel.mean))
    k = len(data)
    if on_trunks:
        trunk = rng.integers(-1, 4, k)
        tau = np.array([0.3, 1.0, 1.2, 0.8])[trunk]
        data = replace(data, trunks=RowTrunks(trunk, tau, common=0.7))
    target, F = rng.normal(0, 0.02, k), 0.1 * rng.normal(size=(k, 3))
    shape = trend("early+joined", data.frame, 3.0)
    member = Member("", shape, kernel, data, shape.mean, shape.mean, eta, np.ones(k))
    member.__dict__["rows"] = Linearised(data.points, data.y, -target, F, rng.random(k))
    slopes = log_likelihood(member, eta)[1]
    for j in range(len(eta)):
        step = np.zeros(len(eta))
        step[j] = 1e-5
        ends = [log_likelihood(member, eta + sign * step)[0] for sign in (1, -1)]
        assert slopes[j] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-5)


def test_replicates_alone_tell_the_noise() -> None:
    rng = np.random.default_rng(4)
    N = np.repeat(np.exp(np.linspace(15, 20, 60)), 6)
    loss = 3.0 * np.exp(rng.normal(0.0, 0.004, len(N)))
    data = observe({"N": N, "D": 20 * N}, loss)
    kernel = kernel_of(data.frame)

    def value(sigma: float) -> float:
        eta = kernel.mean.copy()
        eta[-2:] = np.log(sigma), 0.0
        return log_likelihood_of_replicates(kernel, data, eta)[0]

    grid = np.geomspace(0.001, 0.02, 200)
    assert grid[np.argmax([value(s) for s in grid])] == pytest.approx(0.004, rel=0.2)


def test_matern_is_the_one_of_the_textbook() -> None:
    r = np.linspace(0.0, 4.0, 9)
    want = (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)
    np.testing.assert_allclose(matern(r**2), want)


def test_a_linear_fit_is_the_ridge_solution() -> None:
    rng = np.random.default_rng(5)
    data = observe({"N": np.exp(np.arange(30.0))}, np.exp(rng.normal(0.7, 0.01, 30)))
    X = np.column_stack([np.ones(30), np.eye(3)[rng.integers(0, 3, 30)]])

    class Plain(Trend):
        def value_and_jac(self, theta: FloatArray, at: Points) -> tuple[FloatArray, FloatArray]:
            return X @ theta, X

    mean, sd = np.array([0.7, 0.0, 0.0, 0.0]), np.array([0.65, 0.05, 0.05, 0.05])
    shape = Plain("none", 1, 0, 3, mean, sd)
    P = np.diag(1 / shape.sd**2)
    want = np.linalg.solve(X.T @ X / 0.01**2 + P, X.T @ data.y / 0.01**2 + P @ shape.mean)
    found = fit_theta(shape, np.full(30, 0.01**2), data, shape.mean)
    np.testing.assert_allclose(found, want, atol=1e-6)


@pytest.mark.parametrize("p", [1e-13, 0.3, 1 - 1e-12])
def test_a_mixture_of_two_has_quantiles_at_any_level(p: float) -> None:
    weight, mean, sd = np.array([0.3, 0.7]), np.array([0.0, 50.0]), np.array([0.1, 1e-9])
    x = t_mixture_quantile(p, weight, mean, sd)
    below = stats.t.cdf((x - mean) / sd, DF) @ weight
    assert below == pytest.approx(p, abs=1e-3 if p == 0.3 else 1e-11)


def test_a_mixture_of_one_has_the_quantiles_of_students_t() -> None:
    for p in (0.025, 0.5, 0.9):
        found = t_mixture_quantile(p, np.ones(1), np.array([2.0]), np.array([0.3]))
        assert found == pytest.approx(2.0 + 0.3 * stats.t.ppf(p, DF), abs=1e-8)


def test_the_last_row_is_compressed_as_it_is_among_all() -> None:
    rng = np.random.default_rng(8)
    for k in range(1, 40):
        S, y = rng.integers(0, 4, (k, 2)).astype(float), rng.normal(0.0, 0.2, k)
        lost = rng.random(k) < 0.2
        every, last = compress(S, y, lost), compress_last(S, y, lost)
        assert [part[-1] for part in every] == [part[0] for part in last]


def test_compression_leaves_the_frontier_alone_and_keeps_order() -> None:
    S = np.zeros((5, 2))
    y = np.array([1.0, 1.02, 1.2, 2.0, 3.0])
    out, extra = compress(S, y, np.zeros(5, dtype=bool))
    np.testing.assert_allclose(out[:2], y[:2])
    assert (np.diff(out) >= 0).all()
    assert out[-1] < 1.0 + 2 * 0.05 + 1e-9
    assert (extra[:2] == 0).all()
    assert (extra[2:] > 0).all()


def test_bad_input_is_named() -> None:
    with pytest.raises(LawsmithError, match="no scale"):
        observe({"N": np.ones(5)}, np.ones(5))
    with pytest.raises(LawsmithError, match="0 or less"):
        observe({"N": np.arange(1.0, 6.0)}, np.array([1.0, 2.0, 0.0, 1.0, 1.0]))
    with pytest.raises(LawsmithError, match="no run with a loss"):
        observe({"N": np.arange(1.0, 4.0)}, np.full(3, np.nan))


def test_the_bottom_of_a_parabola_lies_between_its_points() -> None:
    x = np.arange(9.0)
    curves = np.stack([(x - 3.3) ** 2, 2 * (x - 5.9) ** 2 + 1, x, -x])
    np.testing.assert_allclose(vertex(curves), [3.3, 5.9, 0.0, 8.0])


def test_a_members_theta_is_its_posterior_mean_and_its_sd_that_of_the_covariance() -> None:
    rng = np.random.default_rng(6)
    n = 60
    N, D = np.exp(rng.uniform(15, 20, n)), np.exp(rng.uniform(18, 23, n))
    lr = np.exp(rng.normal(-7, 1, n))
    y = np.log(1.7 + 400 * N**-0.34 + 410 * D**-0.28) + 0.02 * (np.log(lr) + 7) ** 2
    surface = fit({"N": N, "D": D}, np.exp(y + rng.normal(0, 0.003, n)), hp={"lr": lr})
    for member in surface.members:
        at = member.data.points.take(np.arange(5))
        z = member.theta_and_residual(at)[0][: member.trend.p]
        np.testing.assert_allclose(
            member.trend.mean + member.trend.sd * z, member.theta, atol=0.05 * member.trend.sd.max()
        )
        mean, cov = member.mean_and_cov(at)
        again, sd = member.mean_and_sd(at)
        np.testing.assert_allclose(again, mean)
        np.testing.assert_allclose(sd**2, np.diag(cov), atol=1e-12)


def test_the_height_of_a_run_is_what_its_hyperparameters_and_its_ratio_cost():
    shape = trend("early+iso", frame(), 3.0)
    theta, at = shape.mean.copy(), points(np.random.default_rng(3), 40)
    at = replace(at, S=0.5 * at.S)  # so that the best ratio lies among those that are tried
    w, r = at.S.sum(axis=1), 0.5 * (at.S[:, 1] - at.S[:, 0])
    curve, r0, r1, fade = np.exp(theta[3]), *theta[4:7]
    of_ratio = curve * np.exp(fade * w) * (r - r0 - r1 * w) ** 2
    b, c, drift, growth = theta[9], theta[10], theta[11:13], theta[13:15]
    of_bowl = np.exp(b + at.S @ growth) * (at.U[:, 0] - c - at.S @ drift) ** 2
    # The ratio is found on a grid of steps of 0.25, so it is missed by 0.125 at most.
    height = shape.height(theta, at)
    assert (height <= of_ratio + of_bowl + 1e-12).all()
    assert height == pytest.approx(of_ratio + of_bowl, abs=1.1 * 0.125**2 * curve)


def test_the_misfit_is_the_root_of_the_height_near_the_best_and_a_share_of_it_far_above():
    assert misfit_of(np.array([0.0, 1e-6])) == pytest.approx([0.0, np.sqrt(1e-7)], rel=1e-4)
    far = misfit_of(np.array([0.5, 1.0, 30.0]))
    assert far == pytest.approx([np.sqrt(1.05), np.sqrt(4.1), np.sqrt(4.1)])
