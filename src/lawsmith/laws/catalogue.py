"""The built-in laws by name: LC, LN, LD, chinchilla, kaplan, skaling, gadre, and λ*(N, D)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product

import numpy as np

from lawsmith.errors import unknown
from lawsmith.grid import FloatArray
from lawsmith.laws.forms import Kaplan, Power, Skaling, SumOfPowers, Term
from lawsmith.laws.law import Law, Param, asymptote, coefficient, exponent
from lawsmith.laws.objective import HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS, Objective
from lawsmith.laws.starts import sum_of_powers_starts


def _sum_law(
    name: str,
    formula: str,
    inputs: tuple[str, ...],
    params: tuple[Param, ...],
    terms: tuple[Term, ...],
    objective: Objective = HUBER,
) -> Law:
    form = SumOfPowers(terms)
    starts = partial(sum_of_powers_starts, form, params)
    return Law(name, formula, inputs, params, form, starts, objective)


def _one_input(name: str, formula: str, input_: str, alpha: Param, sign: float) -> Law:
    terms = (Term(0), Term(1, (Power(2, sign, 0),)))
    return _sum_law(name, formula, (input_,), (asymptote(), coefficient("A"), alpha), terms)


LC = _one_input("LC", "L(C) = E + A·C^α", "C", exponent("alpha", -3.0, -1e-3), 1.0)
LN = _one_input("LN", "L(N) = E + A·N^-α", "N", exponent("alpha"), -1.0)
LD = _one_input("LD", "L(D) = E + A·D^-α", "D", exponent("alpha"), -1.0)

CHINCHILLA = _sum_law(
    "chinchilla",
    "L(N, D) = E + A·N^-α + B·D^-β",
    ("N", "D"),
    (
        asymptote(),
        coefficient("A"),
        exponent("alpha"),
        coefficient("B"),
        exponent("beta"),
    ),
    (Term(0), Term(1, (Power(2, -1.0, 0),)), Term(3, (Power(4, -1.0, 1),))),
)

GADRE = _sum_law(
    "gadre",
    "L(N, D) = E + α·N^b + β·6^(b/2)·D^b",
    ("N", "D"),
    (
        asymptote(),
        coefficient("alpha"),
        coefficient("beta"),
        exponent("b", -3.0, -1e-3),
    ),
    (
        Term(0),
        Term(1, (Power(3, 1.0, 0),)),
        Term(2, (Power(3, 1.0, 1, shift=0.5 * float(np.log(6.0))),)),
    ),
    LEAST_SQUARES_LOSS,
)


def _skaling_starts(
    x: FloatArray, y: FloatArray, w: FloatArray, fixed: Mapping[int, float]
) -> FloatArray:
    """Chinchilla's starts bent to several k: where one term dominates, (A N^-α)^k is exact."""
    assert CHINCHILLA.starts is not None
    base = CHINCHILLA.starts(x, y, w, {j: v for j, v in fixed.items() if j == 0})
    powers = [fixed[5]] if 5 in fixed else [0.3, 0.5, 0.75, 1.0, 1.5]
    starts = np.array([[s[0], *(s[1:] / k), k] for s, k in product(base, powers)])
    for j, value in fixed.items():
        starts[:, j] = value
    return starts


SKALING = Law(
    "skaling",
    "L(N, D) = E + (A·N^-α + B·D^-β)^k",
    ("N", "D"),
    (
        asymptote(),
        coefficient("A", upper=1e60),
        exponent("alpha", upper=10.0),
        coefficient("B", upper=1e60),
        exponent("beta", upper=10.0),
        exponent("k", 0.05, 10.0),
    ),
    Skaling(),
    _skaling_starts,
)


def _kaplan_starts(
    x: FloatArray, y: FloatArray, w: FloatArray, fixed: Mapping[int, float]
) -> FloatArray:
    """L^(1/α_D) is a sum of two powers: project it for several α_D and ratios α_N/α_D."""
    form = SumOfPowers((Term(0, (Power(1, -1.0, 0),)), Term(2, (Power(3, -1.0, 1),))))
    params = (coefficient("a"), exponent("r", upper=10.0), coefficient("b"), exponent("one"))
    starts = []
    for alpha_d in [fixed[3]] if 3 in fixed else [0.03, 0.06, 0.1, 0.2, 0.35]:
        best = sum_of_powers_starts(form, params, x, y / alpha_d, w, {3: 1.0})
        starts += [[s[0] / s[1], s[1] * alpha_d, s[2], alpha_d] for s in best]
    out = np.array(starts)
    for j, value in fixed.items():
        out[:, j] = value
    return out


KAPLAN = Law(
    "kaplan",
    "L(N, D) = ((Nc/N)^(αN/αD) + Dc/D)^αD",
    ("N", "D"),
    (
        coefficient("Nc", upper=1e60),
        exponent("alpha_N"),
        coefficient("Dc", upper=1e60),
        exponent("alpha_D"),
    ),
    Kaplan(),
    _kaplan_starts,
)

# The best hyperparameter as a power law of scale: λ*(N, D) = c·N^a·D^b, a line in logs.
HYPERPARAMETER = _sum_law(
    "hyperparameter",
    "λ*(N, D) = c·N^a·D^b",
    ("N", "D"),
    (coefficient("c", lower=1e-30), Param("a", lower=-5, upper=5), Param("b", lower=-5, upper=5)),
    (Term(0, (Power(1, 1.0, 0), Power(2, 1.0, 1))),),
    LEAST_SQUARES_LOG,
)

# The built-in laws by name.
LAWS = {law.name: law for law in (LC, LN, LD, CHINCHILLA, KAPLAN, SKALING, GADRE)}


def get_law(name: str) -> Law:
    """The built-in law of that name.

    name   a key of `LAWS`

    >>> get_law("chinchilla")
    Law chinchilla: L(N, D) = E + A·N^-α + B·D^-β
    """
    if name not in LAWS:
        raise unknown("law", name, LAWS)
    return LAWS[name]
