"""What a line of the journal may say: the events, their keys, and how a line is read and written.

    {"event": "asked", "trial": "t0001", "time": "…", "by": "run", "config": {…}, "cost": 6e15}

Every event has ``event`` and ``time``, and ``trial`` where it is about one. Unknown keys are kept
and ignored, so that people may leave remarks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from lawsmith.errors import LawsmithError, unknown
from lawsmith.numbers import read_json, shown

VERSION = 1
Event = Mapping[str, Any]
_read = json.JSONDecoder().raw_decode
_TRIAL = re.compile(r"[ti][0-9]{4,9}")


class Kind(StrEnum):
    """What happened."""

    CREATED = "created"  # version, study, id, seed, spec: always the first line
    CHANGED = "changed"  # the study file is another one now: spec
    # trial, config, cost, by: 'run' (lawsmith launches it) or 'hand'; of a trunk or a branch also
    # kind, parent, branch_at and save_at
    ASKED = "asked"
    SUBMITTED = "submitted"  # trial, attempt, handle
    RUNNING = "running"  # trial, attempt
    REPORTED = "reported"  # trial, tokens, loss: on the way, never final
    SAVED = "saved"  # trial, tokens: a checkpoint that it can go on from, or another run
    PASSED = "passed"  # trial, tokens, loss: the end of a decay on the way, which is a result
    FINISHED = "finished"  # trial, loss
    DIVERGED = "diverged"  # trial, loss (null where it is no number)
    RETRIED = "retried"  # trial, attempt (the one that ended), reason, wait in seconds
    FAILED = "failed"  # trial, reason, detail
    QUARANTINED = "quarantined"  # trial, detail: a result that is not used
    CANCELLING = "cancelling"  # trial: to be stopped; reason, why, values where lawsmith decided
    CANCELLED = "cancelled"  # trial: stopped
    EXCLUDED = "excluded"  # where (an expression) or match (values): candidates to be left alone
    IMPORTED = "imported"  # trial, config, loss, source, key: a run made elsewhere before
    ENDED = "ended"  # reason: nothing more will be asked


# The keys each event must have, and of what kind their values are.
_NUMBER, _TEXT, _COUNT, _TABLE = "a number", "text", "a whole number", "a table"
_COST = "a number from 0"
RUN_KINDS = ("run", "trunk", "branch")
_RUN_KIND = "run, trunk or branch"
_TRIAL_OR_NULL, _COST_OR_NULL = "a trial or null", "a number from 0, or null"
_COSTS = "a list of numbers from 0"
_KEYS: dict[Kind, dict[str, str]] = {
    Kind.CREATED: {"version": _COUNT, "study": _TEXT, "id": _TEXT},
    Kind.CHANGED: {"spec": _TEXT},
    Kind.ASKED: {"trial": _TEXT, "config": _TABLE, "cost": _COST, "by": _TEXT},
    Kind.SUBMITTED: {"trial": _TEXT, "attempt": _COUNT, "handle": _TEXT},
    Kind.RUNNING: {"trial": _TEXT, "attempt": _COUNT},
    Kind.REPORTED: {"trial": _TEXT, "loss": _NUMBER, "tokens": _NUMBER},
    Kind.SAVED: {"trial": _TEXT, "tokens": _COST},
    Kind.PASSED: {"trial": _TEXT, "loss": _NUMBER, "tokens": _COST},
    Kind.FINISHED: {"trial": _TEXT, "loss": _NUMBER},
    Kind.DIVERGED: {"trial": _TEXT},
    Kind.RETRIED: {"trial": _TEXT, "attempt": _COUNT, "reason": _TEXT, "wait": _NUMBER},
    Kind.FAILED: {"trial": _TEXT, "reason": _TEXT},
    Kind.QUARANTINED: {"trial": _TEXT, "detail": _TEXT},
    Kind.CANCELLING: {"trial": _TEXT},
    Kind.CANCELLED: {"trial": _TEXT},
    Kind.EXCLUDED: {},
    Kind.IMPORTED: {"trial": _TEXT, "config": _TABLE, "key": _TEXT},
    Kind.ENDED: {"reason": _TEXT},
}
# Keys that an event may have, and what they must be where they are there.
_MAY: dict[Kind, dict[str, str]] = {
    Kind.ASKED: {
        "kind": _RUN_KIND,
        "parent": _TRIAL_OR_NULL,
        "branch_at": _COST_OR_NULL,
        "save_at": _COSTS,
    },
    **{
        kind: {"trained": _COST}
        for kind in (Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED, Kind.FAILED, Kind.CANCELLED)
    },
}


def make(kind: Kind, trial: str | None = None, /, **values: Any) -> dict[str, Any]:
    """An event that happens now."""
    about = {} if trial is None else {"trial": trial}
    return {"event": kind.value, **about, "time": now_text(), **values}


def now_text() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(event: Event) -> datetime | None:
    """When an event happened; None where a hand-edited line does not tell."""
    try:
        told = datetime.fromisoformat(str(event.get("time")))
    except ValueError:
        return None
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def write_line(event: Event) -> bytes:
    """The line of an event."""
    return json.dumps(event, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"


def parse(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, None where there is none."""
    try:
        value = read_json(line.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def parse_lines(lines: Sequence[bytes]) -> list[dict[str, Any] | None]:
    """What `parse` says of each line; of plain ones in half the time, for they are read as one."""
    try:
        text = b"\n".join(lines).decode("utf-8")
        found: list[dict[str, Any] | None] = []
        at = 0
        most = 0 if "\\u" in text else len(text)  # which may be half a surrogate pair
        while at < most:
            value, end = _read(text, at)
            if not isinstance(value, dict) or text[end : end + 1] not in ("\n", ""):
                break
            found.append(value)
            at = end + 1
        if len(found) == len(lines):  # so none holds two objects, and no object two lines
            return found
    except (ValueError, RecursionError):
        pass
    return [parse(line) for line in lines]


def check(event: dict[str, Any], *, where: str) -> Event:
    """The event, if it is one: known, with the keys of its kind."""
    name = event.get("event")
    if not isinstance(name, str):
        raise LawsmithError(where, got=shown(event), want="an object with an 'event'")
    if name not in _RULES:
        raise unknown(f"{where}: event", name, [kind.value for kind in Kind])
    for key, want, holds, needed in _RULES[name]:
        if key in event:
            if not holds(event[key]):
                got = shown(event[key])
                raise LawsmithError(f"{where}: {key} of {name}", got=got, want=want)
        elif needed:
            raise LawsmithError(f"{where}: {key} of {name}", got="nothing", want=want)
    if "trial" in event and not _is_trial(event["trial"]):
        got = shown(event["trial"])
        raise LawsmithError(f"{where}: trial", got=got, want="a name such as t0001")
    return event


def _is_trial(value: Any) -> bool:
    return isinstance(value, str) and _TRIAL.fullmatch(value) is not None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < 1e300  # which NaN is not


def _is_cost(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int) and 0 <= value < 2**53


def _is_table(value: Any) -> bool:
    """A configuration: texts and numbers by name."""
    return isinstance(value, dict) and all(
        isinstance(one, str) or _is_number(one) for one in value.values()
    )


# One lookup a key: a journal may have 50,000 lines.
_TESTS: dict[str, Callable[[Any], bool]] = {
    _NUMBER: _is_number,
    _COST: _is_cost,
    _COUNT: _is_count,
    _TEXT: _is_text,
    _TABLE: _is_table,
    _RUN_KIND: lambda value: value in RUN_KINDS,
    _TRIAL_OR_NULL: lambda value: value is None or _is_trial(value),
    _COST_OR_NULL: lambda value: value is None or _is_cost(value),
    _COSTS: lambda value: isinstance(value, list) and all(map(_is_cost, value)),
}
_RULES: dict[str, tuple[tuple[str, str, Callable[[Any], bool], bool], ...]] = {
    kind.value: tuple(
        (key, want, _TESTS[want], needed)
        for needed, keys in ((True, _KEYS[kind]), (False, _MAY.get(kind, {})))
        for key, want in keys.items()
    )
    for kind in Kind
}
