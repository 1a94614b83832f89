"""`--curves` on the command line: the contract of the JSON, how kinds are told, wrong input."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.curves.drawn import study


@pytest.fixture(scope="module")
def drawn() -> tuple[pd.DataFrame, pd.DataFrame]:
    return study(9)


@pytest.fixture
def files(drawn, tmp_path):
    """(runs.csv without the branches of trunk-2, curves.csv, the last of those branches)."""
    runs, curves = drawn
    runs[runs["parent"] != "trunk-2"].to_csv(tmp_path / "runs.csv", index=False)
    curves.to_csv(tmp_path / "curves.csv", index=False)
    return tmp_path / "runs.csv", tmp_path / "curves.csv", runs[runs["parent"] == "trunk-2"].iloc[3]


def test_a_target_is_predicted_from_its_trunk(lawsmith, files):
    runs, curves, held = files
    at = f"N={held['N']},D={held['D']}"
    found = lawsmith("fit", runs, "--curves", curves, "--at", at, "--at", "N=3e8,D=1e11", "--json")
    assert found.code == 0, found.err
    answer, other = found.json["answers"]
    wanted = {"compute", "N", "D", "loss", "low", "high", "run_low", "run_high"}
    assert wanted <= set(answer)
    assert (answer["source"], other["source"]) == ("trunk-2", "surface")
    assert answer["run_low"] <= held["loss"] <= answer["run_high"]
    assert answer["loss"] == pytest.approx(held["loss"], rel=0.005)
    assert found.json["curves"]["n_trunks"] == 7


def test_a_trunk_whose_size_nobody_says_is_not_used(lawsmith, files, drawn, tmp_path):
    runs, _, held = files
    drawn[1].drop(columns="N").to_csv(tmp_path / "unsized.csv", index=False)
    at = f"N={held['N']},D={held['D']}"
    found = lawsmith("fit", runs, "--curves", tmp_path / "unsized.csv", "--at", at, "--json")
    assert found.json["answers"][0]["source"] == "surface"


def test_a_row_of_the_runs_says_the_size_of_a_trunk(lawsmith, files, drawn, tmp_path):
    runs, _, held = files
    table = pd.read_csv(runs)
    row = {"run": "trunk-2", "N": held["N"], "D": 1e11, "loss": None}
    pd.concat([table, pd.DataFrame([row])]).to_csv(runs, index=False)
    drawn[1].drop(columns="N").to_csv(tmp_path / "unsized.csv", index=False)
    at = f"N={held['N']},D={held['D']}"
    found = lawsmith("fit", runs, "--curves", tmp_path / "unsized.csv", "--at", at, "--json").json
    assert found["answers"][0]["source"] == "trunk-2"
    assert found["n_diverged"] == 0  # a trunk without a loss is no diverged run


def test_the_terminal_says_where_the_loss_is_from_and_what_a_decay_gains(lawsmith, files):
    runs, curves, held = files
    said = lawsmith("fit", runs, "--curves", curves, "--at", f"N={held['N']},D={held['D']}").text
    assert "from the curve of trunk-2" in said
    assert "a decay takes 3" in said
    assert "28 runs of 7 trunks" in said
    assert "8 curves thinned to 48 points" in said.lower()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--curve-kind", "trunk"), "--curve-kind: got no curves, want --curves FILE"),
        (("--curves", "nowhere.csv"), "nowhere.csv: got no such file"),
    ],
)
def test_wrong_options_are_told_in_one_line(lawsmith, files, words, said):
    found = lawsmith("fit", files[0], *words)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_an_unknown_kind_names_both_ways_to_say_it(lawsmith, files, drawn, tmp_path):
    drawn[1].drop(columns="kind").to_csv(tmp_path / "kindless.csv", index=False)
    found = lawsmith("fit", files[0], "--curves", tmp_path / "kindless.csv")
    assert found.code == 2
    assert "a column 'kind'" in found.err
    assert "--curve-kind trunk|scheduled" in found.err
    words = ("--curves", tmp_path / "kindless.csv", "--curve-kind", "trunk", "--json")
    assert lawsmith("fit", files[0], *words).code == 0


def test_a_report_has_a_card_of_curves_only_with_curves(lawsmith, files, tmp_path):
    runs, curves, _ = files
    for more, there in (((), False), (("--curves", curves), True)):
        page = tmp_path / "page.html"
        assert lawsmith("report", runs, *more, "-o", page).code == 0
        assert ("Losses along runs" in page.read_text(encoding="utf-8")) == there
