"""`lawsmith demo`: what it shows of the study that comes with lawsmith, and what it writes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from lawsmith.cli.demo_run import SHARE, run_demo
from lawsmith.datasets import load


@pytest.fixture(scope="module")
def found():
    return run_demo(0)


def test_the_demo_needs_no_network_and_ends_with_what_matters(lawsmith, tmp_path, monkeypatch):
    def offline(*_, **__):
        raise OSError(-2, "Name or service not known")

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    monkeypatch.setattr("urllib.request.urlopen", offline)
    result = lawsmith("demo")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("tinylm: language models")
    assert "real training runs" in result.out
    assert max(len(line) for line in result.out.splitlines()) <= 80
    assert not re.search(r" $", result.out, flags=re.MULTILINE)
    written, rest = result.out.split("\nWritten ")[1].split("\nWhat matters\n")
    matters, report = rest.split("\n\nThe report")
    assert report.endswith("\n  lawsmith-demo/report.html\n")
    page = (tmp_path / "lawsmith-demo" / "report.html").read_text(encoding="utf-8")
    assert "The answer" in page
    files = [line.strip() for line in written.splitlines() if line.startswith("  lawsmith-demo")]
    assert files[0] == "lawsmith-demo/runs.csv"
    assert len(files) > 3
    assert all((tmp_path / file).is_file() for file in files)
    assert [line[2] for line in matters.splitlines() if line[2] != " "] == ["1", "2", "3"]


def test_the_table_it_writes_is_the_runs_it_chose(lawsmith, fit_json, tmp_path):
    assert lawsmith("demo", "--out", tmp_path / "here", "--seed", "1").code == 0
    path = tmp_path / "here" / "runs.csv"
    chosen, whole = pd.read_csv(path), pd.read_csv(load_path())
    keys = ["N", "D", "lr", "batch"]
    mean = whole.groupby(keys)["loss"].mean()
    np.testing.assert_allclose(
        chosen["loss"], [mean[tuple(row)] for row in chosen[keys].to_numpy()]
    )
    assert not chosen.duplicated(keys).any()
    assert fit_json(path)["n_points"] >= 5


def load_path():
    from lawsmith.datasets import entry, locate

    return locate(entry("tinylm"))[0]


def test_it_spends_no_more_than_it_says_and_never_on_what_is_held_out(found):
    pool, chosen = found.task.pool, found.chosen
    assert len(set(chosen.tolist())) == len(chosen)
    assert pool.C[chosen].sum() <= SHARE * pool.C.sum()
    assert pool.C[chosen].sum() > 0.5 * SHARE * pool.C.sum()
    assert pool.C.max() < found.outlook.predictions[0].compute == found.study.grid.C.max()


def test_the_best_run_within_a_compute_is_the_least_loss_of_the_study_there(found):
    whole = pd.read_csv(load_path())
    means = whole.groupby(["C", "N", "D", "lr", "batch"], as_index=False)["loss"].mean()
    for compute in (1e12, 1e14, float(whole["C"].max())):
        least = means.loc[means["C"] <= compute, "loss"].min()
        assert found.best_within(compute) == pytest.approx(least)


def test_the_law_beside_it_is_what_fit_says_of_the_same_pool(found, fit_json):
    whole = fit_json("tinylm", "--law", "LC", "--hold-out", "0.5")
    assert found.dense.fit.params == pytest.approx(whole["params"], rel=1e-9)
    assert found.task.reference.validation.params == pytest.approx(whole["params"], rel=1e-6)


def test_the_envelope_shown_falls_with_compute_and_was_run(found):
    rows = found.envelope
    assert np.isin(rows, found.chosen).all()
    assert (np.diff(found.task.pool.C[rows]) > 0).all()
    assert (np.diff(found.task.loss[rows]) < 0).all()


def test_the_intervals_hold_what_the_whole_pool_says(found):
    for p in found.outlook.predictions:
        whole = float(found.dense.fit.predict({"C": p.compute})[0])
        assert p.pool.low <= whole <= p.pool.high


def test_the_study_of_the_demo_is_real(found):
    assert not found.study.synthetic
    assert found.study.name == load("tinylm").name


def test_a_folder_that_cannot_be_made_is_one_line(lawsmith, tmp_path):
    (tmp_path / "file").touch()
    result = lawsmith("demo", "--out", tmp_path / "file" / "x")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "--out: got" in result.err
