"""The metrics by hand, by definition, and on the published table where a smaller error misleads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lawsmith.errors import LawsmithError
from lawsmith.frontier import pareto
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LC
from lawsmith.laws.fit import fit_law
from lawsmith.metrics import (
    difference_percent,
    mean_squared_error,
    not_dominated,
    recovery,
    regret,
    value_at,
)

NAN = float("nan")
# Few values, so that ties are common.
VALUES = st.sampled_from([0.0, 0.5, 1.0, 2.0, NAN, np.inf])
TRACES = hnp.arrays(np.float64, st.integers(0, 12), elements=VALUES)


def test_regret_is_the_distance_of_each_parameter() -> None:
    fit, reference = {"E": 1.5, "alpha": -0.16}, {"alpha": -0.15, "E": 1.75}
    assert regret(fit, reference) == {"E": 0.25, "alpha": pytest.approx(0.01)}
    assert list(regret(fit, reference)) == ["E", "alpha"]
    assert regret(reference, reference) == {"alpha": 0.0, "E": 0.0}


def test_regret_against_another_law_is_refused() -> None:
    with pytest.raises(LawsmithError, match=r"got parameters E, A, want those of the other: E"):
        regret({"E": 1.0, "A": 2.0}, {"E": 1.0})


def test_the_squared_error_is_of_the_points_kept() -> None:
    predicted, loss = np.array([2.0, 3.0, 4.0]), np.array([2.5, 3.0, 3.0])
    assert mean_squared_error(predicted, loss) == pytest.approx((0.25 + 0.0 + 1.0) / 3)
    assert mean_squared_error(predicted, loss, np.array([True, True, False])) == 0.125
    assert np.isnan(mean_squared_error(predicted, loss, np.zeros(3, dtype=bool)))
    assert np.isnan(mean_squared_error(np.empty(0), np.empty(0)))


def test_a_point_is_beyond_the_pool_only_below_every_cheaper_loss() -> None:
    pool_C, pool_loss = np.array([4.0, 1.0, 2.0, 8.0]), np.array([2.0, 3.0, NAN, 1.0])
    C = np.array([5.0, 5.0, 5.0, 4.0, 0.5, 3.0, 9.0])
    loss = np.array([1.9, 2.0, 2.1, 2.0, 9.0, 2.5, NAN])
    # Cheaper than the whole pool nothing beats it; a tie is beaten; the loss at 8 comes too late.
    want = [True, False, False, False, True, True, False]
    assert not_dominated(C, loss, pool_C, pool_loss).tolist() == want


COMPUTES = st.sampled_from([1.0, 2.0, 4.0, 8.0])
LOSSES = st.sampled_from([1.0, 1.5, 2.0, 3.0, NAN])


@given(st.lists(st.tuples(COMPUTES, LOSSES), max_size=8), st.tuples(COMPUTES, LOSSES))
def test_what_is_not_dominated_is_what_the_pools_frontier_would_take_in(pool, point) -> None:
    pool_C, pool_loss = np.array(pool).reshape(-1, 2).T
    C, loss = (np.array([value]) for value in point)
    (beyond,) = not_dominated(C, loss, pool_C, pool_loss)
    # The point comes last, so the frontier's ties go to the pool.
    with_it = pareto(np.concatenate([pool_C, C]), np.concatenate([pool_loss, loss]))
    assert beyond == (len(pool) in with_it)


def test_recovery_is_the_share_of_the_true_envelope() -> None:
    assert recovery([3, 1, 9, 9], [1, 2, 3, 4]) == 0.5
    assert recovery([], [1, 2]) == 0.0
    assert recovery(range(10), [1, 2]) == 1.0
    with pytest.raises(LawsmithError, match="envelope: got no true frontier point"):
        recovery([1, 2], [])


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20), min_size=1))
def test_recovery_ignores_order_and_rows_beside_the_envelope(rows, truth) -> None:
    share = recovery(sorted(rows), sorted(truth))
    assert share == pytest.approx(len(rows & truth) / len(truth))
    assert recovery(sorted(rows, reverse=True), sorted(truth, reverse=True)) == share
    assert recovery(sorted(rows | set(range(21, 30))), sorted(truth)) == share


def test_the_difference_is_signed_and_in_percent() -> None:
    assert difference_percent(2.02, 2.0) == pytest.approx(1.0)
    assert difference_percent(1.98, 2.0) == pytest.approx(-1.0)
    assert difference_percent(2.0, 2.0) == 0.0


def test_the_value_at_a_budget_is_that_of_the_last_step_within_it() -> None:
    fraction, values = [0.01, 0.05, 0.05, 0.2, 1.0], [5.0, 4.0, 3.0, NAN, 1.0]
    got = value_at(fraction, values, [0.005, 0.01, 0.05, 0.1, 0.3, 1.0])
    np.testing.assert_array_equal(got, [NAN, 5.0, 3.0, 3.0, NAN, 1.0])


def test_a_sum_of_costs_that_misses_one_by_rounding_is_the_whole_budget() -> None:
    costs = np.full(49, 1.0 / 49.0)
    fraction = np.cumsum(costs) * (1.0 + 1e-15)
    assert fraction[-1] > 1.0
    assert value_at(fraction, np.arange(49.0), [1.0]).tolist() == [48.0]
    assert value_at([0.5, 1.0 + 1e-9], [1.0, 2.0], [1.0]).tolist() == [1.0]


def test_a_trace_out_of_order_or_of_two_lengths_is_refused() -> None:
    with pytest.raises(LawsmithError, match="got a spend that falls, want fractions in ascending"):
        value_at([0.2, 0.1], [1.0, 2.0], [0.5])
    with pytest.raises(LawsmithError, match=r"of shapes \(2,\) and \(1,\), want one value a step"):
        value_at([0.1, 0.2], [1.0], [0.5])


def fitted(study, rows):
    """(rows on the compute frontier of ``rows``, L(C) fitted to them)."""
    C, loss = study.grid.C, study.runs.config_loss(len(study.grid))
    best = rows[pareto(C[rows], loss[rows])]
    return best, fit_law(LC, {"C": C[best]}, loss[best])


def test_one_dominated_point_carries_oellm_englishs_held_out_error(published) -> None:
    """97 % of it: a smaller held-out MSE than the reference's is not better."""
    study = published("oellm-english")
    C, loss = study.grid.C, study.runs.config_loss(len(study.grid))
    pool, held = study.grid.split(HeldOut.by_compute(0.5))
    top = held[pareto(C[held], loss[held])]
    predicted = fitted(study, pool)[1].predict({"C": C[top]})
    beyond = not_dominated(C[top], loss[top], C[pool], loss[pool])
    assert beyond.tolist() == [False, True, True]
    sum_of_squares = 3 * mean_squared_error(predicted, loss[top])
    share = mean_squared_error(predicted, loss[top], ~beyond) / sum_of_squares
    assert share == pytest.approx(0.97, abs=0.005)


def test_oellm_englishs_pool_and_whole_grid_differ_as_published_coefficients_do(published) -> None:
    """ln E, ln A, α: pool 0.4498, 6.6776, −0.1518; whole grid 0.4683, 6.8538, −0.1565."""
    study = published("oellm-english")
    pool, held = study.grid.split(HeldOut.by_compute(0.5))
    (found, pool_fit), (every, whole_fit) = (
        fitted(study, rows) for rows in (pool, np.union1d(pool, held))
    )
    assert regret(whole_fit.log_params, pool_fit.log_params) == {
        "E": pytest.approx(0.4683 - 0.4498, abs=5e-4),
        "A": pytest.approx(6.8538 - 6.6776, abs=2e-3),
    }
    # 21 points of the pool, 23 of the grid: the pool's are all still there, and two beyond it.
    assert recovery(every, found) == 1.0
    assert recovery(found, every) == pytest.approx(21 / 23)
    whole, part = (
        np.exp(log_E) + np.exp(log_A) * 1e25**alpha
        for log_E, log_A, alpha in ((0.4683, 6.8538, -0.1565), (0.4498, 6.6776, -0.1518))
    )
    at = {"C": np.array([1e25])}
    got = difference_percent(float(whole_fit.predict(at)[0]), float(pool_fit.predict(at)[0]))
    assert got == pytest.approx(100 * (whole - part) / part, abs=0.02)
