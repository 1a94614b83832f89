"""The numbers of the pair plot: how the parameters of a law vary together among its draws.

Coefficients, which span decades, are shown in natural logs, exponents as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from lawsmith.charts.data.runs import short
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.grid import FloatArray
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Uncertainty

N_DRAWS = 400
_GREEK = {"alpha": "α", "beta": "β", "alpha_N": "αN", "alpha_D": "αD"}


@dataclass(frozen=True)
class PairsData:
    """What the pair plot shows.

    draws   p0, p1, …: a row a draw, parameters that vary
    fitted  the same columns: the law as fitted, one row
    names   column → title
    pairs   (across, up, correlation) of every panel
    """

    draws: pd.DataFrame
    fitted: pd.DataFrame
    names: dict[str, str]
    pairs: tuple[tuple[str, str, float], ...]


def pairs_data(law: Law, phi: FloatArray, draws: FloatArray) -> PairsData:
    """The pair plot of ``draws`` (S, p) around ``phi`` (p,), parameters as they are searched."""
    usable = draws[np.isfinite(draws).all(axis=1)][:N_DRAWS]
    if len(usable) < 10:
        raise ChartUnavailable("too few plausible laws to see how their parameters vary")
    spread = usable.std(axis=0)
    free = [j for j in range(law.n_params) if spread[j] > 1e-9 * max(abs(phi[j]), 1.0)]
    if len(free) < 2:
        raise ChartUnavailable("fewer than two parameters vary: all plausible laws are one")
    names = {f"p{j}": _title(law, j) for j in free}
    table = {f"p{j}": short(usable[:, j]) for j in free}
    pairs = tuple(
        (f"p{a}", f"p{b}", float(np.corrcoef(usable[:, a], usable[:, b])[0, 1]))
        for a, b in combinations(free, 2)
    )
    fitted = pd.DataFrame({f"p{j}": short([phi[j]]) for j in free})
    return PairsData(pd.DataFrame(table), fitted, names, pairs)


def draws_of(uncertainty: Uncertainty, *, seed: int = 0) -> FloatArray:
    """(S, p) laws as plausible as an analysis finds them: Student's t about its centre."""
    rng = np.random.default_rng([seed, 11])
    values, vectors = np.linalg.eigh(uncertainty.cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    dof = max(uncertainty.dof, 1)
    stretch = np.sqrt(dof / rng.chisquare(dof, size=(N_DRAWS, 1)))
    return np.asarray(
        uncertainty.phi + stretch * (rng.standard_normal((N_DRAWS, len(values))) @ root.T)
    )


def _title(law: Law, j: int) -> str:
    param = law.params[j]
    name = _GREEK.get(param.name, param.name)
    return f"ln {name}" if param.positive else name
