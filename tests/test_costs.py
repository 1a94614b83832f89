"""What runs cost, apart and on shared trunks, against sums made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawsmith.costs import Continued, SeparateRuns, Trunks, trunks
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid


def small() -> Grid:
    """Two sizes, two learning rates, D = 10, 20, 40: four trunks of three branches."""
    N, lr, D = (v.ravel() for v in np.meshgrid([1.0, 2.0], [0.1, 0.2], [10.0, 20.0, 40.0]))
    return Grid.from_columns({"N": N, "D": D, "lr": lr})


def at(grid: Grid, N: float, lr: float, D: float) -> int:
    return int(np.flatnonzero((grid.N == N) & (grid.column("lr") == lr) & (grid.D == D))[0])


def test_rows_that_differ_in_d_alone_share_a_trunk():
    grid = small()
    ids = trunks(grid)
    assert len(np.unique(ids)) == 4
    assert ids[at(grid, 1.0, 0.1, 10.0)] == ids[at(grid, 1.0, 0.1, 40.0)]
    assert ids[at(grid, 1.0, 0.1, 10.0)] != ids[at(grid, 1.0, 0.2, 10.0)]


def test_a_longer_run_pays_the_extension_and_its_decay():
    grid, price = small(), Trunks(0.2)
    first, longer, shorter = (at(grid, 1.0, 0.1, D) for D in (20.0, 40.0, 10.0))
    C = grid.C
    np.testing.assert_allclose(price.added(grid, []), C)
    after = price.added(grid, [first])
    # The trunk stands at 0.8·20 = 16 tokens: on to 0.8·40 = 32, then 8 tokens of decay.
    assert after[longer] == pytest.approx(6.0 * 1.0 * (16.0 + 8.0))
    # A shorter run only branches off: 2 tokens of decay.
    assert after[shorter] == pytest.approx(6.0 * 1.0 * 2.0)
    elsewhere = at(grid, 2.0, 0.1, 40.0)
    assert after[elsewhere] == C[elsewhere]


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(12)), st.floats(0.05, 0.95))
def test_the_sum_of_prices_is_what_all_cost_together_in_any_order(order, decay):
    grid, price = small(), Trunks(decay)
    paid = [price.added(grid, order[:i])[row] for i, row in enumerate(order)]
    so_far = [price.total(grid, order[: i + 1]) for i in range(len(order))]
    np.testing.assert_allclose(np.cumsum(paid), so_far, rtol=1e-12)
    assert price.total(grid, sorted(order)) == pytest.approx(sum(paid))
    assert price.total(grid, []) == 0.0


def test_apart_every_run_pays_its_own():
    grid = small()
    assert SeparateRuns().added(grid, [0, 1]) is grid.C
    assert SeparateRuns().total(grid, [0, 5]) == grid.C[0] + grid.C[5]


def test_oellm_english_would_cost_half_on_trunks(published):
    grid = published("oellm-english").grid
    everything = np.arange(len(grid))
    assert SeparateRuns().total(grid, everything) == pytest.approx(2.46e23, rel=0.005)
    assert Trunks(0.2).total(grid, everything) == pytest.approx(1.25e23, rel=0.005)


def test_trunks_need_tokens_and_a_decay_that_is_a_share():
    with pytest.raises(LawsmithError, match="trunk-aware cost: got no D"):
        Trunks().added(Grid.from_columns({"C": [1.0, 2.0]}, compute="C"), [])
    with pytest.raises(LawsmithError, match="decay: got 1, want a share between 0 and 1"):
        Trunks(1.0)


def test_of_the_runs_made_only_those_paid_leave_a_trunk():
    grid, price = small(), Trunks(0.2)
    imported, paid = at(grid, 1.0, 0.1, 20.0), at(grid, 1.0, 0.2, 20.0)
    now = Continued(price, np.array([imported, paid]), np.array([paid]))
    made = [imported, paid]
    np.testing.assert_allclose(now.added(grid, made), price.added(grid, [paid]))
    beside, beyond = at(grid, 1.0, 0.1, 40.0), at(grid, 1.0, 0.2, 40.0)
    assert now.added(grid, made)[beside] == grid.C[beside]
    assert now.added(grid, made)[beyond] == pytest.approx(6.0 * (16.0 + 8.0))
    # What is asked for from here on leaves a trunk, as it always does.
    np.testing.assert_allclose(now.added(grid, [*made, beside]), price.added(grid, [paid, beside]))


def test_where_every_run_pays_its_own_it_does_not_matter_what_was_made():
    grid = small()
    now = Continued(SeparateRuns(), np.array([0, 1]), np.array([1]))
    np.testing.assert_array_equal(now.added(grid, [0, 1, 2]), grid.C)
    assert now.total(grid, [0, 1, 2, 5]) == grid.C[2] + grid.C[5]


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(12)), st.integers(0, 5), st.integers(0, 5))
def test_prices_of_a_study_under_way_add_up_in_the_order_of_its_runs(order, n_made, n_paid):
    grid, made = small(), order[:n_made]
    now = Continued(Trunks(0.2), np.array(made, dtype=int), np.array(made[:n_paid], dtype=int))
    new = order[n_made:]
    steps = [now.added(grid, [*made, *new[:i]])[row] for i, row in enumerate(new)]
    so_far = [now.total(grid, new[: i + 1]) for i in range(len(new))]
    np.testing.assert_allclose(np.cumsum(steps), so_far, rtol=1e-9)
    assert now.total(grid, new) == pytest.approx(sum(steps))
    assert now.total(grid, made) == pytest.approx(0.0, abs=1e-9)
