"""`lawsmith demo`: what it shows of a study whose truth is known."""

from __future__ import annotations

import time

import pytest

from lawsmith.cli.truth import demo_cases, optimism, true_law
from lawsmith.datasets import demo_study
from lawsmith.laws.catalogue import CHINCHILLA, LC


def test_the_demo_runs_in_under_a_minute_and_ends_with_what_matters(
    lawsmith, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    began = time.monotonic()
    result = lawsmith("demo")
    assert time.monotonic() - began < 60
    assert (result.code, result.err) == (0, "")
    assert "synthetic" in result.out.splitlines()[0]
    assert max(len(line) for line in result.out.splitlines()) <= 80
    written, matters = result.out.split("\nWritten ")[1].split("\nWhat matters\n")
    for line in written.splitlines():
        if line.strip().startswith("lawsmith-demo"):
            assert (tmp_path / line.strip()).is_file()
    assert "lawsmith-demo/runs.csv" in written
    assert ".html" in written
    assert [line[2] for line in matters.splitlines() if line[2] != " "] == ["1", "2", "3"]


def test_the_table_it_writes_is_the_study_it_shows(lawsmith, fit_json, tmp_path):
    assert lawsmith("demo", "--out", tmp_path / "here", "--seed", "1").code == 0
    again = fit_json(tmp_path / "here" / "runs.csv")
    assert again["params"] == pytest.approx(demo_cases(1)[0].analysis.fit.params, rel=1e-9)


def test_the_truth_is_near_the_surface_it_was_drawn_from():
    study = demo_study(0)
    for law in (LC, CHINCHILLA):
        true = true_law(study, law).params
        assert true == pytest.approx(study.truth.params[law.name], rel=0.03)


def test_intervals_hold_the_truth_over_several_seeds():
    # One study's intervals stand or fall together, so a single seed says little.
    found = [
        check.inside
        for seed in range(8)
        for case in demo_cases(seed)
        for check in (*case.parameters, *case.predictions)
    ]
    assert len(found) == 8 * 12
    assert sum(found) >= 0.8 * len(found)


def test_the_frontier_of_noisy_runs_is_optimistic():
    assert 0 < optimism(demo_cases(0)[0].analysis) < 0.005


def test_a_folder_that_cannot_be_made_is_one_line(lawsmith, tmp_path):
    (tmp_path / "file").touch()
    result = lawsmith("demo", "--out", tmp_path / "file" / "x")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "--out: got" in result.err
