"""The answer card: numbers of the Answer for a table, a replay and a live study; what was spent."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from lawsmith.answer import answer as make_answer
from lawsmith.answer.text import lines
from lawsmith.formats import count, flops, number
from lawsmith.laws.catalogue import LC
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report.cards.answer import answer
from lawsmith.report.parts import Absent, Links, Listing, Paragraph, Tiles
from lawsmith.study.answer import answer_of

from . import sources
from .sources import with_found


def tiles(source):
    return {
        tile.label: tile for p in answer(source).parts if isinstance(p, Tiles) for tile in p.tiles
    }


def test_a_tables_answer_is_that_of_its_runs():
    source = sources.small_table()
    study, targets = source.study, [f.target for f in source.answer.forecasts]
    again = make_answer(study.grid, study.runs, targets, study=study.name)
    assert again.forecasts == source.answer.forecasts
    first = again.forecasts[0]
    tile = tiles(source)["Best loss at 1e23 FLOPs"]
    assert tile.value == f"{first.loss:#.4g}"
    assert f"95% interval [{first.low:#.4g}, {first.high:#.4g}]" in tile.detail
    assert f"of one further run [{first.run_low:#.4g}, {first.run_high:#.4g}]" in tile.detail
    N = first.scales["N"]
    assert tiles(source)["Best N"].value == count(N.centre)
    assert f"[{count(N.low)}, {count(N.high)}]" in tiles(source)["Best N"].detail
    assert f"best: [{count(N.near_low)}, {count(N.near_high)}]" in tiles(source)["Best N"].detail


def test_the_law_of_a_table_does_not_change_its_answer():
    mine, theirs = sources.small_table(), sources.small_table(LC)
    assert mine.law != theirs.law
    assert mine.answer.forecasts == theirs.answer.forecasts


def test_a_further_target_is_a_listing(table):
    (listing,) = [part for part in answer(table).parts if isinstance(part, Listing)]
    second = table.answer.forecasts[1]
    assert listing.columns[0].startswith("N = 7B, D = 140B, ")
    # A last column tells what is at the edge.
    assert [row[:4] for row in listing.rows] == [tuple(line) for line in lines(second)]


def test_each_further_target_has_a_place_of_its_own(table):
    more = replace(table.answer, forecasts=table.answer.forecasts * 2)
    source = with_found(table, answered=replace(table.findings.answered, answer=more))
    names = [part.name for part in answer(source).parts if isinstance(part, Listing)]
    assert names == ["target-2", "target-3", "target-4"]


def test_a_replays_answer_is_what_the_replay_printed(replay, folder):
    told = json.loads((folder / "trace.json").read_text())
    names = ("loss", "low", "high", "run_low", "run_high")
    assert len(told["answers"]) == len(replay.answer.forecasts)
    for wanted, found in zip(told["answers"], replay.answer.forecasts, strict=True):
        assert [getattr(found, name) for name in names] == pytest.approx(
            [wanted[name] for name in names], rel=1e-9
        )
    assert replay.answer.verdict == told["verdict"]
    pool = told["whole_pool"]["answers"][0]
    assert replay.findings.answered.pool_answer.forecasts[0].loss == pytest.approx(
        pool["loss"], rel=1e-9
    )


def test_the_last_moment_of_a_replay_is_its_answer(replay):
    """Of the first target, by the same runs; what came before was less sure, on the whole."""
    last, first = replay.findings.moments[-1], replay.answer.forecasts[0]
    assert (last.n_runs, last.spend) == (18, pytest.approx(replay.spend.share))
    ends = (last.forecast.loss, last.forecast.low, last.forecast.high)
    assert ends == pytest.approx((first.loss, first.low, first.high), rel=1e-6)
    assert last.forecast.half_width < replay.findings.moments[0].forecast.half_width


def test_a_replay_stands_beside_the_whole_pool_and_the_runs_held_out(replay):
    told = [part.text for part in answer(replay).parts if isinstance(part, Paragraph)]
    assert told[0] == replay.answer.verdict
    assert any(text.startswith("Held out: ") for text in told)
    ours, whole = replay.answer.forecasts[0], replay.findings.answered.pool_answer.forecasts[0]
    off = 100 * abs(ours.loss / whole.loss - 1)
    (beside,) = [text for text in told if text.startswith("The whole pool (")]
    assert f"gives {whole.loss:#.4g} [{whole.low:#.4g}, {whole.high:#.4g}]" in beside
    assert float(beside.partition("differs by ")[2].partition("%")[0]) == pytest.approx(
        off, rel=0.06
    )


def test_a_replay_says_what_was_spent_and_what_the_dense_grid_costs(replay, folder):
    told = json.loads((folder / "trace.json").read_text())
    found = tiles(replay)
    assert found["Compute spent"].value == flops(told["trace"][-1]["cost"])
    assert found["A dense grid"].value == flops(told["pool"]["total_compute"])
    times = told["pool"]["total_compute"] / told["trace"][-1]["cost"]
    assert f"{number(times, 3)} times as much" in found["A dense grid"].detail


def test_a_live_studys_answer_is_that_of_lawsmith_status(live, study):
    wanted = answer_of(study, study.read()).answer
    assert live.answer.forecasts == wanted.forecasts
    assert live.answer.verdict == wanted.verdict


def test_a_live_study_says_what_share_of_its_budget_is_committed(live, study):
    ledger = study.read()
    assert live.spend.spent == pytest.approx(ledger.spend)
    assert live.spend.dense == pytest.approx(float(study.grid.C.sum()))
    share = 100 * ledger.spend / 2e19
    said = re.search(r"([\d.]+)% of the budget", tiles(live)["Compute spent"].detail)
    assert float(said[1]) == pytest.approx(share, abs=0.06)


def test_a_live_answer_says_how_many_runs_it_rests_on(live):
    def told(source):
        return tiles(source)["Best loss at 1e21 FLOPs"].detail.split("\n")[-1]

    assert told(live) == "from all 15 finished runs"
    ahead = replace(live, live=replace(live.live, n_finished=16))
    assert told(ahead) == "from 15 of 16 finished runs, the newest is being added"
    ahead = replace(live, live=replace(live.live, n_finished=18))
    assert told(ahead) == "from 15 of 18 finished runs, the 3 newest are being added"


def test_a_table_too_says_what_its_dense_grid_costs(table):
    assert tiles(table)["A dense grid"].value == flops(float(table.study.grid.C.sum()))


def test_without_a_run_the_answer_says_why(begun):
    part = answer(begun).parts[0]
    assert isinstance(part, Absent)
    assert part.reason == "no run has finished yet"


def test_best_values_have_a_unit_and_a_mark_at_the_edge():
    source = sources.small_table()
    first, second = source.answer.forecasts
    lr = source.study.grid.hp["lr"]
    found = tiles(source)
    assert found["Best N"].detail.startswith("parameters\n")
    assert found["Best D/N"].detail.startswith("tokens per parameter\n")
    tried = f"tried {number(lr.min(), 3)} to {number(lr.max(), 3)}"
    assert found["Best lr"].detail.startswith(f"{tried}\n")
    for edge in ((), ("lr",)):
        forecasts = (replace(first, at_edge=edge), replace(second, at_edge=edge))
        told = replace(source.answer, forecasts=forecasts)
        marked = with_found(source, answered=replace(source.findings.answered, answer=told))
        assert {k for k, tile in tiles(marked).items() if tile.mark == "at the edge"} == {
            f"Best {name}" for name in edge
        }
        (listing,) = [part for part in answer(marked).parts if isinstance(part, Listing)]
        assert {row[0] for row in listing.rows if row[-1] == "at the edge"} == set(edge)


def test_the_unit_of_a_renamed_axis_is_that_of_its_column():
    source = sources.small_table()
    named = replace(source, study=replace(source.study, columns={"lr": "peak_lr"}))
    assert tiles(named)["Best lr"].detail.split("\n")[0].endswith(" (column peak_lr)")


def test_warnings_that_stand_elsewhere_are_linked_from_the_answer(table):
    made = tuple(Diagnostic(code, "…") for code in ("at_bound", "lack_of_fit", "brand_new"))
    source = with_found(table, analysis=replace(table.findings.analysis, warnings=made))
    (links,) = [part for part in answer(source).parts if isinstance(part, Links)]
    assert [place for _, place in links.items] == ["law", "residuals", "law"]
    bare = with_found(table, analysis=replace(table.findings.analysis, warnings=()))
    assert not any(isinstance(part, Links) for part in answer(bare).parts)
