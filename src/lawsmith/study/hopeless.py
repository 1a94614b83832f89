"""Whether a trunk under way is to be stopped: judged by its curve, once branches have earned trust.

A prefix is believed only where branches have shown what a decay takes off (`Heard.trusted`) and the
trunk has LEAST_SHARE of its way behind it. Runs with a schedule of their own are never stopped:
their prefixes mislead.
"""

from __future__ import annotations

import numpy as np

from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, make
from lawsmith.policies.actions import Rest, Verdict, judge_rest
from lawsmith.policies.frontier import Frontier
from lawsmith.runs import Runs, State
from lawsmith.study.asking import kept_values, looked_at
from lawsmith.study.history import row_near
from lawsmith.study.live import LiveStudy
from lawsmith.study.trunks import Heard, heard_of, roots_of, ways_of
from lawsmith.threads import one_thread

LEAST_SHARE, MOST_SHARE = 0.25, 0.9  # of its tokens, between which a trunk is judged
STOPPED = "stopped"  # the reason on record


def stops(study: LiveStudy, ledger: Ledger, names: list[str]) -> list[Event]:
    """The wishes to stop those of the trials that are hopeless."""
    trials = [ledger.trials[name] for name in names]
    able = [trial for trial in trials if _may_be_judged(trial)]
    if not able or not study.spec.trunks.stop:
        return []
    heard = heard_of(study, ledger)
    if not heard.trusted:
        return []
    with one_thread():
        verdicts = {trial.name: _judged(study, ledger, heard, trial) for trial in able}
    why = "its end is not on the envelope, and another run is worth more"
    return [
        make(Kind.CANCELLING, name, reason=STOPPED, why=why, values=kept_values(verdict.values))
        for name, verdict in verdicts.items()
        if verdict is not None and verdict.stop
    ]


def _may_be_judged(trial: Trial) -> bool:
    if trial.kind != "trunk" or trial.stage is not Stage.RUNNING or trial.report is None:
        return False
    return LEAST_SHARE * trial.D <= trial.report[0] <= MOST_SHARE * trial.D


def _judged(study: LiveStudy, ledger: Ledger, heard: Heard, trial: Trial) -> Verdict | None:
    """The verdict on a trunk; None where its curve says nothing yet."""
    decay, index = study.spec.trunks.decay, heard.index(roots_of(ledger)[trial.name])
    row = row_near(study.candidates, trial.config, trial.D / (1.0 - decay), 1e-6)
    if index is None or row is None or heard.trunks is None or trial.report is None:
        return None
    history = study.history(ledger)
    rows = looked_at(history.pool, history.runs.index)
    pool, runs = study.pool(rows), history.runs.select(rows)
    place = int(np.searchsorted(rows, row))
    ways = ways_of(study, ledger, rows, heard, trial.by)
    D = float(study.grid.D[row])
    told = heard.trunks.foretell(np.array([index]), np.array([D]))
    a_token = float(study.grid.C[row]) / D
    rest = Rest(
        row=place,
        cost=(D - trial.report[0]) * a_token,
        mean=float(told.mean[0]),
        scale=float(np.sqrt(told.cov[0, 0] + told.noise[0])),
        df=float(told.df[0]),
    )
    policy = study.policy(pool)
    assert isinstance(policy, Frontier)
    left = study.budget - ledger.spend
    return judge_rest(policy, pool, _without(runs, place), ways, rest, left=left)


def _without(runs: Runs, row: int) -> Runs:
    """The runs but for what is pending at a row."""
    kept = (runs.index != row) | (runs.state != State.PENDING.value)
    return Runs(runs.index[kept], runs.loss[kept], np.asarray(runs.state[kept]))
