"""Which runs to ask for next: what the policy wants, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawsmith.costs import Continued
from lawsmith.grid import IntArray
from lawsmith.journal import Event, Kind, Ledger, make
from lawsmith.policies import Choice, choose_within
from lawsmith.policies.actions import Action, choose_action
from lawsmith.policies.base import with_pending
from lawsmith.policies.frontier import Frontier
from lawsmith.study.live import LiveStudy
from lawsmith.study.trunks import (
    Cell,
    Stem,
    cell_of,
    heard_of,
    save_points,
    start_of,
    stems_of,
    ways_of,
)
from lawsmith.threads import one_thread

BEFORE = "before"  # the parent of a branch whose trunk is asked for along with it
MOST_CANDIDATES = 10_000  # that are weighed for one proposal, which takes a second or two


@dataclass(frozen=True)
class Proposal:
    """A run to ask for: its row of the study's grid, the FLOPs it adds, and why it was chosen.

    kind      'run', 'trunk' or 'branch'
    D         tokens at its end, where they are not those of its row
    parent    the trial it goes on from: '' for none, BEFORE for the proposal before it
    branch_at tokens at which it does
    save_at   tokens at which it leaves checkpoints
    """

    row: int
    cost: float
    choice: Choice
    D: float | int | None = None
    kind: str = "run"
    parent: str = ""
    branch_at: float | None = None
    save_at: tuple[float, ...] = ()


def propose(study: LiveStudy, ledger: Ledger, n: int, *, by: str = "run") -> list[Proposal]:
    """Up to ``n`` runs; fewer when budget or candidates run out.

    Everything random comes from (seed, number of trials asked). In a study with trunks, up to ``n``
    actions, each of which begins with something that can start now; a branch comes with what is
    missing of its trunk.
    """
    if study.spec.trunks.use:
        return propose_actions(study, ledger, n, by)
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


def propose_actions(study: LiveStudy, ledger: Ledger, n: int, by: str) -> list[Proposal]:
    """The trials of up to ``n`` actions of a study with trunks."""
    history = study.history(ledger)
    rows = looked_at(history.pool, history.runs.index)
    pool, runs = study.pool(rows), history.runs.select(rows)
    heard = heard_of(study, ledger)
    ways = ways_of(study, ledger, rows, heard, by)
    policy = study.policy(pool)
    assert isinstance(policy, Frontier)
    stems, left = stems_of(ledger, by), study.budget - ledger.spend
    found: list[Proposal] = []
    with one_thread():
        for _ in range(n):
            action = choose_action(policy, pool, runs, ways, left=left, budget=study.budget)
            if action is None:
                break
            new = _trials(study, int(rows[action.choice.row]), action, stems)
            found += new
            left -= sum(one.cost for one in new)
            runs = with_pending(runs, [action.choice.row])
            cell = cell_of(study.candidates.configs[new[0].row])
            busy = [cell_of(study.candidates.configs[row]) == cell for row in rows.tolist()]
            ways = replace(ways, free=ways.free & ~(np.array(busy) & (ways.trunk > 0.0)))
    return found


def _trials(
    study: LiveStudy, row: int, action: Action, stems: Mapping[Cell, Stem]
) -> list[Proposal]:
    """The trials of an action: what is missing of the trunk, and the branch if it is one."""
    config, D = study.candidates.configs[row], study.candidates.configs[row]["D"]
    a_token = float(study.grid.C[row]) / float(D)
    b, start, parent, there = start_of(study, stems, row)
    choice, found = action.choice, list[Proposal]()
    if not there:
        at, points = (start if parent else None), save_points(study, config, start, b)
        cost = (b - start) * a_token
        found.append(Proposal(row, cost, choice, b, "trunk", parent, at, points))
        start, parent = float(b), BEFORE
    if action.kind == "decay":
        cost = (float(D) - start) * a_token
        found.append(Proposal(row, cost, choice, None, "branch", parent, start))
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
    names = [f"t{first + i:04d}" for i in range(len(found))]
    return [
        make(
            Kind.ASKED,
            names[i],
            by=by,
            config=config_of(study, one),
            cost=one.cost,
            **_lineage(one, names[i - 1]),
            why=one.choice.why,
            values=kept_values(one.choice.values),
        )
        for i, one in enumerate(found)
    ]


def config_of(study: LiveStudy, one: Proposal) -> dict[str, float | int | str]:
    """The configuration of a proposal: its candidate's, with the tokens at its own end."""
    config = study.candidates.configs[one.row]
    return dict(config) if one.D is None else {**config, "D": one.D}


def _lineage(one: Proposal, before: str) -> dict[str, Any]:
    """What the record has of a trunk or a branch; nothing of a run from scratch."""
    if one.kind == "run":
        return {}
    parent = before if one.parent == BEFORE else one.parent
    told: dict[str, Any] = {"kind": one.kind, "parent": parent or None, "branch_at": one.branch_at}
    return {**told, "save_at": list(one.save_at)} if one.save_at else told


def kept_values(values: Mapping[str, float]) -> dict[str, float | None]:
    """Values as the record has them: six digits, null where one is no number."""
    return {k: float(f"{v:.6g}") if np.isfinite(v) else None for k, v in values.items()}


def exhausted(study: LiveStudy, ledger: Ledger) -> str:
    """Why nothing more is proposed: 'budget' or 'candidates'."""
    history = study.history(ledger)
    free = ~history.excluded
    free[history.runs.index] = False
    return "budget" if free.any() else "candidates"
