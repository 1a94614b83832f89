"""The isoFLOP chart: levels, minima and which of them are bracketed, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, isoflop
from lawsmith.charts.isoflop import isoflop_data
from lawsmith.grid import Grid

# N·D is 8 (three sizes, minimum inside), 16 (minimum at the largest), 64 (at the smallest), 32 (two
# sizes only).
N = np.array([1.0, 2, 4, 2, 4, 8, 4, 8, 16, 2, 4]) * 1e8
D = np.array([8.0, 4, 2, 8, 4, 2, 16, 8, 4, 16, 8]) * 1e9
LOSS = np.array([3.0, 2.9, 3.1, 2.8, 2.7, 2.6, 2.2, 2.3, 2.4, 2.5, 2.4])


@pytest.fixture
def by_hand(compute_law, make_study):
    """An analysis of the hand-made runs; the chart reads only its study, pool and losses."""
    study = make_study({"N": N, "D": D}, LOSS)
    return replace(compute_law, study=study, pool=np.arange(11), loss=LOSS)


def test_levels_with_three_sizes_are_drawn_in_order(by_hand):
    data = isoflop_data(by_hand)
    assert data.cells["level"].tolist() == pytest.approx(np.repeat([4.8e18, 9.6e18, 3.84e19], 3))
    assert data.cells["N"].tolist() == N[:9].tolist()
    assert data.cells["loss"].tolist() == LOSS[:9].tolist()
    assert data.n_thin == 1


def test_minima_are_the_lowest_cells_and_hollow_at_an_end(by_hand):
    minima = isoflop_data(by_hand).minima
    assert minima["N"].tolist() == [2e8, 8e8, 4e8]
    assert minima["loss"].tolist() == [2.9, 2.6, 2.2]
    assert minima["bracketed"].tolist() == [True, False, False]


def test_each_cell_is_drawn_once_a_hollow_minimum_in_its_own_style(by_hand):
    spec = isoflop(by_hand).to_dict()
    points = [part for part in spec["layer"] if "tooltip" in part.get("encoding", {})]
    drawn = {p["mark"]["style"]: len(spec["datasets"][p["data"]["name"]]) for p in points}
    assert drawn == {"cell": 6, "minimum": 1, "minimum-open": 2}


def test_the_best_run_of_a_cell_counts(compute_law, make_study):
    columns = {"N": np.repeat(N, 2), "D": np.repeat(D, 2), "lr": np.tile([1e-3, 2e-3], 11)}
    loss = np.repeat(LOSS, 2) + np.tile([0.5, 0.0], 11)
    study = make_study(columns, loss)
    cells = isoflop_data(replace(compute_law, study=study, pool=np.arange(22), loss=loss)).cells
    assert cells["loss"].tolist() == LOSS[:9].tolist()


def test_computes_within_five_per_cent_are_one_level(by_hand, make_study):
    study = make_study({"N": N, "D": D * np.array([1, 1.02, 1.04, *[1] * 8])}, LOSS)
    cells = isoflop_data(replace(by_hand, study=study)).cells
    assert cells["level"].nunique() == 3
    assert cells["level"].iloc[0] == pytest.approx(4.8e18 * (1.02 * 1.04) ** (1 / 3), rel=1e-5)


def test_without_three_sizes_anywhere_there_is_no_chart(by_hand):
    few = replace(by_hand, pool=np.array([0, 1, 3, 4, 9, 10]))
    with pytest.raises(ChartUnavailable) as caught:
        isoflop(few)
    reason = "no compute level has 3 sizes or more: at most 2 sizes at any of 3"
    assert caught.value.reason == reason


def test_a_study_without_tokens_has_no_isoflop_curves(compute_law):
    bare = Grid.from_columns({"N": [1e8, 2e8, 4e8]}, compute=None)
    with pytest.raises(ChartUnavailable, match="no N and D"):
        isoflop(replace(compute_law, study=replace(compute_law.study, grid=bare)))
