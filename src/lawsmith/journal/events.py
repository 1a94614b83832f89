"""The events of a journal: their kinds and keys, and how a line is read, checked and written.

    {"event": "asked", "trial": "t0001", "time": "…", "by": "run", "config": {…}, "cost": 6e15}

Every event has ``event`` and ``time``, and ``trial`` where it is about one. Unknown keys are kept
and ignored, so that people may leave remarks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from lawsmith.errors import LawsmithError, unknown
from lawsmith.numbers import read_json, short_repr

VERSION = 1
Event = Mapping[str, Any]
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


RUN_KINDS = ("run", "trunk", "branch")
# The keys that each event must have. What their values must be is in _VALUES.
_MUST: dict[Kind, str] = {
    Kind.CREATED: "version study id",
    Kind.CHANGED: "spec",
    Kind.ASKED: "trial config cost by",
    Kind.SUBMITTED: "trial attempt handle",
    Kind.RUNNING: "trial attempt",
    Kind.REPORTED: "trial loss tokens",
    Kind.SAVED: "trial tokens",
    Kind.PASSED: "trial loss tokens",
    Kind.FINISHED: "trial loss",
    Kind.DIVERGED: "trial",
    Kind.RETRIED: "trial attempt reason wait",
    Kind.FAILED: "trial reason",
    Kind.QUARANTINED: "trial detail",
    Kind.CANCELLING: "trial",
    Kind.CANCELLED: "trial",
    Kind.EXCLUDED: "",
    Kind.IMPORTED: "trial config key",
    Kind.ENDED: "reason",
}
# Keys that an event may have; others are not looked at.
_ENDS = (Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED, Kind.FAILED, Kind.CANCELLED)
_MAY: dict[Kind, str] = {
    Kind.ASKED: "kind parent branch_at save_at",
    Kind.EXCLUDED: "trial",
    **dict.fromkeys(_ENDS, "trained"),
}


def make(kind: Kind, trial: str | None = None, /, **values: Any) -> dict[str, Any]:
    """An event that happens now."""
    about = {} if trial is None else {"trial": trial}
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"event": kind.value, **about, "time": now, **values}


def time_of(event: Event) -> datetime | None:
    """When an event happened; None where a hand-edited line does not tell."""
    try:
        moment = datetime.fromisoformat(str(event.get("time")))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


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


def check(event: dict[str, Any], *, where: str) -> Event:
    """The event, if it is one: known, with the keys of its kind."""
    name = event.get("event")
    if not isinstance(name, str):
        raise LawsmithError(where, got=short_repr(event), want="an object with an 'event'")
    if name not in _RULES:
        raise unknown(f"{where}: event", name, [kind.value for kind in Kind])
    for key, needed, want, holds in _RULES[name]:
        if key in event:
            if not holds(event[key]):
                got = short_repr(event[key])
                raise LawsmithError(f"{where}: {key} of {name}", got=got, want=want)
        elif needed:
            raise LawsmithError(f"{where}: {key} of {name}", got="nothing", want=want)
    return event


def _is_trial(value: Any) -> bool:
    return isinstance(value, str) and _TRIAL.fullmatch(value) is not None


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < 1e300  # which NaN is not


def _is_cost(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int) and 0 <= value < 2**53


def _are_costs(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_cost, value))


def _is_config(value: Any) -> bool:
    """Texts and numbers by name."""
    return isinstance(value, dict) and all(
        isinstance(one, str) or _is_number(one) for one in value.values()
    )


Rule = tuple[str, Callable[[Any], bool]]  # what a value must be: in words, and whether it is
_TEXT: Rule = ("text", lambda value: isinstance(value, str))
_NUMBER: Rule = ("a number", _is_number)
_COST: Rule = ("a number from 0", _is_cost)
_COUNT: Rule = ("a whole number", _is_count)
_VALUES: dict[str, Rule] = {
    **dict.fromkeys(("study", "id", "spec", "by", "handle", "reason", "detail", "key"), _TEXT),
    **dict.fromkeys(("loss", "wait"), _NUMBER),
    **dict.fromkeys(("cost", "tokens", "trained"), _COST),
    **dict.fromkeys(("version", "attempt"), _COUNT),
    "trial": ("a name such as t0001", _is_trial),
    "config": ("a table", _is_config),
    "kind": ("run, trunk or branch", lambda value: value in RUN_KINDS),
    "parent": ("a trial or null", lambda value: value is None or _is_trial(value)),
    "branch_at": ("a number from 0, or null", lambda value: value is None or _is_cost(value)),
    "save_at": ("a list of numbers from 0", _are_costs),
}
# One lookup a key: a journal may have 50,000 lines.
_RULES = {
    kind.value: [
        (key, needed, *_VALUES[key])
        for needed, keys in ((True, _MUST[kind]), (False, _MAY.get(kind, "")))
        for key in keys.split()
    ]
    for kind in Kind
}
