"""Many cold fits at once give what one at a time gives."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import PointSet, fit_law, fit_many


def sets_of(law, rng, sizes):
    """Noisy draws of a law at random inputs, one set a size."""
    sets = []
    for n in sizes:
        N, D = 10 ** rng.uniform(7, 9.5, n), 10 ** rng.uniform(9, 11.5, n)
        inputs = {"N": N, "D": D, "C": 6 * N * D}
        loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28
        if law.inputs == ("C",):
            loss = 1.7 + 1100 * inputs["C"] ** -0.154
        noisy = loss * np.exp(0.004 * rng.standard_normal(n))
        sets.append(PointSet({name: inputs[name] for name in law.inputs}, noisy))
    return sets


def assert_same_law(law, phi, fit, points):
    """The same losses at the points."""
    at = law.log_inputs(points.inputs)
    expected = law.form.value(fit.phi[None], at)
    np.testing.assert_allclose(law.form.value(phi[None], at), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["LC", "chinchilla", "skaling"])
def test_each_set_has_the_fit_it_has_alone(name):
    law, rng = get_law(name), np.random.default_rng(1)
    sets = sets_of(law, rng, rng.integers(8, 40, size=30))
    many = fit_many(law, sets)
    for phi, points in zip(many, sets, strict=True):
        assert_same_law(law, phi, fit_law(law, points.inputs, points.loss), points)


def test_small_sets_that_do_not_converge_together_are_fitted_alone():
    law, rng = get_law("LC"), np.random.default_rng(2)
    sets = sets_of(law, rng, [3, 4, 4, 5, 30, 30])
    many = fit_many(law, sets)
    for phi, points in zip(many, sets, strict=True):
        fit = fit_law(law, points.inputs, points.loss)
        value = fit.objective.rho(
            law.form.value(phi[None], law.log_inputs(points.inputs))[0] - np.log(points.loss)
        ).sum()
        assert value <= fit.value * (1 + 1e-6) + 1e-12


def test_no_sets_are_no_fits_and_too_few_points_are_refused():
    law = get_law("LC")
    assert fit_many(law, []).shape == (0, 3)
    with pytest.raises(LawsmithError, match="2 points"):
        fit_many(law, [PointSet({"C": np.array([1e18, 1e19])}, np.array([3.0, 2.9]))])


@pytest.mark.parametrize("name", ["LC", "chinchilla"])
def test_a_weight_counts_in_the_batch_as_it_does_alone(name):
    law, rng = get_law(name), np.random.default_rng(4)
    sets = [
        PointSet(points.inputs, points.loss, rng.uniform(0.01, 1.0, len(points.loss)))
        for points in sets_of(law, rng, [12, 20, 33])
    ]
    plain = fit_many(law, [PointSet(points.inputs, points.loss) for points in sets])
    for phi, other, points in zip(fit_many(law, sets), plain, sets, strict=True):
        alone = fit_law(law, points.inputs, points.loss, weights=points.weights)
        assert_same_law(law, phi, alone, points)
        assert np.abs(phi - other).max() > 1e-3


def test_a_point_of_no_weight_is_as_good_as_absent():
    law, rng = get_law("LC"), np.random.default_rng(5)
    (points,) = sets_of(law, rng, [15])
    off = points.loss.copy()
    off[3] *= 1.5
    weights = np.ones(15)
    weights[3] = 0.0
    (phi,) = fit_many(law, [PointSet(points.inputs, off, weights)])
    kept = np.arange(15) != 3
    alone = fit_law(law, {"C": points.inputs["C"][kept]}, points.loss[kept])
    assert_same_law(law, phi, alone, points)
