"""The contract of `--json`: "answers" in the order of the command line, the same from each command.

lawsmith fit TABLE --where "C < 1e20" --target 1e21 --at N=3.3e9,D=5e10 --json
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.answer import tables
from tests.report.sources import live_study

from lawsmith.answer import Target, answer
from lawsmith.datasets import load
from lawsmith.runs import Runs

KEYS = ("compute", "N", "D", "loss", "low", "high", "run_low", "run_high")
SIZED = 6 * 3.3e9 * 5e10


@pytest.fixture(scope="session")
def csv(tmp_path_factory):
    """80 runs up to 2.5e20 FLOPs."""
    path = tmp_path_factory.mktemp("answers") / "runs.csv"
    tables.sweep().to_csv(path, index=False)
    return path


def check_objects(answers):
    for found in answers:
        assert tuple(found)[: len(KEYS)] == KEYS
        assert all(isinstance(found[key], float) for key in KEYS)
        assert found["run_low"] <= found["low"] < found["loss"] < found["high"]
        assert found["high"] <= found["run_high"]


def test_fit_answers_in_the_order_of_the_command_line(fit_json, csv):
    where = ("--where", "C < 1e20")
    found = fit_json(csv, *where, "--target", "1e21", "--at", "N=3.3e9,D=5e10")
    check_objects(found["answers"])
    assert [a["compute"] for a in found["answers"]] == pytest.approx([1e21, SIZED])
    assert (found["answers"][1]["N"], found["answers"][1]["D"]) == (3.3e9, 5e10)
    best = found["answers"][0]
    assert 6 * best["N"] * best["D"] == pytest.approx(1e21)
    assert found["largest_compute"] < 1e20
    kept = tables.sweep().query("6 * N * D < 1e20")
    assert found["n_runs"] == len(kept) < 80

    mixed = fit_json(
        *(csv, *where, "--at", "N=3.3B,D=50B", "--target", "1e21"),
        *("--at=D=5e11,N=1e10", "--target=1e22"),
    )
    assert [a["compute"] for a in mixed["answers"]] == pytest.approx([SIZED, 1e21, 3e22, 1e22])
    assert mixed["answers"][:2] == found["answers"][::-1]


def test_each_target_may_stand_anywhere_on_the_line(fit_json, csv):
    first = fit_json("--target", "1e21", csv, "--at", "N=3.3B,D=50B", "--seed", "0")
    again = fit_json("--seed", "0", csv, "--target=1e21", "--at=N=3300M,D=0.05T")
    assert len(first["answers"]) == 2
    for one, other in zip(first["answers"], again["answers"], strict=True):
        assert [one[key] for key in KEYS] == pytest.approx([other[key] for key in KEYS], rel=1e-9)


def test_the_law_does_not_change_the_answer(fit_json, csv):
    told = [
        fit_json(csv, "--target", "1e22", "--law", law)["answers"] for law in ("LC", "chinchilla")
    ]
    assert told[0] == told[1]


def test_the_answer_names_no_law_and_the_law_has_its_own_prediction(fit_json, csv):
    found = fit_json(csv, "--target", "1e22", "--law", "chinchilla")
    (answer,), (prediction,) = found["answers"], found["predictions"]
    assert prediction["target"]["C"] == answer["compute"]
    assert prediction["loss"] != answer["loss"]
    truth = tables.best_loss(1e22)
    assert answer["low"] <= truth <= answer["high"]


def test_a_narrower_level_is_narrower(fit_json, csv):
    wide, narrow = (
        fit_json(csv, "--target", "1e22", "--level", level)["answers"][0]
        for level in ("0.95", "0.5")
    )
    assert (wide["level"], narrow["level"]) == (0.95, 0.5)
    assert wide["low"] < narrow["low"] < narrow["loss"] == wide["loss"]


def test_a_given_learning_rate_costs_what_its_bowl_says(fit_json, csv):
    given, best = fit_json(
        *(csv, "--at", "N=160M,D=16B,lr=0.008", "--at", "N=160M,D=16B"),
    )["answers"]
    off = np.log(8e-3 / (tables.BEST_LR * 1.6**-0.1))
    assert given["loss"] / best["loss"] == pytest.approx(np.exp(0.02 * off**2), rel=0.004)
    assert given["hyperparameters"]["lr"]["value"] == 8e-3


def test_without_a_target_there_is_one_beyond_the_runs(fit_json, csv):
    (found,) = fit_json(csv)["answers"]
    assert found["compute"] == 1e21  # half a decade or more above 2.5e20


@pytest.mark.parametrize(
    ("words", "got"),
    [
        (("--target", "big"), "--target: got 'big'"),
        (("--target", "-1"), "--target: got '-1'"),
        (("--at", "N=1e9,D=x"), "--at: got 'N=1e9,D=x'"),
        (("--at", "7e9"), "--at: got '7e9'"),
        (("--at", "lr=1e-3"), "--at: got 'lr=1e-3'"),
        (("--at", "N=1e9,D=1e10,wd=0.1"), "--at: got 'wd'"),
        (("--at", "N=1e9"), "target: got N = 1B, want N, D"),
    ],
)
def test_a_bad_target_is_one_line(lawsmith, csv, words, got):
    result = lawsmith("fit", csv, *words, "--json")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert got in result.err


def test_replay_has_the_same_objects(replay_json, fit_json, csv, tmp_path):
    asked = ("--target", "1e21", "--at", "N=3.3B,D=50B")
    found = replay_json(csv, "--hold-out", "0", "--budget", "2%", *asked)
    check_objects(found["answers"])
    assert [a["compute"] for a in found["answers"]] == pytest.approx([1e21, SIZED])
    assert found["held_out_runs"] is None
    assert found["pool"]["n"] == 80
    assert found["n_runs"] == len(found["trace"])
    fitted = fit_json(csv, *asked)
    assert [set(a) for a in fitted["answers"]] == [set(a) for a in found["answers"]]
    for one, other in zip(found["whole_pool"]["answers"], fitted["answers"], strict=True):
        assert [one[key] for key in KEYS] == pytest.approx([other[key] for key in KEYS], rel=1e-9)
    names = ("loss", "low", "high", "run_low", "run_high")
    study = load(csv)
    rows = np.array([step["candidate"] for step in found["trace"]])
    made = Runs.from_losses(rows, study.runs.config_loss(len(study.grid))[rows])
    direct = answer(study.grid, made, [Target(1e21), Target(SIZED, 3.3e9, 5e10)])
    for one, other in zip(found["answers"], direct.forecasts, strict=True):
        want = [getattr(other, name) for name in names]
        assert [one[name] for name in names] == pytest.approx(want, rel=1e-9)
    # A table of the chosen runs alone does not know what else might be run.
    tables.sweep().iloc[rows].to_csv(tmp_path / "chosen.csv", index=False)
    alone = fit_json(tmp_path / "chosen.csv", *asked)
    for one, other in zip(found["answers"], alone["answers"], strict=True):
        assert [one[k] for k in names] == pytest.approx([other[k] for k in names], rel=1e-3)


def test_status_has_the_same_objects(lawsmith, fit_json, csv, tmp_path):
    study = live_study(tmp_path, n_runs=12)
    result = lawsmith("status", study.layout.file, "--json")
    assert (result.code, result.err) == (0, "")
    check_objects(result.json["answers"])
    assert [a["compute"] for a in result.json["answers"]] == [1e21]
    fitted = fit_json(csv, "--target", "1e21")
    assert set(result.json["answers"][0]) == set(fitted["answers"][0])


def test_status_without_runs_has_no_answers_and_says_why(lawsmith, tmp_path):
    study = live_study(tmp_path, n_runs=0)
    told = lawsmith("status", study.layout.file, "--json").json
    assert told["answers"] == []
    assert told["why_no_answer"] == "0 finished runs, at least 4 are needed"
    assert told["verdict"] is None


def test_a_table_of_three_runs_has_no_answer_and_says_why(fit_json, lawsmith, tmp_path):
    path = tmp_path / "few.csv"
    pd.DataFrame({"C": [1e18, 1e19, 1e20, 1e21], "loss": [4.0, 3.5, 3.1, np.nan]}).to_csv(
        path, index=False
    )
    found = fit_json(path, "--law", "LC", "--force")
    assert found["answers"] == []
    assert "3 finished runs" in found["why_no_answer"]
    assert "No answer" in lawsmith("fit", path, "--law", "LC", "--force").out


@pytest.mark.usefixtures("without_charts")
def test_a_replay_to_hold_nothing_out_is_made_again_by_its_report(lawsmith, csv, tmp_path):
    asked = ("--hold-out", "0", "--iterations", "12", "--target", "1e21", "--at", "N=3.3B,D=50B")
    assert lawsmith("replay", csv, *asked, "--out", tmp_path / "replay").code == 0
    result = lawsmith("report", tmp_path / "replay", "--out", tmp_path / "report.html")
    assert result.code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "--hold-out 0 " in page
    assert "--target 1e+21 --at N=3.3e+09,D=5e+10" in page
