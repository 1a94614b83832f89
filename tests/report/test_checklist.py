"""The checklist: filled in from the runs, open where no table can tell."""

from __future__ import annotations

from lawsmith.datasets import demo_study
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LC
from lawsmith.report.cards.answer import answer
from lawsmith.report.cards.checklist import OPEN, checklist
from lawsmith.report.parts import Tiles

from . import sources
from .sources import with_found


def answers(source):
    (listing,) = checklist(source).parts
    return {question: answer for _, question, answer in listing.rows}


def test_what_is_known_of_the_runs_is_filled_in(table):
    found = answers(table)
    study = demo_study()
    n_diverged = study.runs.counts()["diverged"]
    assert found["What is the form?"] == "L(N, D) = E + A·N^-α + B·D^-β"
    assert found["How many runs, and what became of them?"].startswith(f"{len(study.runs)}: ")
    assert f"{n_diverged} diverged" in found["How many runs, and what became of them?"]
    assert "lr (" in found["Which hyperparameters were tuned?"]
    assert found["Which objective?"] == "Huber δ = 1e-3 on log loss"
    assert found["How is compute counted?"] == "as 6·N·D"


def test_what_no_table_tells_is_left_open_and_counted(table):
    found = answers(table)
    n_open = sum(answer == OPEN for answer in found.values())
    assert found["Are embeddings counted in N?"] == OPEN
    assert f"{len(found) - n_open} of {len(found)} questions" in checklist(table).lead


def test_validation_tells_the_held_out_error_or_that_there_is_none(table):
    assert "nothing was held out" in answers(table)["How was it validated?"]
    held = sources.small_table(LC, hold_out=HeldOut.by_compute(0.9))
    judged = held.answer.held_out
    told = answers(held)["How was it validated?"]
    assert f"{int(judged.inside.sum())} of {len(judged.rows)} held-out best runs" in told


def test_a_search_says_what_its_answer_and_its_law_rest_on(replay):
    told = answers(replay)["Which runs enter the fit?"]
    assert told.startswith("the answer: all of 18 runs, ")
    assert f"the law: {replay.found.analysis.fit.n_points} of " in told
    assert "held-out best runs inside" in answers(replay)["How was it validated?"]


def test_without_a_law_there_is_nothing_to_say_of_its_fit(table):
    bare = with_found(table, analysis=None, why_no_law="too few")
    assert answers(bare)["How was it fitted?"] == "there is no law yet"


def test_the_compute_of_the_runs_is_the_number_of_the_answer_card(source):
    tiles = [part for part in answer(source).parts if isinstance(part, Tiles)]
    (spent,) = [t for part in tiles for t in part.tiles if t.label == "Compute spent"]
    assert answers(source)["With how much compute?"].startswith(f"{spent.value} FLOPs")
