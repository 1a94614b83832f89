"""Making a Step: what was run, what it cost, and the answer after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lawsmith.replay.records import Scores, Step, Task


@dataclass(frozen=True)
class Found:
    """What is known of the law after a run; fields as in Step."""

    observed: Scores | None
    fantasized: Scores | None
    envelope_observed: float
    envelope_mixed: float | None


def make_step(task: Task, rows: Sequence[int], window: float, answer: Found) -> Step:
    """The step after running ``rows``, of which the last is now."""
    row, pool = rows[-1], task.pool
    cost = total_cost(task, rows)
    return Step(
        iteration=len(rows),
        candidate=row,
        config=_config(task, row),
        loss=float(task.loss[row]),
        compute=float(pool.C[row]),
        cost=cost,
        cost_fraction=cost / task.total_compute,
        window=window,
        observed=answer.observed,
        fantasized=answer.fantasized,
        envelope_observed=answer.envelope_observed,
        envelope_mixed=answer.envelope_mixed,
    )


def total_cost(task: Task, rows: Sequence[int]) -> float:
    """FLOPs of ``rows``."""
    return task.pricing.together(task.pool, rows)


def _config(task: Task, row: int) -> dict[str, float | str]:
    """N, D and the other axes of a candidate."""
    pool = task.pool
    names: dict[str, None] = {name: None for name in ("N", "D") if name in pool.names}
    names |= dict.fromkeys(axis.name for axis in pool.axes)
    return {name: pool.column(name)[row].item() for name in names}
