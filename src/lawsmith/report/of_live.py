"""A report's source from a live study: its journal folded, when runs were under way, its answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import time

import numpy as np

from lawsmith.charts.timeline import Attempt
from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, driver_of
from lawsmith.journal.events import parse, time_of
from lawsmith.laws.fit import LawFit
from lawsmith.report.cards.runs import run_table
from lawsmith.report.finding import NONE_YET, runs_made
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Found, Live, Record, Source, Spend
from lawsmith.runs import State
from lawsmith.study.history import state_of
from lawsmith.study.live import LiveStudy

_ENDS = (
    *(Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED),
    *(Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED),
)

NONE_FITS = "no finished run is one of the candidates"
_STATES = {State.DONE: "done", State.DIVERGED: "diverged", State.FAILED: "failed"}


def live_source(study: LiveStudy, ledger: Ledger, found: Found, record: Record) -> Source:
    """The source of a report on a study as it stands; ``found`` may be of an earlier moment."""
    every = np.arange(len(study.grid))
    speed = study.spec.throughput
    trials = list(ledger.trials.values())
    # Those of no candidate have neither a row nor a compute.
    places = [(study.candidates.row_of(trial.config), trial) for trial in trials]
    placed = [(row, trial) for row, trial in places if row is not None]
    first = {trial.name for trial in trials[: study.method.n_first]}
    spans = read_spans(study.layout.journal)
    live = _live(study, ledger, spans.last or 0.0)
    found = found if live.n_finished else _nothing_found(found, live)
    return Source(
        kind="live",
        study=runs_made(study, ledger),
        law=study.law,
        spend=Spend(
            spent=ledger.spend,
            dense=study.pricing.together(study.grid, every),
            n_runs=len(trials),
            n_dense=len(study.grid),
            budget=study.budget,
            flops_per_second=None if speed is None else speed.flops_per_second,
        ),
        runs=_runs(study, placed, None if found.analysis is None else found.analysis.fit),
        record=record,
        found=found,
        attempts=tuple(_attempts(study, placed, first, spans.spans)),
        live=live,
    )


def _nothing_found(found: Found, live: Live) -> Found:
    """The reason for all that is missing: no run of a candidate has finished."""
    why = NONE_FITS if live.ledger.counts()[Stage.FINISHED.value] else NONE_YET
    return replace(found, why_no_answer=why, why_no_law=why, why_no_sizes=why)


def _live(study: LiveStudy, ledger: Ledger, last: float) -> Live:
    history, driver = study.history(ledger), driver_of(study.layout.lock)
    return Live(
        study=study,
        ledger=ledger,
        history=history,
        driver=driver,
        n_finished=int((history.pool_runs.state == State.DONE.value).sum()),
        until=last if driver is None else time(),
    )


def _attempts(
    study: LiveStudy, placed: list[tuple[int, Trial]], first: set[str], spans: Iterable[Span]
) -> Iterator[Attempt]:
    """Attempts at trials in the order these were asked for; ``first`` names the initial design.

    A further attempt costs the study nothing more.
    """
    of_trial: dict[str, list[Span]] = {}
    for span in spans:
        of_trial.setdefault(span.trial, []).append(span)
    for row, trial in placed:
        config = {k: v for k, v in trial.config.items() if k != "model"}
        state = _STATES.get(state_of(trial), "pending")
        state = "initial" if state == "done" and trial.name in first else state
        loss = math.nan if trial.loss is None else trial.loss
        C, cost = float(study.grid.C[row]), trial.cost
        for span in of_trial.get(trial.name, [Span(trial.name, 1, math.nan, math.nan)]):
            now = "retried" if span.retried else "pending" if span.ended is None else state
            when = (span.begun, math.nan if span.ended is None else span.ended, span.attempt)
            yield Attempt(trial.name, C, cost, loss, now, config, math.nan, *when)
            cost = 0.0


def _runs(study: LiveStudy, placed: list[tuple[int, Trial]], fit: LawFit | None) -> RunTable:
    rows = np.array([row for row, _ in placed], dtype=np.int64)
    kept = [trial for _, trial in placed]
    loss = np.array([np.nan if t.loss is None else t.loss for t in kept], dtype=np.float64)
    return run_table(
        study.grid,
        rows,
        first={
            "run": [t.name for t in kept],
            "state": [t.stage.value for t in kept],
            "model": [str(t.config.get("model", "")) for t in kept],
        },
        loss=loss,
        fit=fit,
        last={
            "by": [t.by for t in kept],
            "attempt": [t.attempt for t in kept],
            "remark": [": ".join(filter(None, (t.reason, t.detail))) for t in kept],
        },
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
