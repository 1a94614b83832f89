"""`lawsmith fit` on a user's own table: formats, columns, filters, fixed parameters, output."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lawsmith.cli import options
from lawsmith.cli.params import Request
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import GADRE, LC
from lawsmith.laws.objective import huber

TRUTH = {"E": 1.69, "A": 406.4, "alpha": 0.34, "B": 410.7, "beta": 0.28}
COLUMNS = ("--columns", "N=size,D=seen,loss=held_loss")
ANSI = re.compile(r"\x1b\[")


def write(frame, path):
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".parquet":
            frame.to_parquet(path)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet", "runs.jsonl"])
def test_a_law_is_recovered_from_each_format_by_columns_and_where(fit_json, frame, tmp_path, name):
    path = write(frame, tmp_path / name)
    where = ("--where", "optimizer == 'adamw'")
    found = fit_json(path, *COLUMNS, *where, "--law", "chinchilla")
    assert found["params"] == pytest.approx(TRUTH, rel=1e-6)
    assert found["n_points"] == 16
    assert found["study"]["counts"]["filtered"] == 16


def test_what_is_not_filtered_out_is_left_to_the_frontier(fit_json, frame, tmp_path):
    path = write(frame, tmp_path / "runs.csv")
    columns = ("--columns", f"{COLUMNS[1]},optimizer=optimizer")
    found = fit_json(path, *columns, "--law", "chinchilla")
    assert found["params"] == pytest.approx(TRUTH, rel=1e-6)
    assert {point["optimizer"] for point in found["frontier"]} == {"adamw"}


def test_columns_may_be_given_one_at_a_time(fit_json, frame, tmp_path):
    path = write(frame, tmp_path / "runs.csv")
    apart = [part for pair in COLUMNS[1].split(",") for part in ("--columns", pair)]
    where = ("--where", "optimizer == 'adamw'")
    assert fit_json(path, *apart, *where) == fit_json(path, *COLUMNS, *where)


def test_a_fixed_parameter_stays_where_it_is_put(fit_json, lawsmith, table):
    found = fit_json(table, "--law", "chinchilla", "--fix", "E=1.8")
    assert found["params"]["E"] == pytest.approx(1.8)
    assert found["fixed"] == {"E": 1.8}
    assert re.search(r"E +1\.800 .* fixed", lawsmith("fit", table, "--fix", "E=1.8").out)


def test_parameters_may_be_written_as_the_formula_writes_them(fit_json, table):
    found = fit_json(table, "--law", "chinchilla", "--fix", "α=0.3,β=0.3")
    assert found["fixed"] == {"alpha": 0.3, "beta": 0.3}


def test_targets_are_a_compute_or_a_pair():
    given = [("--at", "N=7B,D=140B"), ("--target", "1e25"), ("--at", "D=1e9,lr=3e-4,opt=muon")]
    pair, compute, one = options.targets(given, ["lr", "opt"])
    assert (compute.C, compute.N, compute.D) == (1e25, None, None)
    assert (pair.C, pair.N, pair.D) == (6 * 7e9 * 1.4e11, 7e9, 1.4e11)
    assert (one.N, one.D, one.hp) == (None, 1e9, {"lr": 3e-4, "opt": "muon"})
    assert np.isnan(one.C)


def test_options_are_found_in_the_order_they_were_given():
    line = ["fit", "--at", "N=1,D=2", "--json", "--target=3", "--targets", "4", "--target", "5"]
    assert Request(words=line).targets == (
        ("--at", "N=1,D=2"),
        ("--target", "3"),
        ("--target", "5"),
    )


def test_the_objective_is_the_laws_own_unless_asked():
    assert options.objective(None, None, LC) is None
    assert options.objective(None, 1e-2, LC) == huber(1e-2)
    assert options.objective("huber", 1e-2, GADRE) == huber(1e-2)
    with pytest.raises(LawsmithError, match="add --objective huber"):
        options.objective(None, 1e-2, GADRE)


def test_the_terminal_shows_the_answer_and_then_the_law(lawsmith):
    args = ("--law", "chinchilla", "--target", "1e22", "--at", "N=7B,D=140B")
    result = lawsmith("fit", "synthetic-demo", "--hold-out", "0.5", *args)
    assert (result.code, result.err) == (0, "")
    for words in (
        "924 of 900 configurations: 6 N, 7 D, 5 lr, 5 batch",
        "106 runs (rows 146, 147, 148, 149, 150 and 101 more)",
        "24 configurations run more than once, 48 runs (rows 37+901,",
        "Answer, from ",
        "1e22 FLOPs, ",
        "value 95% interval within 0.5% of the best",
        "held-out best runs inside their 95% intervals",
        "N = 7B, D = 140B, ",
        "Law: L(N, D) = E + A·N^-α + B·D^-β, fitted to the",
        "Intervals: of the law of the noise-free frontier",
        "converged (gradient",
        "What the law chinchilla predicts, 95% intervals if it holds",
        "Best N and D by chinchilla (C = 6ND)",
        "The law chinchilla on the held-out frontier RMSE",
        "Best hyperparameters, λ*(N, D) = c·N^a·D^b",
        "frontier_optimism: ",
        "Synthetic: drawn from a known law, no model was trained.",
    ):
        assert words in result.text
    assert result.text.index("Answer, from") < result.text.index("L(N, D) =")


@pytest.mark.parametrize("law", ["LC", "chinchilla", "skaling", "gadre", "kaplan", "LN", "LD"])
def test_output_fits_80_columns_and_has_no_colour_codes(lawsmith, sweep, law):
    args = ("--at", "N=7e9,D=9e10", "--hold-out", "0.5")
    # The comparison is of all laws, whichever is fitted.
    result = lawsmith("fit", sweep, "--law", law, *args, *(["--compare"] if law == "LC" else []))
    assert (result.code, result.err) == (0, "")
    assert not re.search(r" $", result.out, flags=re.MULTILINE)
    assert max(len(line) for line in result.out.splitlines()) <= 80
    assert not ANSI.search(result.out)


def test_the_comparison_is_best_first_and_says_why_a_law_is_missing(lawsmith, tmp_path):
    path = tmp_path / "tied.csv"
    N = np.geomspace(1e7, 1e9, 12)
    loss = 1.7 + 900 * N**-0.34
    rows = "".join(f"{n},{20 * n},{x}\n" for n, x in zip(N, loss, strict=True))
    path.write_text("N,D,loss\n" + rows, encoding="utf-8")
    result = lawsmith("fit", path, "--compare")
    assert "Error on the best runs above a cut, fitted to the runs below" in result.out
    assert "not fitted: chinchilla, kaplan, skaling, gadre, farseer: D follows N" in result.text
    compared = lawsmith("fit", path, "--compare", "--json").json["comparison"]
    assert {c["law"] for c in compared} >= {"LC", "chinchilla", "skaling"}
    errors = [c["rmse"] for c in compared if c["reason"] is None]
    assert errors == sorted(errors)
    assert len(errors) == 3
    assert all("cannot be told apart" in c["reason"] for c in compared[3:])


def test_diverged_runs_and_replicates_are_counted_and_listed(lawsmith, table):
    text = table.read_text(encoding="utf-8")
    again = text.splitlines()[1]
    table.write_text(f"{text}{again}\n9e8,1e11,nan\n9e8,2e11,9.5\n", encoding="utf-8")
    result = lawsmith("fit", table, "--diverged-above", "9")
    assert "diverged 2 runs (rows 18, 19)" in result.text
    assert "1 configuration run more than once, 2 runs (row 1+17)" in result.text
    study = lawsmith("fit", table, "--diverged-above", "9", "--json").json["study"]
    assert study["diverged_rows"] == [18, 19]
    assert study["replicate_rows"] == [[1, 17]]


def test_a_level_is_that_of_every_interval(fit_json, lawsmith, sweep):
    wide, narrow = (fit_json(sweep, "--level", level)["intervals"] for level in ("0.95", "0.5"))
    for name, inner in narrow["params"].items():
        outer = wide["params"][name]
        assert outer["low"] < inner["low"] < inner["high"] <= outer["high"]
    shown = lawsmith("fit", sweep, "--level", "0.5").out
    assert "50% interval" in shown
    assert "95%" not in shown


def test_compute_may_be_a_column_or_6nd(fit_json, tmp_path):
    path = tmp_path / "runs.csv"
    N = np.geomspace(1e7, 1e9, 8)
    rows = "".join(f"{n},{20 * n},{1e3 * n},{2 + 900 * n**-0.34}\n" for n in N)
    path.write_text("N,D,gpu_hours,loss\n" + rows, encoding="utf-8")
    hours = fit_json(path, "--compute", "gpu_hours")
    assert hours["study"]["compute"] == "column"
    assert hours["frontier"][0]["C"] == pytest.approx(1e10)
    assert fit_json(path, "--compute", "6ND")["frontier"][0]["C"] == pytest.approx(1.2e16)


def test_charts_are_written_and_listed(lawsmith, sweep, tmp_path):
    folder = tmp_path / "new" / "charts"
    result = lawsmith("fit", sweep, "--charts", folder)
    assert result.code == 0
    written = sorted(path for path in folder.iterdir())
    assert {"answer", "allocation", "law", "isoflop"} <= {path.stem for path in written}
    assert {".html", ".png"} <= {path.suffix for path in written}
    for path in written:
        assert str(path) in result.out


def test_charts_are_in_the_json_and_its_output_stays_pure(fit_json, sweep, tmp_path):
    found = fit_json(sweep, "--charts", tmp_path)
    assert sorted(found["charts"]) == sorted(str(path) for path in tmp_path.iterdir())


def test_a_narrow_terminal_never_cuts_a_number(lawsmith, sweep, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    args = ("--law", "chinchilla", "--at", "N=7e9,D=1.4e11", "--compare")
    out = lawsmith("fit", sweep, *args).out
    assert "…" not in out
    assert re.search(r"best loss +\d\.\d{3} +\[\d\.\d{3}, \d\.\d{3}\]", out)
    assert re.search(r"N = 7B, D = 140B +\d\.\d{4}  \[\d\.\d{4}, \d\.\d{4}\]", out)
