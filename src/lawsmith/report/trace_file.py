"""trace.json, which `lawsmith replay --out` writes, back into a Trace; its study is read again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lawsmith.costs import Apart, Trunks
from lawsmith.datasets import ReadOptions, Study, load
from lawsmith.datasets.fetch import Progress
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import Prediction
from lawsmith.replay import Task, Trace, prepare, steps_from

FILE = "trace.json"
Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Replayed:
    """A replay as it was recorded.

    predictions   of its outlook, as the replay printed them; none where it had no outlook
    stopped       why it ended
    """

    study: Study
    trace: Trace
    predictions: tuple[Prediction, ...]
    stopped: str


def read_replay(path: Path, reading: ReadOptions, *, progress: Progress | None = None) -> Replayed:
    """The replay in a file; ``reading`` adds what the file does not tell, such as column names."""
    told = _read(path)
    try:
        return _replayed(told, reading, progress)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        got = f"{type(error).__name__}: {error}"
        raise _not_a_trace(path, got) from None


def _read(path: Path) -> Json:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LawsmithError(str(path), got=error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
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
        where=settings.get("where"),
        drop_largest_loss=int(settings.get("drop_largest_loss") or 0),
        skip_bad_rows=bool(settings.get("skip_bad_rows")),
        diverged_above=math.inf if above is None else float(above),
        compute=str(settings.get("compute") or "auto"),
    )
    study = load(str(told["study"]), own.then(reading), progress=progress)
    task = _task(study, settings)
    _check_same(task, told)
    records = [_record(task.law, step) for step in told["trace"]]
    steps = tuple(steps_from(task, records))
    trace = Trace(task, str(told["method"]), int(told["seed"]), settings, steps)
    return Replayed(study, trace, _predictions(told), str(told.get("stopped", "")))


def _task(study: Study, settings: Json) -> Task:
    decay = settings.get("trunk_decay")
    return prepare(
        study,
        get_law(str(settings["law"])),
        hold_out=HeldOut.parse(str(settings["hold_out"])),
        extrapolate_to=[float(C) for C in settings["extrapolate_to"]],
        pricing=Apart() if decay is None else Trunks(float(decay)),
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


def _record(law: Law, step: Json) -> Json:
    """A step as `replay.steps_from` reads it."""
    return {
        "row": int(step["candidate"]),
        "window": step["window"],
        "envelope": [step["envelope"]["observed"], step["envelope"]["mixed"]],
        **{fit: _fit(law, found) for fit, found in step["fits"].items()},
    }


def _fit(law: Law, found: Json | None) -> list[Any] | None:
    return None if found is None else [law.phi(found["params"]).tolist(), int(found["n_points"])]


def _predictions(told: Json) -> tuple[Prediction, ...]:
    found = (told.get("outlook") or {}).get("predictions", ())
    return tuple(
        Prediction(
            compute=float(p["compute"]),
            inputs={name: float(value) for name, value in p["inputs"].items()},
            loss=float(p["loss"]),
            pool=_interval(p["pool"]),
            truth=_interval(p["truth"]),
            decades=float(p["decades"]),
            allocation=p["allocation"] and {k: _interval(v) for k, v in p["allocation"].items()},
        )
        for p in found
    )


def _interval(ends: Mapping[str, float]) -> Interval:
    return Interval(*(float(ends[key]) for key in ("centre", "low", "high")))


def observed_study(replayed: Replayed) -> Study:
    """The pool as a study of which only the replayed runs were made."""
    from lawsmith.datasets import ReadLog
    from lawsmith.runs import Runs

    task = replayed.trace.task
    rows = [step.candidate for step in replayed.trace.steps]
    called = replayed.study.config_names() if replayed.study.run_names else []
    return replace(
        replayed.study,
        grid=task.pool,
        runs=Runs.from_losses(rows, task.loss[rows]),
        log=ReadLog(len(rows)),
        run_names=tuple(called[task.rows[row]] for row in rows) if called else (),
        target=replayed.study.target[task.rows],
    )
