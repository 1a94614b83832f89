"""LawsmithSampler: lawsmith's policies as a sampler of Optuna.

Workers share nothing but the Optuna study. A trial claims its row when it is asked for (see
`claims`), so no configuration runs twice however many workers ask at once; running trials are
pending runs to the policy, and the sum of all claims never exceeds the budget.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.integrations.optuna.claims import Claims, Rules, claim_row, settled
from lawsmith.integrations.optuna.trials import (
    DIVERGED,
    OVER,
    Chooser,
    TrialBoard,
    claimed,
    claims_of,
    distributions,
    fingerprint,
    params_of,
)
from lawsmith.policies.base import Policy
from lawsmith.threads import one_thread

GRID = "lawsmith:grid"
PAUSE = 0.05  # seconds between two looks at the board
LOOKS = 100  # five seconds in all; a rival that still waits then may have died


# To the type checker Optuna is unknown, as every extra is.
class StudyOver(optuna.TrialPruned):  # type: ignore[misc]
    """There is nothing left to run: the budget is committed, or every candidate was asked for."""


class LawsmithSampler(optuna.samplers.BaseSampler):  # type: ignore[misc]
    """Chooses the rows of ``grid`` by ``policy``.

    policy          how rows are chosen; see `lawsmith.make_policy`
    budget          of compute, in the units of grid.C; every claim counts, whatever became of it
    retries         how often a row whose trials only failed is asked again
    diverged_above  runs with a loss above it count as diverged, as those with an infinite loss
    """

    def __init__(
        self,
        grid: Grid,
        policy: Policy,
        *,
        budget: float = math.inf,
        seed: int = 0,
        retries: int = 2,
        diverged_above: float = math.inf,
    ) -> None:
        self.grid, self.seed, self.diverged_above = grid, seed, diverged_above
        self._choice = Chooser(grid, policy, budget, retries)
        self.distributions = distributions(grid)
        self._fingerprint = fingerprint(grid)
        self._one_at_a_time = threading.Lock()  # a surrogate's memory is not for several threads

    @classmethod
    def from_study(cls, file: str | Path) -> LawsmithSampler:
        """The candidates, policy, budget and seed of a study file; its journal is not used."""
        from lawsmith.costs import SeparateRuns
        from lawsmith.study.live import open_study

        study = open_study(file)
        return cls(
            study.grid,
            study.policy(
                study.grid, SeparateRuns()
            ),  # an Optuna trial leaves no trunk to branch from
            budget=study.budget,
            seed=study.spec.seed,
            retries=study.spec.failures.retries,
            diverged_above=study.spec.results.diverged_above or math.inf,
        )

    def suggest(self, trial: Trial) -> dict[str, Any]:
        """The trial's configuration, which Optuna records; StudyOver if none is left."""
        _raise_if_over(trial.study._storage.get_trial(trial._trial_id).system_attrs)
        return {name: trial._suggest(name, kind) for name, kind in self.distributions.items()}

    def objective(self, train: Callable[[dict[str, Any]], float]) -> Callable[[Trial], float]:
        """``train`` as an objective of Optuna. A loss of NaN, which Optuna takes for a failure, is
        recorded as a divergence.
        """

        def run(trial: Trial) -> float:
            loss = float(train(self.suggest(trial)))
            if math.isfinite(loss) and loss <= self.diverged_above:
                return loss
            trial.set_user_attr(DIVERGED, True)
            return math.inf

        return run

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Claim a row, or note that the study is over."""
        self._check(study)
        board = TrialBoard(study, trial, self.diverged_above)
        wanted = trial.system_attrs.get("fixed_params")
        row = claim_row(board, trial.number, self._rules(trial.number, wanted))
        if row is not None:
            study._storage.set_trial_user_attr(trial._trial_id, "C", float(self.grid.C[row]))
            return
        reason = "nothing is left of the candidates and the budget"
        if wanted:
            reason = f"{wanted} is not a candidate, or ran already"
        study._storage.set_trial_system_attr(trial._trial_id, OVER, reason)
        if wanted or _stop(study):
            return  # the trial ends when it asks for its values
        study._storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
        raise StudyOver(reason)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Every axis of the grid that has more than one value."""
        return {name: kind for name, kind in self.distributions.items() if not kind.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The values of the row that the trial claimed."""
        own = study._storage.get_trial(trial._trial_id)
        _raise_if_over(own.system_attrs)
        row, _ = claimed(own)
        if row is None:
            raise LawsmithError("Optuna trial", got="no row", want="one asked with this sampler")
        params = params_of(self.grid, row)
        return {name: params[name] for name in search_space}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Refuse to sample a parameter alone: its value might not be a candidate's."""
        _raise_if_over(trial.system_attrs)
        want = "the axes " + ", ".join(f"{k}: {v}" for k, v in self.distributions.items())
        hint = "sampler.suggest(trial) asks for them as they are"
        got = str(param_distribution)
        raise LawsmithError(f"parameter {param_name}", got=got, want=want, hint=hint)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Stop this worker if no row is left."""
        claims = settled(claims_of(study.get_trials(deepcopy=False), self.diverged_above))
        # This trial's own failure is not stored yet: it may be tried again.
        if state is not TrialState.FAIL and not self._choice.open_rows(claims).any():
            _stop(study)

    def _check(self, study: Study) -> None:
        if study.directions != [StudyDirection.MINIMIZE]:
            raise LawsmithError("Optuna study", got=study.directions, want="one loss, minimised")
        other = study._storage.get_study_system_attrs(study._study_id).get(GRID)
        if other is None:
            study._storage.set_study_system_attr(study._study_id, GRID, self._fingerprint)
        elif other != self._fingerprint:
            got, want = (
                f"the study of other candidates ({other})",
                f"one of these ({self._fingerprint})",
            )
            raise LawsmithError("Optuna study", got=got, want=want)

    def _rules(self, number: int, wanted: dict[str, Any] | None) -> Rules:
        tries = count(1)

        def choose(claims: Claims) -> int | None:
            if wanted is not None:
                return self._choice.enqueued(claims, wanted)
            rng = np.random.default_rng([self.seed, number, next(tries)])
            with self._one_at_a_time, one_thread():
                return self._choice.ask(claims, rng)

        return Rules(choose, self._choice.rivals, lambda: time.sleep(PAUSE), LOOKS)


def _stop(study: Study) -> bool:
    """End the worker's loop; False where Study.optimize runs none."""
    try:
        study.stop()
    except RuntimeError:
        return False
    return True


def _raise_if_over(attrs: dict[str, Any]) -> None:
    if OVER in attrs:
        raise StudyOver(attrs[OVER])
