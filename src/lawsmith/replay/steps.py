"""Steps of a replay: the laws of the runs so far and of the mixed grid, judged.

Every score is a function of the task, the runs and the parameters that were fitted.

Notation and shapes
    m           rows of the pool
    mixed grid  (m,) observed losses where there are any, the surrogate's (fantasized) elsewhere
    observed    the fit on Π of the runs so far
    fantasized  the fit on Π of the mixed grid
    regret      |parameter − the reference's|, natural under its name, of the log under log_<name>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.digest import plain
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import PointSet, fit_many
from lawsmith.metrics import difference_percent, regret
from lawsmith.replay.task import Task, law_errors
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior

Json = dict[str, Any]
FitName = Literal["fantasized", "observed"]
FITS: tuple[FitName, ...] = ("fantasized", "observed")


@dataclass(frozen=True)
class Scores:
    """A law fitted during the replay, and how far it is from the reference.

    extrapolation   difference of the predicted loss from the reference's, in percent, by target
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
    """One run of a replay, and the laws after it.

    iteration       number of runs so far, including this one (1, 2, …)
    candidate       its row in the pool
    loss            NaN if it diverged
    compute         FLOPs of this run; ``cost`` of all runs so far, as ``cost_fraction`` of the pool
    window          the largest compute it was chosen from; NaN for the initial design
    observed, fantasized   None with too few points on the frontier, without a surrogate, and
                    until the initial design, which is one batch, is complete
    envelope_mixed, envelope_observed   share of the configurations of Π(pool) that is found
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
    """A whole replay: its task, its policy, the seed and every step."""

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
    """Π of the pool's losses: its rows, their losses, and the weight of each in a fit."""

    rows: IntArray
    loss: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, task: Task, loss: FloatArray, weights: FloatArray | None = None) -> Envelope:
        """The envelope of losses (m,), NaN where unknown; weights (m,) are 1 by default."""
        rows = frontier(task.pool, loss, task.law.inputs)
        return cls(rows, loss[rows], np.ones(len(rows)) if weights is None else weights[rows])

    @property
    def key(self) -> bytes:
        """Equal for equal envelopes."""
        return self.rows.tobytes() + self.loss.tobytes() + self.weights.tobytes()


def mixed_losses(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) the mixed grid; NaN, which no frontier takes, where every run diverged."""
    observed = runs.config_loss(m)
    mixed = np.where(np.isfinite(observed), observed, posterior.loss)
    diverged = runs.of(State.DIVERGED).index
    mixed[diverged[np.isnan(observed[diverged])]] = np.nan
    return mixed


Weigh = Callable[[int, Runs, Posterior], FloatArray]  # m, runs, posterior → (m,) weights


def equal_weights(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) 1 for every row: a fantasized point counts as much as a run, as in the paper."""
    return np.ones(m)


@saturating
def judge(task: Task, envelopes: Sequence[Envelope | None]) -> list[Scores | None]:
    """The scores of the law of each envelope; None with too few points.

    Equal envelopes are fitted once. Laws of earlier calls are not reused: a replay that continues
    after a crash does not know their last digits.
    """
    laws = _fit(task, [envelope for envelope in envelopes if envelope is not None])
    scores: list[Scores | None] = []
    for envelope in envelopes:
        if envelope is None or envelope.key not in laws:
            scores.append(None)
        else:
            scores.append(scores_of(task, laws[envelope.key], len(envelope.rows)))
    return scores


def _fit(task: Task, envelopes: Sequence[Envelope]) -> dict[bytes, FloatArray]:
    """phi (p,) by the key of the envelope, for those that a law can be fitted to."""
    law, dense = task.law, Envelope.of(task, task.loss)
    # The dense grid's own envelope has the dense grid's law, to the last digit.
    laws = {dense.key: task.reference.validation.phi}
    # A surrogate may fantasize a loss below zero, which no law can have.
    new = {
        e.key: e
        for e in envelopes
        if e.key not in laws and len(e.rows) >= law.n_params and (e.loss > 0.0).all()
    }
    points = [PointSet(law.inputs_at(task.pool, e.rows), e.loss, e.weights) for e in new.values()]
    return laws | dict(zip(new, fit_many(law, points), strict=True))


@saturating
def scores_of(task: Task, phi: FloatArray, n_points: int) -> Scores:
    """How far the law phi (p,), fitted to ``n_points``, is from the reference."""
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
    shares: tuple[float, float | None],
) -> Step:
    """The step of the last of ``rows``, which were run in this order.

    laws, shares   scores, and the share of the envelope found: of the runs, of the mixed grid
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
        envelope_observed=shares[0],
        envelope_mixed=shares[1],
    )


def step_values(step: Step) -> Json:
    """One step, nested as in the trace of `lawsmith replay --json`; NaN stays NaN."""
    values = asdict(step)
    fits = {name: values.pop(name) for name in ("observed", "fantasized")}
    shares = {name: values.pop(f"envelope_{name}") for name in ("mixed", "observed")}
    return {**values, "fits": fits, "envelope": shares}


def step_table(trace: Trace) -> list[Json]:
    """One flat row per step, all with the same columns: the content of ``steps.csv``."""
    rows = [_flat(plain(step_values(step))) for step in trace.steps]
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _flat(value: Json, prefix: str = "") -> Json:
    """{'fits': {'observed': {'regret': {'E': 1}}}} → {'observed.regret.E': 1}."""
    row: Json = {}
    for name, item in value.items():
        if isinstance(item, dict):
            row |= _flat(item, "" if name == "fits" else f"{prefix}{name}.")
        elif name not in FITS or item is not None:  # a missing fit has no columns
            row[prefix + name] = item
    return row


def scores(step: Step, fit: FitName) -> Scores | None:
    """The scores of one of the two fits."""
    return step.fantasized if fit == "fantasized" else step.observed
