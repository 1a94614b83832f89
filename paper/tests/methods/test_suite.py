"""The suite: which trials there are, and the tables and the page of a few that were run."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lawsmith_paper import sections as section_module
from lawsmith_paper.curves import FITS
from lawsmith_paper.methods import suite as plan
from lawsmith_paper.methods import tables as tables_module
from lawsmith_paper.methods.contenders import CONTENDERS, of_role
from lawsmith_paper.methods.results import METRICS, SHOWN, read_results
from lawsmith_paper.methods.suite import NOISES, Subject, further, methods, subjects
from lawsmith_paper.methods.tables import methods_tables
from lawsmith_paper.page import write_page
from lawsmith_paper.plan import STUDIES, Options
from lawsmith_paper.results import write_results
from lawsmith_paper.store import Store
from lawsmith_paper.suites import SUITES
from lawsmith_paper.work import work

OPTIONS = Options(seeds=2, iterations=14)
CHOSEN = ("frontier", "window-lcb", "random", "cheapest")


def test_every_study_is_tried_with_both_laws_where_they_are_identified_and_drawn_in_its_shape():
    labels = [subject.label for subject in subjects()]
    assert len(set(labels)) == len(labels) == 6 + 5 + len(further()) + 5 * len(NOISES) + 4
    assert {"tinylm, L(C)", "tinylm, L(N, D)"} <= set(labels)
    assert not any("porian-hp, L(N, D)" in label for label in labels)
    assert "drawn-steplaw, noise × 1, L(N, D)" in labels
    for study in STUDIES:
        assert {f"drawn-{study}, noise × {noise:g}" for noise in NOISES} <= set(labels)


def test_tables_that_the_policy_was_not_built_on_join_where_they_are_at_hand(monkeypatch):
    monkeypatch.setattr(plan.datasets, "present", lambda entry: entry.name == "chinchilla")
    assert [subject.label for subject in further()] == ["chinchilla, L(C)", "chinchilla, L(N, D)"]
    monkeypatch.setattr(plan.datasets, "present", lambda entry: False)
    assert further() == []


def test_every_contender_is_on_every_study_and_those_that_share_replays_share_jobs():
    jobs = methods(Options(seeds=3)).jobs
    own = [contender for contender in CONTENDERS if not contender.trial]
    n_trials = sum(len(plan.budgets_of(contender)) for contender in own)
    assert len(jobs) == 3 * n_trials * len(subjects())
    assert {job.settings["method"] for job in jobs} == {contender.name for contender in own}
    knows = {"frontier", "vopt"}
    for job in jobs:
        assert job.settings["budget"] == SHOWN[-1] or job.settings["space"] in knows
    asked = [job.settings for job in jobs if job.settings["method"] == "frontier"]
    assert {told["budget"] for told in asked} == set(SHOWN)
    assert SUITES["methods"] is methods


def test_contenders_have_names_of_their_own_and_ours_is_ranked_with_each_role():
    names = [contender.name for contender in CONTENDERS]
    assert len(set(names)) == len(names)
    assert all(contender.trial in (*names, "") for contender in CONTENDERS)
    assert all(contender.fit in FITS for contender in CONTENDERS)
    assert [c.name for c in of_role("rival")] == [
        *("frontier", "window-lcb", "window-ei", "full-lcb", "full-ei", "full-ei-per-flop"),
        *("random", "cheapest", "vopt"),
    ]
    assert {"frontier-gp", "frontier-no-answer", "frontier-observed"} <= {
        c.name for c in of_role("ablation")
    }


@pytest.fixture(scope="module")
def few():
    """Four methods on one study and one drawn family."""
    patch = pytest.MonkeyPatch()
    chosen = tuple(c for c in CONTENDERS if c.name in CHOSEN)
    patch.setattr(plan, "CONTENDERS", chosen)
    found = [Subject("synthetic-warmstart", "LC"), Subject("synthetic-porian-hp", "LC", 2.0)]
    patch.setattr(plan, "subjects", lambda: found)
    suite = methods(OPTIONS)
    patch.undo()
    return suite


@pytest.fixture(scope="module")
def folder(few, tmp_path_factory):
    made = tmp_path_factory.mktemp("methods")
    assert work(made, few.jobs, processes=1) == []
    write_results(made, [few], OPTIONS)
    return made


def test_results_are_read_back_by_subject_contender_and_seed(few, folder):
    results = read_results(Store(folder), few)
    assert list(results) == ["synthetic-warmstart, L(C)", "drawn-porian-hp, noise × 2"]
    found = results["synthetic-warmstart, L(C)"]
    assert set(found) == {*CHOSEN, "frontier-observed"}
    assert found["random"].seeds.tolist() == [0, 1]
    table = pd.read_parquet(folder / "methods.parquet")
    rows = table[(table["family"] == "drawn-porian-hp, noise × 2") & (table["fit"] == "fantasized")]
    ours = rows[(rows["method"] == "frontier") & (rows["budget"] == 0.01)].sort_values("seed")
    kept = results["drawn-porian-hp, noise × 2"]["frontier"].at("difference", 0.01)
    np.testing.assert_allclose(ours["difference"], kept)


def test_the_tables_say_what_is_to_be_reached_then_ranks_tests_studies_and_seconds(few, folder):
    tables = {table.name: table for table in methods_tables(read_results(Store(folder), few))}
    assert next(iter(tables)) == "methods-bars"
    assert list(tables)[-1] == "methods-seconds"
    details = [table for table in tables.values() if table.detail]
    assert [table.title for table in details] == [
        "synthetic-warmstart, L(C): mean ± SD over seeds",
        "drawn-porian-hp, noise × 2: mean ± SD over seeds",
    ]
    truth = [row for row in details[1].rows if row[1] == "the whole pool's law"]
    assert truth[0][0] == METRICS[-1].label
    assert len(tables["methods-seconds"].rows) == 4
    # The rivals that were not run leave nothing to rank: a rank needs all of them.
    assert "methods-ranks-rival" not in tables
    # Nor can two seeds be certain of anything, so no table says on how many studies ours is.
    assert "methods-tests-rival" not in tables
    tests = tables_module.tests_table(read_results(Store(folder), few), "rival")
    assert {row[1] for row in tests.rows} == {
        "Window, LCB (paper)",
        "random",
        "cheapest first",
    }


def test_the_page_folds_the_tables_of_single_studies(few, folder):
    made = section_module.sections([few], Store(folder))
    text = write_page(folder, made).read_text(encoding="utf-8")
    assert text.count("<details><summary>") == 2
    assert f"<h1>{few.title}</h1>" in text  # it is not the paper's
    assert 'id="framework"' not in text
    assert 'id="table-methods-bars"' in text
    summary = json.loads((folder / "summary.json").read_text())
    drawn = summary["studies"]["drawn-porian-hp, noise × 2"]
    assert (drawn["synthetic"], drawn["digest"]) == (True, "drawn by seed")


def test_before_anything_is_finished_there_are_no_tables(few, tmp_path):
    assert methods_tables(read_results(Store(tmp_path), few)) == []
