"""What `lawsmith-paper` says: the suites there are, the tables of those that were run."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lawsmith.answer.text import Json
from lawsmith.cli import console as out
from lawsmith.cli.console import working
from lawsmith.errors import LawsmithError
from lawsmith.formats import plural
from lawsmith_paper.cli.progress import duration
from lawsmith_paper.plan import Options
from lawsmith_paper.results import SUMMARY
from lawsmith_paper.store import Store
from lawsmith_paper.suites import SUITES, suites_named
from lawsmith_paper.work import Failure, describe, seconds_expected

if TYPE_CHECKING:
    from lawsmith_paper.cli.run import Done
    from lawsmith_paper.tables import Table

PROCESSES = 2  # as --jobs has it where nothing is said
MIN_HEAD = 10  # characters of a column's title before it is broken


def show_list() -> None:
    """Each suite with its jobs, about how long they take, and what it shows."""
    with working("Planning"):
        rows = [(name, *_listed(name)) for name in ("paper", *SUITES)]
    out.table("", ("suite", "jobs", "about", "shows"), rows, align="lrrw")
    default = Options()
    out.prose(
        f"With {default.seeds} seeds, {PROCESSES} processes and nothing done yet; a job that "
        "several suites need is done once. For example: lawsmith-paper run main --out results",
    )


def _listed(name: str) -> tuple[str, str, str]:
    """(jobs, time, what is shown); where it cannot be run, why."""
    try:
        suites = suites_named(name, Options())
    except LawsmithError as error:
        return "–", "–", str(error)
    jobs = list(dict.fromkeys(job for suite in suites for job in suite.jobs))
    seconds = seconds_expected(jobs, PROCESSES)
    names = ", ".join(suite.name for suite in suites)
    shown = suites[0].title if len(suites) == 1 else f"All that reproduce the paper: {names}"
    return str(len(jobs) or "none"), duration(seconds) if jobs else "at once", shown


def show_run(done: Done, written: Sequence[Path]) -> None:
    """The tables of the suites, then where everything is and how long it took."""
    tables = tables_of(done)
    for table in tables:
        if not table.detail:
            show_table(table)
    n_details = sum(table.detail for table in tables)
    if n_details:
        out.prose(f"{plural(n_details, 'more table')} in detail: on the page, or --json")
    out.paths(written, "Written")
    jobs = {job for suite in done.suites for job in suite.jobs}
    store = Store(done.folder)
    n = sum(store.finished(job) for job in jobs)
    took = f"{n} of {plural(len(jobs), 'job')} finished; this took {duration(done.seconds)}"
    out.prose(took if jobs else f"This took {duration(done.seconds)}")


def tables_of(done: Done) -> list[Table]:
    """The tables of every section of the suites that were run, each once."""
    from lawsmith_paper.sections import sections  # here: it brings the charts along

    with working("Making tables"):
        found = sections(done.suites, Store(done.folder))
        return list({table.name: table for part in found for table in part.tables}.values())


def show_table(table: Table) -> None:
    """A table as text, titles of columns broken to the width of what is below them."""
    widths = [max(map(len, cells)) for cells in zip(*table.rows, strict=True)] or [MIN_HEAD]
    heads = [
        "\n".join(textwrap.wrap(title, max(width, MIN_HEAD), break_long_words=False))
        for title, width in zip(table.columns, widths, strict=False)
    ]
    out.table(table.title, heads, table.rows, align="l" * table.n_heads)
    if table.note:
        out.prose(table.note)


def show_failures(console: Console, failures: Iterable[Failure]) -> None:
    """One line each."""
    for failure in failures:
        console.print(f"failed: {describe(failure.job)}: {failure.error}", soft_wrap=True)


def payload_text(done: Done, written: Sequence[Path]) -> str:
    """The summary, and with it the tables, the files and what failed, as one JSON object."""
    payload: Json = json.loads((done.folder / SUMMARY).read_text(encoding="utf-8"))
    payload["complete"] = not done.interrupted and not done.failures
    payload["tables"] = [_table(table) for table in tables_of(done)]
    payload["failures"] = [_failure(failure) for failure in done.failures]
    payload["files"] = [str(path) for path in written]
    return json.dumps(payload, indent=2, ensure_ascii=False, allow_nan=False)


def _table(table: Table) -> Json:
    names = ("name", "title", "columns", "rows", "note")
    return {name: getattr(table, name) for name in names}


def _failure(failure: Failure) -> Json:
    job = failure.job
    return {"kind": job.kind, "settings": dict(job.settings), "error": failure.error}
