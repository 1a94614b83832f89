"""Trials: where they stop, what their policy is, what their rows say, and going on with one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.frontier import frontier
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.runs import Runs
from lawsmith.surface import fit_surface
from lawsmith.surrogates.gp import GP
from lawsmith_paper import trial
from lawsmith_paper.jobs import Job
from lawsmith_paper.kinds import KINDS
from lawsmith_paper.methods.contenders import CONTENDERS
from lawsmith_paper.methods.suite import Subject, trial_settings
from lawsmith_paper.store import Store
from lawsmith_paper.work import work

BY_NAME = {contender.name: contender for contender in CONTENDERS}
STUDY = Subject("synthetic-warmstart", "LC")
DRAWN = Subject("synthetic-warmstart", "LC", 2.0)


def settings(subject, name, seed=0, **changes):
    return {**trial_settings(subject, BY_NAME[name]), "seed": seed, **changes}


def done(subject, name, seed=0, **changes):
    told = settings(subject, name, seed, **changes)
    return told, list(trial.trial_lines(told, []))


def test_a_trial_stops_before_the_run_that_would_pass_its_budget():
    told, lines = done(STUDY, "random")
    task = trial.task_of(told)
    spent = task.pool.C[[line["row"] for line in lines]].sum() / task.total_compute
    assert 0.05 < spent <= 0.1
    limited, few = done(STUDY, "random", iterations=12)
    assert [line["row"] for line in few] == [line["row"] for line in lines[:12]]
    rows = [row for row in trial.trial_rows(limited, few) if row["budget"] >= 0.05]
    assert all(np.isnan(row["difference"]) and np.isnan(row["n_runs"]) for row in rows)


def test_a_trials_policy_has_the_fields_its_contender_changes():
    def policy(name, subject=STUDY):
        told = settings(subject, name)
        return trial.trial_policy(told, trial.task_of(told))

    assert policy("full-ei-per-flop").cost_exponent == 1.0
    assert policy("full-ei").cost_exponent == 0.0
    assert policy("frontier").surrogate.name == "surface"
    assert policy("frontier").values == ("answer", "envelope")
    assert policy("frontier").target == pytest.approx(1e25)
    assert policy("frontier-no-answer").values == ("envelope",)
    assert policy("frontier-no-envelope").values == ("answer",)
    assert policy("frontier-no-horizon").horizon > 1e9 * policy("frontier").horizon
    assert policy("frontier-gp").surrogate == GP(priors="free", scale="log")
    assert policy("cheapest").name == "cheapest+none"
    task = trial.task_of(settings(STUDY, "vopt"))
    assert 10 ** policy("vopt").decades * task.pool.C.max() == pytest.approx(1e25)
    assert policy("vopt", DRAWN).decades == pytest.approx(2.0, abs=1e-5)


def test_a_drawn_trial_has_a_study_of_its_seed_and_a_target_two_decades_above_its_pool():
    first, second = (trial.task_of(settings(DRAWN, "random", seed)) for seed in (0, 1))
    assert not np.array_equal(first.loss, second.loss)
    for task in (first, second):
        assert trial.target_of(task) == pytest.approx(100 * task.pool.C.max(), rel=1e-5)
    assert trial.study_name(settings(DRAWN, "random")) == "drawn-warmstart, noise × 2"
    assert trial.study_name(settings(STUDY, "random")) == "synthetic-warmstart"


def test_the_rows_of_a_trial_are_those_of_laws_fitted_by_hand():
    told, lines = done(DRAWN, "cheapest", seed=3)
    task, study, law = trial.task_of(told), trial.study_of(told), get_law("LC")
    rows = {row["budget"]: row for row in trial.trial_rows(told, lines)}
    assert set(rows) == set(trial.BUDGETS)
    chosen = np.array([line["row"] for line in lines])
    spent = np.cumsum(task.pool.C[chosen]) / task.total_compute
    for budget in (0.05, 0.1):
        row = rows[budget]
        n = int((spent <= budget).sum())
        assert row["n_runs"] == n
        loss = np.full(len(task.pool), np.nan)
        loss[chosen[:n]] = task.loss[chosen[:n]]
        on = frontier(task.pool, loss, ("C",))
        fit = fit_law(law, {"C": task.pool.C[on]}, loss[on])
        target = {"C": trial.target_of(task)}
        predicted, pool = fit.predict(target)[0], task.reference.validation.predict(target)[0]
        assert row["difference"] == pytest.approx(100 * abs(predicted / pool - 1), abs=1e-3)
        true = study.truth.best_loss(target["C"])
        assert row["true_error"] == pytest.approx(100 * abs(predicted / true - 1), abs=1e-3)
        assert row["true_error_pool"] == pytest.approx(100 * abs(pool / true - 1), abs=1e-3)
        regret = abs(fit.log_params["E"] - task.reference.validation.log_params["E"])
        assert row["regret_log_E"] == pytest.approx(regret, abs=1e-4)
        held = task.held_out
        mse = ((fit.predict(held.inputs) - held.loss) ** 2).mean()
        reference = task.reference.held_out_mse
        assert row["held_out"] == pytest.approx(abs(mse - reference), rel=1e-2, abs=1e-7)
        assert row["held_out_rmse"] == pytest.approx(np.sqrt(mse / reference), rel=1e-2)
        share = np.isin(task.reference.envelope, on).mean()
        assert row["envelope_observed"] == row["envelope_mixed"] == pytest.approx(share)
        assert row["family"] == "drawn-warmstart, noise × 2"
        assert (row["synthetic"], row["fit"]) == (True, "observed")


def test_a_method_with_a_surrogate_has_rows_for_both_of_its_laws():
    told, lines = done(STUDY, "window-lcb")
    rows = list(trial.trial_rows(told, lines))
    assert [row["fit"] for row in rows] == ["observed"] * 4 + ["fantasized"] * 4
    last = {row["fit"]: row for row in rows if row["budget"] == 0.1}
    assert last["observed"]["envelope_mixed"] == last["fantasized"]["envelope_mixed"]
    assert last["observed"]["difference"] != last["fantasized"]["difference"]


def test_the_answer_is_that_of_a_surface_of_the_runs_within_a_budget():
    """Fitted by hand: what the command `answer` shows of these runs, beside the truth."""
    told, lines = done(DRAWN, "cheapest", seed=3)
    task, study = trial.task_of(told), trial.study_of(told)
    true = study.truth.best_loss(trial.target_of(task))
    rows = {row["budget"]: row for row in trial.trial_rows(told, lines)}
    chosen = np.array([line["row"] for line in lines])
    spent = np.cumsum(task.pool.C[chosen]) / task.total_compute
    for budget in (0.02, 0.1):
        made = chosen[spent <= budget]
        surface = fit_surface(task.pool, Runs.from_losses(made, task.loss[made]))
        best = surface.best(trial.target_of(task))
        row = rows[budget]
        # An estimate looks at more ratios D/N than the best alone does.
        assert row["answer_error"] == pytest.approx(100 * abs(np.log(best.loss / true)), abs=0.1)
        assert row["answer_held"] == float(best.low <= true <= best.high)
        width = 100 * np.log(best.high / best.low)
        assert row["answer_score"] >= 0.99 * width
    assert sum("answer" in line for line in lines) <= len(trial.BUDGETS)


def test_the_answer_of_a_table_is_judged_by_held_out_cells_on_its_frontier():
    task, study = (
        trial.task_of(settings(STUDY, "random")),
        trial.study_of(settings(STUDY, "random")),
    )
    question = trial.question_of(settings(STUDY, "random"))
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    assert len(question.loss) > 0
    for N, D, C, best in zip(*(question.scales[k] for k in "NDC"), question.loss, strict=True):
        cell = (grid.N == N) & (grid.D == D)
        assert not np.isin(np.flatnonzero(cell), task.rows).any()
        assert best == np.nanmin(loss[cell])
        assert best <= 1.003 * np.nanmin(loss[1.05 * C >= grid.C])


def test_an_interval_that_misses_costs_forty_times_what_it_misses_by():
    task = trial.task_of(settings(STUDY, "random"))
    question = trial.question_of(settings(STUDY, "random"))
    rows = np.flatnonzero(np.isfinite(task.loss))[::3].tolist()
    right = question.judged(task, rows)
    far = replace(question, loss=np.exp(5.0) * question.loss).judged(task, rows)
    nearer = replace(question, loss=np.exp(4.0) * question.loss).judged(task, rows)
    assert (far["held"], nearer["held"]) == (0.0, 0.0)
    assert right["held"] > 0.5
    assert far["score"] - nearer["score"] == pytest.approx(100 * 40.0)
    assert far["error"] - nearer["error"] == pytest.approx(100.0)
    assert question.judged(task, []) is None


def test_a_method_that_knows_its_budget_is_judged_at_its_end_alone():
    told, lines = done(DRAWN, "frontier", seed=1, budget=0.02)
    assert {row["budget"] for row in trial.trial_rows(told, lines)} == {0.02}
    assert [("answer" in line) for line in lines] == [False] * (len(lines) - 1) + [True]
    # What is left has a part in the choice: the first runs differ from those of a larger budget.
    _, more = done(DRAWN, "frontier", seed=1, budget=0.1)
    assert [line["row"] for line in more[: len(lines)]] != [line["row"] for line in lines]


def test_a_trial_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "BLOCK", 8)
    told, whole = done(DRAWN, "frontier", seed=1)
    job = Job("trial", told, "drawn by seed")
    store = Store(tmp_path)
    with store.writer(job, 8) as (_, writer):
        for line in whole[:21]:
            writer.line(line)
    given = []

    def seen(settings, kept):
        given.append(len(kept))
        yield from trial.trial_lines(settings, kept)

    monkeypatch.setitem(KINDS, "trial", replace(KINDS["trial"], lines=seen))
    assert work(tmp_path, [job], processes=1) == []
    assert given == [16]  # whole blocks
    found = store.read(job).lines
    assert len(found) == len(whole)
    for again, first in zip(found, whole, strict=True):
        assert {**again, "observed": 0, "fantasized": 0} == {
            **first,
            "observed": 0,
            "fantasized": 0,
        }
        for fit in ("observed", "fantasized"):
            # Equal but for the last digits: what laws are fitted beside differs after a stop.
            laws = [[np.nan] if line[fit] is None else line[fit][0] for line in (again, first)]
            np.testing.assert_allclose(*laws, rtol=1e-6)


def test_the_facts_of_a_study_are_told_and_those_of_a_family_only_where_they_are_common():
    law, facts = trial.trial_facts(settings(STUDY, "random"))
    assert law == "LC"
    assert set(facts["params"]) == {"E", "A", "alpha"}
    _, facts = trial.trial_facts(settings(DRAWN, "random"))
    assert set(facts) == {"hold_out", "n_pool"}
    kind = KINDS["trial"]
    assert kind.table == "methods"
    assert kind.n_lines(settings(STUDY, "random", iterations=5)) == 5
