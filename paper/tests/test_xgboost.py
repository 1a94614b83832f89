"""The ensemble of XGBoost regressors: the bootstrap, its members and their spread."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from lawsmith.errors import LawsmithError
from lawsmith.runs import State
from lawsmith_paper.rivals.targets import standardised
from lawsmith_paper.rivals.xgboost import XGBoostEnsemble
from tests.surrogates.studies import done, in_state, observed, small_grid, truth


def test_mean_and_deviation_are_those_of_members_fitted_to_resampled_rows():
    """A weight of 2 is the row told twice: the members again, by another way of telling."""
    grid, runs = small_grid(), observed(small_grid(), 20)
    ensemble = XGBoostEnsemble(n_members=4, n_rounds=20, seed=5)
    rows = np.sort(runs.index)
    y = standardised(truth(grid)[rows])
    X, members = grid.unit(), []
    for w in np.random.default_rng(5).poisson(1.0, (4, len(grid)))[:, rows]:
        told = np.repeat(np.arange(len(rows)), w)
        data = xgb.DMatrix(X[rows[told]], label=y.z[told])
        options = {"max_depth": 4, "eta": 0.1, "tree_method": "exact", "base_score": 0.0}
        members.append(xgb.train(options, data, 20).predict(xgb.DMatrix(X)))
    F = y.mean + y.sd * np.array(members, dtype=float)
    posterior = ensemble.fit(grid, runs)
    np.testing.assert_allclose(posterior.mean, F.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(posterior.sd, F.std(axis=0, ddof=1), atol=1e-4)


def test_one_more_run_changes_no_weight_of_the_others():
    ensemble = XGBoostEnsemble(n_members=6)
    before = ensemble._bootstrap(48, np.array([3, 9, 20, 21, 30, 31, 40, 44]))
    after = ensemble._bootstrap(48, np.array([3, 9, 17, 20, 21, 30, 31, 40, 44]))
    np.testing.assert_array_equal(np.delete(after, 2, axis=1), before)


def test_a_member_that_would_see_nothing_sees_everything():
    weights = XGBoostEnsemble(n_members=50)._bootstrap(48, np.array([3, 9]))
    assert (weights.sum(axis=1) > 0.0).all()
    assert len(np.unique(weights)) > 2


def test_the_order_of_runs_is_of_no_account():
    grid, runs = small_grid(), observed(small_grid(), 14)
    turned = done(runs.index[::-1], runs.loss[::-1])
    one, other = XGBoostEnsemble().fit(grid, runs), XGBoostEnsemble().fit(grid, turned)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sd, other.sd)


def test_another_seed_is_another_bootstrap():
    grid, runs = small_grid(), observed(small_grid(), 14)
    one, other = XGBoostEnsemble().fit(grid, runs), XGBoostEnsemble(seed=1).fit(grid, runs)
    assert not np.array_equal(one.mean, other.mean)
    # The two differ by as much as the spread says they may.
    assert np.abs(one.mean - other.mean).mean() < 2.0 * one.sd.mean()


def test_members_agree_more_where_they_have_seen_a_run():
    grid, runs = small_grid(), observed(small_grid(), 24)
    sd = XGBoostEnsemble(n_members=20).fit(grid, runs).sd
    rest = np.setdiff1d(np.arange(len(grid)), runs.index)
    assert 0.0 < sd[runs.index].mean() < sd[rest].mean()


@pytest.mark.parametrize("losses", [[2.5], [2.5, 2.5, 2.5]])
def test_where_the_members_cannot_differ_the_deviation_is_0(losses):
    grid = small_grid()
    runs = done(np.arange(len(losses)), losses).append(in_state(State.PENDING, [40]))
    posterior = XGBoostEnsemble().fit(grid, runs)
    np.testing.assert_array_equal(posterior.mean, 2.5)
    np.testing.assert_array_equal(posterior.sd, 0.0)


def test_a_single_member_has_no_spread_and_is_refused():
    with pytest.raises(LawsmithError, match="surrogate xgboost: got 1, want at least 2 members"):
        XGBoostEnsemble(n_members=1)
