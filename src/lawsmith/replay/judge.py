"""Judging a replay on the way: the laws of the runs so far and of the mixed grid, both scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lawsmith.analysis.design import inputs_at
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.metrics import difference_percent, mean_squared_error, regret
from lawsmith.replay.records import Scores, Task
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


def mixed_losses(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) the mixed grid: observed losses where there are any, fantasized ones elsewhere.

    A configuration that diverged is known to be no use: NaN, which no frontier takes.
    """
    observed = runs.config_loss(m)
    diverged = np.zeros(m, dtype=np.bool_)
    diverged[runs.of(State.DIVERGED).index] = True
    fantasized = np.where(diverged, np.nan, posterior.loss)
    return np.where(np.isfinite(observed), observed, fantasized)


@dataclass
class Judge:
    """Scores one kind of fit along a replay; remembers the incumbents and the last fit."""

    task: Task
    _incumbent: FloatArray | None = field(default=None, repr=False)  # (p,) phi
    _least: dict[str, float] = field(default_factory=dict, repr=False)
    _last: tuple[bytes, LawFit | None] | None = field(default=None, repr=False)

    def score(self, rows: IntArray, loss: FloatArray) -> Scores | None:
        """The law on the frontier ``rows`` of the losses (m,), judged; None with too few points."""
        fit = self._fit(rows, loss)
        if fit is None:
            return None
        task, reference = self.task, self.task.reference.validation
        found = {
            **regret(fit.params, reference.params),
            **_logged(regret(fit.log_params, reference.log_params)),
        }
        best = self._improve(fit.phi, found)
        at_held_out = fit.predict(task.held_out.inputs) if len(task.held_out.loss) else np.empty(0)
        pool = task.reference.envelope
        at_pool = fit.predict(inputs_at(task.pool, task.law, pool))
        return Scores(
            params=fit.params,
            log_params=fit.log_params,
            n_points=fit.n_points,
            regret=found,
            regret_incumbent=dict(self._least),
            held_out_mse=mean_squared_error(at_held_out, task.held_out.loss),
            held_out_mse_beyond=mean_squared_error(
                at_held_out, task.held_out.loss, task.held_out.beyond
            ),
            pool_mse=mean_squared_error(at_pool, task.loss[pool]),
            extrapolation=self._extrapolation(fit.phi),
            incumbent_params=task.law.natural(best),
            extrapolation_incumbent=self._extrapolation(best),
        )

    def envelope(self, loss: FloatArray) -> IntArray:
        """Rows of Π of the losses (m,), NaN where unknown."""
        return frontier(self.task.pool, loss, self.task.law.inputs)

    def _fit(self, rows: IntArray, loss: FloatArray) -> LawFit | None:
        """The law on these points; the same points as last time are not fitted again."""
        key = rows.tobytes() + loss[rows].tobytes()
        if self._last is None or self._last[0] != key:
            self._last = (key, self._fit_anew(rows, loss[rows]))
        return self._last[1]

    def _fit_anew(self, rows: IntArray, loss: FloatArray) -> LawFit | None:
        law = self.task.law
        # A surrogate may fantasize a loss below zero, of which no law can be made.
        if len(rows) < law.n_params or not (loss > 0.0).all():
            return None
        try:
            return fit_law(law, inputs_at(self.task.pool, law, rows), loss)
        except LawsmithError:
            return None

    def remember(self, scores: Scores | None) -> None:
        """Take in scores of an earlier process, for the incumbents."""
        if scores is None:
            return
        params = self.task.law.params
        phi = [scores.log_params[p.name] if p.positive else scores.params[p.name] for p in params]
        self._improve(np.array(phi), scores.regret)

    def _improve(self, phi: FloatArray, found: Mapping[str, float]) -> FloatArray:
        """Take in a fit; (p,) phi of the incumbents, each the nearest to the reference so far."""
        for name, value in found.items():
            self._least[name] = min(value, self._least.get(name, np.inf))
        reference = self.task.reference.validation.phi
        if self._incumbent is None:
            self._incumbent = phi.copy()
        nearer = np.abs(phi - reference) < np.abs(self._incumbent - reference)
        self._incumbent = np.where(nearer, phi, self._incumbent)
        return self._incumbent

    def _extrapolation(self, phi: FloatArray) -> dict[str, float]:
        law, losses = self.task.law, self.task.reference.losses
        return {
            label: difference_percent(
                float(np.exp(law.form.value(phi[None], law.log_inputs(at))[0, 0])), losses[label]
            )
            for label, at in self.task.targets.items()
        }


def _logged(values: Mapping[str, float]) -> dict[str, float]:
    return {f"log_{name}": value for name, value in values.items()}
