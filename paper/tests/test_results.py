"""Results as files: a table for each kind of job, of what is finished, and a summary of all."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lawsmith
from lawsmith_paper.jobs import Job, code_version, data_digest
from lawsmith_paper.kinds import KINDS
from lawsmith_paper.plan import Figure, Options, Suite, line, setting
from lawsmith_paper.results import curves, is_synthetic, studies_of, write_results
from lawsmith_paper.store import Store
from lawsmith_paper.studies import load
from lawsmith_paper.work import work

OPTIONS = Options(seeds=1, iterations=14)
STUDY = "synthetic-warmstart"


def fitter_job() -> Job:
    settings = {"event": "fitter", "study": "synthetic-demo", "law": "chinchilla", "seed": 0}
    settings |= {"drop_largest_loss": 0, "repeats": 2, "starts": 3}
    return Job("race", settings, data_digest(load("synthetic-demo")))


@pytest.fixture(scope="module")
def suite() -> Suite:
    lines = {
        "GP": line(STUDY, "LC", setting(), OPTIONS),
        "random": line(STUDY, "LC", setting(surrogate="none"), OPTIONS),
    }
    figure = Figure("small", "small", STUDY, "LC", lines)
    return Suite("small", "small", "", (figure,), more=(fitter_job(),))


@pytest.fixture(scope="module")
def folder(suite, tmp_path_factory):
    made = tmp_path_factory.mktemp("results")
    assert work(made, suite.jobs, processes=1) == []
    write_results(made, [suite], OPTIONS)
    return made


def test_each_kind_of_job_has_a_table_of_its_own_in_two_formats(folder):
    replays = pd.read_parquet(folder / "results.parquet")
    races = pd.read_parquet(folder / "speed.parquet")
    assert set(replays["surrogate"]) == {"gp", "none"}
    assert "contender" not in replays
    assert races["contender"].tolist() == ["lawsmith"] * 2 + ["scipy"] * 3
    assert not (folder / "scalebench.parquet").exists()
    for name, table in (("results", replays), ("speed", races)):
        read = pd.read_csv(folder / f"{name}.csv", dtype={"data": str, "code": str})
        assert list(read.columns) == list(table.columns)
        for column in table.select_dtypes("number"):
            np.testing.assert_allclose(read[column], table[column], rtol=1e-9)


def test_a_row_says_with_which_settings_code_and_data_it_was_computed(folder, suite):
    table = pd.read_parquet(folder / "results.parquet")
    job = suite.jobs[0]
    mine = table[table["surrogate"] == "gp"]
    for name in ("study", "law", "space", "acquisition", "kernel", "seed", "reach"):
        assert set(mine[name]) == {job.settings[name]}
    assert set(mine["data"]) == {job.data}
    assert set(mine["code"]) == {code_version("replay")}
    assert set(mine["version"]) == {lawsmith.__version__}
    assert mine["synthetic"].all()


def test_the_summary_covers_every_kind(folder, suite):
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["suites"] == ["small"]
    assert (summary["seeds"], summary["iterations"]) == (1, 14)
    assert summary["jobs"] == {"planned": 3, "finished": 3}
    assert summary["results"] == ["results", "speed"]
    assert summary["code"] == {kind: code_version(kind) for kind in ("race", "replay")}
    studies = summary["studies"]
    assert list(studies) == [STUDY, "synthetic-demo"] == studies_of(suite.jobs)
    assert studies[STUDY]["digest"] == suite.jobs[0].data
    assert studies[STUDY]["synthetic"] is True
    assert studies[STUDY]["laws"]["LC"]["n_pool"] > 100
    assert studies["synthetic-demo"]["laws"]["chinchilla"]["n_points"] == 36


def test_only_what_is_finished_is_in_a_table_or_a_curve(suite, folder, tmp_path):
    done, partial = suite.jobs[:2]
    store = Store(tmp_path)
    for job, n in ((done, 14), (partial, 9)):
        kept = Store(folder).read(job)
        with store.writer(job, 1) as (_, writer):
            for values in kept.lines[:n]:
                writer.line(values)
            if n == 14:
                writer.end(kept.end)
    write_results(tmp_path, [suite], OPTIONS)
    table = pd.read_parquet(tmp_path / "results.parquet")
    assert set(table["surrogate"]) == {"gp"}
    assert pd.read_parquet(tmp_path / "speed.parquet").empty
    assert json.loads((tmp_path / "summary.json").read_text())["jobs"]["finished"] == 1
    assert curves(store, done) is not None
    assert curves(store, partial) is None


def test_no_half_written_file_is_left_or_met(folder, suite, monkeypatch):
    before = (folder / "results.csv").read_bytes()

    def broken(self, path, **_):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_csv", broken)
    with pytest.raises(OSError, match="disk full"):
        write_results(folder, [suite], OPTIONS)
    assert (folder / "results.csv").read_bytes() == before


def test_synthetic_studies_are_known_by_name():
    assert is_synthetic("synthetic-warmstart")
    assert not is_synthetic("oellm-english")
    assert not is_synthetic("runs.csv")


def test_every_kind_says_what_it_takes_to_plan_run_and_read_it():
    assert {kind.table for kind in KINDS.values()} == {"methods", "results", "scalebench", "speed"}
    assert [name for name, kind in KINDS.items() if kind.alone] == ["race"]
