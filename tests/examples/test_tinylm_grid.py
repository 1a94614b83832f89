"""The grid of tinylm: what is planned, and that stops and kills lose nothing that was done."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

import grid  # noqa: E402
from data import Corpus  # noqa: E402
from errors import TinylmError  # noqa: E402
from plans import GRIDS, dense_plans, wsd_plans  # noqa: E402

from tests.examples.conftest import TINYLM  # noqa: E402
from tests.examples.tiny import small_corpus, small_plan  # noqa: E402

BUDGETS = (1024, 2048, 8192)
PLANS = [small_plan(batch=batch, budgets=BUDGETS) for batch in (4, 2)]
ROOT = Path(__file__).parents[2]

CHILD = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import torch
torch.set_num_threads(1)
from pathlib import Path
import grid
from tests.examples.test_tinylm_grid import PLANS, collection
from tests.examples.tiny import small_corpus
collection(small_corpus(Path(sys.argv[3]) / "corpus"), Path(sys.argv[3])).run(
    PLANS, at_once=2, seconds=60)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return small_corpus(tmp_path / "corpus")


def collection(corpus: Corpus, folder: Path) -> grid.Collection:
    return grid.Collection(corpus, grid.Results(folder / "rows.jsonl"), folder / "kept")


def losses(folder: Path) -> dict[tuple, float]:
    rows = grid.read_rows(folder / "rows.jsonl")
    return {(row["batch"], row["D"], row["lr"]): row["loss"] for row in rows}


@pytest.fixture
def whole(corpus: Corpus, tmp_path: Path) -> dict[tuple, float]:
    """What a collection without any stop gives."""
    assert collection(corpus, tmp_path / "whole").run(PLANS, at_once=1, seconds=60)
    return losses(tmp_path / "whole")


def test_the_dense_grid_has_every_cell_once():
    plans = dense_plans()
    assert len({plan.name for plan in plans}) == len(plans)
    assert sum(plan.n_runs for plan in plans if plan.seed == 0) == (4 * 7 + 2 * 8) * 7 * 5 - 3 * 7
    assert {plan.seed for plan in plans} == {0, 1, 2}
    assert max(plan.size.params for plan in plans) == 4_194_304


def test_the_grid_of_trunks_has_every_size_first_and_the_best_rate_of_the_dense_grid():
    plans = wsd_plans()
    assert len({plan.name for plan in plans}) == len(plans)
    assert len({plan.size.params for plan in plans[:7]}) == 7
    assert all(len(plan.mark_steps()) > 20 for plan in plans)
    rows = grid.read_rows(TINYLM / "results" / "dense.jsonl")
    for plan in plans:
        same = [r for r in rows if (r["N"], r["batch"]) == (plan.size.params, plan.batch)]
        for budget in plan.budgets if same else ():
            best = min((r for r in same if r["D"] == budget), key=lambda r: r["loss"])
            assert min(plan.lrs) < best["lr"] <= max(plan.lrs)


def test_trunks_side_by_side_give_what_they_give_one_by_one(corpus, tmp_path, whole):
    assert collection(corpus, tmp_path).run(PLANS, at_once=2, seconds=60)
    assert losses(tmp_path) == whole
    assert len(whole) == 2 * 3 * 2


def test_many_stops_change_nothing(corpus, tmp_path, whole):
    for stops in range(200):  # noqa: B007
        part = collection(corpus, tmp_path)
        turns = iter(range(7))

        def turn(*pair, part=part, turns=turns, original=part._turn):
            if next(turns, None) is None:
                part.stop()
            return original(*pair)

        part._turn = turn
        if part.run(PLANS, at_once=2, seconds=60):
            break
    assert stops > 2
    assert losses(tmp_path) == whole
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_kill_loses_only_what_was_under_way(corpus, tmp_path, whole):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(ROOT), str(TINYLM), str(tmp_path)],
        stderr=subprocess.DEVNULL,
    )
    results = tmp_path / "rows.jsonl"
    while child.poll() is None and not (results.exists() and results.stat().st_size):
        time.sleep(0.01)
    child.kill()
    child.wait()
    before = results.read_text()
    assert before
    assert collection(corpus, tmp_path).run(PLANS, at_once=2, seconds=60)
    assert results.read_text().startswith(before)
    assert losses(tmp_path) == whole


def test_a_line_cut_short_is_left_out_and_its_budget_run_again(corpus, tmp_path, whole):
    collection(corpus, tmp_path).run(PLANS, at_once=1, seconds=60)
    results = tmp_path / "rows.jsonl"
    *lines, last_but_one, _ = results.read_text().splitlines(keepends=True)
    results.write_text("".join([*lines, last_but_one[:-40]]))
    assert len(losses(tmp_path)) == len(whole) - 2
    assert collection(corpus, tmp_path).run(PLANS, at_once=1, seconds=60)
    assert losses(tmp_path) == whole


def test_a_finished_grid_trains_nothing(corpus, tmp_path, monkeypatch):
    collection(corpus, tmp_path).run(PLANS, at_once=1, seconds=60)
    before = (tmp_path / "rows.jsonl").read_bytes()
    monkeypatch.setattr(grid, "Trunk", None)
    assert collection(corpus, tmp_path).run(PLANS, at_once=1, seconds=60)
    assert (tmp_path / "rows.jsonl").read_bytes() == before


def test_a_stale_checkpoint_stops_the_grid_and_keeps_the_other_trunk(corpus, tmp_path):
    made = collection(corpus, tmp_path)
    other = small_plan(batch=2, lrs=(0.5,), budgets=BUDGETS)
    grid.Trunk(other, corpus).checkpoint(tmp_path / "kept" / f"{other.name}.pt")
    with pytest.raises(TinylmError, match="another configuration"):
        made.run(PLANS, at_once=2, seconds=60)
    assert (tmp_path / "kept" / f"{PLANS[0].name}.pt").exists()


def test_a_checkpoint_past_a_lost_row_is_not_used(corpus, tmp_path, whole):
    made = collection(corpus, tmp_path)
    trunk = grid.Trunk(PLANS[0], corpus)
    work = trunk.run()
    rows = [next(work) for _ in range(12)]
    assert any(rows)
    trunk.checkpoint(tmp_path / "kept" / f"{PLANS[0].name}.pt")
    assert made.run(PLANS, at_once=1, seconds=60)
    assert losses(tmp_path) == whole


@pytest.mark.parametrize(("name", "n"), [("dense", 1739), ("wsd", 420)])
def test_the_bundled_rows_are_what_the_plans_say(name: str, n: int):
    rows = grid.read_rows(TINYLM / "results" / f"{name}.jsonl")
    plans = {(p.size.width, p.size.depth, p.batch, p.seed): p for p in GRIDS[name]()}
    assert len(rows) == n == sum(plan.n_runs for plan in plans.values())
    for row in rows:
        plan = plans[row["width"], row["depth"], row["batch"], row["seed"]]
        assert row["N"] == plan.size.params
        assert row["C"] == 6 * row["N"] * row["D"]
        assert row["flops_exact"] == plan.size.flops_per_token * row["D"]
        assert row["lr"] in plan.lrs
        assert (row["steps"], row["decay_steps"]) == plan.steps(row["D"])
        assert row["loss"] > 1
        steps = [D // plan.step_tokens for D, _ in row.get("along", ())]
        assert steps == [s for s in plan.mark_steps() if s <= plan.branch(row["D"])]
