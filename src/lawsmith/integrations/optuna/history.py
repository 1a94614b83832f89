"""The trials of an Optuna study as lawsmith's runs and as a board of claims.

Every trial's claim is a system attribute of it. What became of a trial:

complete, finite           done
complete, infinite         diverged: an observation
failed, marked diverged    diverged
running                    pending
pruned                     failed: its loss is one on the way
failed                     free again ``retries`` times, then failed
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from lawsmith.integrations.optuna.claims import Claim, Claims
from lawsmith.runs import Runs, State

CLAIM = "lawsmith:claim"
OVER = "lawsmith:over"
DIVERGED = "diverged"
# A trial that began this much earlier and has no row yet has lost its worker.
_LATE = timedelta(seconds=60)


@dataclass(frozen=True)
class ClaimedTrial:
    """A trial that has a claim."""

    number: int
    claim: Claim
    state: State
    loss: float = math.nan


def entries_of(trials: Sequence[FrozenTrial], diverged_above: float) -> list[ClaimedTrial]:
    """The trials with a claim, in order."""
    found: list[ClaimedTrial] = []
    for trial in trials:
        claim = claim_of(trial)
        if claim is not None:
            state, loss = outcome(trial, diverged_above)
            found.append(ClaimedTrial(trial.number, claim, state, loss))
    return found


def claim_of(trial: FrozenTrial) -> Claim | None:
    """What a trial has written on the board."""
    claim = trial.system_attrs.get(CLAIM)
    if not isinstance(claim, dict) or not isinstance(claim.get("row"), int):
        return None
    return Claim(claim["row"], bool(claim.get("confirmed")))


def outcome(trial: FrozenTrial, diverged_above: float) -> tuple[State, float]:
    """What became of a trial, and its loss where it has one."""
    match trial.state:
        case TrialState.COMPLETE:
            loss = float(trial.value) if trial.value is not None else math.inf
            diverged = not math.isfinite(loss) or loss > diverged_above
            diverged = diverged or trial.user_attrs.get(DIVERGED) is True
            if diverged:
                return State.DIVERGED, loss if math.isfinite(loss) else math.nan
            return State.DONE, loss
        case TrialState.FAIL if trial.user_attrs.get(DIVERGED) is True:
            return State.DIVERGED, math.nan
        case TrialState.FAIL | TrialState.PRUNED:
            return State.FAILED, math.nan
    return State.PENDING, math.nan


def runs_of(entries: Sequence[ClaimedTrial], retries: int) -> Runs:
    """The runs; a row that only failed, and not too often, has none and may be asked again."""
    failures = Counter(entry.claim.row for entry in entries if entry.state is State.FAILED)
    alive = {entry.claim.row for entry in entries if entry.state is not State.FAILED}
    kept: dict[tuple[int, bool], ClaimedTrial] = {}
    for entry in entries:
        row, failed = entry.claim.row, entry.state is State.FAILED
        if not failed:
            kept[entry.number, False] = entry
        elif row not in alive and failures[row] > retries:
            kept[-1 - row, True] = entry  # one is enough to close the row
    chosen = list(kept.values())
    return Runs(
        np.array([entry.claim.row for entry in chosen], dtype=np.int64),
        np.array([entry.loss for entry in chosen]),
        np.array([entry.state.value for entry in chosen], dtype="<U8"),
    )


class TrialBoard:
    """The board as one trial sees it.

    entries   the other trials with a claim, as last read
    ahead     how many trials that were asked for before this one are still choosing
    """

    def __init__(self, study: Study, trial: FrozenTrial, diverged_above: float) -> None:
        self._study, self._trial, self._diverged_above = study, trial, diverged_above
        self.entries: list[ClaimedTrial] = []
        self.ahead = 0

    def read(self) -> Claims:
        """The claims of the other trials. Read from the storage: a cache would be a stale board."""
        trials = self._study.get_trials(deepcopy=False)
        others = [trial for trial in trials if trial.number != self._trial.number]
        self.entries = entries_of(others, self._diverged_above)
        self.ahead = sum(map(self._is_ahead, others))
        return {entry.number: entry.claim for entry in self.entries}

    def write(self, claim: Claim | None) -> None:
        """Put the trial's claim on its record."""
        values = None if claim is None else {"row": claim.row, "confirmed": claim.confirmed}
        self._study._storage.set_trial_system_attr(self._trial._trial_id, CLAIM, values)

    def _is_ahead(self, other: FrozenTrial) -> bool:
        if other.number > self._trial.number or other.state is not TrialState.RUNNING:
            return False
        began, ours = other.datetime_start, self._trial.datetime_start
        if began is None or ours is None or ours - began > _LATE:
            return False
        return claim_of(other) is None and OVER not in other.system_attrs
