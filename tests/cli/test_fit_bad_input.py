"""`lawsmith fit` on bad input: one line that says where, got and want, exit code 2."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

HEADER = "params,tokens,val_loss\n"
GOOD = HEADER + "".join(
    f"{N:g},{D:g},{1.7 + 400 * N**-0.34 + 410 * D**-0.28:.6f}\n"
    for N in (1e7, 4e7, 1.6e8)
    for D in (1e9, 4e9, 1.6e10)
)


def with_row(row: str) -> str:
    return GOOD + row + "\n"


FILES = {
    "misspelt.csv": GOOD.replace("params", "parmas"),
    "no_loss.csv": GOOD.replace("val_loss", "perplexity"),
    "text.csv": with_row("70X,1e9,3.1"),
    "negative_n.csv": with_row("-1e7,1e9,3.1"),
    "zero_d.csv": with_row("1e7,0,3.1"),
    "negative_loss.csv": with_row("1e7,2e9,-3.1"),
    "zero_loss.csv": with_row("1e7,2e9,0"),
    "zero_compute.csv": "compute,loss\n0,3.1\n1e18,3.0\n",
    "few.csv": HEADER + "1e7,1e9,4.1\n2e7,2e9,3.9\n",
    "one_level.csv": "compute,loss,lr\n" + "".join(f"1e18,3.{i},{i + 1}e-3\n" for i in range(6)),
    "all_diverged.csv": HEADER + "1e7,1e9,nan\n2e7,2e9,inf\n",
    "empty.csv": "",
    "header.csv": HEADER,
    "ragged.csv": with_row("1e7,2e9"),
    "list.jsonl": "[1, 2, 3]\n",
    "notes.docx": "hello",
}

CASES = [
    (["misspelt.csv"], ["got a column for D, none for N", "--columns N=NAME"]),
    (["misspelt.csv", "--law", "LC"], ["got columns D, want C for LC", "--columns C=NAME"]),
    (["misspelt.csv", "--law", "chinchilla"], ["want N and D for chinchilla", "N=NAME"]),
    (["misspelt.csv", "--columns", "N=params"], ["got 'params'", "did you mean parmas?"]),
    (["no_loss.csv"], ["got columns params, tokens, perplexity", "want one for the loss"]),
    (["text.csv"], ["row 10, column params: got '70X', want a number above 0"]),
    (["negative_n.csv"], ["row 10, column params: got -1e+07, want a number above 0"]),
    (["zero_d.csv"], ["row 10, column tokens: got 0, want a number above 0"]),
    (["negative_loss.csv"], ["row 10, column val_loss: got -3.1, want a loss above 0"]),
    (["zero_loss.csv"], ["row 10, column val_loss: got 0, want a loss above 0"]),
    (["zero_compute.csv"], ["row 1, column compute: got 0, want a number above 0"]),
    (["few.csv"], ["got 2 points, want at least 3"]),
    (["few.csv", "--law", "chinchilla", "--force"], ["got 2 points, want at least 5"]),
    (["one_level.csv"], ["one level of C", "want several levels"]),
    (["all_diverged.csv"], ["got no finished run"]),
    (["empty.csv"], ["got an empty file"]),
    (["header.csv"], ["got a header and no rows"]),
    (["ragged.csv"], ["line 11: got 2 fields, want 3"]),
    (["binary.csv"], ["got a binary file"]),
    (["binary.parquet"], ["got unreadable Parquet"]),
    (["huge.csv"], ["got a file of 600 MB, want at most 512 MB"]),
    (["list.jsonl"], ["got a JSON list, want one JSON object"]),
    (["notes.docx"], ["got the extension '.docx'"]),
    (["god.csv"], ["got no such file", "did you mean good.csv?"]),
    (["oelm-english"], ["got 'oelm-english'", "did you mean oellm-english?"]),
    (["good.csv", "--law", "chinchila"], ["got 'chinchila'", "did you mean chinchilla?"]),
    (["good.csv", "--columns", "N"], ["--columns: got 'N', want NAME=COLUMN"]),
    (["good.csv", "--columns", "N=params,N=tokens"], ["--columns: got N twice"]),
    (["good.csv", "--where", "parms > 1"], ["no column 'parms'", "did you mean params?"]),
    (["good.csv", "--where", "__import__('os')"], ["got \"__import__('os')\""]),
    (["good.csv", "--where", "N > 1e30"], ["keeps none of 9 rows"]),
    (["good.csv", "--drop-largest-loss", "9"], ["got 9, want fewer than the 9"]),
    (["good.csv", "--drop-largest-loss", "-1"], ["--drop-largest-loss: got '-1'"]),
    (["good.csv", "--diverged-above", "0"], ["--diverged-above: got 0, want a loss above 0"]),
    (["good.csv", "--diverged-above", "1"], ["got no finished run"]),
    (["good.csv", "--compute", "flop"], ["compute: got 'flop', want one of auto, 6ND"]),
    (["good.csv", "--hold-out", "1.5"], ["hold-out: got 1.5, want a fraction between 0 and 1"]),
    (["good.csv", "--hold-out", "largest"], ["did you mean largest-N?"]),
    (["good.csv", "--hold-out", "largest-Q"], ["got 'Q', want one of N, D, C"]),
    (["good.csv", "--fix", "Z=1"], ["parameter of LC: got 'Z', want one of E, A, alpha"]),
    (["good.csv", "--fix", "E"], ["--fix: got 'E', want PARAMETER=VALUE"]),
    (["good.csv", "--fix", "E=-1"], ["--fix E: got -1, want a number above 0"]),
    (["good.csv", "--fix", "E=one"], ["--fix E: got 'one', want a number"]),
    (["good.csv", "--target", "far"], ["--target: got 'far', want a compute such as 1e25"]),
    (["good.csv", "--target", "-1e25"], ["--target: got '-1e25'"]),
    (["good.csv", "--target", "inf"], ["--target: got 'inf'"]),
    (["good.csv", "--target", "1,2,3"], ["--target: got '1,2,3'", "--at N=7B,D=140B"]),
    (["good.csv", "--law", "LN", "--target", "1e25"], ["--target", "want N for LN"]),
    (["good.csv", "--objective", "hubert"], ["objective: got 'hubert'", "did you mean huber?"]),
    (["good.csv", "--delta", "0"], ["--delta: got 0, want a number above 0"]),
    (["good.csv", "--delta", "x"], ["--delta: got 'x', want a number"]),
    (["good.csv", "--objective", "mae", "--delta", "1e-3"], ["got 0.001 with mae"]),
    (["good.csv", "--level", "95"], ["--level: got 95, want a number between 0 and 1"]),
    (["good.csv", "--seed", "1.5"], ["--seed: got '1.5', want a whole number"]),
    (["good.csv", "--charts", "good.csv"], ["--charts: got good.csv", "want a folder"]),
]


@pytest.fixture
def bad_files(tmp_path, monkeypatch):
    for name, text in {"good.csv": GOOD, **FILES}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("binary.csv", "binary.parquet"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 4)
    (tmp_path / "huge.csv").touch()
    os.truncate(tmp_path / "huge.csv", 600 * 2**20)  # sparse: it takes no space
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("args", "messages"), CASES, ids=lambda v: " ".join(v)[:50])
def test_bad_input_is_told_in_one_line(lawsmith, bad_files, args, messages):
    result = lawsmith("fit", *args)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert result.err.startswith("error: ")
    for message in messages:
        assert message in result.err
    assert "Traceback" not in result.err


def test_the_good_table_of_these_tests_is_good(lawsmith, bad_files):
    assert lawsmith("fit", "good.csv").code == 0


def test_bad_rows_can_be_skipped_and_are_counted_and_listed(lawsmith, bad_files):
    result = lawsmith("fit", "text.csv", "--skip-bad-rows")
    assert result.code == 0
    assert "1 bad row (row 10, column params: got '70X', want a number above 0)" in result.text
    payload = lawsmith("fit", "text.csv", "--skip-bad-rows", "--json").json
    assert payload["study"]["counts"]["bad"] == 1
    assert payload["study"]["bad_rows"] == [10]


def test_a_study_without_a_usual_law_has_an_answer_and_says_why_it_has_no_law(
    lawsmith, monkeypatch, bad_files
):
    from lawsmith.datasets import load

    lawless = replace(load("good.csv"), default_law=None)
    monkeypatch.setattr("lawsmith.cli.options.load", lambda *_, **__: lawless)
    result = lawsmith("fit", "good.csv")
    assert (result.code, result.err) == (0, "")
    assert "Answer, from 9 runs" in result.text
    assert "for which there is no usual law, want a law named by --law" in result.text
    told = lawsmith("fit", "good.csv", "--json").json
    assert (told["law"], len(told["answers"])) == (None, 1)
