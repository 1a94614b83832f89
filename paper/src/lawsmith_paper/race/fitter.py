"""The fitter's race: a law from cold starts, and scipy's L-BFGS from the classical grid of starts.

The classical recipe (Hoffmann et al. 2022) minimises the same Huber objective from each of 4,500
starts and keeps the best. It is given our analytic gradient. A sample of its starts is timed, drawn
at random, since the time of a start depends on where it is; the total is scaled up by the reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from time import process_time

import numpy as np
from scipy.optimize import minimize

from lawsmith.datasets import ReadOptions
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray
from lawsmith.laws.catalogue import CHINCHILLA
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import HUBER
from lawsmith.threads import one_thread
from lawsmith_paper.jobs import Json
from lawsmith_paper.replays import Settings
from lawsmith_paper.studies import load

# The grid of starts in logs of E, A and B, and in the exponents.
CLASSICAL: Mapping[str, FloatArray] = {
    "alpha": np.arange(0.0, 2.1, 0.5),
    "beta": np.arange(0.0, 2.1, 0.5),
    "log_E": np.arange(-1.0, 1.1, 0.5),
    "log_A": np.arange(0.0, 26.0, 5.0),
    "log_B": np.arange(0.0, 26.0, 5.0),
}
Points = tuple[Mapping[str, FloatArray], FloatArray]


def classical_starts() -> FloatArray:
    """(4500, 5) phi of every start: log E, log A, α, log B, β."""
    grid = np.array(list(product(*CLASSICAL.values())))
    order = [list(CLASSICAL).index(name) for name in ("log_E", "log_A", "alpha", "log_B", "beta")]
    return grid[:, order]


def classical_fit(x: FloatArray, y: FloatArray, start: FloatArray) -> float:
    """The objective that L-BFGS reaches from ``start``; x (2, n) log inputs, y (n,) log losses."""

    def value_and_gradient(phi: FloatArray) -> tuple[float, FloatArray]:
        f, jac = CHINCHILLA.form.value_and_jac(phi[None], x[:, None, :])
        r = f[0] - y
        return float(HUBER.rho(r).sum()), jac[0] @ HUBER.psi(r)

    found = minimize(
        value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-12},
    )
    return float(found.fun)


def fitter_lines(settings: Settings) -> Iterator[Json]:
    """A line for each of our fits, then for each classical start that was drawn."""
    inputs, loss = points(settings["study"], settings["drop_largest_loss"])
    with one_thread():
        first = fit_law(CHINCHILLA, inputs, loss)  # not timed: it loads what is needed
    for i in range(settings["repeats"]):
        with one_thread():
            begin = process_time()
            value = fit_law(CHINCHILLA, inputs, loss).value
            spent = process_time() - begin
        yield {"contender": "lawsmith", "n": i, "seconds": spent, "objective": value}
    starts = classical_starts()
    rng = np.random.default_rng(settings["seed"])
    for i in rng.permutation(len(starts))[: settings["starts"]].tolist():
        with one_thread(), np.errstate(over="ignore", invalid="ignore"):
            begin = process_time()
            value = classical_fit(first.x, np.log(first.loss), starts[i])
            spent = process_time() - begin
        yield {"contender": "scipy", "n": i, "seconds": spent, "objective": value}


def n_fitter_lines(settings: Settings) -> int:
    return int(settings["repeats"]) + int(settings["starts"])


@lru_cache(maxsize=2)
def points(study: str, drop_largest_loss: int) -> Points:
    """(N and D, losses): every run where only N and D vary, else the best of each pair."""
    read = load(study, ReadOptions(drop_largest_loss=drop_largest_loss))
    grid, loss = read.grid, read.runs.config_loss(len(read.grid))
    rows = np.flatnonzero(np.isfinite(loss))
    if {axis.name for axis in grid.axes} - {"N", "D"}:
        rows = frontier(grid, loss, CHINCHILLA.inputs)
    return {"N": grid.N[rows], "D": grid.D[rows]}, loss[rows]


def fitter_facts(settings: Settings) -> tuple[str, Json]:
    """(law, how many points it is fitted to)."""
    _, loss = points(settings["study"], settings["drop_largest_loss"])
    return CHINCHILLA.name, {"n_points": len(loss), "n_starts": len(classical_starts())}
