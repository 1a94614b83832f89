"""Watching a study: a finished run shows at once, the answer soon after, trouble is told."""

from __future__ import annotations

import threading
from itertools import groupby

import pytest

from lawsmith.journal import Kind, make
from lawsmith.report import CARDS, Record
from lawsmith.report.live import watch as watch_module
from lawsmith.report.live.board import Board
from lawsmith.report.live.watch import FINDS, QUICK, REST, Watch, new_board
from lawsmith.study.answer import answer_of
from tests.answer import reading

from .. import sources
from .serving import wait, watching


@pytest.fixture
def watched(tmp_path):
    study = sources.live_study(tmp_path / "study", n_runs=7)
    with watching(study) as board:
        yield study, board


def html(board, name: str) -> str:
    return dict(board.news(0).cards).get(name, "")


def test_cheap_cards_are_there_at_once_and_all_soon(watched):
    _, board = watched
    assert {"progress", "timeline", "runs"} <= set(board.news(0).order)
    # Nothing failed, no task was asked for, and there are no curves.
    wanted = set(CARDS) - {"failures", "tasks", "along"}
    wait(lambda: "record" in board.news(0).order)  # the last one
    empty = wanted - set(board.news(0).order)
    assert empty <= {"isoflop"}, "7 runs are too few for curves at equal compute alone"
    assert bool(empty) == ("absent" in board.news(0).order)
    assert "Best loss at 1e21 FLOPs" in html(board, "answer")
    assert 'id="figure-law"' in html(board, "law")  # drawn after it was found, not before


def test_the_page_shows_the_answer_of_the_runs_so_far(watched):
    study, board = watched
    wait(lambda: "from all 7 finished runs" in html(board, "answer"))
    made = answer_of(study, study.read()).answer
    read = reading.of_page(html(board, "answer"))
    assert list(read) == ["1e21 FLOPs"]
    f = made.forecasts[0]
    shown = read["1e21 FLOPs"]
    assert shown["best loss"] == pytest.approx((f.loss, f.low, f.high), rel=5.1e-4)
    assert shown["one further run"] == pytest.approx((f.loss, f.run_low, f.run_high), rel=5.1e-4)
    assert shown["N"] == pytest.approx(tuple(f.scales["N"]), rel=5.1e-3)
    assert reading.codes_of_page(html(board, "answer")) == [w.code for w in made.warnings]
    assert made.verdict in reading.words(html(board, "answer"))


def test_a_finished_run_is_shown(watched):
    study, board = watched
    wait(lambda: "7 runs" in html(board, "answer"))
    name = sources.run_one(study)
    wait(lambda: name in html(board, "runs"))
    wait(lambda: "8 runs" in html(board, "answer"))


def test_while_results_come_in_answers_go_first_and_every_card_gets_its_turn(tmp_path, monkeypatch):
    """A result comes with every answer: the page is never done, and nothing waits for ever."""
    study = sources.live_study(tmp_path / "study", n_runs=5)
    ledger = study.read()
    asked = sources.propose(study, ledger, len(REST) + 1, by="hand")
    study.journal.update(lambda _: asked)
    waiting, seen = list(asked), []

    def find(study_, ledger, before, **more):
        seen.append("answer")
        if waiting:
            event = waiting.pop(0)
            loss = sources.true_loss(event["config"])
            study.journal.update(lambda _: [make(Kind.FINISHED, event["trial"], loss=loss)])
        return before

    def show(self, study_, ledger, names):
        seen.extend(name for name in names if name in REST)

    def rest(name):
        def found(study_, ledger, answer, *args, **more):
            seen.append(name)
            return answer

        return found

    monkeypatch.setattr(watch_module, "find_answer", find)
    for name in FINDS:
        monkeypatch.setattr(watch_module, name.replace(" ", "_"), rest(name))
    monkeypatch.setattr(Watch, "_show", show)
    with watching(study):
        wait(lambda: seen.count("answer") == len(asked) + 1)
    busy = seen[: len(seen) - seen[::-1].index("answer")]
    between = [len(list(group)) for key, group in groupby(busy, lambda s: s == "answer") if not key]
    assert max(between) == 1
    assert set(REST) <= set(busy)


def test_the_answer_tells_that_newer_runs_wait(tmp_path, monkeypatch):
    study = sources.live_study(tmp_path / "study", n_runs=7)
    with watching(study) as board:
        wait(lambda: "from all 7 finished runs" in html(board, "answer"))
        go = threading.Event()
        answer = watch_module.find_answer

        def slow(*args, **more):
            go.wait(60)
            return answer(*args, **more)

        monkeypatch.setattr(watch_module, "find_answer", slow)
        sources.run_one(study)
        wait(lambda: "from 7 of 8 finished runs, the newest is" in html(board, "answer"))
        go.set()
        wait(lambda: "from all 8 finished runs" in html(board, "answer"))


def test_a_failure_gets_a_card_with_its_log(watched):
    study, board = watched
    sources.fail_one(study, f"about to fail\n{sources.ATTACK}\n")
    wait(lambda: "about to fail" in html(board, "failures"))
    assert sources.ATTACK not in html(board, "failures")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html(board, "failures")


def test_a_study_file_that_breaks_is_told_and_mended(watched):
    study, board = watched
    text = study.layout.file.read_text()
    journal = study.layout.journal.read_bytes()
    study.layout.journal.write_bytes(journal + b"no json\n")
    wait(lambda: board.news(0).state.startswith("error: "))
    assert "want one JSON object" in board.news(0).state
    study.layout.journal.write_bytes(journal)
    study.layout.file.write_text(text)
    wait(lambda: board.news(0).state.startswith("live"))


def test_an_edit_of_the_study_file_is_seen(watched):
    """A larger budget and another target: the share of the budget and the answer follow."""
    study, board = watched
    wait(lambda: "Best loss at 1e21 FLOPs" in html(board, "answer"))
    share = 100 * study.read().spend / study.budget
    assert f"<strong>{share:.3g}%</strong>" in html(board, "progress")
    text = study.layout.file.read_text()
    edited = text.replace("flops = 2e19", "flops = 8e19").replace("[1e21]", "[3e21]")
    study.layout.file.write_text(edited)
    wait(lambda: f"<strong>{share / 4:.3g}%</strong>" in html(board, "progress"))
    wait(lambda: "Best loss at 3e21 FLOPs" in html(board, "answer"))


def test_a_study_file_with_an_error_is_told_and_mended(watched):
    study, board = watched
    text = study.layout.file.read_text()
    study.layout.file.write_text(text.replace("flops = 2e19", "flops = 'many'"))
    wait(lambda: board.news(0).state.startswith("error: "))
    assert "flops" in board.news(0).state
    study.layout.file.write_text(text)
    wait(lambda: board.news(0).state.startswith("live"))


def test_with_finished_runs_no_card_says_that_none_has_finished(tmp_path, monkeypatch):
    """Neither before the answer is worked out nor where there are too few runs for one."""
    study = sources.live_study(tmp_path / "study", n_runs=2)
    begun, go = threading.Event(), threading.Event()
    answer = watch_module.find_answer

    def slow(*args, **more):
        begun.set()
        go.wait(60)
        return answer(*args, **more)

    monkeypatch.setattr(watch_module, "find_answer", slow)
    with watching(study) as board:
        wait(begun.is_set)
        assert "it is being computed" in html(board, "answer")
        go.set()
        wait(lambda: "record" in board.news(0).order)  # the last one
        for name, text in board.news(0).cards:
            assert "no run has finished" not in text, name
        assert "2 finished runs" in html(board, "answer")


def test_a_watch_that_is_stopped_gives_up_what_is_left(tmp_path, monkeypatch):
    study = sources.live_study(tmp_path / "study", n_runs=7)
    begun, go, drawn = threading.Event(), threading.Event(), []

    def slow(study_, ledger, before):
        begun.set()
        go.wait(60)
        return before

    monkeypatch.setattr(watch_module, "find_answer", slow)
    found = Watch(study.layout.file, new_board(), lambda opened: Record())
    found.start()
    wait(begun.is_set)
    assert not found.stop(0.01)  # it says that a thread is still at work
    monkeypatch.setattr(Board, "put", lambda self, name, card: drawn.append(name))
    go.set()
    assert found.stop(60.0)
    assert drawn == []


def test_a_slip_of_one_card_does_not_end_the_page(tmp_path, monkeypatch):
    study = sources.live_study(tmp_path / "study", n_runs=5)

    def slip(*args, **more):
        raise ZeroDivisionError("of a card")

    monkeypatch.setattr(watch_module, "find_answer", slip)
    with watching(study) as board:
        wait(lambda: "ZeroDivisionError" in board.news(0).state)
        name = sources.run_one(study)
        wait(lambda: name in html(board, "runs"))


def test_watching_writes_nothing(watched):
    study, board = watched
    wait(lambda: "answer" in board.news(0).order)
    assert sorted(p.name for p in study.layout.folder.iterdir()) == ["journal.jsonl", "study.toml"]


def test_the_quick_cards_are_known_ones():
    assert set(QUICK) < set(CARDS)
