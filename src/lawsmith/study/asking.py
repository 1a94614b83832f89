"""Which runs to ask for next: what the policy wants, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.costs import Continued
from lawsmith.grid import IntArray
from lawsmith.journal import Event, Kind, Ledger, make
from lawsmith.policies import Choice, choose_within
from lawsmith.study.live import LiveStudy
from lawsmith.threads import one_thread

MOST_CANDIDATES = 10_000  # that are weighed for one proposal, which takes a second or two


@dataclass(frozen=True)
class Proposal:
    """A run to ask for: its row of the study's grid, the FLOPs it adds, and why it was chosen."""

    row: int
    cost: float
    choice: Choice


def propose(study: LiveStudy, ledger: Ledger, n: int) -> list[Proposal]:
    """Up to ``n`` runs; fewer when budget or candidates run out.

    Everything random comes from (seed, number of trials asked).
    """
    history = study.history(ledger)
    rows = looked_at(history.pool, history.runs.index)
    pool, runs = study.pool(rows), history.runs.select(rows)
    rng = np.random.default_rng([study.spec.seed, ledger.n_asked])
    paid = np.searchsorted(rows, history.paid)
    pricing = Continued(study.pricing, runs.index, paid)
    policy = study.policy(pool, pricing)
    with one_thread():
        left = study.budget - ledger.spend
        chosen = choose_within(policy, pool, runs, n, rng, left=left, budget=study.budget)
    found: list[Proposal] = []
    for i, choice in enumerate(chosen):
        before = [*runs.index.tolist(), *(c.row for c in chosen[:i])]
        price = float(pricing.each(pool, before)[choice.row])
        if len(rows) < len(history.pool):
            why = f"{choice.why}, of {len(rows):,} among {len(history.pool):,} candidates"
            choice = replace(choice, why=why)
        found.append(Proposal(int(rows[choice.row]), price, choice))
    return found


def looked_at(pool: IntArray, asked: IntArray) -> IntArray:
    """Rows that a policy is asked about: all of the pool, or of many those with a run and others.

    Which others is a fixed draw, so that the same study has the same ones.
    """
    if len(pool) <= MOST_CANDIDATES:
        return pool
    with_run = np.isin(pool, asked)
    n = max(MOST_CANDIDATES - int(with_run.sum()), MOST_CANDIDATES // 2)
    others = np.random.default_rng(0).permutation(pool[~with_run])[:n]
    return np.sort(np.concatenate([pool[with_run], others]))


def asked_events(
    study: LiveStudy, ledger: Ledger, found: Sequence[Proposal], *, by: str
) -> list[Event]:
    """The events that put proposals on record, each with the reason it was chosen for."""
    first = int(ledger.next_name()[1:])
    return [
        make(
            Kind.ASKED,
            f"t{first + i:04d}",
            by=by,
            config=dict(study.candidates.configs[one.row]),
            cost=one.cost,
            why=one.choice.why,
            values={name: _kept(value) for name, value in one.choice.values.items()},
        )
        for i, one in enumerate(found)
    ]


def _kept(value: float) -> float | None:
    """A value as the record has it: six digits, null where it is no number."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def exhausted(study: LiveStudy, ledger: Ledger) -> str:
    """Why nothing more is proposed: 'budget' or 'candidates'."""
    history = study.history(ledger)
    free = ~history.excluded
    free[history.runs.index] = False
    return "budget" if free.any() else "candidates"
