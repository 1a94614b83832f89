"""Steps of a replay: the laws of the runs so far and of the mixed grid, judged.

Every score is a function of the task, the runs and the parameters that were fitted.

Notation and shapes
    observed    the fit on Π of the runs so far
    fantasized  the fit on Π of the mixed grid: runs so far, surrogate means elsewhere
    regret      |parameter − the reference's|, natural under its name, of the log under log_<name>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from lawsmith.analysis.payload import plain
from lawsmith.arrays import saturating
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.many import PointSet, fit_many
from lawsmith.metrics import difference_percent, regret
from lawsmith.replay.task import Task, law_errors

Json = dict[str, Any]
FitName = Literal["fantasized", "observed"]
FITS: tuple[FitName, ...] = ("fantasized", "observed")


@dataclass(frozen=True)
class Scores:
    """A law fitted on the way, and how far it is from the reference.

    extrapolation   signed difference in predicted loss to the reference, in percent, by target
    """

    params: Mapping[str, float]
    log_params: Mapping[str, float]
    n_points: int
    regret: Mapping[str, float]
    held_out_mse: float
    held_out_mse_beyond: float
    pool_mse: float
    extrapolation: Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """One run of a replay and the state of the answer after it.

    iteration       runs observed so far, this one included (1, 2, …)
    candidate       its row in the pool
    loss            NaN where it diverged
    compute         FLOPs of this run; cost those of all so far, cost_fraction of the pool's total
    window          the largest compute a run was chosen from, NaN for the initial design
    observed, fantasized   None with too few points on the frontier, without a surrogate, and
                    while the initial design, which is one batch, is incomplete
    envelope_mixed, envelope_observed   share of Π(pool) recovered, by configuration
    """

    iteration: int
    candidate: int
    config: Mapping[str, float | str]
    loss: float
    compute: float
    cost: float
    cost_fraction: float
    window: float
    observed: Scores | None
    fantasized: Scores | None
    envelope_observed: float
    envelope_mixed: float | None


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole replay: its task, who chose, the seed, and every step."""

    task: Task
    policy: str
    seed: int
    settings: Mapping[str, object]
    steps: tuple[Step, ...] = field(repr=False)

    @property
    def cost_fraction(self) -> FloatArray:
        """(T,) share of the pool's compute spent after each step."""
        return np.array([step.cost_fraction for step in self.steps])


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


@saturating
def judge(task: Task, found: Sequence[Envelope | None]) -> list[Scores | None]:
    """The law of each envelope, judged; None with too few points.

    Equal envelopes are fitted once. Nothing is carried over from those judged before, whose last
    digits a replay that goes on after a crash could not know.
    """
    laws = _fit(task, [envelope for envelope in found if envelope is not None])
    out: list[Scores | None] = []
    for envelope in found:
        phi = None if envelope is None else laws[envelope.key]
        n_points = 0 if envelope is None else len(envelope.rows)
        out.append(None if phi is None else scores_of(task, phi, n_points))
    return out


def _fit(task: Task, found: Sequence[Envelope]) -> dict[bytes, FloatArray | None]:
    """phi (p,) by the key of the envelope."""
    law, dense = task.law, Envelope.of(task, task.loss)
    # The dense grid's own envelope has the dense grid's law, to the last digit.
    laws: dict[bytes, FloatArray | None] = {dense.key: task.reference.validation.phi}
    new = {e.key: e for e in found if e.key not in laws}
    laws |= dict.fromkeys(new)
    # A surrogate may fantasize a loss below zero, of which no law can be made.
    sound = [e for e in new.values() if len(e.rows) >= law.n_params and (e.loss > 0.0).all()]
    fitted = fit_many(
        law, [PointSet(law.inputs_at(task.pool, e.rows), e.loss, e.weights) for e in sound]
    )
    return laws | {e.key: phi for e, phi in zip(sound, fitted, strict=True)}


@saturating
def scores_of(task: Task, phi: FloatArray, n_points: int) -> Scores:
    """How far the law phi (p,), fitted to so many points, is from the reference."""
    law, reference, envelope = task.law, task.reference, task.reference.envelope
    params, log_params = law.natural(phi), law.logs(phi)
    off = regret(params, reference.validation.params)
    logged = regret(log_params, reference.validation.log_params)
    at = law.inputs_at(task.pool, envelope)
    inputs = {name: [at[name] for at in task.targets.values()] for name in law.inputs}
    losses = law.loss_at(phi, inputs).tolist() if task.targets else []
    return Scores(
        params,
        log_params,
        n_points,
        off | {f"log_{name}": value for name, value in logged.items()},
        *law_errors(law, phi, task.held_out, at, task.loss[envelope]),
        extrapolation={
            label: difference_percent(loss, reference.losses[label])
            for label, loss in zip(task.targets, losses, strict=True)
        },
    )


def make_step(
    task: Task,
    rows: Sequence[int],
    window: float,
    laws: tuple[Scores | None, Scores | None],
    envelope: tuple[float, float | None],
) -> Step:
    """The step after running ``rows``, of which the last is now.

    laws, envelope   of what was observed, and of the mixed grid
    """
    row, pool = rows[-1], task.pool
    cost = task.pricing.total(pool, rows)
    names = dict.fromkeys([n for n in ("N", "D") if n in pool.names] + [a.name for a in pool.axes])
    return Step(
        iteration=len(rows),
        candidate=row,
        config={name: pool.column(name)[row].item() for name in names},
        loss=float(task.loss[row]),
        compute=float(pool.C[row]),
        cost=cost,
        cost_fraction=cost / task.total_compute,
        window=window,
        observed=laws[0],
        fantasized=laws[1],
        envelope_observed=envelope[0],
        envelope_mixed=envelope[1],
    )


def step_values(step: Step) -> Json:
    """One step, nested as in the trace of `lawsmith replay --json`; NaN stays NaN."""
    values = asdict(step)
    fits = {name: values.pop(name) for name in ("observed", "fantasized")}
    shares = {name: values.pop(f"envelope_{name}") for name in ("mixed", "observed")}
    return {**values, "fits": fits, "envelope": shares}


def step_table(trace: Trace) -> list[Json]:
    """One flat row a step, every row with the same columns: what ``steps.csv`` holds."""
    rows = [_flat(plain(step_values(step))) for step in trace.steps]
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _flat(value: Json, prefix: str = "") -> Json:
    """{'fits': {'observed': {'regret': {'E': 1}}}} → {'observed.regret.E': 1}."""
    found: Json = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= _flat(item, "" if name == "fits" else f"{prefix}{name}.")
        elif name not in FITS or item is not None:  # a fit that is not there has no columns
            found[prefix + name] = item
    return found


def scores(step: Step, fit: FitName) -> Scores | None:
    """The scores of one of the two fits."""
    return step.fantasized if fit == "fantasized" else step.observed
