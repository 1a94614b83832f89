"""Reading results back: replays as curves, the tables of all that is finished, a summary.

A job that has not ended is in no table and no curve: what is there was computed to its end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

import lawsmith
from lawsmith_paper.curves import Curves
from lawsmith_paper.jobs import Job, Json, code_version
from lawsmith_paper.kinds import KINDS
from lawsmith_paper.plan import Figure, Options, Suite
from lawsmith_paper.store import Store
from lawsmith_paper.studies import CATALOGUE
from lawsmith_paper.tidy import BUDGETS as BUDGETS
from lawsmith_paper.tidy import ROUND as ROUND
from lawsmith_paper.tidy import curves_of_lines
from lawsmith_paper.tidy import tidy_rows as tidy_rows

SUMMARY = "summary.json"


def finished_lines(store: Store, job: Job) -> list[Json] | None:
    """The lines of a job; None while it has not ended."""
    kept = store.read(job)
    return None if kept.end is None else kept.lines


def curves(store: Store, job: Job) -> Curves | None:
    """The replay of a job as arrays; None while it has not ended."""
    lines = finished_lines(store, job)
    return curves_of_lines(job.settings, lines) if lines else None


def lines_of(store: Store, figure: Figure) -> dict[str, list[Curves]]:
    """Label → the curves of its seeds, as far as they exist."""
    found = {
        label: [c for c in (curves(store, job) for job in jobs) if c is not None]
        for label, jobs in figure.lines.items()
    }
    return {label: group for label, group in found.items() if group}


def write_results(folder: Path, suites: Sequence[Suite], options: Options) -> list[Path]:
    """A table for each kind of job (``results`` has the replays), Parquet and CSV, and a summary.

    Each file is replaced whole. The paths, the summary last.
    """
    store, jobs = Store(folder), list(dict.fromkeys(job for suite in suites for job in suite.jobs))
    parts: dict[str, list[pd.DataFrame]] = {KINDS[job.kind].table: [] for job in jobs}
    seconds: dict[str, float] = {}
    for job in jobs:
        kept = store.read(job)
        if kept.end is not None:
            seconds[job.key] = kept.end["seconds"]
            rows = KINDS[job.kind].rows(job.settings, kept.lines)
            parts[KINDS[job.kind].table].append(pd.DataFrame(_signed(job, rows)))
    paths = [path for name, frames in parts.items() for path in _tables(folder, name, frames)]
    summary = _summary(suites, jobs, options, seconds) | {"results": sorted(parts)}
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    _replace(folder / SUMMARY, lambda path: path.write_text(text, encoding="utf-8"))
    return [*paths, folder / SUMMARY]


def _signed(job: Job, rows: Iterable[Json]) -> Iterator[Json]:
    """The rows, each with what computed it from what."""
    code = code_version(job.kind)
    for row in rows:
        yield {**row, "data": job.data, "version": lawsmith.__version__, "code": code}


def _tables(folder: Path, name: str, frames: Sequence[pd.DataFrame]) -> list[Path]:
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    paths = [folder / f"{name}.parquet", folder / f"{name}.csv"]
    _replace(paths[0], lambda path: table.to_parquet(path, index=False))
    _replace(paths[1], lambda path: table.to_csv(path, index=False, float_format="%.10g"))
    return paths


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write under another name and rename, so that a reader never meets half a file."""
    part = path.with_name(f".{path.name}.part")
    write(part)
    part.replace(path)


def _summary(
    suites: Sequence[Suite], jobs: Sequence[Job], options: Options, seconds: dict[str, float]
) -> Json:
    """What was run, with which code on which data, and how much of it is finished.

    ``seconds`` by key of the finished jobs.
    """
    return {
        "version": lawsmith.__version__,
        "code": {kind: code_version(kind) for kind in sorted({job.kind for job in jobs})},
        "suites": [suite.name for suite in suites],
        "seeds": options.seeds,
        "iterations": options.iterations,
        "studies": _studies(jobs),
        "jobs": {"planned": len(jobs), "finished": len(seconds)},
        "seconds": round(sum(seconds.values()), 1),
    }


def _studies(jobs: Sequence[Job]) -> Json:
    """Each study with its checksum and, by law, what the fractions of a budget are of."""
    found: Json = {}
    for job in jobs:
        kind = KINDS[job.kind]
        name = kind.study(job.settings)
        law, facts = kind.facts(job.settings)
        study = found.setdefault(
            name, {"digest": job.data, "synthetic": is_synthetic(name) or is_drawn(name)}
        )
        study.setdefault("laws", {}).setdefault(law, {}).update(facts)
    return found


def studies_of(jobs: Sequence[Job]) -> list[str]:
    """The names of the studies that jobs read, each once."""
    return list(dict.fromkeys(KINDS[job.kind].study(job.settings) for job in jobs))


def is_synthetic(study: str) -> bool:
    """Whether a study of the catalogue was drawn rather than trained."""
    return study in CATALOGUE and CATALOGUE[study].synthetic


def is_drawn(study: str) -> bool:
    """Whether a study is a family of synthetic ones that are drawn seed by seed."""
    return study.startswith("drawn-")
