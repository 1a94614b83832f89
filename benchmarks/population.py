"""How much studies differ: the prior of a further study, from what earlier ones tell.

Notation as in `lawsmith.surface.learning`. Studies are draws from N(μ, τ²), independently for each
number. μ and τ are found by EM: what each study's numbers are given μ and τ, then μ and τ given
those. Each study counts once. LEAST_STUDIES imagined ones with a spread of HALF the broad prior's
keep τ from vanishing, and Student's t makes a spread that was learnt from few studies wider.

When 14 studies were known, spreads were 1.3 times as wide, and two studies were imagined. With 25,
of which 11 had no part in the forms of the surface, held-out losses of both kinds are more likely
without that factor and with one imagined study. (Sums of mean log scores of three cuts and both
kinds: 18.37, 18.33, 18.29 and 18.20 with two and factors of 0.8, 1, 1.3 and 1.5; 18.48 with one.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lawsmith.arrays import FloatArray
from lawsmith.surface.learning import Evidence, moments
from lawsmith.surface.prior import BROAD, Number, Prior

LEAST_STUDIES, HALF = 1.0, 0.5
# Not learnt: where D/N was run about its optimum is a choice, and today many runs are longer.
CHOSEN = ("ratio", "effect")
ROUNDS = 100  # of EM


def together(tables: Sequence[Evidence]) -> Evidence:
    """One study's evidence from that of its tables, which count as one."""
    n = len(tables)
    return tuple(replace(part, weight=part.weight / n) for table in tables for part in table)


def population(studies: Mapping[str, Evidence]) -> Prior:
    """The prior of a further study, from studies that differ."""
    parts = [part for study in studies.values() for part in study]
    names = dict.fromkeys(name for part in parts for own in part.names for name in own)
    centre, spread = dict.fromkeys(names, 0.0), dict.fromkeys(names, 1.0)
    count = dict.fromkeys(names, 0.0)
    for _ in range(ROUNDS):
        found = [moments(parts, centre, spread) for parts in studies.values()]
        for name in names:
            told = np.array([study[name] for study in found if name in study])
            centre[name], spread[name], count[name] = _centre_and_spread(told, spread[name])
    numbers = dict(BROAD.numbers)
    for name in (name for name in names if name not in CHOSEN):
        numbers[name] = _number(name, centre[name], spread[name], count[name])
    return Prior(numbers, public=tuple(studies))


def _centre_and_spread(told: FloatArray, before: float) -> tuple[float, float, float]:
    """μ and τ in units of s₀, and the number of studies."""
    mean, square = told.T
    n = len(mean)
    centre = float(mean.sum() / before**2) / (n / before**2 + 1.0)
    squares = float((square - 2 * centre * mean + centre**2).sum())
    variance = (squares + LEAST_STUDIES * HALF**2) / (n + LEAST_STUDIES)
    return centre, float(np.sqrt(variance)), float(n)


def _number(name: str, centre: float, spread: float, n: float) -> Number:
    """The number of a further study: its spread, and what n studies do not tell of it."""
    known = BROAD[name]
    df = n + LEAST_STUDIES
    wide = spread * np.sqrt((1.0 + 1.0 / n) * df / max(df - 2.0, 1.0))
    mean = known.mean + centre * known.sd
    value = float(np.exp(mean)) if known.log else mean
    return Number(value, known.sd * float(min(wide, 1.0)), known.log)
