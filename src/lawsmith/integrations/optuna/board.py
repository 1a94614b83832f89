"""The board of claims in an Optuna study: every trial's claim is a system attribute of it."""

from __future__ import annotations

from datetime import timedelta

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from lawsmith.integrations.optuna.claims import Claim, Claims
from lawsmith.integrations.optuna.history import CLAIM, OVER, ClaimedTrial, claim_of, entries_of

# A trial that began this much earlier and has no row yet has lost its worker.
_LATE = timedelta(seconds=60)


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
        values = None if claim is None else {"row": claim.row, "settled": claim.settled}
        self._study._storage.set_trial_system_attr(self._trial._trial_id, CLAIM, values)

    def _is_ahead(self, other: FrozenTrial) -> bool:
        if other.number > self._trial.number or other.state is not TrialState.RUNNING:
            return False
        began, ours = other.datetime_start, self._trial.datetime_start
        if began is None or ours is None or ours - began > _LATE:
            return False
        return claim_of(other) is None and OVER not in other.system_attrs
