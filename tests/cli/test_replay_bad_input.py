"""`lawsmith replay` on bad input: one line that says where, got and want, exit code 2."""

from __future__ import annotations

import pytest

HEADER = "N,D,lr,loss\n"
ROWS = [
    (N, D, lr, 1.7 + 400 * N**-0.34 + 410 * D**-0.28 + 0.01 * (lr > 1e-3))
    for N in (1e7, 4e7, 1.6e8)
    for D in (1e9, 4e9, 1.6e10)
    for lr in (1e-3, 4e-3)
]


def text(rows) -> str:
    return HEADER + "".join(f"{N:g},{D:g},{lr:g},{loss:.6f}\n" for N, D, lr, loss in rows)


FILES = {
    "good.csv": text(ROWS),
    "one_level.csv": text([(1e7, 1e9, 1e-4 * (k + 1), 3 + 0.01 * k) for k in range(12)]),
    "all_diverged.csv": text([(*row[:3], float("nan")) for row in ROWS]),
    "no_tokens.csv": "C,lr,loss\n" + "".join(f"{N * D:g},{lr:g},{y:.6f}\n" for N, D, lr, y in ROWS),
    "no_compute.csv": "N,loss\n1e7,3.1\n2e7,3.0\n4e7,2.9\n",
}

WINDOW = ("--policy", "window")
RULE = "loss@1e25 within 1%"
CASES = [
    (["good.cvs"], ["got no such file", "did you mean good.csv?"]),
    (["oelm-english"], ["got 'oelm-english'", "did you mean oellm-english?"]),
    (["synthetic-dem"], ["did you mean synthetic-demo?"]),
    (["good.csv", "--law", "chinchila"], ["law: got 'chinchila'", "did you mean chinchilla?"]),
    (["good.csv", "--policy", "windw"], ["--policy: got 'windw'", "did you mean window?"]),
    (["good.csv", "--surrogate", "surfce"], ["--surrogate: got 'surfce'", "did you mean surface?"]),
    (
        ["good.csv", "--surrogate", "xgboost"],
        ["--surrogate: got 'xgboost', want one of surface, gp"],
    ),
    (
        ["good.csv", "--policy", "random"],
        ["--policy: got 'random', want one of frontier, window, full"],
    ),
    (["good.csv", "--kernel", "mattern"], ["--kernel: got 'mattern'", "did you mean matern?"]),
    (["good.csv", "--priors", "normal"], ["--priors: got 'normal'", "mean lognormal?"]),
    (["good.csv", "--scale", "logs"], ["--scale: got 'logs'", "did you mean log?"]),
    (["good.csv", "--acquisition", "lbc"], ["--acquisition: got 'lbc'", "did you mean lcb?"]),
    (
        ["good.csv", "--kernel", "linear", "--surrogate", "surface"],
        ["--kernel: got 'linear' with --surrogate surface, want --surrogate gp"],
    ),
    (["good.csv", *WINDOW, "--slice-by", "lr"], ["--slice-by: got 'lr', want one of C, N, D"]),
    (
        ["good.csv", "--slice-by", "N"],
        ["--slice-by: got 'N' with --policy frontier, want --policy window"],
    ),
    (
        ["good.csv", "--slice-by", "D", "--policy", "full"],
        ["--slice-by: got 'D' with --policy full, want --policy window"],
    ),
    (
        ["good.csv", *WINDOW, "--kappa", "1", "--acquisition", "ei"],
        ["--kappa: got 1 with --acquisition ei, want --acquisition lcb"],
    ),
    (
        ["good.csv", "--reach", "2", "--policy", "full"],
        ["--reach: got 2 with --policy full, want --policy window"],
    ),
    (["good.csv", *WINDOW, "--kappa", "-1"], ["--kappa: got -1, want a number of at least 0"]),
    (
        ["good.csv", "--acquisition", "ei"],
        ["--acquisition: got 'ei' with --policy frontier, want --policy window or --policy full"],
    ),
    (["good.csv", "--kappa", "1"], ["--kappa: got 1 with --policy frontier"]),
    (["good.csv", "--reach", "2"], ["--reach: got 2 with --policy frontier"]),
    (["good.csv", "--scale", "log"], ["--scale: got 'log' with --surrogate surface"]),
    (["good.csv", "--kappa", "two"], ["--kappa: got 'two', want a number"]),
    (["good.csv", *WINDOW, "--reach", "0.5"], ["--reach: got 0.5, want a factor of at least 1"]),
    (["good.csv", "--budget", "0"], ["--budget: got '0', want a share of the pool"]),
    (["good.csv", "--budget", "-5%"], ["--budget: got '-5%', want a share of the pool"]),
    (["good.csv", "--budget", "half"], ["--budget: got 'half'", "5%", "1e21"]),
    (["good.csv", "--budget", "inf"], ["--budget: got 'inf'"]),
    (["good.csv", "--budget", "150%"], ["--budget: got 150%, want at most 100%"]),
    (
        ["good.csv", "--budget", "1e30"],
        ["--budget: got 1e30 FLOPs, want at most 2.22e19, the whole pool of good.csv"],
    ),
    (["good.csv", "--budget", "1.5"], ["got 1.5 FLOPs", "want more than the first run costs"]),
    (["good.csv", "--iterations", "0"], ["--iterations: got 0, want at least 1 run"]),
    (["good.csv", "--iterations", "-3"], ["--iterations: got '-3', want a whole number"]),
    (["good.csv", "--n-init", "-1"], ["--n-init: got '-1', want a whole number from 0"]),
    (["good.csv", *WINDOW, "--n-init", "0"], ["--n-init: got 0, want at least 1 run"]),
    (
        ["good.csv", "--surrogate", "gp", "--n-init", "0"],
        ["--n-init: got 0, want at least 1 run"],
    ),
    (
        ["good.csv", "--n-init", "17"],
        ["--n-init: got 17 initial runs, want at most the 16 candidates in the pool of good.csv"],
    ),
    (
        ["good.csv", "--stop-when", "loss@1e25 < 1%"],
        ["--stop-when: got 'loss@1e25 < 1%', want a rule such as 'loss@1e25 within 1%'"],
    ),
    (["good.csv", "--stop-when", "loss@1e25 within 0%"], ["--stop-when: got '0' in", "above 0"]),
    (
        ["good.csv", "--trunk-decay", "0"],
        ["--trunk-decay: got 0, want a share between 0 and 1"],
    ),
    (["good.csv", "--trunk-decay", "1"], ["--trunk-decay: got 1, want a share between"]),
    (["good.csv", "--trunk-decay", "nan"], ["--trunk-decay: got 'nan', want a number"]),
    (["good.csv", "--trunk-decay", "20%"], ["--trunk-decay: got '20%', want a number"]),
    (
        ["no_tokens.csv", "--n-init", "3", "--trunk-decay", "0.2"],
        ["trunk-aware cost: got no D, want a study with tokens D"],
    ),
    (["good.csv", "--seed", "-1"], ["--seed: got '-1', want a whole number"]),
    (["good.csv", "--target", "far"], ["--target: got 'far', want a compute"]),
    (["good.csv", "--target", "1e25,0"], ["--target: got '1e25,0'"]),
    (["good.csv", "--target", "0"], ["--target: got '0'"]),
    (["good.csv", "--at", "1e25"], ["--at: got '1e25', want N and D"]),
    (["good.csv", "--at", "N=1e9"], ["--at: got N = 1B, want N and D"]),
    (["good.csv", "--extrapolate-to", "1e25"], ["no such option: --extrapolate-to"]),
    (["good.csv", "--hold-out", "1.5"], ["hold-out: got 1.5, want a fraction between 0 and 1"]),
    (["good.csv", "--hold-out", "0.99999"], ["holds out all 18 rows"]),
    (["good.csv", "--where", "lr > 1"], ["keeps none of 18 rows"]),
    (["good.csv", "--columns", "N"], ["--columns: got 'N', want NAME=COLUMN"]),
    (["good.csv", "--diverged-above", "0"], ["--diverged-above: got 0, want a loss above 0"]),
    (["good.csv", "--out", "good.csv"], ["--out: got good.csv", "want a folder"]),
    (["good.csv", "--charts", "good.csv"], ["--charts: got good.csv", "want a folder"]),
    (["one_level.csv"], ["one level of compute"]),
    (["all_diverged.csv"], ["got no finished run"]),
    (["no_compute.csv"], ["got columns N, want C for LC", "--columns C=NAME"]),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("args", "messages"), CASES, ids=lambda v: " ".join(v)[:50])
def test_bad_input_is_told_in_one_line(lawsmith, files, args, messages):
    result = lawsmith("replay", *args)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert result.err.startswith("error: ")
    for message in messages:
        assert message in result.err
    assert "Traceback" not in result.err


def test_the_good_table_of_these_tests_is_good(lawsmith, files):
    assert lawsmith("replay", "good.csv", "--n-init", 4).code == 0


def test_a_constant_loss_has_a_frontier_of_one_point(lawsmith, files, tmp_path):
    flat = [(N, D, lr, 3.0) for N, D, lr, _ in ROWS]
    (tmp_path / "flat.csv").write_text(text(flat), encoding="utf-8")
    result = lawsmith("replay", "flat.csv")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "one level of C" in result.err


def test_a_hyperparameter_of_one_value_is_no_obstacle(lawsmith, files, tmp_path):
    (tmp_path / "one_lr.csv").write_text(text(ROWS[::2]), encoding="utf-8")
    assert lawsmith("replay", "one_lr.csv", "--n-init", 3).code == 0


def test_a_design_that_cannot_identify_the_law_is_refused_unless_forced(lawsmith, published):
    published("porian-hp")
    args = ("replay", "porian-hp", "--law", "chinchilla", "--iterations", 12)
    refused = lawsmith(*args)
    assert refused.code == 2
    assert "collinear_design" in refused.err
    assert lawsmith(*args, "--force", *WINDOW).code == 0
