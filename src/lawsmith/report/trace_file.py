"""A replay read back from trace.json: its table, its task, and what was run when."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lawsmith.costs import Apart, Trunks
from lawsmith.datasets import ReadOptions, Study, load
from lawsmith.datasets.fetch import Progress
from lawsmith.errors import LawsmithError
from lawsmith.files import read_bytes, reason
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.numbers import finite, read_json
from lawsmith.plausible import SCALE
from lawsmith.replay import Replayed, Step, Task, Trace, prepare
from lawsmith.replay.steps import make_step
from lawsmith.study.live import prior_from

FILE = "trace.json"
MAX_BYTES = 512 * 2**20
Json = dict[str, Any]


def read_replay(path: Path, reading: ReadOptions, *, progress: Progress | None = None) -> Replayed:
    """The replay in a file; ``reading`` adds what the file does not tell, such as column names."""
    told = _read(path)
    try:
        return _replayed(told, reading, progress)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        got = f"{type(error).__name__}: {error}"
        raise _not_a_trace(path, got) from None


def _read(path: Path) -> Json:
    try:
        told = read_json(read_bytes(path, limit=MAX_BYTES))
    except OSError as error:
        raise LawsmithError(str(path), got=reason(error)) from None
    except ValueError as error:
        raise _not_a_trace(path, str(error)) from None
    if not isinstance(told, dict) or "trace" not in told:
        raise _not_a_trace(path, "no key 'trace'")
    return told


def _not_a_trace(path: Path, got: str) -> LawsmithError:
    return LawsmithError(str(path), got=got, want="what lawsmith replay --out writes")


def _replayed(told: Json, reading: ReadOptions, progress: Progress | None) -> Replayed:
    settings = dict(told["settings"])
    above = settings.get("diverged_above")
    own = ReadOptions(
        columns={str(k): str(v) for k, v in (settings.get("columns") or {}).items()},
        ignore=tuple(str(name) for name in settings.get("ignore") or ()),
        where=settings.get("where"),
        drop_largest_loss=int(settings.get("drop_largest_loss") or 0),
        skip_bad_rows=bool(settings.get("skip_bad_rows")),
        diverged_above=math.inf if above is None else finite(above, where="diverged_above"),
        compute=str(settings.get("compute") or "auto"),
    )
    study = load(str(told["study"]), own.then(reading), progress=progress)
    sources = [str(source) for source in settings.get("learn_from") or ()]
    task = replace(_task(study, settings), prior=prior_from(sources))
    _check_same(task, told)
    steps = tuple(_steps(task, told["trace"]))
    if not steps:
        raise ValueError("no steps")
    trace = Trace(task, str(told["method"]), int(told["seed"]), settings, steps)
    return Replayed(study, trace, str(told.get("stopped", "")))


def _task(study: Study, settings: Json) -> Task:
    decay = settings.get("trunk_decay")
    return prepare(
        study,
        get_law(str(settings["law"])),
        hold_out=HeldOut.parse(str(settings["hold_out"])),
        targets=[_scale(C) for C in settings["targets"] if not isinstance(C, dict)],
        pricing=Apart() if decay is None else Trunks(finite(decay, where="trunk_decay")),
        slice_by=str(settings.get("slice_by") or "C"),
        force=bool(settings.get("force")),
    )


def _check_same(task: Task, told: Json) -> None:
    """The table may have changed since, or be another of the same name."""
    pool = told["pool"]
    same = len(task.pool) == pool["n"]
    if not same or not math.isclose(task.total_compute, pool["total_compute"], rel_tol=1e-9):
        got = f"a pool of {len(task.pool)} runs, {task.total_compute:.6g} FLOPs"
        want = f"{pool['n']} runs, {pool['total_compute']:.6g} FLOPs, as it was replayed"
        hint = "give it its table of then; of an older replay, say --columns as it was told"
        raise LawsmithError(task.study, got=got, want=want, hint=hint)


def _steps(task: Task, told: list[Json]) -> Iterator[Step]:
    """What was run when; the laws fitted on the way are not read, for a report shows none."""
    rows: list[int] = []
    for step in told:
        rows.append(int(step["candidate"]))
        if not 0 <= rows[-1] < len(task.pool):
            raise ValueError(f"candidate {rows[-1]} of {len(task.pool)}")
        window = step["window"]
        window = math.nan if window is None else finite(window, where="window")
        yield make_step(task, rows, window, (None, None), (math.nan, None))


def _scale(value: object) -> float:
    number = finite(value, where="target")
    if not SCALE.hold(number):
        raise LawsmithError("target", got=f"{number:g}", want=SCALE.want)
    return number
