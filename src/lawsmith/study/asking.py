"""What to do next: the runs that the policy wants within the budget, and the runs to stop.

A prefix of a trunk is believed only where branches have shown what a decay takes off
(`TrunkCurves.trusted`), that of a run with a schedule of its own where the ends of finished runs
were predicted as well as claimed (`PredictedEnd.trusted`), and both from LEAST_SHARE of the way on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from lawsmith.costs import Continued
from lawsmith.curves.prefix import DF
from lawsmith.grid import Grid, IntArray
from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, make
from lawsmith.policies import Choice, with_pending
from lawsmith.policies.actions import Action, Rest, TrunkCosts, choose_action, judge_rest
from lawsmith.policies.frontier import Frontier
from lawsmith.runs import Runs, State
from lawsmith.study.history import row_of_trunk
from lawsmith.study.live import LiveStudy
from lawsmith.study.prefixes import STOPPED, predict_end, stopped_ends
from lawsmith.study.trunks import (
    Cell,
    Stem,
    TrunkCurves,
    cell_of,
    roots_of,
    save_points,
    start_of,
    stems_of,
    trunk_costs,
    trunk_curves,
)
from lawsmith.surrogates.base import Hinted
from lawsmith.threads import one_thread

MOST_CANDIDATES = 10_000  # that are weighed for one proposal, which takes a second or two
# Share of a trunk's tokens. Before the first a curve says little of its end; after the second there
# is little left to save.
LEAST_SHARE, MOST_SHARE = 0.25, 0.9
LOOKS = {"trunk": 4, "run": 8}  # at how many points of its way a run is judged


class PolicyInput(NamedTuple):
    """The input of a policy: rows of the study's grid, these as a grid, their runs, FLOPs left."""

    rows: IntArray
    pool: Grid
    runs: Runs
    left: float


def propose(study: LiveStudy, ledger: Ledger, n: int, *, by: str = "run") -> list[Event]:
    """The events that ask for up to ``n`` runs; fewer when budget or candidates run out.

    Everything random comes from (seed, number of trials asked). In a study with trunks, up to ``n``
    actions, each of which begins with something that can start now; a branch comes with what is
    missing of its trunk.
    """
    with one_thread():
        found = (_actions if study.spec.trunks.use else _runs)(study, ledger, n, by)
        return [make(Kind.ASKED, name, by=by, **asked) for name, asked in found]


Asking = Iterator[tuple[str, dict[str, Any]]]  # the name of a trial, and what it is asked for with


def _runs(study: LiveStudy, ledger: Ledger, n: int, by: str) -> Asking:
    rows, pool, runs, left = _policy_input(study, ledger)
    history = study.history(ledger)
    pricing = Continued(study.pricing, runs.index, np.searchsorted(rows, history.paid))
    rng = np.random.default_rng([study.spec.seed, ledger.n_asked])
    hints = stopped_ends(study, ledger, rows)
    policy, before = study.policy(pool, pricing, hints), runs.index.tolist()
    chosen = policy.choose(pool, runs, n, rng, left=left, budget=study.budget)
    for name, choice in zip(_names(ledger), chosen, strict=False):
        if len(rows) < len(history.pool):
            why = f"{choice.why}, of {len(rows):,} among {len(history.pool):,} candidates"
            choice = replace(choice, why=why)
        cost = float(pricing.added(pool, before)[choice.row])
        before.append(choice.row)
        yield name, _asked(dict(study.candidates.configs[int(rows[choice.row])]), cost, choice)


def _actions(study: LiveStudy, ledger: Ledger, n: int, by: str) -> Asking:
    """The trials of up to ``n`` actions of a study with trunks."""
    rows, pool, runs, left = _policy_input(study, ledger)
    costs = trunk_costs(study, ledger, rows, trunk_curves(study, ledger), by)
    policy, stems, names = _frontier(study, pool), stems_of(ledger, by), _names(ledger)
    cells = [cell_of(study.candidates.configs[row]) for row in rows.tolist()]
    for _ in range(n):
        action = choose_action(policy, pool, runs, costs, left=left, budget=study.budget)
        if action is None:
            return
        place = action.choice.row
        for asked in _trials(study, int(rows[place]), action, stems, names):
            left -= asked[1]["cost"]
            yield asked
        runs = with_pending(runs, [place])
        busy = np.array([cell == cells[place] for cell in cells])
        costs = replace(costs, free=costs.free & ~(busy & (costs.trunk > 0.0)))


def _trials(
    study: LiveStudy, row: int, action: Action, stems: Mapping[Cell, Stem], names: Iterator[str]
) -> Asking:
    """The trials of an action: the missing part of the trunk, and the branch of a decay."""
    config = dict(study.candidates.configs[row])
    D = float(config["D"])
    a_token = float(study.grid.C[row]) / D
    b, start, parent, there = start_of(study, stems, row)
    if not there:
        trunk = {**config, "D": b}
        about = {
            "kind": "trunk",
            "parent": parent or None,
            "branch_at": start if parent else None,
            "save_at": list(save_points(study, config, start, b)),
        }
        name = next(names)
        yield name, _asked(trunk, (b - start) * a_token, action.choice, about)
        start, parent = float(b), name
    if action.kind == "decay":
        about = {"kind": "branch", "parent": parent, "branch_at": start}
        yield next(names), _asked(config, (D - start) * a_token, action.choice, about)


def _asked(
    config: dict[str, Any], cost: float, choice: Choice, about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The keys of the event that asks for a run; ``about`` has those of a trunk or a branch."""
    why = {"why": choice.why, "values": rounded(choice.values)}
    return {"config": config, "cost": cost, **(about or {}), **why}


def _names(ledger: Ledger) -> Iterator[str]:
    """Names of the next trials."""
    return (f"t{number:04d}" for number in count(int(ledger.next_name()[1:])))


def _policy_input(study: LiveStudy, ledger: Ledger) -> PolicyInput:
    history = study.history(ledger)
    rows = _considered(history.pool, history.runs.index)
    left = study.budget - ledger.spend
    return PolicyInput(rows, study.pool(rows), history.runs.select(rows), left)


def _frontier(study: LiveStudy, pool: Grid) -> Frontier:
    """The policy of a study whose runs may be stopped."""
    policy = study.policy(pool)
    assert isinstance(policy, Frontier)
    return policy


def _considered(pool: IntArray, asked: IntArray) -> IntArray:
    """The rows that a policy weighs: all, or if there are many, those with a run and some others.

    The others are a fixed draw, so the same study always has the same ones.
    """
    if len(pool) <= MOST_CANDIDATES:
        return pool
    with_run = np.isin(pool, asked)
    n = max(MOST_CANDIDATES - int(with_run.sum()), MOST_CANDIDATES // 2)
    others = np.random.default_rng(0).permutation(pool[~with_run])[:n]
    return np.sort(np.concatenate([pool[with_run], others]))


def rounded(values: Mapping[str, float]) -> dict[str, float | None]:
    """Values as the record has them: six digits, null where one is no number."""
    return {k: float(f"{v:.6g}") if np.isfinite(v) else None for k, v in values.items()}


def exhausted(study: LiveStudy, ledger: Ledger) -> str:
    """Why nothing more is proposed: 'budget' or 'candidates'."""
    history = study.history(ledger)
    free = ~history.excluded
    free[history.runs.index] = False
    return "budget" if free.any() else "candidates"


def looks(trial: Trial, tokens: float) -> int:
    """How many of the points at which a run is judged lie behind it after so many tokens."""
    return int(LOOKS.get(trial.kind, 0) * tokens / trial.D) if trial.D > 0.0 else 0


def stops(study: LiveStudy, ledger: Ledger, names: list[str]) -> list[Event]:
    """The events that stop those of the trials that are hopeless."""
    if not study.spec.policy.stop:
        return []
    trials = [ledger.trials[name] for name in names]
    verdicts: dict[str, tuple[bool, dict[str, float]]] = {}
    with one_thread():
        trunks = [t for t in trials if t.kind == "trunk" and _may_be_judged(t)]
        if trunks and (curves := trunk_curves(study, ledger)).trusted:
            verdicts |= {t.name: _judge_trunk(study, ledger, curves, t) for t in trunks}
        runs = [t for t in trials if t.kind == "run" and _may_be_judged(t)]
        if runs and _runs_may_be_stopped(study, ledger):
            verdicts |= {t.name: _judge_run(study, ledger, t) for t in runs}
    why = "its end is not on the envelope, and another run is worth more"
    return [
        make(Kind.CANCELLING, name, reason=STOPPED, why=why, values=rounded(values))
        for name, (stop, values) in verdicts.items()
        if stop
    ]


def _may_be_judged(trial: Trial) -> bool:
    if trial.stage is not Stage.RUNNING or trial.report is None:
        return False
    return LEAST_SHARE * trial.D <= trial.report[0] <= MOST_SHARE * trial.D


def _runs_may_be_stopped(study: LiveStudy, ledger: Ledger) -> bool:
    """Whether each run is of its own: none leaves a trunk or results on its way."""
    apart = not study.spec.cost.trunk and not any(t.passed for t in ledger.trials.values())
    policy = study.spec.policy
    return apart and (policy.name, policy.surrogate) == ("frontier", "surface")


def _judge_trunk(
    study: LiveStudy, ledger: Ledger, curves: TrunkCurves, trial: Trial
) -> tuple[bool, dict[str, float]]:
    """Whether a trunk is to be stopped, and why.

    Its curve may say nothing yet, and what a decay gains is not known well enough at a rate that no
    branch has tried.
    """
    index = curves.index(roots_of(ledger)[trial.name])
    row = row_of_trunk(trial, study.candidates, study.spec.trunks.decay)
    if index is None or row is None or curves.trunks is None or not curves.trunks.tried(index):
        return False, {}
    D = float(study.grid.D[row])
    predicted = curves.trunks.predict(np.array([index]), np.array([D]))
    mean, df = float(predicted.mean[0]), float(predicted.df[0])
    scale = float(np.sqrt(predicted.cov[0, 0] + predicted.noise[0]))
    rows, pool, runs, left = _policy_input(study, ledger)
    rest = _rest(study, rows, trial, row, (mean, scale, df))
    others = runs.take((runs.index != rest.row) | (runs.state != State.PENDING.value))
    costs = trunk_costs(study, ledger, rows, curves, trial.by)
    return judge_rest(_frontier(study, pool), pool, others, costs, rest, left=left)


def _judge_run(study: LiveStudy, ledger: Ledger, trial: Trial) -> tuple[bool, dict[str, float]]:
    """Whether a run with a schedule of its own is to be stopped, and why.

    Its prefix says whether it is hopeless, and not what its rest is worth: the answer is made of
    finished runs, so all that its loss says would be lost.
    """
    end = predict_end(study, ledger, trial)
    if end is None or not end.trusted:
        return False, {}
    rows, pool, runs, left = _policy_input(study, ledger)
    rest = _rest(study, rows, trial, end.row, (end.mean, end.scale, DF))
    others = runs.take((runs.index != rest.row) | (runs.state != State.PENDING.value))
    policy, hints = _frontier(study, pool), stopped_ends(study, ledger, rows)
    posterior = Hinted(policy.surrogate, hints).fit(pool, others)
    # The more hopeful of what the prefix says alone and together with what other runs say.
    variance = float(posterior.run_variance[rest.row])
    share = variance / (variance + end.variance)
    both = float(posterior.mean[rest.row]) * (1.0 - share) + end.mean * share
    rest = replace(rest, mean=min(rest.mean, both))
    free = np.arange(len(pool)) != rest.row
    none, unknown = np.zeros(len(pool)), np.full(len(pool), np.inf)
    costs = TrunkCosts(none, study.pricing.added(pool, others.index), free, unknown, hints)
    return judge_rest(policy, pool, others, costs, rest, left=left)


def _rest(
    study: LiveStudy, rows: IntArray, trial: Trial, row: int, end: tuple[float, float, float]
) -> Rest:
    """What is left of a run: its loss at a row after the tokens that it has still to train."""
    assert trial.report is not None
    D = float(study.grid.D[row])
    cost = (D - trial.report[0]) * float(study.grid.C[row]) / D
    return Rest(int(np.searchsorted(rows, row)), cost, *end)
