"""LawsmithSampler: Optuna's rules kept, the grid's rows each once, the budget and failures."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.policies import Choice, make_policy
from lawsmith.runs import Runs, State
from lawsmith.surrogates import make_surrogate
from tests.conftest import extra
from tests.study.studies import study_text

optuna = extra("optuna")
optuna.logging.set_verbosity(optuna.logging.ERROR)

from lawsmith.integrations.optuna import LawsmithSampler, StudyOver  # noqa: E402
from lawsmith.integrations.optuna.trials import CLAIM  # noqa: E402


def make_grid() -> Grid:
    """Twelve candidates: two sizes, three lengths, two optimizers."""
    N, D, opt = np.meshgrid([1e8, 4e8], [1e9, 4e9, 1.6e10], ["adamw", "muon"])
    return Grid.from_columns({"N": N.ravel(), "D": D.ravel(), "opt": opt.ravel()})


GRID = make_grid()


def make_sampler(**options: float) -> LawsmithSampler:
    return LawsmithSampler(GRID, make_policy("full", None, n_init=3), **options)


def make_study(sampler: LawsmithSampler) -> optuna.Study:
    return optuna.create_study(sampler=sampler)


def loss(config: dict[str, float]) -> float:
    return 2.0 + config["N"] ** -0.3 + config["D"] ** -0.3


def rows_of(study: optuna.Study) -> list[int]:
    claims = [trial.system_attrs.get(CLAIM) for trial in study.trials]
    return [claim["row"] for claim in claims if claim]


def test_every_candidate_runs_once_and_the_study_stops_by_itself():
    sampler = make_sampler()
    study = make_study(sampler)
    study.optimize(sampler.objective(loss))
    assert sorted(rows_of(study)) == list(range(12))
    assert {trial.state.name for trial in study.trials} == {"COMPLETE"}
    assert study.best_value == pytest.approx(loss({"N": 4e8, "D": 1.6e10}))


def test_the_dashboard_s_parameters_are_the_axes_and_their_values_those_of_the_row():
    sampler = make_sampler()
    study = make_study(sampler)
    study.optimize(sampler.objective(loss), n_trials=5)
    for trial, row in zip(study.trials, rows_of(study), strict=True):
        assert trial.params == {name: GRID.column(name)[row] for name in ("N", "D", "opt")}
        assert trial.user_attrs == {"C": GRID.C[row]}
        assert trial.distributions["N"] == optuna.distributions.FloatDistribution(
            1e8, 4e8, log=True
        )


def test_parameters_may_be_suggested_by_hand_and_no_others():
    study = make_study(make_sampler())

    def train(trial: optuna.Trial) -> float:
        N = trial.suggest_float("N", 1e8, 4e8, log=True)
        D = trial.suggest_float("D", 1e9, 1.6e10, log=True)
        assert trial.suggest_categorical("opt", ["adamw", "muon"]) in ("adamw", "muon")
        assert (N, D) in set(zip(GRID.N.tolist(), GRID.D.tolist(), strict=True))
        return N

    study.optimize(train, n_trials=3)
    with pytest.raises(LawsmithError, match=r"parameter dropout: got .*, want the axes N: Float"):
        study.optimize(lambda trial: trial.suggest_float("dropout", 0, 1), n_trials=1)


def test_ask_and_tell_know_what_runs_and_say_when_nothing_is_left():
    sampler = make_sampler()
    study = make_study(sampler)
    trials = [study.ask(sampler.distributions) for _ in range(12)]
    assert sorted(rows_of(study)) == list(range(12))
    with pytest.raises(StudyOver):
        study.ask(sampler.distributions)
    for trial in trials:
        study.tell(trial, loss(trial.params))
    assert Counter(trial.state.name for trial in study.trials) == {"COMPLETE": 12, "FAIL": 1}


def test_running_trials_are_pending_to_the_policy():
    seen: list[Runs] = []

    class Watching:
        name, surrogate = "watching", None

        def choose(self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator) -> list[Choice]:
            seen.append(runs)
            return [Choice(len(runs), "the next")]

    study = optuna.create_study(sampler=LawsmithSampler(GRID, Watching()))
    first, second = study.ask(), study.ask()
    study.tell(second, 2.5)
    study.ask()
    assert seen[-1].index.tolist() == [0, 1]
    assert seen[-1].state.tolist() == [State.PENDING.value, State.DONE.value]
    assert seen[-1].loss.tolist()[1:] == [2.5]
    assert first.number == 0


def test_a_run_that_diverged_is_an_observation_and_is_not_run_again():
    sampler = make_sampler(diverged_above=10.0)
    study = make_study(sampler)
    values = iter([math.nan, math.inf, 11.0, 3.0])
    study.optimize(sampler.objective(lambda _: next(values)), n_trials=4)
    study.optimize(sampler.objective(lambda _: 3.0))
    assert sorted(rows_of(study)) == list(range(12))
    diverged = [trial.number for trial in study.trials if trial.user_attrs.get("diverged")]
    assert diverged == [0, 1, 2]


def test_a_row_that_fails_is_tried_again_so_often_and_no_more():
    sampler = make_sampler(retries=1)
    study = make_study(sampler)
    cursed = 5

    def train(trial: optuna.Trial) -> float:
        config = sampler.suggest(trial)
        claim = trial.study.trials[trial.number].system_attrs[CLAIM]
        if claim["row"] == cursed:
            raise RuntimeError
        return loss(config)

    study.optimize(train, catch=(RuntimeError,), n_trials=40)
    counts = Counter(rows_of(study))
    assert counts.pop(cursed) == 2
    assert counts == dict.fromkeys(set(range(12)) - {cursed}, 1)


def test_a_pruned_run_has_no_final_loss_and_is_not_run_again():
    sampler = make_sampler(retries=0)
    study = make_study(sampler)

    def train(trial: optuna.Trial) -> float:
        sampler.suggest(trial)
        trial.report(1.0, step=1)
        raise optuna.TrialPruned

    study.optimize(train, n_trials=30)
    assert sorted(rows_of(study)) == list(range(12))


def test_the_budget_is_kept_by_threads_that_ask_at_once():
    budget = 0.3 * float(GRID.C.sum())
    sampler = make_sampler(budget=budget)
    study = make_study(sampler)
    study.optimize(sampler.objective(loss), n_jobs=6)
    rows = rows_of(study)
    assert len(rows) == len(set(rows))
    left = budget - GRID.C[rows].sum()
    assert left >= -1e-9 * budget
    # Which rows were taken depends on who asked first; that nothing more can be paid does not.
    assert np.delete(GRID.C, rows).min() > left


def test_a_trial_put_in_the_queue_takes_its_row_and_one_that_ran_is_not_run_again():
    sampler = make_sampler()
    study = make_study(sampler)
    wanted = {"N": 4e8, "D": 1e9, "opt": "muon"}
    study.enqueue_trial(wanted)
    study.enqueue_trial(wanted)
    study.enqueue_trial({"N": 5e8})
    study.optimize(sampler.objective(loss), n_trials=3)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED", "PRUNED"]
    assert study.trials[0].params == wanted
    study.optimize(sampler.objective(loss))
    assert sorted(rows_of(study)) == list(range(12))


def test_one_candidate_runs_once():
    grid = Grid.from_columns({"N": [1e8], "D": [1e9]})
    sampler = LawsmithSampler(grid, make_policy("full", None, n_init=1))
    study = make_study(sampler)
    study.optimize(sampler.objective(loss), n_trials=5)
    assert len(study.trials) == 1


def test_a_surrogate_s_choice_is_the_policy_s_own():
    policy = make_policy("window", make_surrogate("gp"), n_init=3)
    sampler = LawsmithSampler(GRID, policy, seed=4)
    study = make_study(sampler)
    runs = Runs.empty()
    for number in range(8):
        row = policy.ask(GRID, runs, 1, np.random.default_rng([4, number, 1]))[0]
        study.optimize(sampler.objective(loss), n_trials=1)
        assert rows_of(study)[-1] == row
        runs = runs.append(Runs.from_losses([row], [study.trials[-1].value]))


def test_workers_with_other_candidates_are_refused():
    sampler = make_sampler()
    study = make_study(sampler)
    study.ask()
    study.sampler = LawsmithSampler(GRID.subset(np.arange(6)), make_policy("full", None, n_init=1))
    with pytest.raises(LawsmithError, match="Optuna study: got the study of other candidates"):
        study.ask()


def test_a_study_that_is_not_one_loss_to_minimise_is_refused():
    study = optuna.create_study(sampler=make_sampler(), direction="maximize")
    with pytest.raises(LawsmithError, match="want one loss, minimised"):
        study.ask()


def test_a_study_file_makes_a_sampler(tmp_path):
    (tmp_path / "study.toml").write_text(study_text(), encoding="utf-8")
    sampler = LawsmithSampler.from_study(tmp_path / "study.toml")
    study = make_study(sampler)
    study.optimize(sampler.objective(loss), n_trials=2)
    assert {"N", "D", "lr", "opt"} <= set(study.trials[0].params)
