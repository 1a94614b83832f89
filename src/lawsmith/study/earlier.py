"""Earlier studies to learn from: tables, study files and catalogued names → a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from lawsmith.analysis import learn
from lawsmith.datasets import ENTRIES, Entry, ReadLog, Study, load
from lawsmith.errors import LawsmithError
from lawsmith.journal import Ledger
from lawsmith.runs import Runs, State
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.surface import PUBLIC, Prior


def prior_from(
    sources: Sequence[str], *, folder: Path | None = None, entries: Mapping[str, Entry] = ENTRIES
) -> Prior:
    """What the studies at ``sources`` let expect of a further one like them.

    folder    what paths are relative to
    entries   the catalogue, where names are looked up
    """
    if not sources:
        return PUBLIC
    return learn([earlier(source, folder=folder, entries=entries) for source in sources])


def earlier(
    source: str, *, folder: Path | None = None, entries: Mapping[str, Entry] = ENTRIES
) -> Study:
    """The study at a path (a table, a study file or its folder), or the catalogued one."""
    if source.partition(":")[0] in entries:
        return load(source, entries=entries)
    path = Path(source) if folder is None else folder / source
    try:
        if path.is_dir() or path.suffix == ".toml":
            live = open_study(path / "study.toml" if path.is_dir() else path)
            return replace(runs_made(live, live.read()), name=source)
        return replace(load(source if folder is None else path, entries=entries), name=source)
    except LawsmithError as error:
        raise LawsmithError(f"learn from {source}: {error}") from None


def runs_made(study: LiveStudy, ledger: Ledger) -> Study:
    """The candidates and the runs that ended, as a study like any other."""
    history, name = study.history(ledger), study.spec.name
    pool, runs = study.pool(history.pool), history.pool_runs  # every run is of a row of the pool
    kept = runs.state != State.PENDING.value
    ended = Runs(runs.index[kept], runs.loss[kept], runs.state[kept])
    names = tuple(np.array(history.names)[kept].tolist())
    nothing, law = np.zeros(len(pool), dtype=np.bool_), study.law.name
    return Study(name, name, pool, ended, ReadLog(len(ended)), nothing, law, run_names=names)


def prior_of(study: LiveStudy) -> Prior:
    """What the earlier studies that a study file names let expect."""
    folder = study.layout.file.parent.resolve()
    stamps = tuple(_stamp(folder / source) for source in study.spec.learn_from)
    return _remembered(tuple(study.spec.learn_from), folder, stamps)


@lru_cache(maxsize=8)
def _remembered(sources: tuple[str, ...], folder: Path, stamps: tuple[float, ...]) -> Prior:
    """Learnt once for each state of the files."""
    del stamps
    return prior_from(sources, folder=folder)


def _stamp(path: Path) -> float:
    """When a file was last changed; that of the journal for a study file. 0 for a name."""
    record = path.parent / "journal.jsonl" if path.suffix == ".toml" else path
    return record.stat().st_mtime if record.exists() else 0.0
