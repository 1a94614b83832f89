"""Π against a brute-force definition, its invariances, its ties, and its batched form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lawsmith.frontier import (
    cell_minima,
    cell_minima_batch,
    frontier,
    frontier_batch,
    pareto,
    pareto_batch,
)
from lawsmith.grid import Grid
from lawsmith.runs import Runs

# Few values, so that ties in compute and in loss are common.
COMPUTES = st.sampled_from([1.0, 2.0, 4.0, 8.0])
LOSSES = st.sampled_from([1.0, 1.5, 2.0, 3.0, 5.0, np.nan, np.inf])


@st.composite
def studies(draw, n_losses=1):
    """(C (m,), losses (n_losses, m)) with many ties and some unknown losses."""
    m = draw(st.integers(1, 10))
    C = draw(hnp.arrays(np.float64, m, elements=COMPUTES))
    return C, draw(hnp.arrays(np.float64, (n_losses, m), elements=LOSSES))


def brute_force_pareto(C, loss):
    """Row i is on it unless some row j is at no more compute and no more loss, and comes first."""
    m = len(C)
    known = [i for i in range(m) if np.isfinite(loss[i])]

    def dominated(i):
        return any(
            C[j] <= C[i] and loss[j] <= loss[i] and (loss[j], C[j], j) < (loss[i], C[i], i)
            for j in known
        )

    return sorted((i for i in known if not dominated(i)), key=lambda i: C[i])


def brute_force_minima(cells, loss):
    rows = []
    for cell in sorted(set(cells.tolist())):
        members = [i for i in range(len(cells)) if cells[i] == cell and np.isfinite(loss[i])]
        if members:
            rows.append(min(members, key=lambda i: (loss[i], i)))
    return rows


@given(studies())
def test_the_pareto_frontier_is_that_of_the_quadratic_definition(study):
    C, (loss,) = study
    assert pareto(C, loss).tolist() == brute_force_pareto(C, loss)


@given(studies())
def test_the_cell_minima_are_those_of_the_quadratic_definition(study):
    C, (loss,) = study
    cells = C.astype(np.int64)
    assert cell_minima(cells, loss).tolist() == brute_force_minima(cells, loss)


@given(studies())
def test_compute_rises_and_loss_falls_strictly_along_the_pareto_frontier(study):
    C, (loss,) = study
    rows = pareto(C, loss)
    assert (np.diff(C[rows]) > 0).all()
    assert (np.diff(loss[rows]) < 0).all()


@given(studies(), st.randoms())
def test_the_order_of_rows_does_not_change_the_points_of_the_frontier(study, random):
    C, (loss,) = study
    order = np.arange(len(C))
    random.shuffle(order)
    one, other = pareto(C, loss), pareto(C[order], loss[order])
    assert C[one].tolist() == C[order][other].tolist()
    assert loss[one].tolist() == loss[order][other].tolist()


@given(studies(), st.floats(0.1, 10), st.floats(-5, 5))
def test_a_monotone_transform_of_loss_or_of_compute_changes_nothing(study, scale, shift):
    C, (loss,) = study
    cells = C.astype(np.int64)
    for transformed in (np.log(loss), scale * loss + shift):
        assert pareto(C, transformed).tolist() == pareto(C, loss).tolist()
        assert cell_minima(cells, transformed).tolist() == cell_minima(cells, loss).tolist()
    assert pareto(scale * C, loss).tolist() == pareto(C, loss).tolist()


@given(studies())
def test_the_frontier_of_the_frontier_is_itself(study):
    C, (loss,) = study
    rows = pareto(C, loss)
    assert rows[pareto(C[rows], loss[rows])].tolist() == rows.tolist()


@given(studies(n_losses=5))
def test_a_batch_of_loss_vectors_gives_each_ones_own_pareto_frontier(study):
    C, losses = study
    masks = pareto_batch(C, losses)
    for on, loss in zip(masks, losses, strict=True):
        assert np.flatnonzero(on).tolist() == sorted(pareto(C, loss).tolist())


@given(studies(n_losses=5))
def test_a_batch_of_loss_vectors_gives_each_ones_own_cell_minima(study):
    C, losses = study
    cells = C.astype(np.int64)
    for rows, loss in zip(cell_minima_batch(cells, losses), losses, strict=True):
        assert rows[rows >= 0].tolist() == cell_minima(cells, loss).tolist()


def test_a_cell_without_a_loss_is_minus_one_in_a_batch():
    losses = np.array([[np.nan, 2.0, 1.0], [3.0, np.nan, np.nan]])
    assert cell_minima_batch(np.array([0, 4, 4]), losses).tolist() == [[-1, 2], [0, -1]]


def test_a_batch_leaves_the_losses_as_they_were():
    losses = np.array([[np.inf, 2.0], [3.0, np.nan]])
    before = losses.copy()
    pareto_batch(np.array([1.0, 2.0]), losses)
    np.testing.assert_array_equal(losses, before)


def test_an_empty_batch_has_no_frontiers():
    assert pareto_batch(np.array([1.0, 2.0]), np.empty((0, 2))).shape == (0, 2)


def test_a_level_whose_best_is_above_a_cheaper_run_is_not_on_the_frontier():
    C = np.array([1.0, 2.0, 4.0])
    assert pareto(C, np.array([3.0, 3.5, 2.0])).tolist() == [0, 2]


def test_ties_go_to_less_compute_and_then_to_the_lower_row():
    C = np.array([2.0, 1.0, 1.0, 2.0])
    assert pareto(C, np.array([3.0, 3.0, 3.0, 2.0])).tolist() == [1, 3]
    assert cell_minima(np.array([1, 1, 0, 0]), np.array([2.0, 2.0, 5.0, 4.0])).tolist() == [3, 0]


def test_nothing_known_gives_an_empty_frontier():
    unknown = np.full(3, np.nan)
    assert pareto(np.arange(1.0, 4.0), unknown).tolist() == []
    assert cell_minima(np.arange(3), unknown).tolist() == []


def small_study():
    columns = {
        "N": [1.0, 1.0, 2.0, 2.0, 2.0],
        "D": [2.0, 2.0, 1.0, 1.0, 4.0],
        "lr": [0.1, 0.2, 0.1, 0.2, 0.1],
    }
    return Grid.from_columns(columns), np.array([3.0, 2.9, 3.1, 2.8, 2.5])


@pytest.mark.parametrize(
    ("inputs", "rows"),
    [(("C",), [3, 4]), (("N", "D"), [1, 3, 4]), (("N",), [1, 4]), (("C", "lr"), [0, 3, 4])],
)
def test_the_frontier_follows_the_inputs_of_the_law(inputs, rows):
    grid, loss = small_study()
    assert frontier(grid, loss, inputs).tolist() == rows
    masks = frontier_batch(grid, np.stack([loss, -loss]), inputs)
    assert np.flatnonzero(masks[0]).tolist() == sorted(rows)
    assert np.flatnonzero(masks[1]).tolist() == sorted(frontier(grid, -loss, inputs).tolist())


def test_replicates_are_averaged_before_the_frontier_so_a_lucky_one_does_not_win():
    grid = Grid.from_columns({"N": [1.0, 1.0], "D": [1.0, 1.0], "lr": [0.1, 0.2]})
    runs = Runs.from_losses([0, 0, 1], [2.0, 3.0, 2.4])
    assert frontier(grid, runs.config_loss(2), ("C",)).tolist() == [1]
