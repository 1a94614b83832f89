"""What `lawsmith-paper run` does with its options: plan, work with a bar, write, report."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from lawsmith.cli import options as read
from lawsmith.cli.console import INTERRUPTED, stderr, working
from lawsmith.errors import LawsmithError
from lawsmith_paper.cli.progress import working_on
from lawsmith_paper.plan import Options, Suite
from lawsmith_paper.results import is_synthetic, studies_of, write_results
from lawsmith_paper.suites import suites_named
from lawsmith_paper.work import Failure, work

FAILED = 1


@dataclass(frozen=True)
class RunRequest:
    """The options of a run."""

    names: tuple[str, ...]
    seeds: int
    jobs: int
    out: Path
    iterations: int | None

    def __post_init__(self) -> None:
        counts = {"--seeds": self.seeds, "--jobs": self.jobs, "--iterations": self.iterations}
        for option, value in counts.items():
            if value is not None and value < 1:
                raise LawsmithError(option, got=value, want="at least 1")


@dataclass(frozen=True)
class Done:
    """What a run left: the suites, its files, what failed, whether Ctrl-C ended it."""

    folder: Path
    suites: tuple[Suite, ...]
    written: tuple[Path, ...]
    failures: tuple[Failure, ...]
    interrupted: bool
    begin: float  # of time.monotonic()

    @property
    def seconds(self) -> float:
        """What it has taken so far."""
        return time.monotonic() - self.begin

    @property
    def code(self) -> int:
        """What the command exits with."""
        return INTERRUPTED if self.interrupted else FAILED if self.failures else 0


def run_suites(request: RunRequest) -> Done:
    """Plan, do what is not done, and write the tables of all that is finished by then."""
    begin = time.monotonic()
    options = Options(seeds=request.seeds, iterations=request.iterations)
    with working("Planning"):
        suites = _planned(request.names, options)
    folder = read.folder(request.out, "--out")
    _note_twins(suites)
    failures, interrupted = _work(folder, suites, request.jobs)
    with working("Writing results"), _writing(folder, "--out"):
        written = write_results(folder, suites, options)
    return Done(folder, suites, tuple(written), failures, interrupted, begin)


def _planned(names: Sequence[str], options: Options) -> tuple[Suite, ...]:
    """The suites of all names, each once."""
    found = [suite for name in names for suite in suites_named(name, options)]
    return tuple({suite.name: suite for suite in found}.values())


def _note_twins(suites: Sequence[Suite]) -> None:
    """Say what is not what it stands for, before anything is run."""
    jobs = [job for suite in suites for job in suite.jobs]
    drawn = [study for study in studies_of(jobs) if is_synthetic(study)]
    if drawn:
        stderr().print(
            f"note: tables that are not here are replaced by synthetic ones, labelled so "
            f"everywhere: {', '.join(drawn)}",
            soft_wrap=True,
        )


def _work(
    folder: Path, suites: Sequence[Suite], processes: int
) -> tuple[tuple[Failure, ...], bool]:
    """(failures, whether Ctrl-C ended it)."""
    jobs = [job for suite in suites for job in suite.jobs]
    try:
        with working_on() as listen:
            return tuple(work(folder, jobs, processes=processes, listen=listen)), False
    except KeyboardInterrupt:
        stderr().print("stopped; run the same command to go on")
        return (), True


def report(done: Done, *, page: bool, as_json: bool) -> None:
    """The page where one is wanted and everything is there, then the result on stdout."""
    from lawsmith_paper.cli.view import payload_text, show_failures, show_run

    written = [*done.written]
    if page and not done.interrupted:
        written.append(write_page(done.folder))
    show_failures(stderr(), done.failures)
    if as_json:
        typer.echo(payload_text(done, written))
    else:
        show_run(done, written)


def write_page(folder: Path) -> Path:
    """The page of a folder that a run has written to."""
    from lawsmith_paper.page import page_of  # here: altair is slow to import

    with working(f"Drawing figures into {folder}"), _writing(folder, "page"):
        return page_of(folder)


@contextmanager
def _writing(folder: Path, where: str) -> Iterator[None]:
    """A full disk, or a folder that may not be written, is told in one line."""
    try:
        yield
    except OSError as error:
        got = f"{folder}: {error.strerror or error}"
        raise LawsmithError(where, got=got, want="a folder that can be written") from None
