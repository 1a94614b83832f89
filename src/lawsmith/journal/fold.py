"""The state of a study as a fold over its journal: trials with their stages, spend, exclusions.

    asked ─▶ submitted ─▶ running ─▶ finished | diverged | failed | quarantined | cancelled
      ▲           └─ retried ─┘
      └───────────────┘

The ledger is a fold: one event after the other, in the order of the file. Times are never compared,
so that a clock that goes back changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lawsmith.errors import LawsmithError
from lawsmith.journal.events import Event, Kind
from lawsmith.numbers import as_float

Config = Mapping[str, float | int | str]


class Stage(StrEnum):
    """Where a trial stands."""

    ASKED = "asked"
    SUBMITTED = "submitted"
    RUNNING = "running"
    WAITING = "waiting"
    CANCELLING = "cancelling"
    FINISHED = "finished"
    DIVERGED = "diverged"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    CANCELLED = "cancelled"


_ENDS = (Kind.FINISHED, Kind.DIVERGED, Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED)
OPEN = frozenset(Stage) - {Stage(kind.value) for kind in _ENDS}
CRASHES = ("crash", "no_result", "timeout")
_ON_THE_WAY = frozenset((Kind.SUBMITTED, Kind.RUNNING, Kind.REPORTED, Kind.SAVED, Kind.PASSED))


@dataclass(frozen=True)
class Trial:
    """One configuration that was asked for, or a run imported.

    cost      FLOPs it adds to what the study spends
    by        'run' where lawsmith launches it, 'hand' where a person does, 'import'
    attempt   the one under way or, while waiting, the next one
    started   whether any attempt was handed to a runner
    closed    number of the event that closed it; −1 while it is open
    wait      seconds after ``time`` before the next attempt
    crashes   attempts that ended through the trainer's own fault
    reports   losses on the way, (tokens, loss), by tokens
    kind      'run' (from scratch, with a schedule of its own), 'trunk' (a constant rate, no decay)
              or 'branch' (a decay from a trunk's checkpoint)
    parent    the trial it goes on from, '' for none; branch_at: the tokens at which it does
    save_at   tokens at which it is to leave a checkpoint; saved: those at which it did
    passed    ends of decays on the way: (tokens, loss, number of the event)
    begun     tokens at which its attempt began: a retry goes on from the last checkpoint
    trained   tokens that attempts before this one trained, as far as they told
    last      tokens that the last attempt trained, once it ended; None while it is not known
    metrics   further numbers of its result by name, such as accuracies
    """

    name: str
    config: Config
    cost: float
    by: str
    stage: Stage = Stage.ASKED
    attempt: int = 1
    handle: str = ""
    started: bool = False
    loss: float | None = None
    reason: str = ""
    detail: str = ""
    closed: int = -1
    wait: float = 0.0
    time: str = ""
    crashes: int = 0
    reports: tuple[tuple[float, float], ...] = ()
    kind: str = "run"
    parent: str = ""
    branch_at: float | None = None
    save_at: tuple[float, ...] = ()
    saved: tuple[float, ...] = ()
    passed: tuple[tuple[float, float, int], ...] = ()
    begun: float = 0.0
    trained: float = 0.0
    last: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether its result is still to come."""
        return self.stage in OPEN

    @property
    def remark(self) -> str:
        """Its reason and detail, if it has any."""
        return ": ".join(filter(None, (self.reason, self.detail)))

    @property
    def report(self) -> tuple[float, float] | None:
        """The last loss reported on the way, (tokens, loss)."""
        return self.reports[-1] if self.reports else None

    @property
    def D(self) -> float:
        """Tokens at its end, from the start of its trunk; NaN where its configuration has none."""
        D = self.config.get("D")
        return float(D) if isinstance(D, int | float) else math.nan

    @property
    def start(self) -> float:
        """Tokens at which it goes on from its parent, 0 without one."""
        return self.branch_at or 0.0

    @property
    def spend(self) -> float:
        """FLOPs to be counted: of what was trained where that is known, else of the whole run.

        Nothing where it was called off before it began.
        """
        if self.by == "import" or (self.stage is Stage.CANCELLED and not self.started):
            return 0.0
        length = self.D - self.start
        if not length > 0.0:
            return self.cost
        now = max(self.D - self.begun, 0.0) if self.last is None else self.last
        return self.cost * ((self.trained + now) / length)


@dataclass
class Ledger:
    """The state of a study, grown event by event."""

    created: Event | None = None
    spec: str = ""
    trials: dict[str, Trial] = field(default_factory=dict)
    excluded: list[Event] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    ended: str | None = None
    n_events: int = 0

    @property
    def id(self) -> str:
        """What tells this study's jobs from those of others of the same name."""
        return str(self.created["id"]) if self.created else ""

    @property
    def n_asked(self) -> int:
        """How many trials were asked for; imported runs are not."""
        return sum(trial.by != "import" for trial in self.trials.values())

    @property
    def spend(self) -> float:
        """FLOPs committed: of runs done, under way and asked for."""
        return math.fsum(trial.spend for trial in self.trials.values())

    def open(self) -> list[Trial]:
        """Trials whose result is still to come, in the order they were asked."""
        return [trial for trial in self.trials.values() if trial.open]

    def counts(self) -> dict[str, int]:
        """How many trials stand where, every stage listed."""
        counts = dict.fromkeys((stage.value for stage in Stage), 0)
        for trial in self.trials.values():
            counts[trial.stage.value] += 1
        return counts

    def next_name(self, letter: str = "t") -> str:
        """The name of the next trial: t0001, t0002, …"""
        numbers = (int(name[1:]) for name in self.trials if name[0] == letter)
        return f"{letter}{max(numbers, default=0) + 1:04d}"

    def add(self, event: Event, *, where: str = "journal") -> None:
        """Take in one event."""
        self.n_events += 1
        kind = event["event"]
        if kind in _CHANGES:  # first: a journal is little else
            self._advance(kind, event, where)
        elif kind in (Kind.ASKED, Kind.IMPORTED):
            self._open(event, where)
        elif kind == Kind.CREATED:
            self._create(event, where)
        elif kind == Kind.CHANGED:
            self.spec = str(event["spec"])
        elif kind == Kind.EXCLUDED:
            self.excluded.append(event)
        elif kind == Kind.ENDED:
            self.ended = str(event["reason"])

    def _create(self, event: Event, where: str) -> None:
        if self.created is not None:
            raise LawsmithError(where, got="a second 'created'", want="one, as the first line")
        self.created, self.spec = event, str(event.get("spec", ""))

    def _open(self, event: Event, where: str) -> None:
        name = str(event["trial"])
        if name in self.trials:
            raise LawsmithError(f"{where}: trial", got=f"{name} a second time", want="a new name")
        if event["event"] == Kind.IMPORTED:
            self.imported.add(str(event["key"]))
            self.trials[name] = _imported(event, self.n_events)
            return
        trial = _asked(event)
        if trial.parent and trial.parent not in self.trials:
            want = "a trial that was asked for before"
            raise LawsmithError(f"{where}: parent of {name}", got=trial.parent, want=want)
        self.trials[name], self.ended = trial, None

    def _advance(self, kind: str, event: Event, where: str) -> None:
        name = event["trial"]
        trial = self.trials.get(name)
        if trial is None:
            want = "one that was asked for before"
            raise LawsmithError(f"{where}: {kind}", got=f"trial {name}", want=want)
        if kind in _ON_THE_WAY and trial.stage not in OPEN:
            return  # of a run that was closed by hand meanwhile
        self.trials[name] = _with(trial, _CHANGES[kind](trial, event, self.n_events))


def fold(events: Iterable[Event]) -> Ledger:
    """The ledger of a list of events."""
    ledger = Ledger()
    for event in events:
        ledger.add(event)
    return ledger


def _asked(event: Event) -> Trial:
    at = event.get("branch_at")
    return Trial(
        name=str(event["trial"]),
        config=dict(event["config"]),
        cost=float(event["cost"]),
        by=str(event["by"]),
        time=_time(event),
        kind=str(event.get("kind", "run")),
        parent=str(event.get("parent") or ""),
        branch_at=None if at is None else float(at),
        save_at=tuple(map(float, event.get("save_at", ()))),
        begun=float(at or 0.0),
    )


def _imported(event: Event, number: int) -> Trial:
    loss = _loss(event)
    return Trial(
        name=str(event["trial"]),
        config=dict(event["config"]),
        cost=0.0,
        by="import",
        stage=Stage.DIVERGED if loss is None or event.get("diverged") else Stage.FINISHED,
        loss=loss,
        closed=number,
        metrics=_metrics(event),
        time=_time(event),
    )


# The fields of a trial that an event about it changes; ``number`` is that of the event.


def _begun(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    cancelling = trial.stage is Stage.CANCELLING
    stage = trial.stage if cancelling else Stage(event["event"])
    changes: dict[str, Any] = {"stage": stage, "time": _time(event)}
    if event["event"] == Kind.SUBMITTED:
        changes |= {"attempt": int(event["attempt"]), "handle": str(event["handle"])}
        changes["started"] = True
    return changes


def _reported(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    report = (float(event["tokens"]), float(event["loss"]))
    before = trial.reports
    if before and before[-1][0] >= report[0]:
        # A run that went back to a checkpoint tells of the same tokens again.
        before = tuple(one for one in before if one[0] < report[0])
    return {"reports": (*before, report)}


def _saved(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    return {"saved": tuple(sorted({*trial.saved, float(event["tokens"])}))}


def _passed(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    passed = (float(event["tokens"]), float(event["loss"]), number)
    return {"passed": (*(p for p in trial.passed if p[0] != passed[0]), passed)}


def _retried(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    """What the attempt that ended trained, and the checkpoint that the next one goes on from."""
    trained, begun = event.get("trained", trial.last), max(trial.saved, default=trial.start)
    return {
        "stage": Stage.WAITING,
        "attempt": int(event["attempt"]) + 1,
        "wait": float(event["wait"]),
        "crashes": trial.crashes + (event["reason"] in CRASHES),
        "handle": "",
        "closed": -1,
        "loss": None,
        "trained": trial.trained + float(trained or 0.0),
        "last": None,
        "begun": begun,
        "reports": tuple(report for report in trial.reports if report[0] <= begun),
        **_why(event),
    }


def _cancelling(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    return {"stage": Stage.CANCELLING, "closed": -1, **_why(event)}


def _ended(trial: Trial, event: Event, number: int) -> dict[str, Any]:
    stage = Stage(event["event"])
    loss = _loss(event) if stage in (Stage.FINISHED, Stage.DIVERGED) else None
    if stage is trial.stage is Stage.FINISHED and loss == trial.loss:
        return {"metrics": {**trial.metrics, **_metrics(event)}}  # measured after the run
    changes = {"stage": stage, "loss": loss, "closed": number, **_why(event)}
    if stage is Stage.FINISHED:
        changes["metrics"] = _metrics(event)
    elif stage is Stage.CANCELLED:
        changes["reason"] = changes["reason"] or trial.reason
    if stage is not Stage.QUARANTINED:
        trained = event.get("trained")
        changes["last"] = None if trained is None else float(trained)
    return changes


_CHANGES: dict[str, Callable[[Trial, Event, int], dict[str, Any]]] = {
    Kind.SUBMITTED: _begun,
    Kind.RUNNING: _begun,
    Kind.REPORTED: _reported,
    Kind.SAVED: _saved,
    Kind.PASSED: _passed,
    Kind.RETRIED: _retried,
    Kind.CANCELLING: _cancelling,
    **dict.fromkeys(_ENDS, _ended),
}


def _with(trial: Trial, changes: dict[str, Any]) -> Trial:
    """The trial with some fields changed; as dataclasses.replace, and ten times as quick."""
    new = object.__new__(Trial)
    object.__setattr__(new, "__dict__", trial.__dict__ | changes)
    return new


def _time(event: Event) -> str:
    return str(event.get("time", ""))


def _why(event: Event) -> dict[str, Any]:
    why = {name: str(event.get(name, "")) for name in ("reason", "detail")}
    return {**why, "time": _time(event)}


def _loss(event: Event) -> float | None:
    loss = as_float(event.get("loss"))
    return loss if loss is not None and math.isfinite(loss) else None


def _metrics(event: Event) -> dict[str, float]:
    metrics = event.get("metrics")
    pairs = metrics.items() if isinstance(metrics, dict) else ()
    found = {str(name): as_float(value) for name, value in pairs}
    return {name: number for name, number in found.items() if number is not None}
