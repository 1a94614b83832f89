"""Laws of a user's own, read from a file; and the one-sided objective."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import CHINCHILLA, read_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import HUBER, ONE_SIDED

TEXT = """
from lawsmith import asymptote, coefficient, define, exponent

law = define(
    "sparse",
    lambda x, E, A, alpha, gamma: E + A / (x["N"] ** alpha * x["experts"] ** gamma),
    inputs=["N", "experts"],
    params=[asymptote("E", lower=0.1, upper=10), coefficient("A", lower=1, upper=1e6),
            exponent("alpha"), exponent("gamma", lower=0.001, upper=1.0)],
    formula="E + A/(N^α·experts^γ)",
)
other = 3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_laws.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "broken.py").write_text("1 / 0", encoding="utf-8")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    return tmp_path


def test_a_law_of_a_file_is_found_and_fits_its_own_truth(folder):
    law = read_law("my_laws.py:law", folder)
    rng = np.random.default_rng(0)
    N, experts = 10 ** rng.uniform(7, 10, 60), rng.choice([1.0, 4.0, 16.0], 60)
    truth = {"E": 1.8, "A": 900.0, "alpha": 0.33, "gamma": 0.08}
    places = {"N": N, "experts": experts}
    found = fit_law(law, places, law.predict(truth, places))
    assert found.params == pytest.approx(truth, rel=1e-3)


def test_a_name_alone_is_a_built_in_law():
    assert read_law("chinchilla") is CHINCHILLA


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("my_laws.py:laws", "did you mean law?"),
        ("my_laws.py:other", "other in my_laws.py, which is no law"),
        ("my_laws.py", "want a name in it, such as my_laws.py:law"),
        ("no.py:law", "got no file"),
        ("broken.py:law", "ZeroDivisionError: division by zero"),
        ("empty.py:law", "no law in empty.py"),
        ("chinchila", "did you mean chinchilla?"),
        ("a:b", "want FILE.py:NAME"),
    ],
)
def test_what_is_no_law_is_told_in_one_line(folder, text, words):
    with pytest.raises(LawsmithError) as told:
        read_law(text, folder)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_the_one_sided_penalty_is_hubers_below_and_a_tenth_above():
    r = np.array([0.0005, 0.004, -0.0005, -0.004])  # law − run
    np.testing.assert_allclose(ONE_SIDED.rho(r[:2]), HUBER.rho(r[:2]))
    np.testing.assert_allclose(ONE_SIDED.rho(r[2:]), 0.1 * HUBER.rho(r[2:]))
    slope = (ONE_SIDED.rho(r + 1e-8) - ONE_SIDED.rho(r - 1e-8)) / 2e-8
    np.testing.assert_allclose(ONE_SIDED.psi(r), slope, rtol=1e-5)


def test_runs_that_are_mostly_undertuned_pull_the_one_sided_law_less():
    rng = np.random.default_rng(1)
    truth = {"E": 1.69, "A": 406.4, "alpha": 0.34, "B": 410.7, "beta": 0.28}
    N, D = 10 ** rng.uniform(7.5, 9.5, 80), 10 ** rng.uniform(9, 11, 80)
    places = {"N": N, "D": D}
    loss = CHINCHILLA.predict(truth, places) * np.exp(0.001 * rng.standard_normal(80))
    poor = rng.random(80) < 0.6
    loss = loss * np.where(poor, np.exp(np.abs(0.05 * rng.standard_normal(80))), 1.0)
    far = {"N": 7e10, "D": 1.4e12}
    want = float(CHINCHILLA.predict(truth, far)[0])
    errors = {}
    for objective in (HUBER, ONE_SIDED):
        found = fit_law(CHINCHILLA, places, loss, objective=objective)
        errors[objective.name] = abs(float(found.predict(far)[0]) / want - 1.0)
    assert errors["one-sided"] < 0.5 * errors["huber"]
