"""The fitter against noise-free surfaces, scipy, published fits and its own invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit, least_squares, minimize

from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import LAWS, get_law
from lawsmith.laws.fit import PointSet, fit_batch, fit_law, fit_many
from lawsmith.laws.law import Law, coefficient, define, exponent
from lawsmith.laws.objective import HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS, MAE, huber
from tests.laws.test_forms import EXAMPLES

CHINCHILLA, LC = get_law("chinchilla"), get_law("LC")
SURFACES = [
    {"alpha": 0.31, "beta": 0.31, "A": 400.0, "B": 400.0, "E": 1.69},
    {"alpha": 0.34, "beta": 0.28, "A": 406.4, "B": 410.7, "E": 1.69},
    {"alpha": 0.465, "beta": 0.155, "A": 406.4, "B": 410.7, "E": 1.69},
]


def grid(n: int = 7) -> dict[str, np.ndarray]:
    N, D = np.meshgrid(np.geomspace(1e7, 1e10, n), np.geomspace(1e9, 1e12, n))
    N, D = N.ravel(), D.ravel()
    turn = np.arange(len(N))  # further inputs go round, each with a period of its own
    return {
        **{"N": N, "D": D, "C": 6 * N * D, "unique_tokens": D * 0.3 ** (turn % 5 - 1)},
        **{"experts": 4.0 ** (turn % 4), "vocab": 4e3 * 2.0 ** (turn % 3)},
    }


def noisy(law: Law, params: dict[str, float], sd: float, seed: int) -> tuple[dict, np.ndarray]:
    inputs = grid()
    rng = np.random.default_rng(seed)
    clean = law.predict(params, inputs)
    return inputs, clean * np.exp(sd * rng.standard_normal(clean.size))


@pytest.mark.parametrize("params", SURFACES)
@pytest.mark.parametrize("objective", [HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS])
def test_a_noise_free_chinchilla_surface_is_recovered_to_1e_7(params, objective) -> None:
    inputs = grid()
    fit = fit_law(CHINCHILLA, inputs, CHINCHILLA.predict(params, inputs), objective=objective)
    assert fit.status == "converged"
    for name, value in params.items():
        assert fit.params[name] == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_every_law_is_recovered_from_its_own_surface(law: Law) -> None:
    inputs = grid()
    fit = fit_law(law, inputs, law.predict(EXAMPLES[law.name], inputs))
    assert fit.value < 1e-15
    for name, value in EXAMPLES[law.name].items():
        assert fit.params[name] == pytest.approx(value, rel=1e-5)


def test_mae_recovers_a_surface_with_one_wild_outlier_exactly() -> None:
    inputs = grid()
    loss = CHINCHILLA.predict(SURFACES[1], inputs)
    loss[11] *= 1.3
    fit = fit_law(CHINCHILLA, inputs, loss, objective=MAE)
    assert fit.params["E"] == pytest.approx(1.69, rel=1e-4)
    assert fit.value == pytest.approx(np.log(1.3), rel=1e-3)


def test_least_squares_agrees_with_scipy_curve_fit() -> None:
    inputs, loss = noisy(CHINCHILLA, SURFACES[1], 0.01, seed=3)

    def f(x, E, A, alpha, B, beta):
        return E + A * x[0] ** -alpha + B * x[1] ** -beta

    start = [1.7, 400, 0.33, 400, 0.28]
    want, _ = curve_fit(f, (inputs["N"], inputs["D"]), loss, p0=start, xtol=1e-14, ftol=1e-14)
    fit = fit_law(CHINCHILLA, inputs, loss, objective=LEAST_SQUARES_LOSS)
    got = [fit.params[k] for k in ("E", "A", "alpha", "B", "beta")]
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_no_scipy_start_beats_the_huber_fit(seed: int) -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.01, seed=seed)
    x, y = np.log(inputs["C"]), np.log(loss)

    def value(phi: np.ndarray) -> float:
        r = np.abs(np.logaddexp(phi[0], phi[1] + phi[2] * x) - y)
        return float(np.where(r <= 1e-3, r * r / 2, 1e-3 * (r - 5e-4)).sum())

    fit = fit_law(LC, inputs, loss)
    assert fit.value == pytest.approx(value(fit.phi), rel=1e-12)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        start = fit.phi + rng.normal(0, [0.05, 0.5, 0.01])
        other = minimize(value, start, method="Nelder-Mead", options={"maxiter": 4000})
        assert other.fun >= fit.value * (1 - 1e-9)


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize("seed", range(6))
def test_a_valley_with_few_points_within_delta_is_followed_to_its_end(n: int, seed: int) -> None:
    # Errors far beyond δ leave fewer points within it than parameters: the minimum then lies
    # along a curved valley, where the simplex search, which knows no derivative, is the judge.
    rng = np.random.default_rng([seed, n])
    C = np.geomspace(1e18, 1e20, n)
    loss = (1.5 + 40.0 * C**-0.07) * np.exp(0.02 * rng.standard_normal(n))
    fit = fit_law(LAWS["LC"], {"C": C}, loss)
    log_inputs = LAWS["LC"].log_inputs({"C": C})
    lower, upper = LAWS["LC"].bounds()
    upper[0] = np.log(loss.min())  # E is not above a loss that was seen

    def objective(phi: np.ndarray) -> float:
        inside = np.clip(phi, lower, upper)
        residual = LAWS["LC"].form.value(inside[None], log_inputs)[0] - np.log(loss)
        return float(HUBER.rho(residual).sum())

    options = {"xatol": 1e-12, "fatol": 1e-20, "maxiter": 5000, "maxfev": 5000}
    jolt = rng.standard_normal(3) * [0.1, 0.1, 0.002]
    simplex = minimize(objective, fit.phi + jolt, method="Nelder-Mead", options=options)
    assert fit.status == "converged"
    assert fit.value <= simplex.fun * (1 + 1e-7)


def test_the_sum_is_minimised_and_not_the_mean() -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.01, seed=0)
    twice = {k: np.tile(v, 2) for k, v in inputs.items()}
    once, both = fit_law(LC, inputs, loss), fit_law(LC, twice, np.tile(loss, 2))
    assert both.value == pytest.approx(2 * once.value, rel=1e-9)
    np.testing.assert_allclose(both.phi, once.phi, rtol=1e-6)


def test_a_weight_of_two_is_a_point_twice_and_of_zero_is_no_point() -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.005, seed=1)
    weights = np.ones(loss.size)
    weights[0], weights[1] = 2.0, 0.0
    weighted = fit_law(LC, inputs, loss, weights=weights)
    index = np.r_[0, 0, 2 : loss.size]
    repeated = fit_law(LC, {k: v[index] for k, v in inputs.items()}, loss[index])
    np.testing.assert_allclose(weighted.phi, repeated.phi, rtol=1e-6)


def test_a_fixed_parameter_stays_and_the_rest_is_optimal() -> None:
    inputs, loss = noisy(CHINCHILLA, SURFACES[0], 0.01, seed=2)
    free = fit_law(CHINCHILLA, inputs, loss)
    pinned = fit_law(CHINCHILLA, inputs, loss, fixed={"E": 1.5})
    assert pinned.params["E"] == pytest.approx(1.5, rel=1e-12)
    assert pinned.value > free.value
    again = fit_law(CHINCHILLA, inputs, loss, fixed={"E": free.params["E"]})
    np.testing.assert_allclose(again.phi, free.phi, rtol=1e-5)


def test_a_batch_is_the_single_fits_side_by_side() -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.004, seed=4)
    rng = np.random.default_rng(1)
    losses = loss * np.exp(0.003 * rng.standard_normal((20, loss.size)))
    start = fit_law(LC, inputs, loss)
    batch = fit_batch(LC, start.x, losses, start=start.phi)
    assert batch.converged.all()
    for b in range(20):
        single = fit_law(LC, inputs, losses[b])
        np.testing.assert_allclose(batch.phi[b], single.phi, rtol=1e-5, atol=1e-7)
        assert batch.value[b] == pytest.approx(single.value, rel=1e-8)


def test_frontiers_of_different_lengths_share_a_batch_by_padding() -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.004, seed=5)
    start = fit_law(LC, inputs, loss)
    short = slice(0, 20)
    x = np.stack([start.x, np.where(np.arange(loss.size) < 20, start.x, 1.0)], axis=1)
    losses = np.stack([loss, np.where(np.arange(loss.size) < 20, loss, 1.0)])
    weights = np.stack([np.ones(loss.size), (np.arange(loss.size) < 20).astype(float)])
    batch = fit_batch(LC, x, losses, start=start.phi, weights=weights)
    alone = fit_law(LC, {"C": inputs["C"][short]}, loss[short])
    np.testing.assert_allclose(batch.phi[0], start.phi, rtol=1e-6)
    np.testing.assert_allclose(batch.phi[1], alone.phi, rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(12)), factor=st.floats(0.01, 100.0))
def test_order_of_points_and_units_of_inputs_do_not_matter(order, factor) -> None:
    rng = np.random.default_rng(7)
    C = np.geomspace(1e18, 1e22, 12)
    loss = LC.predict(EXAMPLES["LC"], {"C": C}) * np.exp(0.003 * rng.standard_normal(12))
    fit = fit_law(LC, {"C": C}, loss)
    index = np.array(order)
    other = fit_law(LC, {"C": factor * C[index]}, loss[index])
    assert other.value == pytest.approx(fit.value, rel=1e-8)
    assert other.params["alpha"] == pytest.approx(fit.params["alpha"], rel=1e-5)
    assert other.log_params["A"] == pytest.approx(
        fit.log_params["A"] - fit.params["alpha"] * np.log(factor), rel=1e-5
    )


@settings(max_examples=25, deadline=None)
@given(factor=st.floats(0.2, 5.0))
def test_scaling_the_loss_scales_e_and_a_only(factor: float) -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.003, seed=8)
    fit, other = fit_law(LC, inputs, loss), fit_law(LC, inputs, factor * loss)
    assert other.params["alpha"] == pytest.approx(fit.params["alpha"], rel=1e-5)
    assert other.params["E"] == pytest.approx(factor * fit.params["E"], rel=1e-5)


def test_a_users_law_fits_like_the_built_in_one() -> None:
    own = define(
        "own",
        lambda x, E, A, alpha, B, beta: E + A * x["N"] ** -alpha + B * x["D"] ** -beta,
        inputs=["N", "D"],
        params=[
            coefficient("E", lower=0.1, upper=10),
            coefficient("A", lower=1, upper=1e5),
            exponent("alpha", upper=1.0),
            coefficient("B", lower=1, upper=1e5),
            exponent("beta", upper=1.0),
        ],
    )
    inputs, loss = noisy(CHINCHILLA, SURFACES[1], 0.005, seed=6)
    ours, theirs = fit_law(CHINCHILLA, inputs, loss), fit_law(own, inputs, loss)
    assert theirs.value == pytest.approx(ours.value, rel=1e-7)
    np.testing.assert_allclose(theirs.phi, ours.phi, rtol=1e-4)


def test_e_that_wants_to_be_zero_is_reported_at_its_bound() -> None:
    C = np.geomspace(1e18, 1e22, 20)
    fit = fit_law(LC, {"C": C}, 5000 * C**-0.18)
    assert fit.at_bounds == ("E",) or fit.params["E"] < 1e-3


def test_two_basins_are_counted() -> None:
    """A law with a hump in between: two minima that a start in each finds."""
    law = define(
        "wave",
        lambda x, E, k: E + 0.2 * np.sin(k * np.log(x["D"])),
        inputs=["D"],
        params=[coefficient("E", lower=1, upper=4), exponent("k", 0.5, 8.0)],
    )
    D = np.geomspace(1e3, 1e6, 30)
    fit = fit_law(law, {"D": D}, 2 + 0.2 * np.sin(3.0 * np.log(D)), objective=LEAST_SQUARES_LOG)
    assert fit.params["k"] == pytest.approx(3.0, rel=1e-6)
    assert fit.n_basins > 1


def test_a_smaller_delta_moves_towards_the_median() -> None:
    inputs, loss = noisy(LC, EXAMPLES["LC"], 0.01, seed=9)
    mae = fit_law(LC, inputs, loss, objective=MAE)
    near = fit_law(LC, inputs, loss, objective=huber(1e-6))
    np.testing.assert_allclose(near.phi, mae.phi, rtol=2e-3)


@pytest.mark.parametrize(
    ("C", "loss", "message"),
    [
        ([1e18, 1e19], [3.0, 2.9], "2 points, want at least 3"),
        ([1e18, 1e19, 1e20], [3.0, np.nan, 2.0], "loss of point 1"),
        ([1e18, 1e19, 1e20], [3.0, -1.0, 2.0], "loss of point 1"),
        ([1e18, 1e19, 1e20], [3.0, 2.0], "2 values, want 3"),
    ],
)
def test_bad_points_are_told_in_a_line(C, loss, message) -> None:
    with pytest.raises(LawsmithError, match=message):
        fit_law(LC, {"C": C}, loss)


def test_an_unknown_parameter_cannot_be_fixed() -> None:
    with pytest.raises(LawsmithError, match="parameter of LC"):
        fit_law(LC, {"C": [1e18, 1e19, 1e20]}, [3, 2.9, 2.8], fixed={"beta": 1.0})


@pytest.mark.parametrize("seed", range(5))
def test_e_is_never_above_a_loss_that_was_seen(seed: int) -> None:
    """The same as scipy's bounded least squares; without the bound E would be higher."""
    rng = np.random.default_rng(seed)
    C = np.geomspace(1e18, 1e22, 12)
    loss = 2.0 + 5e4 * C**-0.28
    loss *= np.exp(1e-4 * rng.standard_normal(12))
    loss[8] = 1.8  # a lucky run below the floor
    fit = fit_law(LC, {"C": C}, loss, objective=LEAST_SQUARES_LOG)
    x, y = np.log(C), np.log(loss)

    def residual(phi: np.ndarray) -> np.ndarray:
        return np.asarray(np.logaddexp(phi[0], phi[1] + phi[2] * x) - y)

    ends = ([-10.0, -10.0, -3.0], [np.log(1.8), 60.0, -1e-3])
    start = np.clip([0.6, 10.0, -0.27], ends[0], np.array(ends[1]) - 1e-6)
    bounded = least_squares(residual, start, bounds=ends, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    free = least_squares(residual, [0.69, 10.8, -0.28], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.exp(free.x[0]) > 1.8
    assert fit.params["E"] <= 1.8 * (1 + 1e-12)
    assert fit.at_bounds == ("E",)
    assert fit.value == pytest.approx(bounded.cost, rel=1e-4)


def test_each_fit_of_a_batch_has_its_own_lowest_loss() -> None:
    C = np.geomspace(1e18, 1e22, 12)
    clean = 2.0 + 5e4 * C**-0.28
    losses = np.stack([clean, clean])
    losses[1, -1] = 1.9
    alone = [fit_law(LC, {"C": C}, row).params["E"] for row in losses]
    batch = np.exp(fit_batch(LC, np.log(C)[None], losses, start=LC.phi(EXAMPLES["LC"])).phi[:, 0])
    many = np.exp(fit_many(LC, [PointSet({"C": C}, row) for row in losses])[:, 0])
    np.testing.assert_allclose(batch, alone, rtol=1e-5)
    np.testing.assert_allclose(many, alone, rtol=1e-5)
    assert alone[0] == pytest.approx(2.0, rel=1e-6)
    assert alone[1] <= 1.9 * (1 + 1e-12)
