"""The unit cube's columns by axis and by kernel."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.surrogates.gp.kernel import kernel_columns
from tests.surrogates.studies import small_grid


def mixed_grid() -> Grid:
    """lr, optimiser (3 values), N, wd (1 value), D: columns 0, 1–3, 4, 5, 6."""
    return Grid.from_columns(
        {
            "lr": [1e-3, 1e-2, 1e-3, 1e-2],
            "optimiser": ["b", "a", "c", "a"],
            "N": [1e7, 2e7, 1e7, 4e7],
            "wd": [0.1, 0.1, 0.1, 0.1],
            "D": [1e9, 1e9, 2e9, 2e9],
        }
    )


def test_the_columns_of_an_axis_are_those_of_its_own_unit_cube():
    grid = mixed_grid()
    names = np.array(grid.unit_names)
    assert list(dict.fromkeys(grid.unit_names)) == [axis.name for axis in grid.axes]
    for axis in grid.axes:
        alone, block = grid.column(axis.name), grid.unit()[:, names == axis.name]
        assert block.shape[1] == (3 if axis.name == "optimiser" else 1)
        if axis.kind == "categorical":
            assert np.unique(alone)[block.argmax(axis=1)].tolist() == alone.tolist()
        elif np.ptp(alone) > 0.0:
            np.testing.assert_array_equal(
                np.argsort(block[:, 0], kind="stable"), np.argsort(alone, kind="stable")
            )
    assert len(names) == grid.unit().shape[1]


@pytest.mark.parametrize(
    ("kernel", "linear", "matern"),
    [
        ("matern", (), (0, 1, 2, 3, 4, 6)),
        ("linear", (0, 1, 2, 3, 4, 6), ()),
        ("matern+linear", (0, 1, 2, 3, 4, 6), (0, 1, 2, 3, 4, 6)),
        ("grouped", (4, 6), (0, 1, 2, 3)),
    ],
)
def test_each_part_of_a_kernel_has_its_columns_and_none_that_never_vary(kernel, linear, matern):
    columns = kernel_columns(mixed_grid(), kernel)
    assert (columns.linear, columns.matern) == (linear, matern)


def test_a_grouped_kernel_has_one_part_where_a_group_is_empty():
    sizes = Grid.from_columns({"N": [1e7, 2e7], "D": [1e9, 2e9]})
    assert kernel_columns(sizes, "grouped").matern == ()
    rates = Grid.from_columns({"lr": [1e-3, 1e-2]}, compute=None)
    assert kernel_columns(rates, "grouped").linear == ()


def test_a_single_row_keeps_its_columns_though_none_varies():
    assert kernel_columns(small_grid().subset([3]), "matern").matern == (0, 1, 2)


def test_a_grid_without_axes_is_refused():
    grid = Grid.from_columns({"N": [1e7], "D": [1e9]}, axes={})
    with pytest.raises(LawsmithError, match="got a grid without axes, want at least one axis"):
        kernel_columns(grid, "matern")
