"""ScaleBench as a suite: its jobs, and the table of R² beside the published figures."""

from __future__ import annotations

import json

import pytest

from lawsmith.errors import LawsmithError
from lawsmith_paper.jobs import Job
from lawsmith_paper.kinds import KINDS
from lawsmith_paper.plan import Options, Suite
from lawsmith_paper.scalebench import run as scalebench_run
from lawsmith_paper.scalebench import suite as scalebench_suite
from lawsmith_paper.scalebench.run import jobs
from lawsmith_paper.scalebench.suite import cell, is_constant, scalebench, scalebench_tables
from lawsmith_paper.scalebench.tasks import TASKS
from lawsmith_paper.store import Store


def line(settings, fit, budget, r2):
    return {
        "task": settings["task"],
        "policy": f"{settings['space']}+{settings['surrogate']}",
        "fit": fit,
        "seed": settings["seed"],
        "budget": budget,
        "cost_fraction": budget,
        "n_runs": 9,
        "r2": r2,
        "r2_raw": r2,
        "params": {"E": 1.0},
        "published": 0.5,
    }


def r2_of(settings, fit, budget):
    """Random search depends on the seed, the GP does not but for the last digits."""
    if budget == 0.01:
        return None if settings["seed"] == 0 or settings["surrogate"] == "gp" else 0.25
    if settings["surrogate"] == "none":
        return 0.2 + 0.2 * settings["seed"]
    return (0.9 if fit == "observed" else 0.8) + 1e-7 * settings["seed"]


@pytest.fixture
def stored(tmp_path):
    """The suite of one task under two seeds, its Window jobs finished."""
    chosen = [s for s in jobs(range(2)) if s["task"] == "moe"]
    suite = Suite("scalebench", "", "", more=tuple(Job("scalebench", s, "d") for s in chosen))
    store = Store(tmp_path)
    for job in suite.jobs:
        known = job.settings
        fits = ("observed",) if known["surrogate"] == "none" else ("observed", "fantasized")
        with store.writer(job, 1) as (_, writer):
            if known["space"] != "window":
                continue
            for budget in TASKS["moe"].budgets:
                for fit in fits:
                    writer.line(line(known, fit, budget, r2_of(known, fit, budget)))
            writer.end({"lines": 3, "seconds": 1.0})
    return store, suite


def test_a_table_has_ours_by_method_beside_the_published_figures(stored):
    (table,) = scalebench_tables(*stored)
    assert table.name == "scalebench-window"
    assert table.columns == (
        "task",
        "budget",
        "random",
        *(f"GP, {rule}, {fit}" for rule in ("LCB", "EI") for fit in ("fantasized", "observed")),
        "published, MSPE",
        "published, whole pool",
    )
    assert [row[:2] for row in table.rows] == [("moe", "1 %"), ("moe", "5 %"), ("moe", "10 %")]
    assert table.rows[1][2:5] == ("0.30 ± 0.14", "0.80", "0.90")
    assert table.rows[1][-2:] == ("0.65 ± 0.27", "0.81 ± 0.04")


def test_a_run_without_a_law_is_counted_as_minus_one_and_said(stored):
    (table,) = scalebench_tables(*stored)
    assert table.rows[0][2:4] == ("-0.38 ± 0.88 (1 of 2 without a law)", "no law")


def test_the_note_says_what_the_comparison_is_not(stored):
    (table,) = scalebench_tables(*stored)
    assert "Not like for like" in table.note
    assert "law families" in table.note
    assert "compared on the target region" in table.note
    assert "the same for every seed" in table.note  # rather than ± 0.00


def test_seeds_that_differ_keep_their_deviation_however_small():
    row = {"r2_mean": 0.5, "n_seeds": 3, "n_without_law": 0}
    assert cell({**row, "r2_sd": 2e-3}) == "0.50 ± 0.00"
    assert cell({**row, "r2_sd": 1e-9}) == "0.50"
    assert cell({**row, "r2_sd": None, "n_seeds": 1}) == "0.50"
    assert not is_constant({"r2_sd": None})


def test_a_kind_of_its_own_with_a_table_of_its_own(monkeypatch):
    kind = KINDS["scalebench"]
    settings = next(s for s in jobs([3]) if s["task"] == "vocab")
    assert kind.study(settings) == "scalebench-vocab"
    assert (kind.table, kind.block(settings), kind.alone) == ("scalebench", 1, False)
    made = line(settings, "observed", 0.1, 0.5)
    (row,) = kind.rows(settings, [made])
    assert row["space"] == "window"
    assert row["reach"] == 2.0
    assert json.loads(row["params"]) == {"E": 1.0}


def test_without_its_tables_the_suite_is_refused_and_says_how_to_have_them(monkeypatch):
    monkeypatch.setattr(scalebench_suite.datasets, "present", lambda entry: False)
    with pytest.raises(LawsmithError, match="load downloads them: scalebench-lr_bsz"):
        scalebench(Options(seeds=1))


def test_the_suite_has_every_task_and_policy_of_the_tables_at_hand(published, monkeypatch):
    for task in TASKS.values():
        published(task.study)
    suite = scalebench(Options(seeds=2))
    assert len(suite.jobs) == (7 * 6 + 6) * 2
    assert "Left out" not in suite.about
    law, facts = KINDS["scalebench"].facts(suite.jobs[0].settings)
    assert law == "chinchilla-bowl"
    assert facts["n_target"] == 117
    only = {"scalebench-moe"}
    monkeypatch.setattr(scalebench_suite.datasets, "present", lambda entry: entry.name in only)
    few = scalebench(Options(seeds=2))
    assert {job.settings["task"] for job in few.jobs} == {"moe"}
    assert "Left out for want of a table: scalebench-lr_bsz" in few.about


def test_a_finished_job_gives_the_lines_of_its_task(published, tmp_path):
    published("scalebench-parallel")
    settings = next(s for s in jobs([0]) if s["task"] == "parallel" and s["surrogate"] == "none")
    lines = list(scalebench_run.lines(settings, []))
    assert len(lines) == KINDS["scalebench"].n_lines(settings) == 3
    assert lines[-1]["r2"] > 0.9
