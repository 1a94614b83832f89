"""Why a run is proposed next: what is expected of it, and its acquisition values."""

from __future__ import annotations

import numpy as np

from lawsmith.formats import number, percent
from lawsmith.grid import Grid
from lawsmith.journal import Ledger
from lawsmith.policies import Frontier, Policy, Search, with_pending
from lawsmith.report.source import Reason
from lawsmith.runs import Runs, State
from lawsmith.study.asking import propose
from lawsmith.study.live import LiveStudy
from lawsmith.surrogates.base import Posterior
from lawsmith.threads import one_thread


def reasons(study: LiveStudy, ledger: Ledger, n: int) -> tuple[Reason, ...]:
    """Up to ``n`` runs that would be asked for next, each with the values it was chosen by."""
    found = propose(study, ledger, n)
    if not found:
        return ()
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), history.pool_runs
    policy = study.policy(pool, study.budget)
    rows = np.searchsorted(history.pool, [row for row, _ in found]).tolist()
    with one_thread():
        told = [why(policy, pool, with_pending(runs, rows[:i]), row) for i, row in enumerate(rows)]
    return tuple(
        Reason(dict(study.candidates.configs[row]), cost, words, values)
        for (row, cost), (words, values) in zip(found, told, strict=True)
    )


def why(policy: Policy, pool: Grid, runs: Runs, row: int) -> tuple[str, dict[str, str]]:
    """What speaks for ``row`` after ``runs``: in words, and values by name, as text."""
    if not policy.searching(pool, runs):
        return "initial design, at random", {}
    if policy.surrogate is None or not (runs.state == State.DONE.value).any():
        return "at random", {}
    posterior = policy.surrogate.fit(pool, runs)
    expected = {"expected loss": _expected(posterior, row)}
    match policy:
        case Frontier():
            words, values = _frontier(policy, pool, runs, posterior, row)
            return words, {**values, **expected}
        case Search():
            score = policy.acquisition(posterior.mean[[row]], posterior.sd[[row]], posterior.best)
            value = number(float(score[0]), 3)
            return "largest acquisition", {policy.acquisition.name: value, **expected}
    return policy.name, expected


def _frontier(
    policy: Frontier, pool: Grid, runs: Runs, posterior: Posterior, row: int
) -> tuple[str, dict[str, str]]:
    """Both values of the frontier policy, which goes by one of them at each turn."""
    lowered = float(np.exp(policy.improvements(pool, runs, posterior)[row]))
    by = percent(lowered, 2) if posterior.scale == "log" else number(lowered, 2)
    values = {"lowers the envelope by": by}
    gains = policy.gains(pool, runs, posterior, np.random.default_rng([0, len(runs)]))
    if gains is not None:
        values["law's variance removed"] = percent(float(gains[row]), 2)
    turn = len(runs) % 2 == 0 and gains is not None
    return "to know the law" if turn else "to lower the envelope", values


def _expected(posterior: Posterior, row: int) -> str:
    mean, sd = float(posterior.mean[row]), float(posterior.sd[row])
    if posterior.scale == "log":
        mean, sd = float(np.exp(mean)), float(np.exp(mean)) * sd
    return f"{mean:.4g} ± {sd:.2g}"
