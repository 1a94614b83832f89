"""What the command line says of how a table was read, and what it asks back about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.cli.conftest import TRUTH, sweep_rows


@pytest.fixture
def optimisers(tmp_path: Path) -> Path:
    """A sweep with two optimisers, one of them 3 % worse, under W&B's names."""
    rows = [
        {**row, "optimizer": name, "loss": row["loss"] * factor}
        for row in sweep_rows()
        if row["loss"] == row["loss"]
        for name, factor in (("adamw", 1.0), ("sgd", 1.03))
    ]
    names = {"N": "config.n_params", "D": "config.tokens", "lr": "config.optim.lr"}
    frame = pd.DataFrame(rows).rename(columns={**names, "loss": "summary.val/loss"})
    path = tmp_path / "runs.csv"
    frame.rename(columns={"optimizer": "config.optimizer"}).to_csv(path, index=False)
    return path


def test_a_setting_that_nobody_named_moves_no_answer(fit_json, optimisers: Path, tmp_path: Path):
    """With an optimiser averaged away E and the answer would be those of no run."""
    best = pd.read_csv(optimisers)
    only = tmp_path / "only.csv"
    best[best["config.optimizer"] == "adamw"].drop(columns="config.optimizer").to_csv(only)
    both, adamw = fit_json(optimisers, "--target", "1e22"), fit_json(only, "--target", "1e22")
    assert both["params"]["E"] == pytest.approx(adamw["params"]["E"], rel=1e-9)
    averaged = fit_json(optimisers, "--target", "1e22", "--ignore", "optimizer")
    assert averaged["params"]["E"] > both["params"]["E"] + 0.01
    assert both["answers"][0]["loss"] == pytest.approx(adamw["answers"][0]["loss"], rel=3e-3)


def test_what_was_taken_as_an_axis_stands_above_the_answer_with_the_flag(lawsmith, optimisers):
    shown = lawsmith("fit", optimisers, "--target", "1e22")
    assert shown.code == 0
    head, _, rest = shown.text.partition("Answer, from")
    assert "optimizer (adamw, sgd) is taken as an axis" in head
    assert "--ignore optimizer" in head
    assert rest


def test_json_and_report_have_the_warnings_of_reading_too(fit_json, lawsmith, optimisers, tmp_path):
    told = fit_json(optimisers, "--target", "1e22")
    assert told["warnings"][0]["code"] == "taken_as_axis"
    assert told["study"]["columns"]["lr"] == "config.optim.lr"
    page = tmp_path / "report.html"
    assert lawsmith("report", optimisers, "--target", "1e22", "-o", page).code == 0
    assert "is taken as an axis" in page.read_text(encoding="utf-8")


def test_import_shows_what_was_understood_and_writes_a_plain_table(
    lawsmith, fit_json, optimisers, tmp_path
):
    out = tmp_path / "plain.csv"
    shown = lawsmith("import", optimisers, "-o", out)
    assert shown.code == 0
    assert "config.optim.lr lr 3 values, 0.0005 to 0.008" in shown.text
    kept = pd.read_csv(out)
    assert {"N", "D", "lr", "optimizer", "loss"} <= set(kept.columns)
    again, first = fit_json(out, "--target", "1e22"), fit_json(optimisers, "--target", "1e22")
    assert again["answers"] == first["answers"]


def test_import_tells_machines_the_same(lawsmith, optimisers):
    told = json.loads(lawsmith("import", optimisers, "--json").out)
    assert told["axes"] == {"N": "log", "D": "log", "lr": "log", "optimizer": "categorical"}
    assert told["warnings"][0]["columns"] == "config.optimizer"


def test_compute_of_another_unit_is_not_near_6nd(lawsmith, tmp_path: Path):
    frame = pd.DataFrame(sweep_rows()).assign(C=lambda f: 6e-18 * f["N"] * f["D"])
    path = tmp_path / "runs.csv"
    frame.to_csv(path, index=False)
    wrong = lawsmith("import", path).text
    assert "1e-18 times 6ND" in wrong
    assert "--columns C=C:1e18" in wrong
    right = lawsmith("import", path, "--columns", "C=C:1e18").text
    assert "it is 6ND" in right
    assert "implausible_scale" not in right


@pytest.mark.parametrize(
    "text", ["N=1.3B,D=26B", "N=1,300,000,000,D=26e9", "N=1.3e9, D=26 billion"]
)
def test_sizes_of_a_target_have_units(fit_json, table: Path, text: str):
    answer = fit_json(table, "--at", text)["answers"][0]
    assert (answer["N"], answer["D"]) == (1.3e9, 2.6e10)


def test_a_number_of_parameters_is_no_compute(lawsmith, table: Path):
    wrong = lawsmith("fit", table, "--target", "7B")
    assert wrong.code == 2
    assert "--at N=7B,D=140B" in wrong.err


def test_half_of_compute_is_written_as_a_share_or_as_a_percentage(fit_json, table: Path):
    def held(text: str) -> Any:
        return fit_json(table, "--hold-out", text)["study"]["counts"]["held_out"]

    assert held("50%") == held("0.5") > 0


@pytest.mark.parametrize("command", ["fit", "report", "replay"])
def test_the_compute_that_is_asked_for_is_called_target_everywhere(lawsmith, table, command):
    wrong = lawsmith(command, table, "--extrapolate-to", "1e24")
    assert "no such option: --extrapolate-to, did you mean --target?" in wrong.err
    assert "--target" in lawsmith(command, "--help").text


def test_truth_is_found_whatever_the_unit(fit_json, table: Path, tmp_path: Path):
    frame = pd.read_csv(table)
    frame["params"] = [f"{x / 1e6:g}M" for x in frame["params"]]
    frame["tokens"] = frame["tokens"] / 1e9
    path = tmp_path / "units.csv"
    frame.rename(columns={"tokens": "tokens (B)"}).to_csv(path, index=False)
    found = fit_json(path, "--law", "chinchilla")
    assert found["params"]["E"] == pytest.approx(TRUTH["E"], rel=1e-3)
    assert found["study"]["units"] == {"D": 1e9}
