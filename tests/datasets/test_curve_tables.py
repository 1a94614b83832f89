"""Tables of losses along runs: names, kinds, thinning, and errors that name row and column."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import CurveOptions, curves_from_frame, load_curves
from lawsmith.errors import LawsmithError
from lawsmith.trajectory import MOST_KNOTS, MOST_POINTS, rate_path, thin


def table(**columns) -> pd.DataFrame:
    plain = {
        "run": ["a", "a", "b", "b"],
        "D": [1e9, 2e9, 1e9, 2e9],
        "loss": [3.0, 2.9, 2.8, 2.7],
        "kind": "trunk",
    }
    return pd.DataFrame({**plain, **columns}).dropna(axis=1, how="all")


def test_well_known_names_are_found_and_others_can_be_told():
    frame = table().rename(columns={"run": "run_name", "D": "tokens", "loss": "val_loss"})
    found = curves_from_frame(frame)
    assert [c.run for c in found.curves] == ["a", "b"]
    assert found.curves[1].loss.tolist() == pytest.approx([2.8, 2.7])
    odd = table().rename(columns={"D": "seen"})
    asked = CurveOptions(columns={"D": "seen"})
    assert curves_from_frame(odd, asked).curves[0].D.tolist() == [1e9, 2e9]


def test_rows_may_come_in_any_order():
    frame = table().sample(frac=1.0, random_state=1)
    found = {c.run: c for c in curves_from_frame(frame).curves}
    assert found["a"].D.tolist() == [1e9, 2e9]
    assert found["a"].loss.tolist() == pytest.approx([3.0, 2.9])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"D": [1e9, -2.0, 1e9, 2e9]}, r"row 2, column D: got -2, want a number above 0"),
        ({"loss": ["3", "2.9", "x", "2.7"]}, r"row 3, column loss: got 'x', want a loss above 0"),
        ({"run": ["a", None, "b", "b"]}, r"row 2, column run: got nothing, want the name of a run"),
        ({"kind": ["trunk"] * 3 + ["wsd"]}, r"row 4, column kind: got 'wsd', want trunk or sch"),
        ({"lr": [1.0, 1.0, -1.0, 1.0]}, r"row 3, column lr: got -1, want a rate from 0"),
        ({"D": np.nan}, r"want one for D \(say which: --curve-columns D=NAME\)"),
    ],
)
def test_errors_name_the_row_and_the_column(columns, words):
    with pytest.raises(LawsmithError, match=words):
        curves_from_frame(table(**columns), name="c.csv")


def test_units_are_read_from_headers_and_options_as_in_tables_of_runs():
    scaled = table(D=[1.0, 2.0, 1.0, 2.0])
    by_header = curves_from_frame(scaled.rename(columns={"D": "tokens (B)"}))
    asked = curves_from_frame(scaled, CurveOptions(columns={"D": "D:B"}))
    for found in (by_header, asked):
        assert found.curves[0].D.tolist() == [1e9, 2e9]
    with pytest.raises(LawsmithError, match=r"--curve-columns D=tokens \(B\):1"):
        curves_from_frame(table().rename(columns={"D": "tokens (B)"}))


def test_lists_in_cells_are_names_or_errors():
    assert curves_from_frame(table(run=[[1], [1], [2], [2]])).curves[1].run == "[2]"
    with pytest.raises(LawsmithError, match=r"row 1, column kind: got \"\['trunk'\]\""):
        curves_from_frame(table(kind=[["trunk"]] * 4))


def test_a_setting_without_a_value_is_not_carried():
    frame = table(batch=np.array([64, 64, None, None], dtype=object))
    found = curves_from_frame(frame, CurveOptions(carry=("batch",)))
    assert [dict(c.hp) for c in found.curves] == [{"batch": 64.0}, {}]


def test_a_bad_row_can_be_left_out():
    frame = table(D=[1e9, -2.0, 1e9, 2e9])
    found = curves_from_frame(frame, CurveOptions(skip_bad_rows=True))
    assert [len(c.D) for c in found.curves] == [1, 2]


def test_a_kind_is_told_by_column_or_option_and_never_guessed():
    frame = table(kind=np.nan, run=["trunk-1", "trunk-1", "b", "b"])
    with pytest.raises(LawsmithError, match=r"column 'kind' .* or --curve-kind trunk\|scheduled"):
        curves_from_frame(frame)
    told = curves_from_frame(frame, CurveOptions(kind="scheduled"))
    assert {c.kind for c in told.curves} == {"scheduled"}
    with pytest.raises(LawsmithError, match="one of the two"):
        curves_from_frame(table(), CurveOptions(kind="trunk"))
    with pytest.raises(LawsmithError, match="did you mean trunk"):
        curves_from_frame(frame, CurveOptions(kind="trunks"))


def test_a_run_of_both_kinds_is_a_trunk_up_to_its_decay():
    found = curves_from_frame(table(kind=["trunk", "scheduled", "trunk", "trunk"]))
    assert found.curves[0].D.tolist() == [1e9]
    assert "the decay after it" in found.notes[0]


def test_rows_with_a_rate_and_no_loss_are_the_plan():
    frame = table(kind="scheduled", lr=3e-4, loss=[3.0, np.nan, np.nan, np.nan])
    a, b = curves_from_frame(frame).curves
    assert (a.reached, a.end, a.finished) == (1e9, 2e9, False)
    assert (b.reached, b.end, b.finished) == (0.0, 2e9, False)
    without_lr = curves_from_frame(frame.drop(columns="lr"))
    assert [c.run for c in without_lr.curves] == ["a"]
    assert "1 curve without any loss left out" in without_lr.notes


def test_moments_that_a_resumed_run_repeats_are_averaged():
    found = curves_from_frame(table(run="a", D=[1e9, 2e9, 2e9, 3e9], loss=[4.0, 3.0, 12.0, 2.0]))
    assert found.curves[0].D.tolist() == [1e9, 2e9, 3e9]
    assert found.curves[0].loss.tolist() == pytest.approx([4.0, 6.0, 2.0])  # of logs


def test_thinning_keeps_means_of_logs_and_the_last_row():
    D = np.linspace(1e8, 1e11, 20000)
    at, values = thin(D, np.log(D))
    assert len(at) <= MOST_POINTS
    assert values == pytest.approx(np.log(at))  # a line stays a line
    assert at[-1] == pytest.approx(1e11)


def test_a_thinned_path_has_the_integral_of_the_whole():
    D = np.linspace(1e8, 1e11, 20000)
    lr = 3e-4 * (1.0 + np.cos(np.pi * D / 1e11))
    path = rate_path(D, lr)
    assert len(path.D) <= MOST_KNOTS
    assert path.D[-1] == D[-1]
    assert path.S[-1] == pytest.approx(np.trapezoid(lr, D))


def test_a_million_rows_are_read_in_ten_seconds(tmp_path):
    n, runs = 10_000, 100
    D = np.tile(np.linspace(1e7, 1e11, n), runs)
    names = np.repeat([f"run-{i}" for i in range(runs)], n)
    frame = pd.DataFrame({"run": names, "D": D, "loss": 2.0 + D**-0.1, "lr": 3e-4, "kind": "trunk"})
    frame.to_parquet(tmp_path / "c.parquet")
    start = time.process_time()
    found = load_curves(tmp_path / "c.parquet")
    assert time.process_time() - start < 10.0
    assert found.n_rows == 1_000_000
    assert len(found) == 100
    assert found.notes == ("100 curves thinned to 48 points, evenly in log D",)


def test_a_thinned_curve_ends_where_the_run_ended_to_the_last_bit():
    for end in (1.28e9 * (1.0 + 1e-3 * np.arange(50))).tolist():
        at, values = thin(D := np.linspace(2e7, end, 2 * MOST_POINTS), np.log(D))
        assert at[-1] == end
        assert values[-1] == pytest.approx(np.log(end), rel=1e-14)
