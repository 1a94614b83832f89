"""A report's source from a live study: its journal folded, when runs were under way, its answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import time

import numpy as np

from lawsmith.analysis import Analysis
from lawsmith.charts.timeline import Attempt
from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, driver_of
from lawsmith.journal.events import parse, time_of
from lawsmith.report.cards.record import Column, run_table
from lawsmith.report.finding import NONE_YET
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Findings, Live, Record, Source, Spend
from lawsmith.runs import State
from lawsmith.study.history import state_of
from lawsmith.study.live import LiveStudy, runs_made

_ENDS = (
    *(Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED),
    *(Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED),
)

NONE_FITS = "no finished run is one of the candidates"
_STATES = {State.DONE: "done", State.DIVERGED: "diverged", State.FAILED: "failed"}


def live_source(study: LiveStudy, ledger: Ledger, found: Findings, record: Record) -> Source:
    """The source of a report on a study as it stands; ``found`` may be of an earlier moment."""
    every = np.arange(len(study.grid))
    speed = study.spec.throughput
    trials = list(ledger.trials.values())
    # Those of no candidate have neither a row nor a compute.
    places = [(study.candidates.row_of(trial.config), trial) for trial in trials]
    placed = [(row, trial) for row, trial in places if row is not None]
    first = {trial.name for trial in trials[: study.method.n_first]}
    spans, last = read_spans(study.layout.journal)
    live = _live(study, ledger, last)
    found = found if live.n_finished else _nothing_found(found, live)
    return Source(
        kind="live",
        study=runs_made(study, ledger),
        law=study.law,
        spend=Spend(
            spent=ledger.spend,
            dense=study.pricing.total(study.grid, every),
            n_runs=len(trials),
            n_dense=len(study.grid),
            budget=study.budget,
            flops_per_second=None if speed is None else speed.flops_per_second,
        ),
        runs=_runs(study, placed, found.analysis),
        record=record,
        found=found,
        attempts=tuple(_attempts(study, placed, first, spans)),
        live=live,
    )


def _nothing_found(found: Findings, live: Live) -> Findings:
    """The reason for all that is missing: no run of a candidate has finished."""
    why = NONE_FITS if live.ledger.counts()[Stage.FINISHED.value] else NONE_YET
    return replace(found, why_no_answer=why, why_no_law=why)


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
        C, cost = float(study.grid.C[row]), trial.cost
        for span in of_trial.get(trial.name, [Span(trial.name, 1, math.nan, math.nan)]):
            now = "retried" if span.retried else "pending" if span.ended is None else state
            when = (span.begun, math.nan if span.ended is None else span.ended, span.attempt)
            loss = _loss(trial) if now == state else math.nan
            yield Attempt(trial.name, C, cost, loss, now, config, math.nan, *when)
            cost = 0.0


def _runs(study: LiveStudy, placed: list[tuple[int, Trial]], law: Analysis | None) -> RunTable:
    kept = [trial for _, trial in placed]
    first: dict[str, Column] = {
        "run": [t.name for t in kept],
        "state": [t.stage.value for t in kept],
        "model": [str(t.config.get("model", "")) for t in kept],
    }
    last: dict[str, Column] = {
        "by": [t.by for t in kept],
        "attempt": [t.attempt for t in kept],
        "remark": [": ".join(filter(None, (t.reason, t.detail))) for t in kept],
    }
    rows = np.array([row for row, _ in placed], dtype=np.int64)
    loss = np.array([_loss(t) for t in kept], dtype=np.float64)
    return run_table(study.grid, rows, loss, law, first=first, last=last)


def _loss(trial: Trial) -> float:
    return math.nan if trial.loss is None else trial.loss


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


def read_spans(path: Path) -> tuple[list[Span], float]:
    """The attempts of a journal; a line that cannot be read tells nothing."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return [], 0.0
    return spans_of(event for line in lines if (event := parse(line)) is not None)


def spans_of(events: Iterable[Event]) -> tuple[list[Span], float]:
    """All attempts in the order they began, and the time of the last event, 0 without one.

    A run begins when its runner says so, else when it was handed over; one that a person launches,
    when it was asked for. Events without a time are passed over.
    """
    under_way: dict[str, Span] = {}
    done: list[Span] = []
    now = 0.0
    for event in events:
        moment, trial, kind = time_of(event), event.get("trial"), event.get("event")
        if moment is None:
            continue
        now = moment.timestamp()
        if not isinstance(trial, str):
            continue
        by_hand = kind == Kind.ASKED and event.get("by") == "hand"
        if kind in (Kind.SUBMITTED, Kind.RUNNING) or by_hand:
            attempt = event.get("attempt")
            under_way[trial] = Span(trial, attempt if isinstance(attempt, int) else 1, now)
        elif kind in _ENDS and (found := under_way.pop(trial, None)) is not None:
            # A clock that was set back makes no run of less than no time.
            done.append(replace(found, ended=max(now, found.begun), retried=kind == Kind.RETRIED))
    return sorted([*done, *under_way.values()], key=lambda span: span.begun), now
