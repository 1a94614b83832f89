"""Compute-optimal allocation: N*(C), D*(C) and D*/N* of a law of N and D under C = 6ND.

The minimum of a law on ND = C/6 is found numerically, whatever its form. For a sum of a·N^-α and
b·D^-β it is where α·a·N^-α = β·b·D^-β. A law may have further inputs (unique tokens, experts, a
vocabulary); they are given, or chosen among the values that were run.
Shapes: phi (B, p); C (n,); log N* (B, n).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Interval, Uncertainty

LOG6 = float(np.log(6.0))
BISECTIONS = 60  # of log(C/6), which is about 60: enough for the last digit
# Step of log N for a slope by differences of fourth order. Their error is about NEARBY⁴; rounding
# of the loss moves log N* by about 1e-11.
NEARBY = 1e-3
NOTHING: Mapping[str, float] = MappingProxyType({})


def further_inputs(law: Law) -> tuple[str, ...]:
    """The inputs of a law other than N, D and C."""
    return tuple(name for name in law.inputs if name not in ("N", "D", "C"))


def divides(law: Law) -> bool:
    """Whether the law has N and D, so that compute can be divided between them."""
    return {"N", "D"} <= set(law.inputs) and "C" not in law.inputs


def can_allocate(law: Law) -> bool:
    """Whether N and D are its only inputs, so that no other one has to be given to divide."""
    return divides(law) and not further_inputs(law)


@saturating
def log_optimal_n(
    law: Law, phi: FloatArray, C: FloatArray, further: Mapping[str, float] = NOTHING
) -> FloatArray:
    """log N*(C), (B, n), with the law's further inputs at the given values.

    Found by bisection on the slope of log loss along the isoFLOP line.
    """
    if not divides(law) or set(further_inputs(law)) - set(further):
        got, want = str((*further,)), f"inputs N and D, and values of {further_inputs(law)}"
        raise LawsmithError(f"allocation of {law.name}", got=got, want=want)
    budget = np.log(np.atleast_1d(np.asarray(C, dtype=float))) - LOG6
    shape = (len(phi), len(budget))
    logs = {name: np.full(shape, np.log(further[name])) for name in further_inputs(law)}

    def value(log_n: FloatArray) -> FloatArray:
        at = {**logs, "N": log_n, "D": budget - log_n}
        return law.form.value(phi, np.stack([at[name] for name in law.inputs]))

    low, high = np.zeros(shape), np.broadcast_to(budget, shape)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        near, far = (value(middle + k * NEARBY) - value(middle - k * NEARBY) for k in (1, 2))
        rising = 8.0 * near > far
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return np.asarray((low + high) / 2)


@saturating
def best_split(
    law: Law, phi: FloatArray, compute: float, further: Mapping[str, float] = NOTHING
) -> dict[str, float]:
    """N*, D* and D/N of the law phi (p,) at a compute."""
    log_n = log_optimal_n(law, phi[None], np.array([compute]), further)[0, 0]
    # In logs, so that D is finite even if N is 0 or infinite as a float.
    log_d = np.log(compute) - LOG6 - log_n
    logs = {"N": log_n, "D": log_d, "D/N": log_d - log_n}
    return {name: float(np.exp(value)) for name, value in logs.items()}


def best_further(
    fit: LawFit, given: Mapping[str, float], at: Mapping[str, float]
) -> dict[str, float]:
    """The further inputs of a law: as given, else the values among its runs with the least loss.

    at   N and D, or the compute C that is divided between them
    """
    law = fit.law
    free = [name for name in further_inputs(law) if name not in given]
    values = {name: np.unique(fit.x[law.inputs.index(name)]) for name in free}
    chosen = known = {name: given[name] for name in further_inputs(law) if name in given}
    if not free:
        return known
    best = np.inf
    for logs in product(*values.values()):
        tried = {**known, **{n: float(np.exp(v)) for n, v in zip(free, logs, strict=True)}}
        sizes = at if "C" not in at else best_split(law, fit.phi, at["C"], tried)
        loss = float(fit.predict({**sizes, **tried})[0])
        if loss < best:
            best, chosen = loss, tried
    return chosen


@saturating
def allocation(
    uncertainty: Uncertainty,
    C: FloatArray,
    level: float = 0.95,
    further: Mapping[str, float] = NOTHING,
) -> dict[str, Interval]:
    """N*, D* and D/N at each compute, with intervals: name → Interval of arrays (n,)."""
    law = uncertainty.law
    compute = np.atleast_1d(np.asarray(C, dtype=float))
    budget = np.log(compute) - LOG6

    def logs(phi: FloatArray) -> FloatArray:
        log_n = log_optimal_n(law, phi, compute, further)
        return np.concatenate([log_n, budget - log_n, budget - 2 * log_n], axis=1)

    ends = (np.split(np.exp(v), 3) for v in uncertainty.of(logs, level))
    return {
        name: Interval(*of)
        for name, of in zip(("N", "D", "D/N"), zip(*ends, strict=True), strict=True)
    }
