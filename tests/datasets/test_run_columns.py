"""The names of runs in a table: found, told, or left alone; text whatever they hold."""

from __future__ import annotations

import pandas as pd
import pytest

from lawsmith.datasets import ReadOptions, Study, study_from_frame
from lawsmith.datasets.roles import MAX_LETTERS
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LC
from lawsmith.replay import prepare


def read(columns: dict[str, list[object]], **told: str) -> Study:
    table = {"N": [1e8, 2e8, 4e8], "D": [1e9, 2e9, 4e9], "loss": [3.5, 3.2, 3.0]}
    return study_from_frame(pd.DataFrame(table | columns), ReadOptions(columns=told), name="t.csv")


@pytest.mark.parametrize("name", ["run", "Run ID", "run-name", "name", "id", "trial", "Experiment"])
def test_a_column_that_tells_runs_apart_names_them(name):
    study = read({name: ["a", "b", "c"]})
    assert study.run_names == ("a", "b", "c")
    assert study.columns["run"] == name


@pytest.mark.parametrize(
    "values", [["70M", "70M", "160M"], ["a", None, "c"], ["a", "", "c"], [1.0, float("nan"), 2.0]]
)
def test_a_column_that_only_has_the_right_name_is_left_alone(values):
    study = read({"name": values})
    assert study.run_names == ()
    assert "run" not in study.columns


def test_the_best_known_of_several_is_taken():
    study = read({"id": [7, 8, 9], "name": ["m", "m", "n"], "run": ["x", "y", "z"]})
    assert study.run_names == ("x", "y", "z")
    assert read({"id": [7, 8, 9], "name": ["m", "m", "n"]}).run_names == ("7", "8", "9")


def test_a_column_that_was_told_is_taken_as_it_is():
    assert read({"host": ["a", "a", None]}, run="host").run_names == ("a", "a", "")
    with pytest.raises(LawsmithError, match="column for run: got 'hots'"):
        read({"host": ["a", "a", "b"]}, run="hots")


def test_a_name_is_no_axis_and_telling_one_leaves_axes_to_be_found():
    study = read({"lr": [1e-3, 2e-3, 4e-3], "host": ["a", "b", "c"]}, run="host")
    assert study.grid.names == ("N", "D", "lr")


def test_numbers_spaces_and_long_names_become_one_short_line():
    study = read({"run": [1.0, "two\n lines", "x" * 500]})
    assert study.run_names[:2] == ("1", "two lines")
    assert len(study.run_names[2]) == MAX_LETTERS


def test_names_stay_with_their_runs_when_rows_are_left_out():
    table = {"N": [1e8, 2e8, -1.0, 8e8], "D": [1e9] * 4, "loss": [3.5, 3.2, 3.0, 2.9]}
    frame = pd.DataFrame(table | {"run": ["a", "b", "c", "d"]})
    options = ReadOptions(skip_bad_rows=True, where="loss < 3.4", drop_largest_loss=0)
    study = study_from_frame(frame, options)
    assert study.run_names == ("b", "d")
    assert study.runs.loss.tolist() == [3.2, 2.9]


def test_replicates_share_a_configuration_and_keep_their_names():
    n = 6
    table = {"N": [1e8] * n, "D": [1e9] * (n - 1) + [2e9], "loss": [3.0] * n}
    study = study_from_frame(pd.DataFrame(table | {"run": list("abcdef")}))
    assert study.config_names() == ["a, b, c and 2 more", "f"]


def test_as_many_names_as_runs_or_none():
    from dataclasses import replace

    with pytest.raises(LawsmithError, match="got 1 names, want 3, one a run, or none"):
        replace(read({}), run_names=("a",))


def test_names_change_nothing_that_is_computed():
    rows = [(1e8 * 2**i, 2e9 * 2**j, 3.5 - 0.1 * (i + j)) for i in range(5) for j in range(5)]
    frame = pd.DataFrame(rows, columns=["N", "D", "loss"])
    named = frame.assign(run=[f"r{i}" for i in range(len(frame))])
    tasks = [
        prepare(study_from_frame(f), LC, hold_out=HeldOut.parse("0.5")) for f in (frame, named)
    ]
    assert tasks[0].total_compute == tasks[1].total_compute
    assert tasks[0].reference.losses == tasks[1].reference.losses
