"""N*(C), D*(C) against brute force and the published exponent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.laws.allocation import (
    allocation,
    best_further,
    best_split,
    can_allocate,
    log_optimal_n,
)
from lawsmith.laws.catalogue import LAWS, get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.law import coefficient, define, exponent
from lawsmith.laws.uncertainty import law_uncertainty
from tests.laws.test_fit import SURFACES, grid, noisy
from tests.laws.test_forms import EXAMPLES

OWN = [
    coefficient("E", lower=0.1, upper=10),
    coefficient("A", lower=1, upper=1e5),
    exponent("alpha"),
    coefficient("B", lower=1, upper=1e5),
    exponent("beta"),
]
TWO_INPUT = [law for law in LAWS.values() if can_allocate(law)]


@pytest.mark.parametrize("law", TWO_INPUT, ids=lambda law: law.name)
def test_the_closed_form_is_the_best_n_of_a_fine_grid(law) -> None:
    compute = 1e23
    phi = law.phi(EXAMPLES[law.name])
    N = np.exp(np.linspace(np.log(1e7), np.log(1e13), 200_001))
    loss = law.predict(EXAMPLES[law.name], {"N": N, "D": compute / (6 * N)})
    best = float(np.exp(log_optimal_n(law, phi[None], np.array([compute]))[0, 0]))
    assert best == pytest.approx(N[np.argmin(loss)], rel=1e-3)


def test_a_users_law_is_minimised_numerically() -> None:
    own = define(
        "own",
        lambda x, E, A, alpha, B, beta: E + A * x["N"] ** -alpha + B * x["D"] ** -beta,
        inputs=["N", "D"],
        params=OWN,
    )
    phi = own.phi(EXAMPLES["chinchilla"])[None]
    C = np.array([1e21, 1e24])
    want = log_optimal_n(get_law("chinchilla"), phi, C)
    np.testing.assert_allclose(log_optimal_n(own, phi, C), want, atol=1e-3)


def test_a_users_law_called_chinchilla_has_its_own_best_n() -> None:
    """The trade-off is a property of the form, whatever the law is called."""
    own = define(
        "chinchilla",
        lambda x, E, A, alpha, B, beta: (
            E + A * (x["N"] / 7) ** -alpha + B * (x["D"] / 900) ** -beta
        ),
        inputs=["N", "D"],
        params=OWN,
    )
    params, compute = EXAMPLES["chinchilla"], 1e23
    N = np.exp(np.linspace(np.log(1e7), np.log(1e13), 200_001))
    loss = own.predict(params, {"N": N, "D": compute / (6 * N)})
    best = best_split(own, own.phi(params), compute)["N"]
    assert best == pytest.approx(N[np.argmin(loss)], rel=2e-3)
    built_in = best_split(get_law("chinchilla"), own.phi(params), compute)["N"]
    assert abs(np.log(best / built_in)) > 1.0


def test_a_closed_form_knows_which_input_is_n() -> None:
    """Chinchilla's form with D first."""
    law = get_law("chinchilla")
    turned = replace(law, inputs=("D", "N"))
    p = EXAMPLES["chinchilla"]
    swapped = {"E": p["E"], "A": p["B"], "alpha": p["beta"], "B": p["A"], "beta": p["alpha"]}
    C = np.array([1e21, 1e24])
    want = log_optimal_n(law, law.phi(p)[None], C)
    np.testing.assert_allclose(log_optimal_n(turned, turned.phi(swapped)[None], C), want)


def test_intervals_multiply_out_and_hold_the_truth() -> None:
    law = get_law("chinchilla")
    inputs, loss = noisy(law, SURFACES[1], 0.004, seed=11)
    shares = allocation(law_uncertainty(fit_law(law, inputs, loss)), np.array([1e22, 1e24]))
    np.testing.assert_allclose(6 * shares["N"].centre * shares["D"].centre, [1e22, 1e24])
    truth = np.exp(log_optimal_n(law, law.phi(SURFACES[1])[None], np.array([1e22, 1e24])))[0]
    assert np.all((shares["N"].low < truth) & (truth < shares["N"].high))
    assert np.all(shares["D/N"].low < shares["D/N"].high)


def test_a_law_of_compute_has_nothing_to_allocate() -> None:
    with pytest.raises(LawsmithError, match="inputs N and D"):
        log_optimal_n(get_law("LC"), np.zeros((1, 3)), np.array([1e22]))


def test_a_law_of_n_and_d_is_read_where_it_is_best_for_the_compute():
    law = get_law("chinchilla")
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e9, 5), np.geomspace(1e9, 1e11, 5)))
    loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28
    phi = fit_law(law, {"N": N, "D": D}, loss).phi
    best = best_split(law, phi, 1e23)
    N_best, D_best = best["N"], best["D"]
    assert 6 * N_best * D_best == pytest.approx(1e23, rel=1e-9)
    around = N_best * np.array([0.9, 1.0, 1.1])
    tried = 1.7 + 400 * around**-0.34 + 410 * (1e23 / 6 / around) ** -0.28
    assert np.argmin(tried) == 1


@pytest.mark.parametrize("further", [{"unique_tokens": 3e9}, {"unique_tokens": 1e14}])
def test_the_best_n_of_repeated_data_is_that_of_a_fine_grid(further: dict[str, float]) -> None:
    law, C = get_law("repeated"), 1e23
    params = EXAMPLES["repeated"]
    N = np.exp(np.linspace(np.log(1e7), np.log(1e13), 200_001))
    loss = law.predict(params, {"N": N, "D": C / (6 * N), **further})
    best = log_optimal_n(law, law.phi(params)[None], np.array([C]), further)[0, 0]
    assert float(np.exp(best)) == pytest.approx(N[np.argmin(loss)], rel=2e-3)
    if further["unique_tokens"] > 1e13:  # nothing is repeated: Chinchilla's closed form
        fresh = get_law("chinchilla")
        phi = fresh.phi({name: params[name] for name in fresh.names})[None]
        assert best == pytest.approx(log_optimal_n(fresh, phi, np.array([C]))[0, 0], abs=2e-3)


def test_a_further_input_that_is_not_given_is_the_best_of_those_run() -> None:
    law, inputs = get_law("moe"), grid()
    fit = fit_law(law, inputs, law.predict(EXAMPLES["moe"], inputs))
    assert best_further(fit, {}, {"C": 1e23}) == {"experts": pytest.approx(64.0)}
    assert best_further(fit, {"experts": 8.0}, {"C": 1e23}) == {"experts": pytest.approx(8.0)}
    assert best_further(fit, {}, {"N": 1e9, "D": 1e11}) == {"experts": pytest.approx(64.0)}


def test_an_allocation_without_the_further_input_is_refused() -> None:
    law = get_law("moe")
    with pytest.raises(LawsmithError, match="experts"):
        log_optimal_n(law, law.phi(EXAMPLES["moe"])[None], np.array([1e23]))
