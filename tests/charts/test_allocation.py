"""What is best at each compute: N, D, D/N and hyperparameters by hand, and the best runs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, allocation, hyperparameters
from lawsmith.charts.allocation import N_LINE, SIZES, best_data

from .answers import Surface, answered, best_n


def quantity(frame, name):
    return frame[frame["quantity"] == name].reset_index(drop=True)


@pytest.fixture(scope="module")
def made():
    return answered()


def test_lines_are_the_answers_best_sizes_with_intervals_and_what_is_as_good(made):
    lines = best_data(made).lines
    N, D, ratio = (quantity(lines, name) for name in SIZES)
    np.testing.assert_allclose(N["value"], best_n(N["C"]), rtol=1e-5)
    np.testing.assert_allclose(6 * N["value"] * D["value"], N["C"], rtol=1e-5)
    np.testing.assert_allclose(ratio["value"], D["value"] / N["value"], rtol=1e-4)
    for frame, share in ((N, 1), (D, 1), (ratio, 2)):
        np.testing.assert_allclose(frame["low"], frame["value"] / 2**share, rtol=1e-4)
        np.testing.assert_allclose(frame["high"], frame["value"] * 2**share, rtol=1e-4)
        np.testing.assert_allclose(frame["near_low"], frame["value"] / 3**share, rtol=1e-4)
        np.testing.assert_allclose(frame["near_high"], frame["value"] * 3**share, rtol=1e-4)


def test_compute_runs_from_two_decades_below_the_largest_run_to_the_first_target(made):
    C = quantity(best_data(made).lines, "N")["C"]
    assert len(C) == N_LINE
    assert C.iloc[[0, -1]].tolist() == pytest.approx([1.536e17, 1e22])
    near = replace(made, answer=replace(made.answer, forecasts=()))
    C = quantity(best_data(near).lines, "N")["C"]
    assert C.iloc[-1] == pytest.approx(1.536e20)


def test_a_hyperparameter_on_a_log_scale_has_its_line_and_others_have_none(made):
    data = best_data(made)
    assert [*data.lines["quantity"].unique()] == [*SIZES, "lr"]
    lr = quantity(data.lines, "lr")
    np.testing.assert_allclose(lr["value"], 1e-3 * (lr["C"] / 1e20) ** -0.1, rtol=1e-5)
    np.testing.assert_allclose(lr["near_high"], 3 * lr["value"], rtol=1e-5)


def test_points_are_the_best_runs_so_far_over_the_computes_of_the_lines(made):
    """Loss falls row by row; rows 2, 4 and 6 cost the same, and rows 5 and 7; row 3 diverged.

    Row 0 costs less than a hundredth of the largest run.
    """
    runs, grid, wanted = best_data(made).runs, made.grid, [1, 6, 7, 8]
    for name, values in {"N": grid.N, "D/N": grid.D / grid.N, "lr": grid.hp["lr"]}.items():
        np.testing.assert_allclose(quantity(runs, name)["value"], values[wanted], rtol=1e-5)
    np.testing.assert_allclose(quantity(runs, "lr")["loss"], made.loss[wanted])


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
    assert hyperparameters(alone).to_dict()["vconcat"][1]["columns"] == 1


def test_without_a_hyperparameter_there_is_no_chart_of_them(made):
    class Bare(Surface):
        frame = SimpleNamespace(numeric=())

    bare = replace(made, answer=replace(made.answer, surface=Bare()))
    with pytest.raises(ChartUnavailable, match="no hyperparameter"):
        hyperparameters(bare)
