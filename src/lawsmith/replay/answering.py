"""What a replay knows of the answer after some of its runs: an outlook, where there can be one."""

from __future__ import annotations

from collections.abc import Sequence

from lawsmith.errors import LawsmithError
from lawsmith.outlook import DRAWS, Outlook, outlook
from lawsmith.policies.base import Policy
from lawsmith.replay.records import Task
from lawsmith.runs import Runs, State


def outlook_after(
    task: Task,
    policy: Policy,
    runs: Runs,
    targets: Sequence[float],
    *,
    seed: int,
    n_draws: int = DRAWS,
) -> Outlook | None:
    """The outlook on ``targets`` (FLOPs) after ``runs`` of the pool.

    None while the initial design is incomplete, with too few points for the law, without a
    surrogate, and for one that has no joint draws.
    """
    surrogate = policy.surrogate
    if surrogate is None or not policy.searching(task.pool, runs):
        return None
    if not (runs.state == State.DONE.value).any():
        return None
    posterior = surrogate.fit(task.pool, runs)
    if posterior.sampler is None:
        return None
    try:
        return outlook(task.pool, runs, posterior, task.law, targets, seed=seed, n_draws=n_draws)
    except LawsmithError:
        return None
