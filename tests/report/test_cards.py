"""Cards: all there, in the order a reader asks, and one that cannot be made says why."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from lawsmith.laws.catalogue import LC
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report import CARDS, cards_of
from lawsmith.report.cards.cautions import PLACES
from lawsmith.report.parts import Absent, Figure, Listing, Log, RunTable, Tiles

from . import sources

ONLY_LIVE = {"progress", "next", "failures"}


def by_name(source):
    return {card.name: card for card in cards_of(source)}


def figures(source):
    parts = [part for card in cards_of(source) for part in card.parts]
    return {p.name: p for p in parts if isinstance(p, Figure | Absent)}


def test_every_card_is_there_in_the_order_a_reader_asks(source):
    found = [card.name for card in cards_of(source)]
    wanted = [n for n in CARDS if source.kind == "live" or n not in ONLY_LIVE]
    if source.live is not None and not source.live.failures:
        wanted.remove("failures")
    assert found == wanted
    assert found[0] == "answer"


def test_every_card_has_something_to_show(source):
    for card in cards_of(source):
        assert card.parts, card.name
        assert card.lead.endswith("."), card.name


def test_a_table_shows_all_figures_but_those_of_time(table):
    found = figures(table)
    absent = {name: p.reason for name, p in found.items() if isinstance(p, Absent)}
    assert set(absent) == {"narrowing", "timeline"}
    assert "order" in absent["timeline"]
    assert {"law", "isoflop", "curves", "allocation", "maps", "hyperparameters"} <= set(found)
    assert {"residuals", "pairs"} <= set(found)


def test_a_replay_shows_how_the_answer_narrowed_and_what_was_chosen(replay):
    found = figures(replay)
    for name in ("law", "narrowing", "recovery", "timeline", "choices", "pairs", "maps"):
        assert isinstance(found[name], Figure), (name, found[name])


def test_a_live_study_shows_its_runs_and_what_comes_next(live):
    found = by_name(live)
    next_runs = next(p for p in found["next"].parts if isinstance(p, Listing))
    assert 1 <= len(next_runs.rows) <= 4
    assert "law's variance removed" in next_runs.columns
    assert isinstance(figures(live)["timeline"], Figure)
    assert isinstance(figures(live)["clock"], Figure)
    assert isinstance(figures(live)["narrowing"], Figure)


def test_only_a_live_study_has_a_clock(replay):
    assert "clock" not in figures(replay)
    assert isinstance(figures(replay)["timeline"], Figure)


def test_captions_name_only_what_is_drawn(replay, table):
    shown = figures(replay)
    assert "hollow" in shown["law"].caption  # a short replay: most of the envelope was not run
    whole = replace(replay.seen.outlook, observed=np.ones_like(replay.seen.outlook.observed))
    all_run = replace(replay, seen=replace(replay.seen, outlook=whole))
    assert "hollow" not in figures(all_run)["law"].caption
    assert "window" not in figures(replay)["timeline"].caption
    grown = tuple(replace(e, window=float(i + 1)) for i, e in enumerate(replay.events))
    assert "window" in figures(replace(replay, events=grown))["timeline"].caption
    assert "not the law of the answer" not in figures(table)["curves"].caption
    assert "not the law of the answer" in figures(replay)["curves"].caption


def test_a_study_without_a_run_says_so_in_every_place(begun):
    for name, part in figures(begun).items():
        assert isinstance(part, Absent), name
        assert part.reason
    assert "there is no law yet" in by_name(begun)["answer"].lead


def test_the_tail_of_a_failed_runs_log_is_shown(live):
    logs = [p for p in by_name(live)["failures"].parts if isinstance(p, Log)]
    assert len(logs) == 1
    assert "RuntimeError: out of luck" in logs[0].text
    assert "crash" in logs[0].title


def test_a_warning_stands_with_the_figure_it_concerns(table):
    analysis = replace(
        table.analysis, warnings=tuple(Diagnostic(code, f"about {code}") for code in PLACES)
    )
    source = replace(table, analysis=analysis, shares=analysis)
    for card in cards_of(source):
        own = [c.code for c in card.cautions]
        beside = [c.code for p in card.parts if isinstance(p, Figure | Absent) for c in p.cautions]
        assert set(own + beside) == {code for code, place in PLACES.items() if place == card.name}
        if card.name != "answer":
            assert not own, "beside the figure, not somewhere in the card"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("extrapolation_decades", "answer"),
        ("frontier_optimism", "law"),
        ("isoflop_unbracketed", "isoflop"),
        ("lack_of_fit", "residuals"),
        ("influential_point", "residuals"),
        ("ill_conditioned", "parameters"),
    ],
)
def test_each_kind_of_warning_has_its_card(code, name):
    assert PLACES[code] == name


def test_a_warning_of_a_new_kind_is_not_lost(table):
    analysis = replace(table.analysis, warnings=(Diagnostic("brand_new", "never seen"),))
    law = by_name(replace(table, analysis=analysis))["law"]
    assert [c.code for c in law.parts[0].cautions] == ["brand_new"]


def test_an_envelope_of_fantasies_is_called_one(replay):
    observed = replay.seen.outlook.observed
    law = by_name(replay)["law"].parts[0]
    mostly = (~observed).sum() > 0.5 * len(observed)
    assert ("mostly_fantasized" in [c.code for c in law.cautions]) == mostly


def test_a_law_of_compute_borrows_a_law_of_size_and_tokens_to_divide_compute():
    source = sources.table(LC)
    assert source.shares.law.name == "chinchilla"
    assert isinstance(figures(source)["allocation"], Figure)
    tiles = [p for p in by_name(source)["answer"].parts if isinstance(p, Tiles)]
    labels = [tile.label for part in tiles for tile in part.tiles]
    assert "Best parameters N*" in labels
    detail = next(t.detail for part in tiles for t in part.tiles if t.label == "Best tokens D*")
    assert "by a law of N and D" in detail


def test_a_law_that_cannot_be_fitted_says_why_in_its_place(table):
    why = "1 level of C"
    source = replace(table, analysis=None, why_no_law=why, shares=None, why_no_shares=why)
    found = figures(source)
    for name in ("law", "isoflop", "allocation", "residuals", "pairs"):
        assert found[name].reason == why


@pytest.mark.parametrize("kind", ["table", "replay", "live"])
def test_the_run_table_holds_every_run(kind, request):
    source = request.getfixturevalue(kind)
    part = next(p for p in by_name(source)["runs"].parts if isinstance(p, RunTable))
    n_runs = {"table": 924, "replay": 18, "live": 17}[kind]
    assert part.n_runs == n_runs
    assert {len(column.values) for column in part.columns} == {n_runs}
    json.dumps([list(column.values) for column in part.columns], allow_nan=False)
