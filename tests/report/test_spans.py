"""When runs were under way, from a journal's own lines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lawsmith.journal import Kind
from lawsmith.report.live_source import read_spans, spans_of

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def event(kind: Kind, seconds: float | None, trial: str = "t0001", **more):
    time = {} if seconds is None else {"time": _text(seconds)}
    return {"event": kind.value, "trial": trial, **time, **more}


def _text(seconds: float) -> str:
    told = datetime.fromtimestamp(START + seconds, UTC)
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def times(events) -> list[tuple[str, int, float, float | None, bool]]:
    return [
        (s.trial, s.attempt, s.begun - START, s.ended and s.ended - START, s.retried)
        for s in spans_of(events)[0]
    ]


def test_a_run_begins_when_its_runner_says_that_it_runs():
    events = [
        event(Kind.ASKED, 0, by="run"),
        event(Kind.SUBMITTED, 1, attempt=1),
        event(Kind.RUNNING, 30, attempt=1),
        event(Kind.FINISHED, 90, loss=2.0),
    ]
    assert times(events) == [("t0001", 1, 30.0, 90.0, False)]
    assert times([events[0], events[1], events[3]]) == [("t0001", 1, 1.0, 90.0, False)]


def test_a_run_by_hand_is_under_way_from_asking_to_telling():
    assert times([event(Kind.ASKED, 5, by="hand"), event(Kind.DIVERGED, 8)]) == [
        ("t0001", 1, 5.0, 8.0, False)
    ]


def test_each_attempt_is_told_and_what_goes_on_has_no_end():
    events = [
        event(Kind.ASKED, 0, by="run"),
        event(Kind.SUBMITTED, 1, attempt=1),
        event(Kind.RETRIED, 4, attempt=1),
        event(Kind.SUBMITTED, 9, attempt=2),
        event(Kind.ASKED, 3, "t0002", by="run"),
    ]
    assert times(events) == [("t0001", 1, 1.0, 4.0, True), ("t0001", 2, 9.0, None, False)]


def test_what_was_never_begun_or_has_no_time_is_passed_over():
    assert times([event(Kind.ASKED, 0, by="run"), event(Kind.CANCELLED, 2)]) == []
    assert times([event(Kind.ASKED, None, by="hand"), event(Kind.FINISHED, 2)]) == []
    assert times([event(Kind.IMPORTED, 1)]) == []


def test_a_clock_set_back_makes_a_run_of_no_time():
    assert times([event(Kind.ASKED, 10, by="hand"), event(Kind.FINISHED, 4)]) == [
        ("t0001", 1, 10.0, 10.0, False)
    ]


def test_a_live_studys_journal_gives_an_attempt_a_run(study, live):
    spans, last = read_spans(study.layout.journal)
    assert len(spans) == len(study.read().trials) == len(live.attempts)
    assert [a.begun for a in live.attempts] == [span.begun for span in spans]
    assert last == pytest.approx(live.live.until)
    states = [attempt.state for attempt in live.attempts]
    assert states.count("diverged") == 1
    assert states.count("failed") == 1
    # All six of the initial design ended well but the fifth, which diverged.
    assert states.count("initial") == 5
    total = sum(attempt.cost for attempt in live.attempts)
    assert total == pytest.approx(live.spend.spent)


def test_no_journal_and_lines_that_are_none_tell_nothing(tmp_path):
    assert read_spans(tmp_path / "none.jsonl") == ([], 0.0)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event": "asked"}\nno json\n{"trial": 3, "time": "2026-01-01"}\n\n')
    assert read_spans(path)[0] == []
