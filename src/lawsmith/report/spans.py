"""When each attempt at a run was under way, from the times in a journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lawsmith.journal import Event, Kind
from lawsmith.journal.events import parse, time_of

_ENDS = (
    *(Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED),
    *(Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED),
)


@dataclass(frozen=True)
class Span:
    """One attempt: from its beginning to its end, seconds since 1970; None while it goes on.

    ``retried`` tells that another attempt follows.
    """

    trial: str
    attempt: int
    begun: float
    ended: float | None = None
    retried: bool = False


@dataclass(frozen=True)
class Spans:
    """All attempts in the order they began, and the time of the last event; None where untold."""

    spans: tuple[Span, ...]
    last: float | None


def read_spans(path: Path) -> Spans:
    """The attempts of a journal; a line that cannot be read tells nothing."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return Spans((), None)
    return spans_of(event for line in lines if (event := parse(line)) is not None)


def spans_of(events: Iterable[Event]) -> Spans:
    """A run begins when its runner says so, else when it was handed over; one that a person
    launches, when it was asked for. Events without a time are passed over."""
    under_way: dict[str, Span] = {}
    done: list[Span] = []
    last = None
    for event in events:
        time, trial, kind = time_of(event), event.get("trial"), event.get("event")
        if time is None:
            continue
        now = last = time.timestamp()
        if not isinstance(trial, str):
            continue
        attempt = event.get("attempt")
        number = attempt if isinstance(attempt, int) else 1
        if kind in (Kind.SUBMITTED, Kind.RUNNING) or (
            kind == Kind.ASKED and event.get("by") == "hand"
        ):
            under_way[trial] = Span(trial, number, now)
        elif kind in _ENDS and (found := under_way.pop(trial, None)) is not None:
            retried = kind == Kind.RETRIED
            # A clock that was set back makes no run of less than no time.
            end = max(now, found.begun)
            done.append(Span(trial, found.attempt, found.begun, end, retried))
    every = sorted([*done, *under_way.values()], key=lambda span: span.begun)
    return Spans(tuple(every), last)
