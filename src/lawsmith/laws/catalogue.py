"""The built-in laws by name, each with its starts and its authors' objective, and λ*(N, D).

Laws of N, D and C alone: LC, LN, LD, chinchilla, kaplan, skaling, gadre, farseer. Laws with a
further input: repeated (unique tokens), experts and moe (experts, or how many times more parameters
a model has than it uses for a token), vocabulary (its size).
"""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import FloatArray
from lawsmith.laws.forms import (
    FARSEER_D,
    FARSEER_N,
    Farseer,
    Kaplan,
    Power,
    Repeated,
    Skaling,
    SumOfPowers,
    Term,
)
from lawsmith.laws.law import Law, LogPoints, Param, asymptote, coefficient, exponent
from lawsmith.laws.objective import HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS, Objective
from lawsmith.laws.starts import sum_of_powers_starts

# Letters in formulae → names of parameters and inputs.
SYMBOLS = {"α": "alpha", "β": "beta", "γ": "gamma", "X": "experts", "V": "vocab"}
_SQRT6 = "6^(b/2)"  # Gadre's factor, with C = 6ND: D counts as √6·D in the power b


def _sum_law(
    name: str, formula: str, params: tuple[Param, ...], objective: Objective = HUBER
) -> Law:
    """A law with the terms of its formula: 'L(N, D) = E + A·N^-α + B·D^-β'."""
    head, _, terms = formula.partition(" = ")
    letters = head[head.index("(") + 1 : -1].split(", ")
    inputs = tuple(SYMBOLS.get(letter, letter) for letter in letters)
    names = tuple(param.name for param in params)
    form = SumOfPowers(tuple(_term(term.split("·"), inputs, names) for term in terms.split(" + ")))
    starts = partial(sum_of_powers_starts, form, params)
    return Law(name, formula, inputs, params, form, starts, objective)


def _term(parts: list[str], inputs: tuple[str, ...], names: tuple[str, ...]) -> Term:
    """['A', 'N^-α'] → the term, with the positions of its parameters and inputs."""
    shift = 0.5 * float(np.log(6.0)) if _SQRT6 in parts else 0.0
    powers = []
    for part in parts[1:]:
        if part != _SQRT6:
            base, exponent = part.split("^")
            sign, letter = -1.0 if exponent[0] == "-" else 1.0, exponent.lstrip("-")
            at = names.index(SYMBOLS.get(letter, letter)), inputs.index(SYMBOLS.get(base, base))
            powers.append(Power(at[0], sign, at[1], shift))
    return Term(names.index(SYMBOLS.get(parts[0], parts[0])), tuple(powers))


_EA = (asymptote(), coefficient("A"))
LC = _sum_law("LC", "L(C) = E + A·C^α", (*_EA, exponent("alpha", -3.0, -1e-3)))
LN = _sum_law("LN", "L(N) = E + A·N^-α", (*_EA, exponent("alpha")))
LD = _sum_law("LD", "L(D) = E + A·D^-α", (*_EA, exponent("alpha")))
CHINCHILLA = _sum_law(
    "chinchilla",
    "L(N, D) = E + A·N^-α + B·D^-β",
    (*_EA, exponent("alpha"), coefficient("B"), exponent("beta")),
)
GADRE = _sum_law(
    "gadre",
    "L(N, D) = E + α·N^b + β·6^(b/2)·D^b",
    (asymptote(), coefficient("alpha"), coefficient("beta"), exponent("b", -3.0, -1e-3)),
    LEAST_SQUARES_LOSS,
)


def _chinchilla_starts(at: LogPoints, log_e: float | None) -> FloatArray:
    """(S, 5) starts of a law of N and D similar to Chinchilla's; with log E if it is fixed."""
    assert CHINCHILLA.starts is not None
    return CHINCHILLA.starts(at, {} if log_e is None else {0: log_e})


def _skaling_starts(at: LogPoints, fixed: Mapping[int, float]) -> FloatArray:
    """Chinchilla's starts for several k; exact where one term dominates, by (A N^-α)^k."""
    base = _chinchilla_starts(at, fixed.get(0))
    powers = [fixed[5]] if 5 in fixed else [0.3, 0.5, 0.75, 1.0, 1.5]
    return np.array([[s[0], *(s[1:] / k), k] for s, k in product(base, powers)])


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


def _kaplan_starts(at: LogPoints, fixed: Mapping[int, float]) -> FloatArray:
    """L^(1/α_D) is a sum of two powers, which is projected for several α_D."""
    form = SumOfPowers((Term(0, (Power(1, -1.0, 0),)), Term(2, (Power(3, -1.0, 1),))))
    params = (coefficient("a"), exponent("r", upper=10.0), coefficient("b"), exponent("one"))
    starts = []
    for alpha_d in [fixed[3]] if 3 in fixed else [0.03, 0.06, 0.1, 0.2, 0.35]:
        best = sum_of_powers_starts(form, params, at._replace(y=at.y / alpha_d), {3: 1.0})
        starts += [[s[0] / s[1], s[1] * alpha_d, s[2], alpha_d] for s in best]
    return np.array(starts)


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


def _farseer_starts(at: LogPoints, fixed: Mapping[int, float]) -> FloatArray:
    """Chinchilla's starts: log(E + A·N^-α) by its value, slope and bend at FARSEER_N."""
    rows = []
    for log_e, log_a, alpha, log_b, beta in _chinchilla_starts(at, None):
        E, term = np.exp(log_e), np.exp(log_a - alpha * np.log(FARSEER_N))
        floor = [np.log(E + term), -alpha * term / (E + term), -alpha * E / (E + term)]
        reducible = [log_b - beta * np.log(FARSEER_D), 0.0, -0.1]
        rows.append([*floor, *reducible, np.log(beta), 0.0, -0.1])
    return np.array(rows)


def _slopes(name: str) -> tuple[Param, Param]:
    """The slope of a log in ln N, and how this slope bends."""
    return Param(f"{name}1", lower=-3.0, upper=3.0), Param(f"{name}2", lower=-2.0, upper=2.0)


FARSEER = Law(
    "farseer",
    "L(N, D) = E·exp(e1·h(e2)) + B·exp(b1·h(b2))·D^(−β·exp(c1·h(c2))), h(t) = (N^t − 1)/t; "
    "N in 1e9, D in 1e10",
    ("N", "D"),
    (
        coefficient("E"),
        *_slopes("e"),
        coefficient("B"),
        *_slopes("b"),
        coefficient("beta", lower=1e-3, upper=10.0),
        *_slopes("c"),
    ),
    Farseer(),
    _farseer_starts,
)


def _repeated_starts(at: LogPoints, fixed: Mapping[int, float]) -> FloatArray:
    """Chinchilla's starts in N and D_eff, for several R."""
    form, rows = Repeated(CHINCHILLA.form), []
    for log_r in [fixed[5]] if 5 in fixed else np.log([2.0, 10.0, 50.0]):
        inner = form.warped(np.array([[0.0, 0.0, 0.0, 0.0, 0.0, log_r]]), at.x)[0]
        rows += [[*s, log_r] for s in _chinchilla_starts(at._replace(x=inner), None)]
    return np.array(rows)


REPEATED = Law(
    "repeated",
    "L(N, D, U) = E + A·N^-α + B·D_eff^-β, D_eff = U·(1 + R·(1 − exp(−(D/U − 1)/R)))",
    ("N", "D", "unique_tokens"),
    (*CHINCHILLA.params, coefficient("R", lower=0.1, upper=1e4)),
    Repeated(CHINCHILLA.form),
    _repeated_starts,
)

# Experts may help, harm or change nothing: their exponent may have either sign.
EXPERTS = _sum_law(
    "experts",
    "L(N, X) = E + A·N^-α·X^-γ",
    (*_EA, exponent("alpha"), exponent("gamma", -1.0)),
)
MOE = _sum_law(
    "moe",
    "L(N, D, X) = E + A·N^-α·X^-γ + B·D^-β",
    (*CHINCHILLA.params, exponent("gamma", -1.0)),
)
VOCABULARY = _sum_law(
    "vocabulary",
    "L(N, D, V) = E + A·N^-α + B·D^-β·V^γ",
    (*CHINCHILLA.params, exponent("gamma", -1.0)),
    LEAST_SQUARES_LOSS,
)

# The best hyperparameter as a power law of scale, a line in logs.
HYPERPARAMETER = _sum_law(
    "hyperparameter",
    "λ*(N, D) = c·N^a·D^b",
    (coefficient("c", lower=1e-30), Param("a", lower=-5, upper=5), Param("b", lower=-5, upper=5)),
    LEAST_SQUARES_LOG,
)

# The built-in laws by name.
LAWS = {
    law.name: law
    for law in (
        *(LC, LN, LD, CHINCHILLA, KAPLAN, SKALING, GADRE, FARSEER),
        *(REPEATED, EXPERTS, MOE, VOCABULARY),
    )
}


def get_law(name: str) -> Law:
    """The built-in law of that name.

    name   a key of `LAWS`

    >>> get_law("chinchilla")
    Law chinchilla: L(N, D) = E + A·N^-α + B·D^-β
    """
    if name not in LAWS:
        raise unknown("law", name, LAWS)
    return LAWS[name]


def read_law(text: str, folder: str | Path = ".") -> Law:
    """The built-in law of that name, or one of the user: 'my_laws.py:law', made with `define`.

    The file, in ``folder``, is run as Python: only use files that you trust.
    """
    file, colon, name = text.rpartition(":")
    if not colon:
        if text.endswith(".py"):
            raise LawsmithError("law", got=repr(text), want=f"a name in it, such as {text}:law")
        return get_law(text)
    if not file.endswith(".py"):
        want = "FILE.py:NAME, or one of " + ", ".join(LAWS)
        raise LawsmithError("law", got=repr(text), want=want)
    defined = _names_in(Path(folder) / file)
    laws = {key: value for key, value in defined.items() if isinstance(value, Law)}
    if name not in laws:
        if name in defined or not laws:
            got = f"{name} in {file}, which is no law" if name in defined else f"no law in {file}"
            hint = "make one with lawsmith.define"
            raise LawsmithError("law", got=got, want=f"a law called {name}", hint=hint)
        raise unknown(f"law in {file}", name, laws)
    return laws[name]


def _names_in(path: Path) -> dict[str, object]:
    """The names that a file defines when it is run."""
    if not path.is_file():
        raise LawsmithError("law", got=f"no file {path}", want="a Python file")
    try:
        return runpy.run_path(str(path), run_name="lawsmith_own_law")
    except LawsmithError:
        raise
    except Exception as error:  # a user's file may raise anything
        got = f"{type(error).__name__}: {error}"
        raise LawsmithError(f"law {path}", got=got, want="a file that runs") from None
