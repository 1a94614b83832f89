"""What the journal adds up to: every trial with its stage, the spend, what is left alone.

    asked ─▶ submitted ─▶ running ─▶ finished | diverged | failed | quarantined | cancelled
      ▲           └─ retried ─┘
      └───────────────┘

The ledger is a fold: one event after the other, in the order of the file. Times are never compared,
so that a clock that goes back changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lawsmith.errors import LawsmithError
from lawsmith.journal.events import Event, Kind

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


OPEN = frozenset((Stage.ASKED, Stage.SUBMITTED, Stage.RUNNING, Stage.WAITING, Stage.CANCELLING))
CRASHES = ("crash", "no_result", "timeout")
_STAGES = {
    Kind.FINISHED: Stage.FINISHED,
    Kind.DIVERGED: Stage.DIVERGED,
    Kind.FAILED: Stage.FAILED,
    Kind.QUARANTINED: Stage.QUARANTINED,
    Kind.CANCELLED: Stage.CANCELLED,
    Kind.CANCELLING: Stage.CANCELLING,
}


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
    report    the last loss reported on the way, (tokens, loss)
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
    report: tuple[float, float] | None = None

    @property
    def open(self) -> bool:
        """Whether its result is still to come."""
        return self.stage in OPEN

    @property
    def spend(self) -> float:
        """FLOPs to be counted: nothing where it was called off before it began."""
        if self.by == "import" or (self.stage is Stage.CANCELLED and not self.started):
            return 0.0
        return self.cost


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
        kind = Kind(event["event"])
        self.n_events += 1
        match kind:
            case Kind.CREATED:
                self._create(event, where)
            case Kind.CHANGED:
                self.spec = str(event["spec"])
            case Kind.EXCLUDED:
                self.excluded.append(event)
            case Kind.ENDED:
                self.ended = str(event["reason"])
            case Kind.ASKED | Kind.IMPORTED:
                self._open(kind, event, where)
            case _:
                self._advance(kind, event, where)

    def _create(self, event: Event, where: str) -> None:
        if self.created is not None:
            raise LawsmithError(where, got="a second 'created'", want="one, as the first line")
        self.created, self.spec = event, str(event.get("spec", ""))

    def _open(self, kind: Kind, event: Event, where: str) -> None:
        name = str(event["trial"])
        if name in self.trials:
            raise LawsmithError(f"{where}: trial", got=f"{name} a second time", want="a new name")
        time, config = str(event.get("time", "")), dict(event["config"])
        if kind is Kind.ASKED:
            self.ended = None
            cost, by = float(event["cost"]), str(event["by"])
            self.trials[name] = Trial(name, config, cost, by, time=time)
            return
        self.imported.add(str(event["key"]))
        loss = _loss(event)
        stage = Stage.DIVERGED if loss is None or event.get("diverged") else Stage.FINISHED
        self.trials[name] = Trial(
            name, config, 0.0, "import", stage, loss=loss, closed=self.n_events, time=time
        )

    def _advance(self, kind: Kind, event: Event, where: str) -> None:
        name = str(event["trial"])
        if name not in self.trials:
            want = "one that was asked for before"
            raise LawsmithError(f"{where}: {kind.value}", got=f"trial {name}", want=want)
        trial = self.trials[name]
        if kind in (Kind.SUBMITTED, Kind.RUNNING, Kind.REPORTED) and not trial.open:
            return  # of a run whose fate was settled by hand meanwhile
        self.trials[name] = _with(trial, _change(trial, kind, event, self.n_events))


def fold(events: Iterable[Event]) -> Ledger:
    """The ledger of a list of events."""
    ledger = Ledger()
    for event in events:
        ledger.add(event)
    return ledger


def _change(trial: Trial, kind: Kind, event: Event, number: int) -> dict[str, Any]:
    """The fields of a trial that an event about it changes."""
    told = {"reason": str(event.get("reason", "")), "detail": str(event.get("detail", ""))}
    time = {"time": str(event.get("time", ""))}
    match kind:
        case Kind.SUBMITTED:
            attempt, handle = int(event["attempt"]), str(event["handle"])
            stage = _unless_cancelling(trial, Stage.SUBMITTED)
            return {"stage": stage, "attempt": attempt, "handle": handle, "started": True, **time}
        case Kind.RUNNING:
            return {"stage": _unless_cancelling(trial, Stage.RUNNING), **time}
        case Kind.REPORTED:
            report = (float(event["tokens"]), float(event["loss"]))
            return {"report": report}
        case Kind.RETRIED:
            following = {"attempt": int(event["attempt"]) + 1, "wait": float(event["wait"])}
            following["crashes"] = trial.crashes + (event["reason"] in CRASHES)
            opened = {"stage": Stage.WAITING, "handle": "", "closed": -1, "loss": None}
            opened["report"] = None
            return {**following, **opened, **told, **time}
        case Kind.CANCELLING:
            return {"stage": Stage.CANCELLING, "closed": -1, **time}
    loss = _loss(event) if kind in (Kind.FINISHED, Kind.DIVERGED) else None
    return {"stage": _STAGES[kind], "loss": loss, "closed": number, **told, **time}


def _with(trial: Trial, changes: dict[str, Any]) -> Trial:
    """The trial with some fields changed; as dataclasses.replace, and six times as quick."""
    new = object.__new__(Trial)
    new.__dict__.update(trial.__dict__, **changes)
    return new


def _unless_cancelling(trial: Trial, stage: Stage) -> Stage:
    return trial.stage if trial.stage is Stage.CANCELLING else stage


def _loss(event: Event) -> float | None:
    loss: Any = event.get("loss")
    number = isinstance(loss, int | float) and not isinstance(loss, bool)
    return float(loss) if number and math.isfinite(loss) else None
