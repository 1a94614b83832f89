"""Grids: levels, slices, windows, axes, cells, the unit cube and the held-out split."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawsmith.arrays import distinct
from lawsmith.errors import LawsmithError
from lawsmith.grid import Axis, Grid, HeldOut


def sparse_grid(**options):
    """Four runs on a 2 × 3 grid of N and D, two combinations missing; C = 6, 12, 12, 24."""
    return Grid.from_columns({"N": [1.0, 2.0, 1.0, 2.0], "D": [1.0, 1.0, 2.0, 2.0]}, **options)


def rounded_grid():
    """Tokens rounded to whole batches: D = 100, 101, 200, 202, 400 at N = 1."""
    D = [100.0, 101.0, 200.0, 202.0, 400.0]
    return Grid.from_columns({"N": np.ones(5), "D": D}, slice_by="D")


def test_compute_is_six_n_d_by_default():
    assert sparse_grid().C.tolist() == [6.0, 12.0, 12.0, 24.0]


def test_compute_may_be_a_column_or_a_callable():
    columns = {"N": [1.0, 2.0], "D": [3.0, 5.0], "flops": [7.0, 8.0]}
    assert Grid.from_columns(columns, compute="flops").C.tolist() == [7.0, 8.0]
    doubled = Grid.from_columns(columns, compute=lambda table: 2 * table["N"] * table["D"])
    assert doubled.C.tolist() == [6.0, 20.0]


def test_a_table_without_compute_has_unit_costs_and_one_level():
    mixture = Grid.from_columns({"web": [0.0, 0.5, 1.0], "code": [1.0, 0.5, 0.0]}, compute=None)
    assert mixture.C.tolist() == [1.0, 1.0, 1.0]
    assert mixture.levels.tolist() == [1.0]


def test_levels_are_the_distinct_computes():
    grid = sparse_grid()
    assert grid.levels.tolist() == [6.0, 12.0, 24.0]


def test_a_study_may_be_sliced_by_parameters_while_cost_stays_compute():
    grid = sparse_grid(slice_by="N")
    assert grid.levels.tolist() == [1.0, 2.0]
    assert grid.slicer.tolist() == [1.0, 2.0, 1.0, 2.0]
    assert grid.C.tolist() == [6.0, 12.0, 12.0, 24.0]


def test_the_reach_window_adds_one_level_or_a_factor_of_compute():
    grid = rounded_grid()
    assert grid.D[grid.reach_window(100.0, None)].max() == 101.0
    assert grid.D[grid.reach_window(100.0, 2.0)].max() == 200.0
    assert grid.D[grid.reach_window(202.0, 1.5)].max() == 400.0  # reach 303 < next level 400
    assert grid.D[grid.reach_window(0.0, None)].max() == 100.0
    assert grid.reach_window(400.0, None).all()


def test_a_reach_below_one_is_refused():
    with pytest.raises(LawsmithError, match=r"reach: got 0\.5"):
        sparse_grid().reach_window(6.0, 0.5)


def warmstart_columns():
    return {
        "N": [1e6, 1e6, 1e7, 1e7],
        "D": [1e8, 1e8, 1e8, 1e8],
        "shrink": [0.0, 0.4, 0.0, 0.4],
        "method": ["zeros", "zeros", "zeros", "copy"],
    }


def test_axes_are_guessed_log_when_positive_linear_with_a_zero_and_categorical_for_text():
    grid = Grid.from_columns(warmstart_columns())
    assert grid.axes == (
        Axis("N", "log"),
        Axis("D", "log"),
        Axis("shrink", "linear"),
        Axis("method", "categorical"),
    )
    assert list(grid.hp) == ["shrink", "method"]


def test_the_unit_cube_scales_numbers_and_one_hots_text():
    columns = {"x": [1.0, 10.0, 100.0], "y": [0.0, 1.0, 4.0], "z": [3.0] * 3, "how": list("bab")}
    grid = Grid.from_columns(columns, compute=None)
    expected = [[0, 0, 0.5, 0, 1], [0.5, 0.25, 0.5, 1, 0], [1, 1, 0.5, 0, 1]]
    np.testing.assert_allclose(grid.unit(), expected, atol=1e-15)


def test_numbers_may_be_a_categorical_axis():
    grid = Grid.from_columns({"layers": [8, 16]}, axes={"layers": "categorical"}, compute=None)
    assert grid.unit().tolist() == [[1.0, 0.0], [0.0, 1.0]]


@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-100, 100))
def test_the_unit_cube_does_not_depend_on_the_units_of_an_axis(scale, shift):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(1, 1000, 12), rng.uniform(-1, 1, 12)
    kinds = {"x": "log", "y": "linear"}
    one = Grid.from_columns({"x": x, "y": y}, axes=kinds, compute=None)
    other = Grid.from_columns({"x": scale * x, "y": scale * (y + shift)}, axes=kinds, compute=None)
    np.testing.assert_allclose(one.unit(), other.unit(), atol=1e-9)


def test_cells_join_rows_equal_in_the_named_columns_in_ascending_order():
    columns = {"N": [2.0, 1.0, 1.0, 1.0], "D": [1.0, 2.0, 1.0, 2.0], "lr": [1.0, 1.0, 1.0, 2.0]}
    grid = Grid.from_columns(columns)
    assert grid.cells(("N", "D")).tolist() == [2, 1, 0, 1]
    assert grid.cells(("C",)).tolist() == [1, 1, 0, 1]
    assert grid.cells(()).tolist() == [0, 0, 0, 0]


@settings(max_examples=50, deadline=None)
@given(order=st.permutations(range(12)))
def test_the_order_of_rows_changes_nothing_but_the_order(order):
    rows = list(product([1.0, 2.0, 4.0], [1.0, 2.0], ["adam", "sgd"]))
    N, D, how = (list(column) for column in zip(*rows, strict=True))
    grid = Grid.from_columns({"N": N, "D": D, "how": how})
    mixed = grid.subset(np.array(order))
    assert mixed.levels.tolist() == grid.levels.tolist()
    assert mixed.cells(("how", "D")).tolist() == grid.cells(("how", "D"))[order].tolist()
    assert mixed.unit().tolist() == grid.unit()[order].tolist()


def test_a_subset_keeps_axes_and_has_its_own_levels():
    grid = sparse_grid(slice_by="D")
    part = grid.subset([3, 2])
    assert part.N.tolist() == [2.0, 1.0]
    assert (part.axes, part.slice_by) == (grid.axes, "D")
    assert part.levels.tolist() == [2.0]
    assert grid.subset(grid.N == 2.0).C.tolist() == [12.0, 24.0]


@pytest.mark.parametrize("rows", [[0, 4], [-1], [True, False], [0, 0], []])
def test_a_subset_takes_only_distinct_rows_of_the_grid(rows):
    with pytest.raises(LawsmithError):
        sparse_grid().subset(np.array(rows, dtype=bool if True in rows else int))


def ladder(C):
    return Grid.from_columns({"C": C}, compute="C")


def test_half_held_out_is_the_upper_half_of_compute_threshold_included():
    pool, held = ladder([10.0, 1.0, 4.9, 5.0]).split(HeldOut.parse("0.5"))
    assert (pool.tolist(), held.tolist()) == ([1, 2], [0, 3])


def test_fraction_nine_tenths_widens_the_held_out_set_to_a_tenth_of_the_largest_compute():
    grid = ladder([0.5, 0.99, 1.0, 5.0, 10.0])
    pool, held = grid.split(HeldOut.by_compute(0.9))
    assert (pool.tolist(), held.tolist()) == ([0, 1], [2, 3, 4])
    assert HeldOut.by_compute(0.9).threshold(grid) == 1.0


@pytest.mark.parametrize("tenths", range(1, 10))
def test_rounding_never_drops_a_run_exactly_at_the_threshold(tenths):
    for top in (10.0, 3e21, 7.3e19):
        C = np.array([0.05, *(np.arange(1, 11) / 10)]) * top
        _, held = ladder(C).split(HeldOut.by_compute(tenths / 10))
        assert held.tolist() == list(range(10 - tenths, 11))


def test_a_run_at_the_threshold_stays_held_out_when_six_n_d_itself_rounds():
    grid = Grid.from_columns({"N": np.full(3, 180_000_003), "D": [8e9, 9e9, 10e9]})
    split = HeldOut.by_compute(0.1)
    assert grid.C[1] < split.threshold(grid)  # 0.9·max C, by one unit in the last place
    assert grid.split(split)[1].tolist() == [1, 2]


def test_the_largest_value_of_a_column_may_be_held_out():
    pool, held = sparse_grid().split(HeldOut.parse("largest-N"))
    assert (pool.tolist(), held.tolist()) == ([0, 2], [1, 3])
    assert HeldOut.largest("D").threshold(sparse_grid()) == 2.0


@pytest.mark.parametrize("text", ["0", "0.0", "0%"])
def test_nothing_may_be_held_out(text):
    rule = HeldOut.parse(text)
    assert rule == HeldOut.nothing()
    pool, held = sparse_grid().split(rule)
    assert (pool.tolist(), held.tolist()) == ([0, 1, 2, 3], [])
    assert rule.threshold(sparse_grid()) == np.inf


@pytest.mark.parametrize("text", ["0", "0.5", "largest-N", "largest-D"])
def test_a_split_is_written_as_it_is_read(text):
    assert str(HeldOut.parse(text)) == text


@pytest.mark.parametrize("text", ["", "half", "1", "1.5", "-0.5", "nan", "largest", "largest-"])
def test_a_split_that_makes_no_sense_is_refused(text):
    with pytest.raises(LawsmithError, match=r"hold-out: got .*, want"):
        HeldOut.parse(text)


def test_a_split_that_leaves_nothing_to_fit_is_refused():
    with pytest.raises(LawsmithError, match="holds out all 2 rows"):
        ladder([9.0, 10.0]).split(HeldOut.by_compute(0.5))
    with pytest.raises(LawsmithError, match="column: got 'M', want one of C"):
        ladder([9.0, 10.0]).split(HeldOut.largest("M"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "grid: got no rows"),
        ({"N": [], "D": []}, "grid: got no rows"),
        ({"N": [1.0], "D": [1.0, 2.0]}, "columns of lengths N 1, D 2"),
        ({"N": [1.0, 0.0], "D": [1.0, 2.0]}, "column N: got 0 in row 1, want finite numbers above"),
        ({"N": [1.0, 2.0], "D": [-1.0, 2.0]}, "column D: got -1 in row 0"),
        ({"N": [np.nan], "D": [1.0]}, "column N: got nan in row 0"),
        ({"N": [np.inf], "D": [1.0]}, "column N: got inf in row 0"),
        ({"N": ["big"], "D": [1.0]}, "column N: got 'big', want finite numbers above 0$"),
        ({"N": [1e300], "D": [1e300]}, "column N: got 1e\\+300 in row 0"),
        ({"N": [1.0], "D": [1.0], "how": np.array(["a", None])[1:]}, "column how: got nan"),
        (
            {"N": [1.0, 2.0], "D": [1.0, 1.0], "how": np.array(["a", None])},
            "None among text in row",
        ),
        ({"when": np.array(["2024-01-01"], dtype="M8[D]")}, "column when: got datetime64"),
        ({"N": [[1.0]], "D": [1.0]}, "column N: got shape"),
        ({"N": [1.0]}, "compute 6ND: got a table without D"),
        ({"N": [1.0], "D": [1.0], "C": [5.0]}, "column C: got values other than the compute"),
        ({"N": [1.0, 1.0], "D": [2.0, 2.0]}, "rows 0 and 1.*replicates and belong to Runs"),
    ],
)
def test_a_bad_table_is_refused_with_its_column_and_row(columns, message):
    with pytest.raises(LawsmithError, match=message):
        Grid.from_columns(columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": {"M": "log"}}, "axis: got 'M'"),
        ({"axes": {"N": "logarithmic"}}, "axis N: got 'logarithmic'"),
        ({"axes": {"N": "log", "shrink": "log"}}, "column shrink: got 0 in row 0"),
        ({"axes": {"method": "linear"}}, "column method: got 'zeros'.*categorical"),
        ({"compute": "6nd"}, "compute: got '6nd', .*did you mean 6ND"),
        ({"slice_by": "method"}, "column method: got text, want numbers"),
        ({"slice_by": "L"}, "column: got 'L'"),
    ],
)
def test_a_bad_option_is_refused_by_name(options, message):
    with pytest.raises(LawsmithError, match=message):
        Grid.from_columns(warmstart_columns(), **options)


def test_columns_outside_the_axes_are_carried_along_and_do_not_make_configurations_distinct():
    columns = {"N": [1.0, 2.0], "D": [1.0, 1.0], "job": ["a", "b"]}
    grid = Grid.from_columns(columns, axes={"N": "log", "D": "log"})
    assert grid.names == ("N", "D", "job")
    assert grid.subset([1]).column("job").tolist() == ["b"]
    with pytest.raises(LawsmithError, match="rows 0 and 1"):
        Grid.from_columns(columns, axes={"D": "log"})


def test_a_grid_cannot_be_changed_in_place_nor_through_the_array_it_was_made_from():
    N = np.array([1.0, 2.0])
    grid = Grid.from_columns({"N": N, "D": [1.0, 1.0]})
    N[0] = 5.0
    assert grid.N.tolist() == [1.0, 2.0]
    for array in (grid.N, grid.C, grid.levels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_distinct_gives_the_rows_of_a_grid_and_the_index_of_its_replicates():
    first, index = distinct({"N": [3.0, 1.0, 3.0, 2.0, 1.0], "how": ["a", "b", "a", "a", "b"]})
    assert first.tolist() == [0, 1, 3]
    assert index.tolist() == [0, 1, 0, 2, 1]


def test_a_level_just_at_the_reach_is_in_the_window_whatever_the_rounding():
    frontier = 0.1 + 0.2  # 0.30000000000000004
    grid = Grid.from_columns({"C": [0.3, 0.31, 0.45, 0.46]}, compute="C")
    assert grid.reach_window(0.3, 1.5).tolist() == [True, True, True, False]
    assert grid.reach_window(frontier, 1.5).tolist() == [True, True, True, False]
    just_below = np.nextafter(0.3, 0.0)
    assert grid.reach_window(just_below, 1.5).tolist() == [True, True, True, False]
