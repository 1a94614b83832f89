"""Cards: all there, in the order a reader asks, and one that cannot be made says why."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lawsmith.laws.catalogue import LC
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.uncertainty import Interval, Uncertainty
from lawsmith.report import CARDS, cards_of
from lawsmith.report.cards.figures import PLACES
from lawsmith.report.parts import (
    Absent,
    Card,
    Figure,
    Listing,
    Log,
    Paragraph,
    RunTable,
    Tiles,
    without_empty,
)

from . import sources
from .sources import cards, with_found

ONLY_LIVE = {"progress", "next", "failures"}


def by_name(source):
    return {card.name: card for card in cards(source)}


def figures(source):
    parts = [part for card in cards(source) for part in card.parts]
    return {p.name: p for p in parts if isinstance(p, Figure | Absent)}


def test_every_card_is_there_in_the_order_a_reader_asks(source):
    found = [card.name for card in cards(source)]
    wanted = [n for n in CARDS if source.kind == "live" or n not in ONLY_LIVE]
    wanted.remove("along")  # no source here has curves
    if source.live is not None and not source.live.ledger.trials:
        wanted.remove("failures")
    wanted.remove("tasks")  # none was asked for
    assert found == wanted
    assert found[0] == "answer"


def test_every_card_has_something_to_show(source):
    for card in cards(source):
        assert card.parts, card.name
        assert card.lead.endswith("."), card.name


def test_a_table_shows_all_figures_but_those_of_time(table):
    found = figures(table)
    absent = {name: p.reason for name, p in found.items() if isinstance(p, Absent)}
    assert set(absent) == {"narrowing", "timeline"}
    assert "order" in absent["timeline"]
    names = {"answer", "law", "isoflop", "curves", "allocation", "hyperparameters", "region"}
    assert names | {"residuals"} <= set(found)


def test_a_replay_shows_how_the_answer_narrowed_and_what_was_chosen(replay):
    found = figures(replay)
    for name in ("answer", "law", "narrowing", "allocation", "timeline", "hyperparameters"):
        assert isinstance(found[name], Figure), (name, found[name])


def test_a_live_study_shows_its_runs_and_what_comes_next(live):
    found = by_name(live)
    next_runs = next(p for p in found["next"].parts if isinstance(p, Listing))
    assert 1 <= len(next_runs.rows) <= 4
    assert "worth for the answer" in next_runs.columns
    assert isinstance(figures(live)["timeline"], Figure)
    axes = [part["encoding"]["x"]["title"] for part in lower_panel(figures(live)["timeline"])]
    assert axes[0].startswith("Seconds since ")
    assert isinstance(figures(live)["narrowing"], Figure)


def lower_panel(figure):
    return figure.wide["vconcat"][1]["layer"]


def test_a_replay_knows_the_order_of_its_runs_and_no_clock(replay):
    axes = [part["encoding"]["x"]["title"] for part in lower_panel(figures(replay)["timeline"])]
    assert axes == ["Runs in order"]


def test_captions_name_only_what_is_drawn(replay, table):
    shown = figures(replay)["answer"].caption
    assert "Stars are the best of the runs held out" in shown
    assert "grey line is the answer from all runs of the pool" in shown
    own = replace(
        replay.findings.answered, pool_answer=None, answer=replace(replay.answer, held_out=None)
    )
    bare = figures(with_found(replay, answered=own))["answer"].caption
    assert "Stars" not in bare
    assert "grey line" not in bare
    assert "window" not in figures(replay)["timeline"].caption
    grown = tuple(replace(a, window=float(i + 1)) for i, a in enumerate(replay.attempts))
    assert "window" in figures(replace(replay, attempts=grown))["timeline"].caption
    assert "It is another law" not in figures(table)["curves"].caption
    assert "It is another law" in figures(replay)["curves"].caption


def test_a_study_without_a_run_says_so_in_every_place(begun):
    for name, part in figures(begun).items():
        assert isinstance(part, Absent), name
        assert part.reason
    assert "there is no answer yet" in by_name(begun)["answer"].lead


def test_the_tail_of_a_failed_runs_log_is_shown(live):
    logs = [p for p in by_name(live)["failures"].parts if isinstance(p, Log)]
    assert len(logs) == 1
    assert "RuntimeError: out of luck" in logs[0].text
    assert "crash" in logs[0].title


def test_a_warning_stands_with_the_figure_it_concerns(table):
    analysis = replace(
        table.findings.analysis,
        warnings=tuple(Diagnostic(code, f"about {code}") for code in PLACES),
    )
    source = with_found(table, analysis=analysis, sizes=analysis)
    for card in cards(source):
        own = [c.code for c in card.cautions]
        beside = [c.code for p in card.parts if isinstance(p, Figure | Absent) for c in p.cautions]
        assert set(beside) == {code for code, place in PLACES.items() if place == card.name}
        # Beside the figure and not somewhere in the card, but for those about the answer.
        told = [w.code for w in table.answer.warnings] if card.name == "answer" else []
        assert own == told


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("isoflop_unbracketed", "isoflop"),
        ("lack_of_fit", "residuals"),
        ("influential_point", "residuals"),
    ],
)
def test_each_kind_of_warning_has_its_card(code, name):
    assert PLACES[code] == name


def test_a_parameter_that_is_not_identified_is_called_so(table, monkeypatch):
    known = table.findings.analysis.uncertainty.params(0.95)
    told = {**known, "E": Interval(1.7, float("nan"), float("nan"))}
    monkeypatch.setattr(Uncertainty, "params", lambda self, level: told)
    (card,) = cards_of(table, ["law"])
    (listing,) = [part for part in card.parts if isinstance(part, Listing)]
    intervals = {row[0]: row[2] for row in listing.rows}
    assert intervals["E"] == "not identified"
    low, high = (float(text) for text in intervals["A"].strip("[]").split(", "))
    assert (low, high) == pytest.approx((known["A"].low, known["A"].high), rel=1e-3)


def test_a_warning_of_a_new_kind_is_not_lost(table):
    analysis = replace(table.findings.analysis, warnings=(Diagnostic("brand_new", "never seen"),))
    law = by_name(with_found(table, analysis=analysis))["law"]
    assert [c.code for c in law.parts[0].cautions] == ["brand_new"]


def test_dividing_compute_needs_no_law_of_size_and_tokens():
    source = sources.small_table(LC)
    assert source.findings.analysis.law.name == "LC"
    assert source.findings.sizes.law.name == "chinchilla"
    assert isinstance(figures(source)["allocation"], Figure)
    tiles = [p for p in by_name(source)["answer"].parts if isinstance(p, Tiles)]
    labels = [tile.label for part in tiles for tile in part.tiles]
    assert {"Best N", "Best D", "Best D/N", "Best lr"} <= set(labels)
    bare = with_found(source, sizes=None, analysis=None, why_no_law="none")
    assert isinstance(figures(bare)["allocation"], Figure)
    assert isinstance(figures(bare)["answer"], Figure)


def test_a_law_that_cannot_be_fitted_says_why_in_its_place(table):
    why = "1 level of C"
    source = with_found(table, analysis=None, why_no_law=why, sizes=None)
    found = figures(source)
    for name in ("law", "isoflop", "residuals"):
        assert found[name].reason == why
    assert isinstance(found["answer"], Figure)


def test_without_an_answer_its_figures_say_why(table):
    found = figures(with_found(table, answered=None, why_no_answer="3 finished runs"))
    assert found["answer"].reason == found["allocation"].reason == "3 finished runs"
    assert isinstance(found["law"], Figure)


@pytest.mark.parametrize("kind", ["table", "replay", "live"])
def test_the_run_table_holds_every_run(kind, request):
    source = request.getfixturevalue(kind)
    part = next(p for p in by_name(source)["runs"].parts if isinstance(p, RunTable))
    n_runs = {"table": 924, "replay": 18, "live": 17}[kind]
    assert part.n_runs == n_runs
    assert {len(column.values) for column in part.columns} == {n_runs}
    json.dumps([list(column.values) for column in part.columns], allow_nan=False)


def test_no_card_of_a_page_is_empty_and_the_last_says_what_is_missing(source):
    made = cards(source)
    shown = without_empty(made)
    left = [card for card in made if card.why_empty]
    for card in shown:
        assert not all(isinstance(part, Absent) for part in card.parts), card.name
    if not left:
        assert shown == list(made)
        return
    (facts,) = shown[-1].parts
    told = {title: reason for titles, reason in facts.rows for title in titles.split(", ")}
    assert {title: told[title] for title in told} == {
        card.title: "; ".join(card.why_empty) + "." for card in left
    }
    assert {card.name for card in shown} == {c.name for c in made} - {c.name for c in left} | {
        "absent"
    }


def test_a_card_with_a_warning_is_not_empty():
    absent = Absent("law", "too few runs")
    assert Card("law", "Law", "Lead.", (absent,)).why_empty == ("too few runs",)
    assert Card("law", "Law", "Lead.", (absent,), (Diagnostic("odd", "look"),)).why_empty == ()
    warned = replace(absent, cautions=(Diagnostic("odd", "look"),))
    assert Card("law", "Law", "Lead.", (warned,)).why_empty == ()
    assert Card("law", "Law", "Lead.", (absent, Paragraph("more"))).why_empty == ()
