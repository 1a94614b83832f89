"""Which runs to ask for next: what the policy wants, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawsmith.journal import Event, Kind, Ledger, make
from lawsmith.policies.choosing import with_pending
from lawsmith.runs import Runs, State
from lawsmith.study.live import LiveStudy
from lawsmith.threads import one_thread

# Where the run that is wanted does not fit and less than this share of the budget is left, it is
# committed: without a limit a study would end with a long tail of cheap runs that teach nothing.
LEAST = 0.01
_SLACK = 1.0 + 1e-9  # a budget that is a sum of costs must not fail by its last digit


def propose(study: LiveStudy, ledger: Ledger, n: int) -> list[tuple[int, float]]:
    """Up to ``n`` (row of the grid, FLOPs it adds); fewer when budget or candidates run out.

    Rows that the budget no longer allows are passed over once the policy wants one of them.
    Everything random comes from (seed, number of trials asked).
    """
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), history.pool_runs
    rng = np.random.default_rng([study.spec.seed, ledger.n_asked])
    asked = np.searchsorted(history.pool, history.paid).tolist()
    left = study.budget * _SLACK - ledger.spend
    chosen: list[tuple[int, float]] = []
    closed: list[int] = []
    while len(chosen) < n and (not closed or left > LEAST * study.budget):
        rows = [row for row, _ in chosen]
        seen = with_pending(_without(runs, closed), rows)
        # A policy counts every run it sees at its own compute: imported ones, which cost nothing,
        # too, and those on a trunk, which cost less. What is left comes out right.
        policy = study.policy(pool, left + float(pool.C[seen.index].sum()))
        with one_thread():
            picks = policy.ask(pool, seen, n - len(chosen), rng)
        if not picks:
            break
        for row in picks:
            prices = study.pricing.each(pool, [*asked, *(r for r, _ in chosen)])
            if prices[row] > left:
                closed = sorted({*closed, *np.flatnonzero(prices > left).tolist()})
                break
            chosen.append((row, float(prices[row])))
            left -= float(prices[row])
        else:
            break
    return [(int(history.pool[row]), cost) for row, cost in chosen]


def asked_events(
    study: LiveStudy, ledger: Ledger, found: Sequence[tuple[int, float]], *, by: str
) -> list[Event]:
    """The events that put proposals on record."""
    first = int(ledger.next_name()[1:])
    return [
        make(
            Kind.ASKED,
            f"t{first + i:04d}",
            by=by,
            config=dict(study.candidates.configs[row]),
            cost=cost,
        )
        for i, (row, cost) in enumerate(found)
    ]


def exhausted(study: LiveStudy, ledger: Ledger) -> str:
    """Why nothing more is proposed: 'budget' or 'candidates'."""
    history = study.history(ledger)
    free = ~history.excluded
    free[history.runs.index] = False
    return "budget" if free.any() else "candidates"


def _without(runs: Runs, closed: Sequence[int]) -> Runs:
    """The runs, and rows that must not be asked as failed ones, which say nothing to a policy."""
    taken = set(runs.index.tolist())
    rows = [row for row in closed if row not in taken]
    if not rows:
        return runs
    failed = np.full(len(rows), State.FAILED.value)
    return runs.append(Runs(np.array(rows), np.full(len(rows), np.nan), failed))
