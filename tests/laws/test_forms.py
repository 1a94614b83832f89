"""The laws' formulae against plain arithmetic, and their derivatives against differences."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import HYPERPARAMETER, LAWS, get_law
from lawsmith.laws.law import Law, coefficient, define, exponent

EXAMPLES = {
    "LC": {"E": 1.57, "A": 794.0, "alpha": -0.152},
    "LN": {"E": 1.9, "A": 300.0, "alpha": 0.31},
    "LD": {"E": 1.7, "A": 2000.0, "alpha": 0.33},
    "chinchilla": {"E": 1.82, "A": 478.0, "alpha": 0.347, "B": 2143.0, "beta": 0.367},
    "kaplan": {"Nc": 8.8e13, "alpha_N": 0.076, "Dc": 5.4e13, "alpha_D": 0.095},
    "skaling": {"E": 1.01, "A": 2.1e4, "alpha": 0.49, "B": 3849.0, "beta": 0.346, "k": 0.4},
    "gadre": {"E": 1.84, "alpha": 166.0, "beta": 367.0, "b": -0.273},
    "farseer": {
        **{"E": 1.9, "e1": -0.07, "e2": -0.2, "B": 0.31, "b1": 0.06, "b2": -0.3},
        **{"beta": 0.29, "c1": -0.04, "c2": 0.1},
    },
    "repeated": {**{"E": 1.87, "A": 521.0, "alpha": 0.35, "B": 1488.0, "beta": 0.36}, "R": 15.4},
    "experts": {"E": 1.6, "A": 43.0, "alpha": 0.2, "gamma": 0.08},
    "moe": {**{"E": 1.6, "A": 90.0, "alpha": 0.25, "B": 900.0, "beta": 0.33}, "gamma": 0.07},
    "vocabulary": {**{"E": 1.6, "A": 90.0, "alpha": 0.25, "B": 900.0, "beta": 0.33}, "gamma": 0.1},
    "hyperparameter": {"c": 1.8, "a": -0.71, "b": 0.31},
}
U, X, V = np.array([2e8, 7e9, 3e10]), np.array([1.0, 8.0, 256.0]), np.array([4e3, 3.2e4, 1e5])


def farseer(p: dict[str, float], N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """As the authors write it: exp(a·N^t + b) three times."""
    parts = []
    for level, slope, bend in (("E", "e1", "e2"), ("B", "b1", "b2"), ("beta", "c1", "c2")):
        a = p[slope] / p[bend] * 1e9 ** -p[bend]
        parts.append(np.exp(a * N ** p[bend] + np.log(p[level]) - p[slope] / p[bend]))
    return parts[0] + parts[1] * (D / 1e10) ** -parts[2]


def repeated(p: dict[str, float], N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """As the authors write it: unique tokens, and how often they are repeated."""
    unique = np.minimum(U, D)
    repeats = D / unique - 1
    worth = unique + unique * p["R"] * (1 - np.exp(-repeats / p["R"]))
    return p["E"] + p["A"] / N ** p["alpha"] + p["B"] / worth ** p["beta"]


FORMULAE = {
    "LC": lambda p, N, D: p["E"] + p["A"] * (6 * N * D) ** p["alpha"],
    "LN": lambda p, N, D: p["E"] + p["A"] * N ** -p["alpha"],
    "LD": lambda p, N, D: p["E"] + p["A"] * D ** -p["alpha"],
    "chinchilla": lambda p, N, D: p["E"] + p["A"] * N ** -p["alpha"] + p["B"] * D ** -p["beta"],
    "kaplan": lambda p, N, D: (
        ((p["Nc"] / N) ** (p["alpha_N"] / p["alpha_D"]) + p["Dc"] / D) ** p["alpha_D"]
    ),
    "skaling": lambda p, N, D: (
        p["E"] + (p["A"] * N ** -p["alpha"] + p["B"] * D ** -p["beta"]) ** p["k"]
    ),
    # as published: N and M = D/N
    "gadre": lambda p, N, D: (
        p["alpha"] * N ** p["b"] + p["beta"] * 6 ** (p["b"] / 2) * (D / N * N) ** p["b"] + p["E"]
    ),
    "farseer": farseer,
    "repeated": repeated,
    "experts": lambda p, N, D: p["E"] + p["A"] * N ** -p["alpha"] * X ** -p["gamma"],
    "moe": lambda p, N, D: (
        p["E"] + p["A"] * N ** -p["alpha"] * X ** -p["gamma"] + p["B"] * D ** -p["beta"]
    ),
    "vocabulary": lambda p, N, D: (
        p["E"] + p["A"] * N ** -p["alpha"] + p["B"] * D ** -p["beta"] * V ** p["gamma"]
    ),
    "hyperparameter": lambda p, N, D: p["c"] * N ** p["a"] * D ** p["b"],
}
N = np.array([1e7, 3e8, 7e9])
D = np.array([2e9, 6e9, 1.4e12])
INPUTS = {"N": N, "D": D, "C": 6 * N * D, "unique_tokens": U, "experts": X, "vocab": V}


def laws() -> list[Law]:
    return [*LAWS.values(), HYPERPARAMETER]


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.name)
def test_a_law_predicts_what_its_formula_says(law: Law) -> None:
    params = EXAMPLES[law.name]
    np.testing.assert_allclose(
        law.predict(params, INPUTS), FORMULAE[law.name](params, N, D), rtol=1e-12
    )


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.name)
def test_gradients_agree_with_differences(law: Law) -> None:
    phi = law.phi(EXAMPLES[law.name])[None]
    x = law.log_inputs(INPUTS)
    _, jac = law.form.value_and_jac(phi, x)
    for k in range(law.n_params):
        h = np.zeros(law.n_params)
        h[k] = 1e-6
        numeric = (law.form.value(phi + h, x) - law.form.value(phi - h, x)) / 2e-6
        np.testing.assert_allclose(jac[:, k], numeric, rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.name)
def test_curvature_agrees_with_differences_of_the_gradient(law: Law) -> None:
    phi = law.phi(EXAMPLES[law.name])[None]
    x = law.log_inputs(INPUTS)
    w = np.array([[0.3, -1.2, 2.0]])
    curv = law.form.curvature(phi, x, w, law.form.value_and_jac(phi, x)[1])
    for k in range(law.n_params):
        h = np.zeros(law.n_params)
        h[k] = 1e-5
        up, down = (law.form.value_and_jac(phi + s * h, x)[1] for s in (1, -1))
        numeric = ((up - down) * w[:, None, :]).sum(axis=-1) / 2e-5
        np.testing.assert_allclose(curv[:, k], numeric, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.name)
def test_a_batch_of_parameters_is_each_of_them_alone(law: Law) -> None:
    phi = law.phi(EXAMPLES[law.name]) + 0.01 * np.arange(3)[:, None]
    x = law.log_inputs(INPUTS)
    together = law.form.value(phi, x)
    for b in range(3):
        np.testing.assert_allclose(together[b], law.form.value(phi[b : b + 1], x)[0], rtol=1e-14)


def test_values_stay_finite_where_a_term_overflows() -> None:
    law = get_law("LC")
    phi = np.array([[0.4, 60.0, -0.001]])
    assert np.isfinite(law.form.value(phi, np.log(np.array([[[1e30]]])))).all()


def test_an_unknown_law_is_told_with_a_suggestion() -> None:
    with pytest.raises(LawsmithError, match="did you mean chinchilla"):
        get_law("chinchila")


def test_a_users_law_of_ten_lines_has_an_exact_gradient() -> None:
    law = define(
        "saturating",
        lambda x, E, A, alpha: E + A / (1 + x["D"] / 1e9) ** alpha,
        inputs=["D"],
        params=[coefficient("E", lower=0.1, upper=10), coefficient("A"), exponent("alpha")],
    )
    phi = law.phi({"E": 2.0, "A": 3.0, "alpha": 0.4})[None]
    x = law.log_inputs({"D": D})
    _, jac = law.form.value_and_jac(phi, x)
    loss = 2.0 + 3.0 / (1 + D / 1e9) ** 0.4
    np.testing.assert_allclose(jac[0, 0], 2.0 / loss, rtol=1e-12)
    np.testing.assert_allclose(jac[0, 1], (loss - 2.0) / loss, rtol=1e-12)


def test_a_formula_that_cannot_be_differentiated_is_refused() -> None:
    with pytest.raises(LawsmithError, match="smooth numpy functions"):
        define(
            "stepped",
            lambda x, E, A: E + np.abs(A - 2.0) * x["D"] ** -0.1,
            inputs=["D"],
            params=[coefficient("E", lower=1, upper=4), coefficient("A", lower=1, upper=3)],
        )


def test_bad_parameters_and_inputs_are_told() -> None:
    law = get_law("LC")
    with pytest.raises(LawsmithError, match="beta"):
        law.phi({"E": 1.0, "A": 1.0, "alpha": -0.1, "beta": 2.0})
    with pytest.raises(LawsmithError, match="alpha"):
        law.phi({"E": 1.0, "A": 1.0})
    with pytest.raises(LawsmithError, match="above 0"):
        law.phi({"E": -1.0, "A": 1.0, "alpha": -0.1})
    with pytest.raises(LawsmithError, match="want C"):
        law.predict(EXAMPLES["LC"], {"N": 1e9})
    with pytest.raises(LawsmithError, match="above 0"):
        law.predict(EXAMPLES["LC"], {"C": [1e20, -1.0]})


def test_repeated_tokens_are_worth_less_and_less() -> None:
    law, params = get_law("repeated"), {**EXAMPLES["repeated"], "R": 10.0}
    fresh = get_law("chinchilla")
    same = {name: params[name] for name in fresh.names}

    def worth(D: float, U: float) -> float:
        """The number of fresh tokens of the same loss, by Chinchilla's law."""
        loss = law.predict(params, {"N": 1e9, "D": D, "unique_tokens": U})[0]
        rest = loss - params["E"] - params["A"] * 1e9 ** -params["alpha"]
        return float((rest / params["B"]) ** (-1 / params["beta"]))

    assert worth(5e9, 5e9) == pytest.approx(5e9)
    assert worth(11e9, 1e9) == pytest.approx(1e9 * (1 + 10 * (1 - np.exp(-1))))
    assert worth(1e18, 1e9) == pytest.approx(11e9)
    plenty = law.predict(params, {"N": 1e9, "D": 1e9, "unique_tokens": 3e9})
    assert plenty[0] == pytest.approx(fresh.predict(same, {"N": 1e9, "D": 1e9})[0])


def test_farseers_law_is_chinchillas_where_only_the_floor_moves_with_n() -> None:
    """It is Chinchilla's law to second order in ln N about a billion parameters."""
    fresh, law = get_law("chinchilla"), get_law("farseer")
    N, D = np.meshgrid([9e8, 1e9, 1.1e9], [1e9, 1e10, 1e11])
    at = {"N": N.ravel(), "D": D.ravel()}
    loss = fresh.predict(EXAMPLES["chinchilla"], at)
    x = fresh.log_inputs(at)
    E, A, alpha, B, beta = (EXAMPLES["chinchilla"][k] for k in ("E", "A", "alpha", "B", "beta"))
    term = A * 1e9**-alpha
    exact = [np.log(E + term), -alpha * term / (E + term), -alpha * E / (E + term)]
    exact += [np.log(B * 1e10**-beta), 0.0, -0.1, np.log(beta), 0.0, -0.1]
    np.testing.assert_allclose(np.exp(law.form.value(np.array([exact]), x)[0]), loss, rtol=1e-5)
