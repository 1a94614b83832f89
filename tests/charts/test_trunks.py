"""The trunks chart: lines, branches from where they leave their trunk, predicted ends."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from tests.curves.drawn import study

from lawsmith.analysis import answer_study, with_curves
from lawsmith.charts import ChartUnavailable, trunks
from lawsmith.charts.trunks import MAX_CURVES, answer_with_curves, trunks_data
from lawsmith.datasets import CurveOptions, curves_from_frame, study_from_frame


@pytest.fixture(scope="module")
def curved():
    runs, curves = study(3)
    joined, along = with_curves(
        study_from_frame(runs, name="drawn"), curves_from_frame(curves, CurveOptions())
    )
    return answer_with_curves(answer_study(joined, [1e22], curves=along), joined, along)


def test_branches_leave_their_trunk_at_its_loss_and_end_at_their_own(curved):
    data = trunks_data(curved)
    first, last = data.branches.iloc[::2], data.branches.iloc[1::2]
    assert len(first) == len(last) == 32
    assert first["D"].to_numpy() == pytest.approx(0.9 * last["D"].to_numpy())
    assert sorted(last["loss"]) == pytest.approx(sorted(curved.runs.loss))
    fall = np.log(first["loss"].to_numpy() / last["loss"].to_numpy())
    assert fall == pytest.approx(np.full(32, 0.03), abs=0.01)  # the drawn gain


def test_ends_are_those_of_the_answer_with_the_interval_of_a_run(curved):
    data, found = trunks_data(curved), curved.answer.curves
    assert found is not None
    ends = {end.run: end for end in found.ends}
    assert set(data.ends["run"]) == set(ends)
    for row in data.ends.itertuples():
        end = ends[str(row.run)]
        assert (row.loss, row.low, row.high) == (end.loss, end.run_low, end.run_high)
        assert pytest.approx(1e11 / 0.9) == row.D


def test_of_many_curves_some_are_shown_and_the_subtitle_counts_the_rest(curved, monkeypatch):
    assert MAX_CURVES >= 8
    monkeypatch.setattr(import_module("lawsmith.charts.trunks"), "MAX_CURVES", 3)
    data = trunks_data(curved)
    assert data.lines["run"].nunique() == 3
    assert data.n_hidden == 5
    assert "5 curves not shown" in " ".join(trunks(curved).to_dict()["title"]["subtitle"])


def test_the_chart_is_a_valid_specification(curved):
    for width in (760, 366):
        spec = trunks(curved, width=width).to_dict()
        assert {layer["mark"]["type"] for layer in spec["layer"]} >= {"line", "point", "rule"}


def test_without_a_sized_curve_there_is_no_chart(curved):
    runs, curves = study(3)
    plain = study_from_frame(runs.drop(columns=["parent", "branch_at"]), name="drawn")
    unsized = curves_from_frame(curves.drop(columns="N"), CurveOptions())
    joined, along = with_curves(plain, unsized)
    bare = answer_with_curves(curved.answer, joined, along)
    with pytest.raises(ChartUnavailable, match="no curve whose N is known"):
        trunks(bare)
