"""Sections: what each suite shows, and sentences that say what the numbers do."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lawsmith import datasets
from lawsmith.charts.theme import PRINT
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import get_law
from lawsmith.replay import prepare
from lawsmith_paper import suites as suite_module
from lawsmith_paper.counts import count_remarks, count_tables
from lawsmith_paper.figures import FOLDER, Picture, write_pictures
from lawsmith_paper.plan import STUDIES, Figure, Options, Suite, line, setting, source
from lawsmith_paper.published import FINDINGS, MeanSD
from lawsmith_paper.remarks import (
    common_budgets,
    figure_remark,
    same_runs,
    standings,
    verdict,
)
from lawsmith_paper.results import lines_of
from lawsmith_paper.sections import BUILDERS, sections
from lawsmith_paper.store import Store
from lawsmith_paper.studies import entry as known
from lawsmith_paper.studies import load
from lawsmith_paper.suites import PAPER, SUITES, suites_named, unidentified
from lawsmith_paper.tables import at
from lawsmith_paper.work import work

OPTIONS = Options(seeds=2, iterations=40)
STUDY = "synthetic-porian-hp"


def small_suite(name="small", **changes):
    lines = {
        "Window": line(STUDY, "LC", setting(), OPTIONS),
        "Full": line(STUDY, "LC", setting(policy="full"), OPTIONS),
    }
    figure = Figure(name, "Recovery of the law", STUDY, "LC", lines, **changes)
    return Suite(name, "A small suite", "Two seeds.", (figure,))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    assert work(folder, small_suite().jobs, processes=1) == []
    return Store(folder)


@pytest.fixture
def lines(store):
    return lines_of(store, small_suite().figures[0])


def test_the_paper_is_its_claims_then_its_suites_in_order():
    assert (
        *("claims", "pitch", "main", "extrapolation", "coefficients", "datasets"),
        *("surrogates", "kernels", "acquisitions", "lnd", "window"),
        *("hyperpriors", "botorch", "weights"),
    ) == PAPER
    assert set(PAPER) <= set(SUITES)
    with pytest.raises(LawsmithError, match="'papers', want one of paper, claims, pitch"):
        suites_named("papers", OPTIONS)


def test_the_two_tables_take_the_main_results_jobs(monkeypatch):
    monkeypatch.setattr(suite_module, "source", lambda study: "synthetic-porian-hp")
    jobs = {name: SUITES[name](OPTIONS).jobs for name in ("main", "extrapolation", "coefficients")}
    assert jobs["main"] == jobs["extrapolation"] == jobs["coefficients"]
    assert len(jobs["main"]) == 4  # the two figures show the same replays
    assert SUITES["pitch"](OPTIONS).jobs == []


def test_any_suite_of_replays_has_its_figures_and_one_table(store):
    (section,) = sections([small_suite()], store)
    assert section.about == "Two seeds."
    assert [picture.name for picture in section.figures] == ["small"]
    (table,) = section.tables
    assert table.title == f"L(C) at round budgets: {STUDY}"
    assert section.figures[0].caption.startswith("At ")


def test_what_is_not_finished_is_told(tmp_path):
    suite = small_suite()
    (section,) = sections([suite], Store(tmp_path))
    assert section.about.endswith(" 0 of 4 replays are finished.")
    assert (section.tables, section.figures) == ((), ())
    work(tmp_path, suite.jobs[:1], processes=1)
    (section,) = sections([suite], Store(tmp_path))
    assert section.about.endswith(" 1 of 4 replays are finished.")
    assert {row[0] for row in section.tables[0].rows} == {"Window"}


def test_the_main_result_has_its_spends_and_their_remarks(store):
    section = BUILDERS["main"](small_suite("main"), store)
    assert [table.name for table in section.tables] == ["speedup", "spend", "main-budgets"]
    assert [re.search(r"the paper says (\d+)×", r)[1] for r in section.remarks] == ["10", "100"]
    assert all("synthetic" in table.title for table in section.tables)


@pytest.mark.parametrize("name", ["extrapolation", "coefficients"])
def test_a_table_of_the_paper_stands_alone_with_a_sentence_on_each_difference(store, name):
    section = BUILDERS[name](small_suite(name), store)
    assert [table.name for table in section.tables] == [name]
    assert section.figures == ()
    assert len(section.remarks) > 1
    ours = [cell for row in section.tables[0].rows for cell in row]
    for remark in section.remarks[1:]:
        told = re.findall(r"[−\d.]+ ± [\d.]+", remark)
        assert len(told) == 3
        assert set(told) <= set(ours)


def test_without_results_a_table_of_the_paper_is_left_out(tmp_path):
    section = BUILDERS["coefficients"](small_suite("coefficients"), Store(tmp_path))
    assert (section.tables, section.remarks) == ((), ())


def test_the_first_figure_says_which_study_and_how_many_points(tmp_path):
    section = BUILDERS["pitch"](SUITES["pitch"](OPTIONS), Store(tmp_path))
    found = source("oellm-english")
    n = len(prepare(load(found), get_law("LC")).reference.envelope)
    assert section.remarks[0].startswith(f"The frontier of the pool of {found} has {n} points")
    assert "shows 14" in section.remarks[0]
    caption = section.figures[0].caption
    assert len(re.findall(r"[+−][\d.]+ %", caption)) == 2
    assert "90th percentile" in caption


def test_the_dataset_tables_have_our_counts_above_the_papers():
    sizes, scales = count_tables()
    for i, study in enumerate(STUDIES):
        used, entry = source(study), known(study)
        counted, paper = datasets.count_study(load(used)), entry.paper
        ours, theirs = sizes.rows[2 * i : 2 * i + 2]
        assert ours[:4] == (used, "here", str(counted.runs), str(counted.N))
        assert theirs[:4] == (used, "paper", str(paper.runs), str(paper.N))
        assert theirs[-1] == str(paper.ND_lr_batch)
    assert scales.rows[1][2:] == ("47.6M to 1.71B", "6B to 300B", "1.45e23")
    assert len(scales.rows) == 10


def test_differences_of_counts_are_told_with_their_reasons(published):
    published("oellm-english")
    first = count_remarks()[0]
    assert first.startswith("oellm-english: 909 runs, not 942; 7 batch sizes, not 8;")
    assert "2.46e23 FLOPs in total, not 1.45e23" in first
    assert "probably StepLaw's" in first


def test_a_twin_is_called_synthetic_wherever_it_stands(monkeypatch):
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    remarks = count_remarks()
    assert all(remark.startswith("synthetic-") for remark in remarks)
    assert "(synthetic: the table of warmstart is not at hand)" in remarks[3]
    assert {row[0] for row in count_tables()[0].rows} == {f"synthetic-{name}" for name in STUDIES}


def test_a_law_that_cannot_be_identified_is_marked(tmp_path):
    law = get_law("chinchilla")
    task = prepare(load(STUDY), law, force=True)
    assert "cannot be told apart" in unidentified(task)
    assert unidentified(prepare(load(STUDY), get_law("LC"))) is None
    figure = suite_module._both("lnd-porian-hp", "porian-hp", "chinchilla", setting(), OPTIONS)
    assert figure.title == "Recovery of the law (not identified)"


def test_a_figures_sentence_has_the_values_at_its_budget(lines):
    *_, budget = common_budgets(lines)
    assert budget in (0.01, 0.05, 0.1)
    assert budget <= min(run.cost_fraction[-1] for runs in lines.values() for run in runs)
    told = figure_remark("datasets-steplaw", lines, ("fantasized",))
    share = at(lines["Window"], [100 * r.envelope["fantasized"] for r in lines["Window"]], budget)
    mean, sd = share.mean(), share.std(ddof=1)
    assert f"Window + fantasized has {mean:.0f} ± {sd:.0f} % of the envelope" in told
    assert told.endswith(f"The paper finds of the real study that {FINDINGS['datasets-steplaw']}.")


def test_many_labels_are_told_by_the_best_and_the_worst(lines):
    three = {"a": lines["Window"], "b": lines["Full"], "c": lines["Window"]}
    told = figure_remark("none", three, ("fantasized",))
    assert told.startswith("a and c choose the same runs. At ")
    envelope, prediction = standings(three, "fantasized", common_budgets(three)[-1])
    for standing, sign in ((envelope, -1), (prediction, 1)):
        means = {label: np.nanmean(values) for label, values in standing.values.items()}
        best, *_, worst = sorted(means, key=lambda label: sign * means[label])
        assert f"{best} {standing.told(best)}, the best of 3" in told
        assert f"{worst} {standing.told(worst)}, the worst" in told
    assert same_runs(lines) in ([], [["Window", "Full"]])


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        ((1.0, 1.2), "ours is within its SD"),
        ((3.0, np.nan), "ours is higher by 2.00"),
        ((0.2, 0.4), "ours is lower by 0.70"),
    ],
)
def test_a_verdict_goes_by_the_papers_own_spread(ours, told):
    assert verdict(np.array(ours), MeanSD(1.0, 0.5), 2) == told


def test_every_picture_is_written_in_four_formats_those_for_papers_in_print(store, tmp_path):
    (section,) = sections([small_suite()], store)
    paths = write_pictures(tmp_path, section.figures)
    assert {path.name for path in paths} == {f"small.{s}" for s in ("html", "png", "svg", "pdf")}
    assert all(path.parent == tmp_path / FOLDER for path in paths)
    svg = (tmp_path / FOLDER / "small.svg").read_text(encoding="utf-8")
    assert PRINT.series[0] in svg
    assert "synthetic-porian-hp" in svg
    assert isinstance(section.figures[0], Picture)
