"""Curves joined to runs: parents by name and by size, decays of a run's own, twins, wrong cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lawsmith.analysis import with_curves
from lawsmith.datasets import CurveOptions, ReadOptions, curves_from_frame, study_from_frame
from lawsmith.errors import LawsmithError


def runs(**columns) -> pd.DataFrame:
    plain = {
        "run": ["x", "y", "z"],
        "N": [1e8, 1e8, 2e8],
        "D": [1e10, 2e10, 1e10],
        "loss": [3.0, 2.9, 2.8],
    }
    return pd.DataFrame({**plain, **columns})


def curves(**columns) -> pd.DataFrame:
    plain = {
        "run": ["t1", "t1", "t2", "t2"],
        "D": [5e9, 3e10, 5e9, 3e10],
        "loss": [3.3, 3.1, 3.0, 2.9],
        "kind": "trunk",
    }
    return pd.DataFrame({**plain, **columns})


def joined(table: pd.DataFrame, along: pd.DataFrame, **options):
    study = study_from_frame(table, ReadOptions(**options), name="runs.csv")
    carry = CurveOptions(carry=tuple(study.grid.hp))
    return with_curves(study, curves_from_frame(along, carry))


def test_a_parent_is_the_trunk_of_that_name_and_has_its_branches_size():
    table = runs(parent=["t2", None, "t1"], branch_at=[9e9, np.nan, 8e9])
    _, known = joined(table, curves())
    assert known.parent.tolist() == [1, -1, 0]
    assert known.at[[0, 2]].tolist() == [9e9, 8e9]
    assert np.isnan(known.at[1])
    assert [c.N for c in known.curves] == [2e8, 1e8]


def test_numbers_may_name_runs():
    table = runs(run=[1, 2, 3], parent=[7, np.nan, 8])
    _, known = joined(table, curves(run=[7, 7, 8, 8]))
    assert known.parent.tolist() == [0, -1, 1]


def test_without_a_column_of_parents_the_trunk_of_the_same_size_is_taken():
    _, known = joined(runs(), curves(N=[1e8, 1e8, 2e8, 2e8]))
    assert known.parent.tolist() == [0, 0, 1]
    assert any("the last 10% of a run is taken to be its decay" in note for note in known.notes)


def test_a_run_with_a_schedule_of_its_own_is_no_branch():
    along = pd.concat([curves(N=1e8), curves(run="x", N=1e8, kind="scheduled").iloc[:2]])
    _, known = joined(runs(N=1e8), along)
    assert known.parent[0] == -1
    assert (known.parent[1:] >= 0).all()


def test_a_branch_whose_own_curve_is_there_still_says_its_trunk_s_size():
    along = pd.concat([curves(), curves(run="x", kind="scheduled").iloc[:2]])
    _, known = joined(runs(parent=["t1", None, None]), along)
    assert known.curves[0].N == 1e8


def test_hyperparameters_must_agree_where_both_tables_have_them():
    table = runs(N=1e8, lr=[1e-3, 2e-3, 4e-3])
    _, known = joined(table, curves(N=1e8, lr=[1e-3, 1e-3, 2e-3, 2e-3]))
    assert known.parent.tolist() == [0, 1, -1]
    assert [c.hp["lr"] for c in known.curves] == [1e-3, 2e-3]


def test_a_row_that_is_a_trunk_is_no_finished_run():
    table = runs(run=["x", "y", "t2"], D=[1e10, 2e10, 3e10], parent=["t1", "t1", None])
    study, known = joined(table, curves())
    assert len(study.runs) == 2
    assert study.run_names == ("x", "y")
    assert known.parent.tolist() == [0, 0]
    assert known.curves[1].N == 2e8  # the row still says how large the trunk is
    assert any("count as trunks only" in note for note in known.notes)


def test_a_run_that_goes_on_after_its_trunk_is_its_own_branch():
    table = runs(run=["x", "y", "t2"], D=[1e10, 2e10, 3.3e10])
    study, known = joined(table, curves())
    assert len(study.runs) == 3
    assert known.parent.tolist() == [-1, -1, 1]
    assert known.at[2] == 3e10


def test_twins_of_a_parent_are_set_aside():
    along = pd.concat([curves(N=[1e8, 1e8, 2e8, 2e8]), curves(run="u", N=1e8).iloc[:2]])
    _, known = joined(runs(parent=["u", None, "t2"]), along)
    assert [bool(np.isfinite(c.N)) for c in known.curves] == [False, True, True]
    assert any("1 trunk set aside" in note for note in known.notes)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"branch_at": [2e10, 1e9, 1e9]}, r"run x, column branch_at: got 2e\+10, after its end"),
        ({"branch_at": ["soon", "1", "1"]}, r"row 1, column branch_at: got 'soon'"),
    ],
)
def test_a_wrong_branch_point_is_told(columns, words):
    with pytest.raises(LawsmithError, match=words):
        joined(runs(parent="t1", **columns), curves())


def test_a_parent_without_a_curve_is_noted():
    _, known = joined(runs(parent=["t1", "gone", "gone"]), curves())
    assert known.parent.tolist() == [0, -1, -1]
    assert "1 parent without a trunk in the curves: gone" in known.notes


def test_a_table_without_tokens_is_refused():
    frame = runs().drop(columns=["D"]).assign(compute=1e18)
    study = study_from_frame(frame.drop(columns="N"), name="runs.csv")
    with pytest.raises(LawsmithError, match="a table of runs with N and D"):
        with_curves(study, curves_from_frame(curves()))
