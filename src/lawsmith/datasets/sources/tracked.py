"""Runs of any tracker as a table of runs and a table of curves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lawsmith.arrays import FloatArray
from lawsmith.datasets.json_tables import spread
from lawsmith.datasets.roles import find_column
from lawsmith.errors import LawsmithError, unknown
from lawsmith.files import reason
from lawsmith.numbers import as_amount, as_float

if TYPE_CHECKING:
    import pandas as pd

Series = Sequence[tuple[float, float]]  # (step, value), in the order of steps
Moment = tuple[str, object, object]  # the metric, the step, the value
T = TypeVar("T")
TOKENS_A_STEP = ("tokens_per_step", "tokens_per_batch", "batch_tokens")
MOST_RUNS = 100_000  # bounds how long a server is asked


@dataclass(frozen=True)
class TrackedRun:
    """One run of a tracker.

    state      finished, running, crashed, killed, failed, …; '' if not known
    settings   hyperparameters and other choices
    results    the last value of every metric
    history    all values along the run
    """

    name: str
    state: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, Series] = field(default_factory=dict)


def tracked_run(
    name: str,
    state: str,
    settings: Mapping[str, Any],
    moments: Iterable[Moment] = (),
    results: Mapping[str, Any] | None = None,
) -> TrackedRun:
    """A run from the values that its tracker logged, in any order; non-numbers are skipped.

    A result is the last value of the history, unless ``results`` has one.
    """
    history: dict[str, list[tuple[float, float]]] = {}
    for measure, step, value in moments:
        at, number = as_float(step), as_float(value)
        if at is not None and number is not None:
            history.setdefault(measure, []).append((at, number))
    for series in history.values():
        series.sort(key=lambda moment: moment[0])
    last = {measure: series[-1][1] for measure, series in history.items()}
    return TrackedRun(name, state, settings, {**last, **(results or {})}, history)


def runs_table(runs: Sequence[TrackedRun], *, source: str) -> pd.DataFrame:
    """One row per run: run, state, settings as config.… and results as summary.…"""
    import pandas as pd

    if not runs:
        raise LawsmithError(source, got="no run", want="at least one")
    rows = []
    for run in sorted(runs, key=_by_name):
        row: dict[str, Any] = {"run": run.name, "state": run.state or None}
        for place, values in (("config", run.settings), ("summary", run.results)):
            for name, value in values.items():
                plain = not isinstance(value, list | dict | tuple | set)
                row[f"{place}.{name}"] = value if plain else str(value)
        rows.append(row)
    table = pd.DataFrame(rows)
    return table if any(run.state for run in runs) else table.drop(columns="state")


def curves_table(runs: Sequence[TrackedRun], *, source: str) -> pd.DataFrame:
    """One row per step of each run: run, D, loss, and lr and N if known."""
    import pandas as pd

    names = list(dict.fromkeys(name for run in runs for name in run.history))
    loss, tokens, lr = (find_column(role, names, source) for role in ("loss", "D", "lr"))
    if loss is None:
        got = f"histories of {', '.join(names[:8]) or 'nothing'}"
        raise LawsmithError(source, got=got, want="one of a loss, such as val_loss")
    tables = []
    for run in sorted(runs, key=_by_name):
        steps, losses = np.array(run.history.get(loss, ()), dtype=np.float64).reshape(-1, 2).T
        D = _tokens(run, steps, run.history.get(tokens or "", ()))
        if D is None:
            continue
        table = pd.DataFrame({"run": run.name, "D": D, "loss": losses})
        if lr is not None:
            rates = dict(run.history.get(lr, ()))
            table["lr"] = [rates.get(step) for step in steps.tolist()]
        if (size := _setting(run, "N")) is not None:
            table["N"] = size
        tables.append(table[table["D"] > 0.0])  # nothing is learnt before the first token
    if not sum(map(len, tables)):
        hint = "log tokens along the run, or have tokens_per_step among its settings"
        got = "runs without the tokens of each step"
        raise LawsmithError(source, got=got, want="tokens along at least one run", hint=hint)
    return pd.concat(tables, ignore_index=True)


def _tokens(run: TrackedRun, steps: FloatArray, logged: Series) -> FloatArray | None:
    """Tokens at each step: as logged, or from the tokens per step, or from those of the run."""
    if not len(steps):
        return None
    if logged:
        at, seen = np.array(logged, dtype=np.float64).T
        return np.asarray(np.interp(steps, at, seen))
    for name in TOKENS_A_STEP:
        each = as_amount(run.settings.get(name))
        if each is not None and each > 0.0:
            return np.asarray(steps * each)
    whole = _setting(run, "D")
    last = max((step for series in run.history.values() for step, _ in series), default=0.0)
    if whole is None or last <= 0.0 or run.state not in ("", "finished"):
        return None
    return np.asarray(steps * (whole / last))


def _setting(run: TrackedRun, role: str) -> float | None:
    """N or D of a run, if it is among the settings or results."""
    for values in (run.settings, run.results):
        try:
            name = find_column(role, list(values), run.name)
        except LawsmithError:
            return None
        number = None if name is None else as_amount(values[name])
        if number is not None:
            return number
    return None


def _by_name(run: TrackedRun) -> list[tuple[int, str]]:
    """A sort key that puts trial 2 before trial 10."""
    parts = re.split(r"(\d+)", run.name)
    return [(int(part) if part.isdecimal() and len(part) < 19 else 0, part) for part in parts]


def visible(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings or results flattened, without what the tracker keeps for itself (_…)."""
    return {name: value for name, value in spread(values).items() if not name.startswith("_")}


def only(parts: Mapping[str, T], name: str, what: str, source: str) -> T:
    """The named part of a source, or the only one; ``what`` says what a part is."""
    if name and name not in parts:
        raise unknown(f"{source}: {what}", name, parts)
    if not name and len(parts) != 1:
        got = f"{len(parts)} of them ({', '.join(list(parts)[:8])})"
        hint = f"say which: '{source}#{next(iter(parts))}'" if parts else None
        raise LawsmithError(source, got=got, want=f"one {what}", hint=hint)
    return parts[name or next(iter(parts))]


@contextmanager
def library(extra: str, source: str, want: str) -> Iterator[None]:
    """Reading with an optional library: if it is missing or fails, the error is one line."""
    try:
        yield
    except ImportError:
        hint = f"pip install 'lawsmith[{extra}]'"
        got = f"no {extra} support"
        raise LawsmithError(source, got=got, want="it installed", hint=hint) from None
    except LawsmithError:
        raise
    except Exception as error:  # libraries have errors of many kinds
        raise LawsmithError(source, got=reason(error), want=want) from None
