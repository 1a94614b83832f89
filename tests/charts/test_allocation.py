"""The allocation chart: the best N, D and D/N by hand, and the minima of isoFLOP curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, allocation
from lawsmith.charts.allocation import N_LINE, QUANTITIES, allocation_data
from lawsmith.charts.isoflop import isoflop_data
from lawsmith.runs import Runs

from .answers import Surface, answered, best_n


def quantity(frame, name):
    return frame[frame["quantity"] == name].reset_index(drop=True)


@pytest.fixture(scope="module")
def made():
    return answered()


def test_lines_are_the_answers_best_sizes_with_intervals_and_what_is_as_good(made):
    lines = allocation_data(made).lines
    N, D, ratio = (quantity(lines, name) for name in QUANTITIES)
    np.testing.assert_allclose(N["value"], best_n(N["C"]), rtol=1e-5)
    np.testing.assert_allclose(6 * N["value"] * D["value"], N["C"], rtol=1e-5)
    np.testing.assert_allclose(ratio["value"], D["value"] / N["value"], rtol=1e-4)
    for frame, share in ((N, 1), (D, 1), (ratio, 2)):
        np.testing.assert_allclose(frame["low"], frame["value"] / 2**share, rtol=1e-4)
        np.testing.assert_allclose(frame["high"], frame["value"] * 2**share, rtol=1e-4)
        np.testing.assert_allclose(frame["near_low"], frame["value"] / 3**share, rtol=1e-4)
        np.testing.assert_allclose(frame["near_high"], frame["value"] * 3**share, rtol=1e-4)


def test_compute_runs_from_two_decades_below_the_largest_run_to_the_first_target(made):
    C = quantity(allocation_data(made).lines, "N")["C"]
    assert len(C) == N_LINE
    assert C.iloc[[0, -1]].tolist() == pytest.approx([1.536e17, 1e22])
    near = replace(made, answer=replace(made.answer, forecasts=()))
    C = quantity(allocation_data(near).lines, "N")["C"]
    assert C.iloc[-1] == pytest.approx(1.536e20)


def test_points_are_the_minima_of_the_isoflop_curves(chinchilla):
    """Those of the law's own isoFLOP chart, for the runs are the same."""
    study = chinchilla.study
    kept = np.setdiff1d(np.arange(len(study.grid)), chinchilla.score.rows)
    kept = kept[study.grid.N[kept] < study.grid.N.max()]
    runs = Runs.from_losses(kept, study.runs.loss[kept])
    minima = allocation_data(replace(answered(), grid=study.grid, runs=runs)).minima
    found = isoflop_data(chinchilla).minima
    assert len(found) >= 3
    assert quantity(minima, "N")["value"].tolist() == found["N"].tolist()
    assert quantity(minima, "D/N")["value"].tolist() == (found["D"] / found["N"]).tolist()
    assert quantity(minima, "D")["bracketed"].tolist() == found["bracketed"].tolist()


def test_three_panels_stand_side_by_side_or_one_below_the_other(made):
    wide, narrow = allocation(made).to_dict(), allocation(made, width=366).to_dict()
    assert wide["vconcat"][1]["columns"] == 3
    assert narrow["vconcat"][1]["columns"] == 1


def test_runs_of_compute_alone_divide_nothing(made):
    class Alone(Surface):
        scale_names = ("C",)

    alone = replace(made, answer=replace(made.answer, surface=Alone()))
    with pytest.raises(ChartUnavailable, match="no N and D to divide"):
        allocation(alone)
