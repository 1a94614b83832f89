"""Sweeps: a sweep keeps its counts, stays near the optimum and thins out where runs are dear."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lawsmith.datasets.synthetic import Bowl
from lawsmith.errors import LawsmithError
from lawsmith_paper.studies.sweeps import Sweep, crossed, joined

LR = (1e-4, 2e-4, 4e-4, 8e-4)
CELLS = list(product((1e8, 1e9), (1e9, 1e10)))
# At its best at 4e-4 for the small model and at 2e-4 for the large one.
FALLING = {"lr": Bowl(2e-4, drift_N=np.log(0.5) / np.log(10.0))}


def runs_of(sweep: Sweep, seed: int = 0) -> list[tuple[float | str, ...]]:
    columns = sweep.columns(np.random.default_rng(seed))
    return list(zip(*(values.tolist() for values in columns.values()), strict=True))


def test_every_pair_is_crossed_with_every_setting() -> None:
    table = crossed(CELLS, {"lr": LR, "b": (8, 16)})
    assert list(table) == ["N", "D", "lr", "b"]
    rows = list(zip(*(table[name].tolist() for name in table), strict=True))
    assert len(rows) == len(set(rows)) == 4 * 4 * 2
    both = joined(table, crossed([(5.0, 6.0)], {"lr": (7.0,), "b": (8.0,)}))
    assert [values[-1] for values in both.values()] == [5.0, 6.0, 7.0, 8.0]


def test_each_cell_has_the_settings_nearest_its_own_optimum() -> None:
    sweep = Sweep(crossed(CELLS, {"lr": LR}), FALLING, n_settings=3, n_configurations=8)
    assert {(N, lr) for N, _, lr in runs_of(sweep)} == {
        (1e8, 4e-4),
        (1e8, 2e-4),
        (1e9, 2e-4),
        (1e9, 1e-4),
    }
    # Of the four settings 8e-4 is no cell's first choice, and as far from one as 1e-4 is.
    assert runs_of(sweep) == runs_of(sweep, seed=1)


def test_a_setting_that_no_cell_would_reach_is_still_run_once() -> None:
    sweep = Sweep(crossed(CELLS, {"lr": LR}), FALLING, n_settings=4, n_configurations=8)
    found = [lr for _, _, lr in runs_of(sweep)]
    assert set(found) == set(LR)
    assert found.count(8e-4) == 1


def test_a_sweep_too_small_for_its_cells_and_settings_is_refused() -> None:
    candidates = crossed(CELLS, {"lr": LR})
    with pytest.raises(LawsmithError, match="got 7 configurations, want one for each of 4 cells"):
        Sweep(candidates, FALLING, n_settings=4, n_configurations=7)


@pytest.mark.parametrize(("thinning", "sizes"), [(0.0, [8, 8, 8]), (1.0, [12, 11, 1])])
def test_dear_cells_are_thinned_and_never_left_out(thinning, sizes) -> None:
    settings = [2.0**k for k in range(22)]
    cells = [(1e8, 1e9), (1e8, 1e12), (1e9, 1e12)]
    expected = {"lr": Bowl(1e3, drift_D=0.5)}
    sweep = Sweep(crossed(cells, {"lr": settings}), expected, 12, 24, thinning)
    costs = [N * D for N, D, _ in runs_of(sweep)]
    assert np.unique(costs, return_counts=True)[1].tolist() == sizes


def test_further_axes_are_drawn_for_every_configuration() -> None:
    def methods(N: float, D: float) -> dict[str, np.ndarray]:
        return {"method": np.array(["copy"] if D > 5e9 else ["copy", "stack", "pad"])}

    sweep = Sweep(
        crossed(CELLS, {"lr": LR}), FALLING, 4, 16, further=methods, n_runs=26, thinning=0.0
    )
    rows = runs_of(sweep)
    assert len(rows) == len(set(rows)) == 26
    assert len({row[:3] for row in rows}) == 16
    assert {row[3] for row in rows if row[1] > 5e9} == {"copy"}
    assert {row[3] for row in rows if row[1] < 5e9} == {"copy", "stack", "pad"}
    assert rows != runs_of(sweep, seed=1)
