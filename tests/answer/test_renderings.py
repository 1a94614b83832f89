"""One answer, however it is shown: on the terminal, as JSON, on a page, in a notebook, in a chart.

A table, a replay and a live study are each asked once by every way there is. What is read back must
be the numbers of the Answer, to the digits shown.
"""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lawsmith.analysis import FitOptions
from lawsmith.answer import Answer, Forecast, Target, answer
from lawsmith.charts import answer as draw_answer
from lawsmith.charts.answer import AnswerWithRuns, answer_data, answer_with_runs
from lawsmith.cli import main
from lawsmith.datasets import ReadOptions, load
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LC
from lawsmith.report import Record, Source, read_replay, replay_source, table_source
from lawsmith.report.cards.answer import answer as answer_card
from lawsmith.report.findings import find_answer
from lawsmith.report.live_source import live_source
from lawsmith.report.parts import Paragraph, Tiles
from lawsmith.report.source import Findings
from lawsmith.stopping import StopRule
from lawsmith.study.answer import answer_of
from tests.conftest import no_charts
from tests.report.sources import live_study

from . import reading, tables

TARGETS = (Target(1e22), Target(6 * 3.3e9 * 5e10, 3.3e9, 5e10), Target(1e24))
OPTIONS = ("--target", "1e22", "--at", "N=3.3B,D=50B", "--target", "1e24")
KINDS = ("table", "replay", "live")
KEYS = {
    *("compute", "N", "D", "loss", "low", "high", "run_low", "run_high"),
    *("level", "decades", "scales", "hyperparameters", "at_edge"),
}
ABOUT = {"verdict", "level", "n_runs", "n_diverged", "largest_compute", "held_out_runs"}


def printed(*args: object) -> str:
    """What a command prints on a terminal that is wide enough."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("COLUMNS", "200")
        assert main([str(arg) for arg in args]) == 0
    return out.getvalue()


@dataclass(frozen=True)
class Shown:
    """An answer and everything that shows it."""

    made: Answer
    answered: AnswerWithRuns
    source: Source
    told: Any
    text: str
    page: str

    @property
    def labels(self) -> list[str]:
        return [f.target.label for f in self.made.forecasts]

    @property
    def codes(self) -> list[str]:
        return [w.code for w in self.made.warnings]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, shared_fits):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWSMITH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield tmp_path_factory.mktemp("shown")


@pytest.fixture(scope="module")
def csv(folder: Path) -> Path:
    """A sweep of 100 runs."""
    path = folder / "sweep.csv"
    tables.sweep(5).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def table(csv: Path, folder: Path) -> Shown:
    """`fit` and `report` of a table, the upper nine tenths of compute held out."""
    asked = (csv, "--hold-out", "0.9", *OPTIONS)
    page = folder / "table.html"
    printed("report", *asked, "--out", page)
    study = load(str(csv), ReadOptions())
    rule = HeldOut.by_compute(0.9)
    held = study.grid.split(rule)[1]
    made = answer(study.grid, study.runs, TARGETS, study=study.name, held_out=held)
    source = table_source(study, FitOptions(LC, hold_out=rule), TARGETS, Record())
    return Shown(
        made=made,
        answered=answer_with_runs(made, study),
        source=source,
        told=json.loads(printed("fit", *asked, "--json")),
        text=printed("fit", *asked),
        page=page.read_text(encoding="utf-8"),
    )


@pytest.fixture(scope="module")
def replay(csv: Path, folder: Path) -> Shown:
    """`replay` of that table, and `report` of the folder that it wrote."""
    asked = ("replay", csv, "--hold-out", "0", "--budget", "8%", *OPTIONS)
    page = folder / "replay.html"
    with no_charts():
        told = json.loads(printed(*asked, "--json", "--out", folder / "replay"))
    printed("report", folder / "replay", "--out", page)
    source = replay_source(read_replay(folder / "replay" / "trace.json", ReadOptions()), Record())
    assert source.findings.answered is not None
    return Shown(
        made=source.findings.answered.answer,
        answered=source.findings.answered,
        source=source,
        told=told,
        text=printed(*asked),
        page=page.read_text(encoding="utf-8"),
    )


@pytest.fixture(scope="module")
def live(folder: Path) -> Shown:
    """`status` and `report` of a live study of 16 runs, one of which diverged."""
    study = live_study(folder / "live", n_runs=16, diverge=4)
    page = folder / "live.html"
    printed("report", folder / "live", "--out", page)
    ledger = study.read()
    found = find_answer(study, ledger, Findings())
    made = answer_of(study, ledger).answer
    assert made is not None
    assert found.answered is not None
    return Shown(
        made=made,
        answered=found.answered,
        source=live_source(study, ledger, found, Record()),
        told=json.loads(printed("status", study.layout.file, "--json")),
        text=printed("status", study.layout.file),
        page=page.read_text(encoding="utf-8"),
    )


@pytest.fixture(params=KINDS)
def shown(request) -> Shown:
    return request.getfixturevalue(request.param)


def expected(f: Forecast) -> dict[str, tuple[float, ...] | str]:
    """What a reader is to find of a forecast."""
    scales = {} if f.target.sized else f.scales
    ranges = {name: tuple(r) for name, r in {**scales, **f.hp}.items()}
    return {
        "best loss": (f.loss, f.low, f.high),
        "one further run": (f.loss, f.run_low, f.run_high),
        **ranges,
        **f.levels,
    }


def check(read: dict[str, reading.Read], shown: Shown) -> None:
    assert list(read) == shown.labels
    for f, found in zip(shown.made.forecasts, read.values(), strict=True):
        wanted = expected(f)
        assert list(found) == list(wanted)
        for what, numbers in wanted.items():
            digits = 5.1e-4 if what in ("best loss", "one further run") else 5.1e-3
            same = numbers if isinstance(numbers, str) else pytest.approx(numbers, rel=digits)
            assert found[what] == same, what


def test_the_json_is_the_answer(shown):
    assert len(shown.told["answers"]) == len(shown.made.forecasts) >= 1
    for told, f in zip(shown.told["answers"], shown.made.forecasts, strict=True):
        assert set(told) == KEYS
        names = ("loss", "low", "high", "run_low", "run_high", "decades")
        assert [told[name] for name in names] == pytest.approx(
            [getattr(f, name) for name in names], rel=1e-9
        )
        assert told["compute"] == pytest.approx(f.compute)
        assert (told["N"], told["D"]) == pytest.approx(
            (f.scales["N"].centre, f.scales["D"].centre), rel=1e-9
        )
        for name, r in {**f.scales, **f.hp}.items():
            where = told["scales" if name in f.scales else "hyperparameters"][name]
            ends = (where["value"], *where["interval"], *where["near"])
            assert ends == pytest.approx(tuple(r), rel=1e-9)
    assert set(shown.told) >= ABOUT
    assert shown.told["verdict"] == shown.made.verdict
    assert [w["code"] for w in shown.told["answer_warnings"]] == shown.codes
    assert (shown.told["n_runs"], shown.told["n_diverged"]) == (
        *(shown.made.n_runs, shown.made.n_diverged),
    )


def test_the_terminal_shows_the_numbers_of_the_answer(shown):
    check(reading.of_text(shown.text, shown.labels), shown)
    assert shown.made.verdict in reading.words(shown.text)
    assert reading.codes_of_text(shown.text) == shown.codes
    assert len(shown.codes) >= 1


def test_a_summary_shows_the_numbers_of_the_answer(shown):
    text = shown.made.summary()
    check(reading.of_text(text, shown.labels), shown)
    assert shown.made.verdict in text.splitlines()
    for warning in shown.made.warnings:
        assert f"{warning.code}: {warning.message}" in text.splitlines()


def test_a_notebook_shows_the_numbers_of_the_answer(shown):
    html = shown.made._repr_html_()
    check(reading.of_tables(html), shown)
    assert shown.made.verdict in reading.words(html)
    for code in shown.codes:
        assert f"<code>{code}</code>" in html


def test_the_page_of_a_report_shows_the_numbers_of_the_answer(shown):
    check(reading.of_page(shown.page), shown)
    assert shown.made.verdict in reading.words(reading.section(shown.page))
    assert reading.codes_of_page(shown.page) == shown.codes


def test_the_card_of_a_report_is_made_of_the_answer(shown):
    card = answer_card(shown.source)
    first = shown.made.forecasts[0]
    ends = f"[{first.low:#.4g}, {first.high:#.4g}]"
    assert f"is {first.loss:#.4g} at {first.target.label}, 95% interval {ends}." in card.lead
    words = next(part for part in card.parts if isinstance(part, Paragraph))
    assert words.text == shown.made.verdict
    (tile, *_) = next(part for part in card.parts if isinstance(part, Tiles)).tiles
    assert tile.label == f"Best loss at {shown.labels[0]}"
    assert tile.value == f"{first.loss:#.4g}"
    assert [c.code for c in card.cautions] == shown.codes


def test_the_answer_chart_marks_the_numbers_of_the_answer(shown):
    data = answer_data(shown.answered)
    names = ["C", "loss", "low", "high"]
    wanted = [
        [f.compute, f.loss, f.low, f.high] for f in shown.made.forecasts if not f.target.sized
    ]
    assert data.targets[names].to_numpy().tolist() == [pytest.approx(w, rel=1e-6) for w in wanted]
    assert data.line.iloc[-1][names].tolist() == pytest.approx(wanted[0], rel=1e-4)
    drawn = str(draw_answer(shown.answered).to_dict()["datasets"])
    assert f"{data.targets['loss'].iloc[0]}" in drawn


def test_a_stop_rule_holds_the_interval_of_the_answer_against_its_share(shown):
    first = shown.made.forecasts[0]
    half = (first.high - first.low) / 2 / first.loss
    assert StopRule(first.compute, 1.0001 * half).met(shown.made)
    assert not StopRule(first.compute, 0.9999 * half).met(shown.made)
    told = float(shown.made.verdict.partition("±")[2].partition("%")[0])
    assert told == pytest.approx(100 * half, rel=0.051)


def test_held_out_runs_are_counted_alike(table):
    judged = table.made.held_out
    assert judged is not None
    told = table.told["held_out_runs"]
    n, inside = len(judged.rows), int(judged.inside.sum())
    assert (told["n"], told["n_inside"]) == (n, inside)
    assert [run["loss"] for run in told["runs"]] == pytest.approx(judged.measured.tolist())
    words = f"Held out: {inside} of {n} held-out best runs inside their 95% intervals"
    for text in (table.text, table.page, table.made.summary(), table.made._repr_html_()):
        assert words in reading.words(text)


def test_a_replay_holds_nothing_out_when_told_so(replay):
    assert replay.told["held_out_runs"] is None
    assert replay.told["pool"]["n"] == 100
    assert "held out none" in reading.words(replay.text)


def test_a_replays_whole_pool_is_shown_beside_it(replay):
    whole = replay.answered.pool_answer
    assert whole is not None
    told, f = replay.told["whole_pool"]["answers"][0], whole.forecasts[0]
    assert told["loss"] == pytest.approx(f.loss, rel=1e-9)
    ends = f"{f.loss:#.4g} [{f.low:#.4g}, {f.high:#.4g}]"
    assert ends in reading.words(replay.text)
    assert ends in reading.words(reading.section(replay.page))


def test_fit_replay_and_status_have_the_same_objects(table, replay, live):
    keys = [set(shown.told["answers"][0]) for shown in (table, replay, live)]
    assert keys == [KEYS] * 3
    for name in (*ABOUT, "answer_warnings"):
        assert all(name in shown.told for shown in (table, replay, live)), name
