"""The source of a report on a live study, with the times of its runs from the journal."""

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
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Findings, Live, Record, Source, Spend
from lawsmith.runs import State
from lawsmith.study.history import state_of
from lawsmith.study.live import LiveStudy, runs_made

NONE_YET = "no run has finished yet"
NO_MATCH = "no finished run is one of the candidates"
_STATES = {State.DONE: "done", State.DIVERGED: "diverged", State.FAILED: "failed"}
_ENDS = {Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED, Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED}


def live_source(study: LiveStudy, ledger: Ledger, findings: Findings, record: Record) -> Source:
    """The source of a report on a live study; ``findings`` may be of an earlier ledger."""
    speed, row_of = study.spec.throughput, study.candidates.row_of
    trials = list(ledger.trials.values())
    # Trials that match no candidate have no row and no compute.
    placed = [(row, trial) for trial in trials if (row := row_of(trial.config)) is not None]
    first = {trial.name for trial in trials[: study.method.n_first]}
    spans, last = read_spans(study.layout.journal)
    history, driver = study.history(ledger), driver_of(study.layout.lock)
    live = Live(
        study=study,
        ledger=ledger,
        history=history,
        driver=driver,
        n_finished=int((history.pool_runs.state == State.DONE.value).sum()),
        until=last if driver is None else time(),
    )
    if not live.n_finished:
        why = NO_MATCH if ledger.counts()[Stage.FINISHED.value] else NONE_YET
        findings = replace(findings, why_no_answer=why, why_no_law=why)
    return Source(
        kind="live",
        study=runs_made(study, ledger),
        law=study.law,
        spend=Spend(
            spent=ledger.spend,
            dense=study.pricing.total(study.grid, np.arange(len(study.grid))),
            n_runs=len(trials),
            n_dense=len(study.grid),
            budget=study.budget,
            flops_per_second=None if speed is None else speed.flops_per_second,
        ),
        runs=_runs(study, placed, findings.analysis),
        record=record,
        findings=findings,
        attempts=tuple(_attempts(study, placed, first, spans)),
        live=live,
    )


def _attempts(
    study: LiveStudy, placed: list[tuple[int, Trial]], first: set[str], spans: Iterable[Span]
) -> Iterator[Attempt]:
    """The attempts in the order in which their trials were asked for; ``first``: initial design.

    Only the first attempt at a trial adds to the spend.
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
    trials = [trial for _, trial in placed]
    first: dict[str, Column] = {
        "run": [t.name for t in trials],
        "state": [t.stage.value for t in trials],
        "model": [str(t.config.get("model", "")) for t in trials],
    }
    last: dict[str, Column] = {
        "by": [t.by for t in trials],
        "attempt": [t.attempt for t in trials],
        "remark": [t.remark for t in trials],
    }
    rows = np.array([row for row, _ in placed], dtype=np.int64)
    loss = np.array([_loss(t) for t in trials], dtype=np.float64)
    return run_table(study.grid, rows, loss, law, first=first, last=last)


def _loss(trial: Trial) -> float:
    return math.nan if trial.loss is None else trial.loss


@dataclass(frozen=True)
class Span:
    """Begin and end of one attempt, seconds since 1970; the end is None while it is under way.

    retried   whether another attempt follows
    """

    trial: str
    attempt: int
    begun: float
    ended: float | None = None
    retried: bool = False


def read_spans(path: Path) -> tuple[list[Span], float]:
    """The attempts of a journal, see `spans_of`; lines that cannot be parsed are skipped."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return [], 0.0
    return spans_of(event for line in lines if (event := parse(line)) is not None)


def spans_of(events: Iterable[Event]) -> tuple[list[Span], float]:
    """All attempts in the order in which they began, and the time of the last event (0 if none).

    An attempt begins when its runner reports it, else when it was submitted; if a person launches
    the run, when it was asked for. Events without a time are skipped.
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
        elif kind in _ENDS and (span := under_way.pop(trial, None)) is not None:
            # If the clock was set back, the attempt has a length of zero.
            done.append(replace(span, ended=max(now, span.begun), retried=kind == Kind.RETRIED))
    return sorted([*done, *under_way.values()], key=lambda span: span.begun), now
