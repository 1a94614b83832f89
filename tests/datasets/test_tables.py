"""Tables to studies: columns found, bad cells refused, replicates and diverged runs kept."""

from __future__ import annotations

from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import ReadOptions, Study, study_from_frame
from lawsmith.errors import LawsmithError


def _read(text: str, **options: Any) -> Study:
    frame = pd.read_csv(StringIO(text.replace(" ", "")))
    return study_from_frame(frame, ReadOptions(**options), name="runs.csv")


def _message(text: str, **options: Any) -> str:
    with pytest.raises(LawsmithError) as caught:
        _read(text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


GOOD = "N,D,loss\n 1e8,1e9,3.5\n 2e8,2e9,3.2\n 4e8,4e9,3.0\n"

BAD_TABLES = {
    "a misnamed column": (
        "params,tokens,val_loss\n1,2,3\n",
        {"columns": {"N": "parms"}},
        "runs.csv: column for N: got 'parms', want one of params, tokens, val_loss "
        "(did you mean params?)",
    ),
    "a compute that follows and no run can have": (
        "N,D,loss\n1e8,1e9,3\n1e40,1e40,3\n",
        {},
        "runs.csv: row 2, column C = 6ND: got 6e+80, want a number above 0 that a run can have, "
        "1e-12 to 1e45 (--skip-bad-rows leaves out that row)",
    ),
    "tokens that follow and no run can have": (
        "N,C,loss\n1e40,1e3,3\n1e8,1e18,3\n",
        {},
        "runs.csv: row 1, column D = C/6N: got 1.66667e-38, want a number above 0 that a run can "
        "have, 1e-12 to 1e45 (--skip-bad-rows leaves out that row)",
    ),
    "no loss": (
        "N,D,accuracy\n1,2,3\n",
        {},
        "runs.csv: got columns N, D, accuracy, want one for the loss "
        "(say which: --columns loss=NAME)",
    ),
    "a loss by another name": (
        "N,D,vall_loss\n1,2,3\n",
        {},
        "runs.csv: got columns N, D, vall_loss, want one for the loss "
        "(did you mean --columns loss=vall_loss?)",
    ),
    "no size and no compute": (
        "width,loss\n1,2\n",
        {},
        "runs.csv: got columns width, loss, want N and D, or the compute C "
        "(say which: --columns N=NAME)",
    ),
    "two candidates for a role": (
        "params,n_params,D,loss\n1,2,3,4\n",
        {},
        "runs.csv: got 2 columns that may be N (params, n_params), want one "
        "(say which: --columns N=params)",
    ),
    "text in a number": (
        "N,D,loss\n1e8,1e9,3\n70X,1e9,3\n",
        {},
        "runs.csv: row 2, column N: got '70X', want a number above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "text in the loss": (
        "N,D,loss\n1e8,1e9,3\n1e8,1e9,oops\n1e8,1e9,oops\n",
        {},
        "runs.csv: row 2, column loss: got 'oops', want a loss above 0 "
        "(--skip-bad-rows leaves out the 2 such rows)",
    ),
    "a negative N": (
        "params,D,loss\n-1e8,1e9,3\n",
        {},
        "runs.csv: row 1, column params: got -1e+08, want a number above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "a zero D": (
        "N,D,loss\n1e8,1e9,3\n1e8,0,3\n",
        {},
        "runs.csv: row 2, column D: got 0, want a number above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "a missing D": (
        "N,D,loss\n1e8,1e9,3\n1e8,,3\n",
        {},
        "runs.csv: row 2, column D: got nothing, want a number above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "a negative compute": (
        "C,loss\n-1e18,3\n",
        {},
        "runs.csv: row 1, column C: got -1e+18, want a number above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "an infinite compute": (
        "C,loss\ninf,3\n",
        {},
        "runs.csv: row 1, column C: got inf, want a number above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "a zero loss": (
        "N,D,loss\n1e8,1e9,0\n",
        {},
        "runs.csv: row 1, column loss: got 0, want a loss above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "a negative loss": (
        "N,D,loss\n1e8,1e9,3\n1e8,1e9,-3\n",
        {},
        "runs.csv: row 2, column loss: got -3, want a loss above 0 "
        "(--skip-bad-rows leaves out that row)",
    ),
    "text in a learning rate": (
        "N,D,lr,loss\n1,1,1e-3,3\n1,1,2e-3,3\n1,1,fast,3\n",
        {"columns": {"lr": "lr"}},
        "runs.csv: row 3, column lr: got 'fast', want a number "
        "(--skip-bad-rows leaves out that row; "
        "--ignore lr leaves out the column)",
    ),
    "nothing but bad rows": (
        "N,D,loss\n-1,2,3\n",
        {"skip_bad_rows": True},
        "runs.csv: got no usable run left, want at least one run",
    ),
    "a filter that keeps nothing": (
        GOOD,
        {"where": "N > 1e12"},
        "runs.csv: --where: got 'N > 1e12', which keeps none of 3 rows, want some rows",
    ),
    "a filter on an unknown column": (
        GOOD,
        {"where": "Nn > 1"},
        "expression, character 1: got no column 'Nn', want one of N, D, loss, C (did you mean N?)",
    ),
    "as many runs dropped as there are": (
        GOOD,
        {"drop_largest_loss": 3},
        "runs.csv: --drop-largest-loss: got 3, want fewer than the 3 finished runs",
    ),
    "a negative number dropped": (
        GOOD,
        {"drop_largest_loss": -1},
        "--drop-largest-loss: got -1, want 0 or a number of runs",
    ),
    "an unknown compute": (
        GOOD,
        {"compute": "flopz"},
        "runs.csv: compute: got 'flopz', want one of auto, 6ND, N, D, loss",
    ),
    "6ND without D": (
        "N,C,loss\n1,2,3\n",
        {"compute": "6ND"},
        "runs.csv: compute 6ND: got no D, want N and D",
    ),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_input_gives_one_exact_line(case) -> None:
    text, options, message = BAD_TABLES[case]
    assert _message(text, **options) == message


def test_a_long_list_of_columns_is_cut() -> None:
    header = ",".join(f"x{i}" for i in range(30))
    message = _message(f"{header}\n{','.join('1' * 30)}\n")
    assert "x19 and 10 more, want" in message


def test_rows_are_numbered_as_in_the_file_whatever_the_filter() -> None:
    text = "N,D,loss,kind\n1,1,3,a\n1,1,3,b\n-1,1,3,b\n"
    assert _message(text, where="kind == 'b'").startswith("runs.csv: row 3, column N: got -1,")


def test_a_bad_row_outside_the_filter_does_no_harm() -> None:
    assert len(_read("N,D,loss,kind\nx,1,3,a\n1,1,3,b\n", where="kind == 'b'").runs) == 1


def test_a_filter_may_name_the_compute_that_N_and_D_make() -> None:
    text = "params,tokens,loss\n1e8,1e9,3\n1e8,2e9,3\n1e8,4e9,3\n"
    assert len(_read(text, where="C < 2e18").runs) == 2
    own = "params,tokens,flops,loss\n1e8,1e9,9e18,3\n1e8,2e9,1e18,3\n"
    assert _read(own, where="C < 2e18").grid.column("D").tolist() == [2e9]


def test_bad_rows_are_left_out_when_asked_and_on_record() -> None:
    text = "N,D,loss\n1e8,1e9,3\n-1,x,3\n2e8,0,3\n2e8,1e9,2.9\n"
    study = _read(text, skip_bad_rows=True)
    assert len(study.runs) == 2
    assert study.log.n_rows == 4
    assert study.log.n_bad == 2
    assert sorted(map(str, study.log.bad)) == [
        "row 2, column D: got 'x', want a number above 0",
        "row 2, column N: got -1, want a number above 0",
        "row 3, column D: got 0, want a number above 0",
    ]


@pytest.mark.parametrize("word", ["nan", "NaN", "", "inf", "-inf"])
def test_a_loss_that_is_no_number_is_a_diverged_run(word) -> None:
    study = _read(f"N,D,loss\n1e8,1e9,3\n2e8,1e9,{word}\n")
    assert study.runs.counts()["diverged"] == 1
    assert study.log.diverged == (2,)
    assert len(study.grid) == 2


def test_a_loss_above_the_threshold_is_a_diverged_run() -> None:
    study = _read("N,D,loss\n1,1,3\n2,1,9\n3,1,10.5\n", diverged_above=9.0)
    assert study.log.diverged == (3,)


def test_repeated_configurations_are_replicates() -> None:
    text = "N,D,job,seed,loss\n1,1,a,0,3\n2,1,b,0,2.9\n3,1,c,0,2\n1,1,d,1,3.1\n3,1,e,1,2.1\n"
    study = _read(text)
    assert len(study.grid) == 3
    assert study.runs.index.tolist() == [0, 1, 2, 0, 2]
    assert study.log.replicates == ((1, 4), (3, 5))
    assert study.notes == (
        "2 configurations were run more than once (4 runs); these runs differ in seed: "
        "an axis if it matters, else replicates",
    )


def test_the_largest_losses_are_dropped_with_their_configurations() -> None:
    study = _read("N,D,loss\n1,1,3\n2,1,9\n3,1,\n4,1,8\n5,1,9\n", drop_largest_loss=2)
    assert study.log.dropped == (2, 5)
    assert study.grid.N.tolist() == [1, 3, 4]
    assert study.log.diverged == (3,)


def test_numbers_written_as_text_are_numbers() -> None:
    frame = pd.DataFrame({"N": ["1e8", " 2E8 "], "D": ["1000000000", "3e9"], "loss": ["3", "2.5"]})
    study = study_from_frame(frame)
    assert study.grid.N.tolist() == [1e8, 2e8]
    assert study.runs.loss.tolist() == [3.0, 2.5]


def test_integers_beyond_64_bits_do_not_overflow() -> None:
    frame = pd.DataFrame({"N": [10**9], "D": [10**11], "loss": [2.5]})
    assert study_from_frame(frame).grid.C.tolist() == [6e20]
    huge = pd.DataFrame({"C": [6 * 10**23, 7], "loss": [2.5, 3]}, dtype=object)
    assert study_from_frame(huge).grid.C.tolist() == [6e23, 7.0]


def test_nested_json_cells_are_refused_and_not_a_crash() -> None:
    frame = pd.DataFrame({"N": [[1, 2]], "D": [1e9], "loss": [3.0]})
    with pytest.raises(LawsmithError, match="row 1, column N: got a list, want a number above 0"):
        study_from_frame(frame)


@pytest.mark.parametrize(
    ("names", "axes"),
    [
        (("N", "D", "loss", "lr"), ["N", "D", "lr"]),
        (("params", "tokens", "val_loss", "learning_rate"), ["N", "D", "learning_rate"]),
        (("Num Params", "Train Tokens", "Valid Loss", "Batch-Size"), ["N", "D", "Batch-Size"]),
        (("model_size", "training/tokens", "eval/loss", "seed"), ["N", "D"]),
    ],
)
def test_well_known_names_are_found(names, axes) -> None:
    frame = pd.DataFrame([[1e8, 1e9, 3.0, 1e-3], [2e8, 1e9, 2.9, 2e-3]], columns=list(names))
    study = study_from_frame(frame)
    assert [axis.name for axis in study.grid.axes] == axes
    assert study.runs.loss.tolist() == [3.0, 2.9]


def test_an_exact_name_wins_over_an_alias() -> None:
    study = _read("N,params,D,loss,val_loss\n1,2,3,4,5\n")
    assert study.grid.N.tolist() == [1]
    assert study.runs.loss.tolist() == [4]


def test_a_mapping_wins_over_an_exact_name() -> None:
    study = _read("N,params,D,loss\n1,2,3,4\n", columns={"N": "params"})
    assert study.grid.N.tolist() == [2]


def test_a_guessed_axis_needs_more_than_one_value() -> None:
    study = _read("N,D,lr,wd,warmup,loss\n1,1,1e-3,0.1,long,3\n1,1,2e-3,0.1,short,3\n")
    assert list(study.grid.hp) == ["lr", "warmup"]


def test_a_setting_that_seems_to_follow_from_tokens_counted_anew_is_an_axis() -> None:
    """Each tokenizer counts D differently, so that D tells the tokenizer; it does not set it."""
    rows = [
        f"{N},{D * share},{size},{share},{3 + share / N}"
        for N, size in ((1e7, 1), (1e8, 2))
        for D in (1e9, 2e9, 3e9)
        for share in (1.0, 1.7, 1.3)
    ]
    study = _read("\n".join(["N,D,width,tokenizer_share,loss", *rows]))
    assert list(study.grid.hp) == ["tokenizer_share"]
    (warning,) = study.warnings
    assert warning.code == "taken_as_axis"


def test_axes_that_are_named_are_the_only_ones() -> None:
    text = "N,D,lr,opt,loss\n1,1,1e-3,adam,3\n1,1,2e-3,lion,3.1\n"
    study = _read(text, columns={"optimizer": "opt"})
    assert list(study.grid.hp) == ["optimizer"]
    assert study.grid.hp["optimizer"].tolist() == ["adam", "lion"]


def test_axes_are_log_where_positive_linear_with_zeros_and_categorical_if_text() -> None:
    text = "N,D,lr,shrink,method,loss\n1,1,1e-3,0,a,3\n2,1,2e-3,0.4,,3\n"
    names = ("lr", "shrink", "method")
    study = _read(text, columns={name: name for name in names})
    kinds = {axis.name: axis.kind for axis in study.grid.axes}
    assert [kinds[name] for name in names] == ["log", "linear", "categorical"]
    assert study.grid.columns["method"].tolist() == ["a", ""]


def test_tokens_follow_from_compute() -> None:
    study = _read("N,flops,loss\n1e8,6e17,3\n2e8,1.2e18,2.9\n")
    assert study.grid.D.tolist() == [1e9, 1e9]
    assert study.notes == ("the table has no tokens: D is C/(6N)",)


def test_compute_alone_is_enough() -> None:
    study = _read("compute,loss\n1e18,3\n2e18,2.9\n")
    assert study.grid.C.tolist() == [1e18, 2e18]
    assert study.default_law == "LC"


def test_parameters_alone_are_enough_for_a_law_in_N() -> None:
    study = _read("N,loss\n1e8,3\n2e8,2.9\n")
    assert study.default_law == "LN"


def test_a_compute_column_is_used_unless_6ND_is_asked_for() -> None:
    text = "N,D,C,loss\n1e8,1e9,7e17,3\n2e8,1e9,1.3e18,2.9\n"
    assert _read(text).grid.C.tolist() == [7e17, 1.3e18]
    assert _read(text, compute="6ND").grid.C.tolist() == [6e17, 1.2e18]
    assert _read(text, compute="D").grid.C.tolist() == [1e9, 1e9]


def test_runs_that_differ_only_in_compute_stay_apart() -> None:
    study = _read("N,D,C,loss\n1,1,6,3\n1,1,9,2.9\n1,1,6,3.1\n")
    assert len(study.grid) == 2
    # Measured compute of two seeds may differ in the last digits.
    assert len(_read("N,D,C,loss\n1,1,6,3\n1,1,6.001,2.9\n").grid) == 1


def test_the_order_of_rows_changes_nothing_but_the_order() -> None:
    rng = np.random.default_rng(3)
    frame = pd.read_csv(StringIO(GOOD.replace(" ", "")))
    shuffled = study_from_frame(frame.iloc[rng.permutation(len(frame))])
    study = study_from_frame(frame)
    assert sorted(shuffled.grid.C) == sorted(study.grid.C)
    assert sorted(shuffled.runs.loss) == sorted(study.runs.loss)


def test_options_join() -> None:
    first = ReadOptions(columns={"N": "a"}, where="x > 1 or y > 1", drop_largest_loss=1)
    both = first.then(ReadOptions(columns={"D": "b"}, where="z == 1", drop_largest_loss=2))
    assert both.columns == {"N": "a", "D": "b"}
    assert both.where == "(x > 1 or y > 1) and (z == 1)"
    assert both.drop_largest_loss == 3
    assert first.then(ReadOptions()) == ReadOptions(
        columns={"N": "a"}, where="(x > 1 or y > 1)", drop_largest_loss=1
    )


def test_the_target_region_of_a_source_is_marked_by_configuration() -> None:
    text = "N,D,split,loss\n1,1,train,3\n2,1,test,3\n1,1,train,3.1\n"
    assert _read(text, target="split == 'test'").target.tolist() == [False, True]
