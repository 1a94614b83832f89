"""`lawsmith demo`: what it shows of the study that comes with lawsmith, and what it writes."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lawsmith.cli import demo, main
from lawsmith.cli.demo import SHARE, Demo, run_demo
from lawsmith.datasets import load

from .conftest import Result


@dataclass(frozen=True)
class Shown:
    """What the command printed and where it was run, and what it had found out."""

    result: Result
    folder: Path
    found: Demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Shown:
    """`lawsmith demo` as typed, without a network."""
    found: list[Demo] = []
    out, err = io.StringIO(), io.StringIO()
    folder = tmp_path_factory.mktemp("demo")

    def kept(seed: int) -> Demo:
        found.append(run_demo(seed))
        return found[-1]

    def offline(*_, **__):
        raise OSError(-2, "Name or service not known")

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "80")
        patch.setenv("LAWSMITH_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("LAWSMITH_DATA", raising=False)
        patch.setattr("urllib.request.urlopen", offline)
        patch.setattr(demo, "run_demo", kept)
        code = main(["demo"])
    return Shown(Result(code, out.getvalue(), err.getvalue()), folder, found[0])


@pytest.fixture
def found(shown: Shown) -> Demo:
    return shown.found


def test_the_demo_needs_no_network_and_ends_with_what_matters(shown):
    result, folder = shown.result, shown.folder
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("tinylm: language models")
    assert "real training runs" in result.out
    assert max(len(line) for line in result.out.splitlines()) <= 80
    assert not re.search(r" $", result.out, flags=re.MULTILINE)
    written, rest = result.out.split("\nWritten ")[1].split("\nWhat matters\n")
    matters, report = rest.split("\n\nThe report")
    assert report.endswith("\n  lawsmith-demo/report.html\n")
    page = (folder / "lawsmith-demo" / "report.html").read_text(encoding="utf-8")
    assert "The answer" in page
    files = [line.strip() for line in written.splitlines() if line.startswith("  lawsmith-demo")]
    assert files[0] == "lawsmith-demo/runs.csv"
    assert len(files) > 3
    assert all((folder / file).is_file() for file in files)
    told = " ".join(matters.split())
    assert re.search(r"The best run there has \S+ \(\S+% off\), inside the interval", told)
    assert [line[2] for line in matters.splitlines() if line[2] != " "] == ["1", "2", "3"]


def test_the_seed_and_the_folder_are_those_asked_for(lawsmith, found, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(demo, "run_demo", lambda seed: asked.append(seed) or found)
    monkeypatch.setattr(demo, "show_demo", lambda _, folder: asked.append(folder))
    assert lawsmith("demo", "--out", tmp_path / "here", "--seed", "1").code == 0
    assert asked == [1, tmp_path / "here"]


def test_the_table_it_writes_is_the_runs_it_chose(shown, fit_json):
    path = shown.folder / "lawsmith-demo" / "runs.csv"
    chosen, whole = pd.read_csv(path), pd.read_csv(load_path())
    keys = ["N", "D", "lr", "batch"]
    mean = whole.groupby(keys)["loss"].mean()
    np.testing.assert_allclose(
        chosen["loss"], [mean[tuple(row)] for row in chosen[keys].to_numpy()]
    )
    assert not chosen.duplicated(keys).any()
    told = fit_json(path)
    assert told["n_points"] >= 5
    assert told["n_runs"] == len(chosen)


def load_path():
    from lawsmith.datasets import entry, locate

    return locate(entry("tinylm"))[0]


def test_it_spends_no_more_than_it_says_and_never_on_what_is_held_out(found):
    pool, chosen = found.task.pool, found.chosen
    assert len(set(chosen.tolist())) == len(chosen)
    assert pool.C[chosen].sum() <= SHARE * pool.C.sum()
    assert pool.C[chosen].sum() > 0.5 * SHARE * pool.C.sum()
    assert pool.C.max() < found.answers.chosen.forecasts[0].compute == found.study.grid.C.max()


def test_the_best_run_within_a_compute_is_the_least_loss_of_the_study_there(found):
    whole = pd.read_csv(load_path())
    means = whole.groupby(["C", "N", "D", "lr", "batch"], as_index=False)["loss"].mean()
    for compute in (1e12, 1e14, float(whole["C"].max())):
        least = means.loc[means["C"] <= compute, "loss"].min()
        assert found.best_within(compute) == pytest.approx(least)


def test_the_pool_beside_it_is_what_fit_says_of_it(found, fit_json):
    first, further = found.answers.pool.forecasts
    told = fit_json("tinylm", "--hold-out", "0.5", *targets_of(found))
    for forecast, same in zip((first, further), told["answers"], strict=True):
        numbers = [same[name] for name in ("loss", "low", "high", "run_low", "run_high")]
        f = forecast
        assert numbers == pytest.approx([f.loss, f.low, f.high, f.run_low, f.run_high], rel=1e-6)


def targets_of(found):
    computes = (f.compute for f in found.answers.pool.forecasts)
    return [word for C in computes for word in ("--target", repr(C))]


def test_the_best_runs_shown_fall_with_compute_and_were_run(found):
    rows = found.best
    assert np.isin(rows, found.chosen).all()
    assert (np.diff(found.task.pool.C[rows]) > 0).all()
    assert (np.diff(found.task.loss[rows]) < 0).all()


def test_the_loss_is_known_to_a_tenth_and_the_truth_is_inside(found):
    """Once: ± 28 % where the truth was 0.6 % away."""
    f = found.answers.chosen.forecasts[0]
    assert f.half_width < 0.10
    truth = found.best_within(f.compute)
    assert f.run_low <= truth <= f.run_high
    assert abs(f.loss / truth - 1.0) < 0.05


def test_the_answer_and_that_of_all_runs_overlap(found):
    for ours, whole in zip(
        found.answers.chosen.forecasts, found.answers.pool.forecasts, strict=True
    ):
        assert max(ours.low, whole.low) < min(ours.high, whole.high)


def test_the_held_out_runs_were_not_seen_and_most_are_inside(found):
    judged = found.answers.chosen.held_out
    assert not np.isin(judged.rows, found.task.rows).any()
    assert judged.inside.mean() >= 0.9
    assert judged.median_error < 0.05


def test_the_study_of_the_demo_is_real(found):
    assert not found.study.synthetic
    assert found.study.name == load("tinylm").name


def test_a_folder_that_cannot_be_made_is_one_line(lawsmith, tmp_path):
    (tmp_path / "file").touch()
    result = lawsmith("demo", "--out", tmp_path / "file" / "x")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "--out: got" in result.err
