"""A replay as arrays: every metric against spend, computed from the laws found on the way.

Notation and shapes
    T      runs; NaN marks a run after which there was no law
    phi    (T, p) the laws found, parameters as searched: logs of the positive ones
    fit    'observed' or 'fantasized'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from lawsmith.grid import BoolArray, FloatArray, IntArray
from lawsmith.replay import Scores, Task, Trace
from lawsmith_paper.records import phi_of

FitName = Literal["observed", "fantasized"]
FITS: tuple[FitName, ...] = get_args(FitName)


@dataclass(frozen=True, eq=False)
class Curves:
    """What a replay chose and found, run by run.

    rows            (T,) candidates in the order they were run
    cost_fraction   (T,) share of the pool's compute spent
    window          (T,) largest compute a run was chosen from, NaN in the initial design
    laws            fit → phi (T, p)
    n_points        fit → (T,) points on its frontier, 0 without a law
    envelope        fit → (T,) share of Π(pool) recovered by its grid, NaN without fantasies
    """

    task: Task
    policy: str
    seed: int
    settings: Mapping[str, object]
    rows: IntArray
    window: FloatArray
    laws: Mapping[FitName, FloatArray]
    n_points: Mapping[FitName, IntArray]
    envelope: Mapping[FitName, FloatArray]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def cost_fraction(self) -> FloatArray:
        task, rows = self.task, self.rows
        spent = [task.pricing.total(task.pool, rows[: k + 1]) for k in range(len(rows))]
        return np.array(spent) / task.total_compute

    def has_law(self, fit: FitName) -> BoolArray:
        """(T,) whether there was a law."""
        return np.greater(self.n_points[fit], 0)

    def regret(self, key: str, fit: FitName) -> FloatArray:
        """(T,) |parameter − reference's|; ``key`` as in Scores.regret: 'alpha', 'E', 'log_E'."""
        value, reference = self.parameter(key, fit), self._reference(key)
        return np.asarray(np.abs(value - reference))

    def parameter(self, key: str, fit: FitName) -> FloatArray:
        """(T,) a parameter of the current law, or its log under log_<name>."""
        j = self.task.law.position(key.removeprefix("log_"))
        value = self.laws[fit][:, j]
        positive = self.task.law.params[j].positive
        return np.exp(value) if positive and not key.startswith("log_") else value

    def held_out_mse(self, fit: FitName) -> FloatArray:
        """(T,) on Π(held-out), as the paper writes it."""
        return self._mse(fit, np.ones(len(self.task.held_out.loss), dtype=np.bool_))

    def held_out_mse_beyond(self, fit: FitName) -> FloatArray:
        """(T,) on the part of Π(held-out) that the pool does not dominate."""
        return self._mse(fit, self.task.held_out.beyond)

    def pool_mse(self, fit: FitName) -> FloatArray:
        """(T,) on Π(pool)."""
        task, rows = self.task, self.task.reference.envelope
        predicted = self._predict(self.laws[fit], task.law.inputs_at(task.pool, rows))
        return np.asarray(((predicted - task.loss[rows]) ** 2).mean(axis=1))

    def extrapolation(self, target: str, fit: FitName) -> FloatArray:
        """(T,) signed % difference to the reference's loss at a target, of the current law."""
        return self._difference(self.laws[fit], target)

    def extrapolation_incumbent(self, target: str, fit: FitName) -> FloatArray:
        """(T,) the same of the law made of the incumbent parameters."""
        return self._difference(self.incumbent_laws(fit), target)

    def incumbent_laws(self, fit: FitName) -> FloatArray:
        """(T, p) phi of the incumbents: each parameter the nearest to the reference so far."""
        phi, reference = self.laws[fit], self.task.reference.validation.phi
        columns = []
        for j in range(phi.shape[1]):
            step = incumbent_index(np.abs(phi[:, j] - reference[j]))
            columns.append(np.where(step < 0, np.nan, phi[np.maximum(step, 0), j]))
        return np.stack(columns, axis=1)

    def _reference(self, key: str) -> float:
        fit = self.task.reference.validation
        logged = key.startswith("log_")
        return fit.log_params[key.removeprefix("log_")] if logged else fit.params[key]

    def _mse(self, fit: FitName, keep: BoolArray) -> FloatArray:
        if not keep.any():
            return np.full(len(self), np.nan)
        inputs = {name: values[keep] for name, values in self.task.held_out.inputs.items()}
        predicted = self._predict(self.laws[fit], inputs)
        return np.asarray(((predicted - self.task.held_out.loss[keep]) ** 2).mean(axis=1))

    def _difference(self, phi: FloatArray, target: str) -> FloatArray:
        predicted = self._predict(phi, self.task.targets[target])[:, 0]
        return np.asarray(100.0 * (predicted / self.task.reference.losses[target] - 1.0))

    def _predict(self, phi: FloatArray, inputs: Mapping[str, Any]) -> FloatArray:
        """(T, n) losses of the laws phi (T, p), NaN without a law."""
        law = self.task.law
        known = np.isfinite(phi).all(axis=1)
        at = law.log_inputs(inputs)
        losses = np.full((len(phi), at.shape[-1]), np.nan)
        if known.any():
            losses[known] = np.exp(law.form.value(phi[known], at))
        return losses


def curves_of(trace: Trace) -> Curves:
    """The arrays of a trace."""
    records = [
        (
            step.candidate,
            step.window,
            {"observed": step.observed, "fantasized": step.fantasized},
            {"observed": step.envelope_observed, "fantasized": step.envelope_mixed},
        )
        for step in trace.steps
    ]
    law = trace.task.law
    return Curves(
        task=trace.task,
        policy=trace.policy,
        seed=trace.seed,
        settings=trace.settings,
        rows=np.array([r[0] for r in records], dtype=np.int64),
        window=np.array([r[1] for r in records], dtype=np.float64),
        laws={fit: _stack([_phi(r[2][fit], law) for r in records], law.n_params) for fit in FITS},
        n_points={fit: _counts([r[2][fit] for r in records]) for fit in FITS},
        envelope={fit: _shares([r[3][fit] for r in records]) for fit in FITS},
    )


def curves_from(
    task: Task, records: Sequence[Mapping[str, Any]], *, policy: str, seed: int, settings: Any
) -> Curves:
    """The arrays of step records (`records.step_record`), without making steps of them."""
    p = task.law.n_params
    fits = {fit: [record[fit] for record in records] for fit in FITS}
    shares = {"observed": 0, "fantasized": 1}
    return Curves(
        task=task,
        policy=policy,
        seed=seed,
        settings=settings,
        rows=np.array([record["row"] for record in records], dtype=np.int64),
        window=_shares([record["window"] for record in records]),
        laws={fit: _stack([f and f[0] for f in found], p) for fit, found in fits.items()},
        n_points={fit: np.array([f[1] if f else 0 for f in found]) for fit, found in fits.items()},
        envelope={
            fit: _shares([record["envelope"][shares[fit]] for record in records]) for fit in FITS
        },
    )


def _phi(scores: Scores | None, law: Any) -> FloatArray | None:
    return None if scores is None else phi_of(law, scores)


def _counts(found: Sequence[Scores | None]) -> IntArray:
    return np.array([scores.n_points if scores else 0 for scores in found], dtype=np.int64)


def _stack(found: Sequence[Any], p: int) -> FloatArray:
    """(T, p), rows of NaN where there is None."""
    missing = [np.nan] * p
    rows = [missing if phi is None else phi for phi in found]
    return np.array(rows, dtype=np.float64).reshape(len(found), p)


def _shares(values: Sequence[float | None]) -> FloatArray:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def incumbent_index(values: npt.ArrayLike) -> IntArray:
    """(T,) the step of the least value so far, the earliest of equal ones; −1 before the first.

    With a parameter's regrets as values, the law of the incumbents takes each parameter from the
    step of its own least regret.
    """
    found = np.asarray(values, dtype=np.float64)
    filled = np.where(np.isfinite(found), found, np.inf)
    least_before = np.minimum.accumulate(np.concatenate([[np.inf], filled]))[:-1]
    return np.maximum.accumulate(np.where(filled < least_before, np.arange(len(found)), -1))


def running_minimum(values: npt.ArrayLike) -> FloatArray:
    """(T,) the least value so far; values that are not finite are passed over."""
    found = np.asarray(values, dtype=np.float64)
    step = incumbent_index(found)
    # Where there is no step yet, −1 would be the last one: any step does, its value is not used.
    return np.where(step < 0, np.nan, found[np.maximum(step, 0)])
