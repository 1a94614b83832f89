"""Judging a replay on the way: the laws of the runs so far and of the mixed grid, both scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lawsmith.analysis.design import inputs_at
from lawsmith.arrays import saturating
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.law import Law
from lawsmith.laws.many import PointSet, fit_many
from lawsmith.metrics import difference_percent, regret
from lawsmith.replay.records import Scores, Task
from lawsmith.replay.task import law_errors


@dataclass(frozen=True, eq=False)
class Envelope:
    """Π of what is known of the pool: its rows, their losses, and what each counts in a fit."""

    rows: IntArray
    loss: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, task: Task, loss: FloatArray, weights: FloatArray | None = None) -> Envelope:
        """The envelope of losses (m,), NaN where unknown; all count alike without weights (m,)."""
        rows = frontier(task.pool, loss, task.law.inputs)
        return cls(rows, loss[rows], np.ones(len(rows)) if weights is None else weights[rows])

    @property
    def key(self) -> bytes:
        """Equal for equal envelopes."""
        return self.rows.tobytes() + self.loss.tobytes() + self.weights.tobytes()


@dataclass
class Judge:
    """Scores one kind of fit along a replay; remembers the incumbents."""

    task: Task
    _incumbent: FloatArray | None = field(default=None, repr=False)  # (p,) phi
    _least: dict[str, float] = field(default_factory=dict, repr=False)

    @saturating
    def scores(self, found: Sequence[Envelope | None]) -> list[Scores | None]:
        """The laws on envelopes in the order they were found, judged; None with too few points.

        Equal envelopes are fitted once. Nothing is carried over from those judged before, whose
        last digits a replay that goes on after a crash could not know.
        """
        laws = self._fit([envelope for envelope in found if envelope is not None])
        out: list[Scores | None] = []
        for envelope in found:
            phi = None if envelope is None else laws[envelope.key]
            n_points = 0 if envelope is None else len(envelope.rows)
            out.append(None if phi is None else self.judged(phi, n_points))
        return out

    def _fit(self, found: Sequence[Envelope]) -> dict[bytes, FloatArray | None]:
        """phi (p,) by the key of the envelope."""
        task, law = self.task, self.task.law
        dense = Envelope.of(task, task.loss)
        # The dense grid's own envelope has the dense grid's law, to the last digit.
        laws: dict[bytes, FloatArray | None] = {dense.key: task.reference.validation.phi}
        new = {e.key: e for e in found if e.key not in laws}
        laws |= dict.fromkeys(new)
        # A surrogate may fantasize a loss below zero, of which no law can be made.
        sound = [e for e in new.values() if len(e.rows) >= law.n_params and (e.loss > 0.0).all()]
        fitted = fit_many(
            law, [PointSet(inputs_at(task.pool, law, e.rows), e.loss, e.weights) for e in sound]
        )
        laws |= {e.key: phi for e, phi in zip(sound, fitted, strict=True)}
        return laws

    @saturating
    def judged(self, phi: FloatArray, n_points: int) -> Scores:
        """The scores of the law phi (p,), fitted to so many points; the incumbents take it in."""
        task, law = self.task, self.task.law
        reference = task.reference.validation
        params, log_params = law.natural(phi), law.logs(phi)
        logged = regret(log_params, reference.log_params)
        found = regret(params, reference.params) | {f"log_{k}": v for k, v in logged.items()}
        best = self._improve(phi, found)
        envelope = task.reference.envelope
        at = inputs_at(task.pool, law, envelope)
        return Scores(
            params,
            log_params,
            n_points,
            found,
            dict(self._least),
            *law_errors(law, phi, task.held_out, at, task.loss[envelope]),
            extrapolation=self._extrapolation(phi),
            incumbent_params=law.natural(best),
            extrapolation_incumbent=self._extrapolation(best),
        )

    def remember(self, scores: Scores | None) -> None:
        """Take in scores of an earlier process, for the incumbents."""
        if scores is not None:
            self._improve(phi_of(self.task.law, scores), scores.regret)

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
        law, losses, targets = self.task.law, self.task.reference.losses, self.task.targets
        if not targets:
            return {}
        inputs = {name: [at[name] for at in targets.values()] for name in law.inputs}
        found = zip(targets, law.loss_at(phi, inputs).tolist(), strict=True)
        return {label: difference_percent(loss, losses[label]) for label, loss in found}


def phi_of(law: Law, scores: Scores) -> FloatArray:
    """(p,) the parameters of scores as they are searched: logs of the positive ones."""
    params = law.params
    return np.array(
        [scores.log_params[p.name] if p.positive else scores.params[p.name] for p in params]
    )
