"""Many cold fits at once give what one at a time gives."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.many import fit_many


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
        sets.append(({name: inputs[name] for name in law.inputs}, noisy))
    return sets


@pytest.mark.parametrize("name", ["LC", "chinchilla", "skaling"])
def test_each_set_has_the_fit_it_has_alone(name):
    law, rng = get_law(name), np.random.default_rng(1)
    sets = sets_of(law, rng, rng.integers(8, 40, size=30))
    many = fit_many(law, sets)
    for phi, (inputs, loss) in zip(many, sets, strict=True):
        alone = fit_law(law, inputs, loss)
        np.testing.assert_allclose(
            law.form.value(phi[None], law.log_inputs(inputs)),
            law.form.value(alone.phi[None], law.log_inputs(inputs)),
            atol=1e-6,
        )


def test_small_sets_that_do_not_converge_together_are_fitted_alone():
    law, rng = get_law("LC"), np.random.default_rng(2)
    sets = sets_of(law, rng, [3, 4, 4, 5, 30, 30])
    many = fit_many(law, sets)
    for phi, (inputs, loss) in zip(many, sets, strict=True):
        fit = fit_law(law, inputs, loss)
        value = fit.objective.rho(
            law.form.value(phi[None], law.log_inputs(inputs))[0] - np.log(loss)
        ).sum()
        assert value <= fit.value * (1 + 1e-6) + 1e-12


def test_no_sets_are_no_fits_and_too_few_points_are_refused():
    law = get_law("LC")
    assert fit_many(law, []).shape == (0, 3)
    with pytest.raises(LawsmithError, match="2 points"):
        fit_many(law, [({"C": np.array([1e18, 1e19])}, np.array([3.0, 2.9]))])
