"""`lawsmith report`: find out what kind of source is named, read it, and write the page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lawsmith.analysis import FitOptions, answer_tasks
from lawsmith.cli import console as out
from lawsmith.cli import options as read
from lawsmith.cli.commands import STUDY_FILE, ReportRequest
from lawsmith.datasets import Study, names
from lawsmith.datasets.sources import KINDS, has_runs
from lawsmith.errors import LawsmithError
from lawsmith.policies.catalogue import POLICIES
from lawsmith.replay import Trace
from lawsmith.report import write_report
from lawsmith.report.cards.answer import answer
from lawsmith.report.findings import Memory, find_all
from lawsmith.report.finished import FILE, read_replay, replay_source, table_source
from lawsmith.report.live_source import live_source
from lawsmith.report.source import File, Record, Source, files_of, study_files
from lawsmith.study import open_study
from lawsmith.study.live import LiveStudy
from lawsmith.surrogates import SURROGATES
from lawsmith.tasks import Task

# A replay's settings are options of the same name, except these; UNSAID values are defaults.
NO_OPTIONS = ("targets", "learn_from", "seed")
UNSAID = {"drop_largest_loss": 0, "compute": "auto"}


def run_report(request: ReportRequest) -> None:
    """Write the page, and print its main result."""
    source = make_source(request)
    path = write_report(source, request.out)
    first = answer(source)
    out.prose(first.lead)
    for caution in first.cautions:
        out.item(caution.code, caution.message)
    out.heading(f"Report, {path.stat().st_size / 1e6:.1f} MB, opens offline")
    out.paths([path])


def make_source(request: ReportRequest) -> Source:
    """The source of the report."""
    tasks, path = read.tasks(request), Path(request.table)
    read.targets(request.targets)  # bad text is reported before a table is read
    if request.table.partition(":")[0] not in names():
        if path.is_dir():
            path = _inside(path)
        if path.name == FILE:
            _check_table_options(request, "a replay")
            return _of_replay(request, path)
        if path.suffix == ".toml":
            _check_table_options(request, "a live study")
            with out.working("reading the study and working out its answer"):
                study = open_study(path)
                ledger = study.read()
                findings = find_all(study, ledger, Memory())
                return live_source(study, ledger, findings, study_record(study, (request.command,)))
    return _of_table(request, tasks)


def _inside(folder: Path) -> Path:
    """The file that tells what kind of folder this is."""
    for name in (FILE, str(STUDY_FILE)):
        if (folder / name).is_file():
            return folder / name
    files = sorted(folder.glob("*.toml"))
    if len(files) == 1:
        return files[0]
    if has_runs(folder):
        return folder  # a tracker's runs
    want = f"{FILE} (lawsmith replay --out), {STUDY_FILE}, or {KINDS}"
    raise LawsmithError(str(folder), got="a folder with none of them", want=want)


def _check_table_options(request: ReportRequest, kind: str) -> None:
    """Refuse options for tables: a replay and a study have these on record."""
    given = {
        "--law": request.law,
        "--hold-out": request.hold_out,
        "--target or --at": request.targets,
        "--force": request.force,
        "--metric or --via": request.metric or request.via,
        "--curves": request.curves,
    }
    for option, value in given.items():
        if value:
            raise LawsmithError(option, got=f"{kind}, which has its own", want="a table of runs")


def _of_table(request: ReportRequest, tasks: Sequence[Task]) -> Source:
    reading = read.with_tasks(read.reading(request), tasks, request.via)
    study, along, targets = read.read_runs(request, request.table, reading)
    options = read.law_options(study, request, targets)
    settings = {
        **table_settings(study, replace(options, targets=targets)),
        "seed": request.seed,
        "ignore": list(reading.ignore) or None,
        "where": reading.where,
        "compute": reading.compute,
    }
    files = files_of([Path(request.curves)] if request.curves else [])
    about = record((request.command,), settings, (*study_files(request.table), *files))
    with out.working("fitting and drawing"):
        source = table_source(study, options, targets, about, along)
        if not tasks:
            return source
        answers = answer_tasks(
            study,
            tasks,
            targets,
            via=request.via or "",
            level=request.level,
            hold_out=request.hold_out,
        )
        return replace(source, findings=replace(source.findings, tasks=tuple(answers)))


def table_settings(study: Study, options: FitOptions) -> dict[str, object]:
    """The settings of a report of a table, for its record."""
    rule = options.hold_out
    return {
        "law": options.law.name,
        "held out": None if rule is None else str(rule),
        "targets": [target.label for target in options.targets],
        "level": options.level,
        "columns": {name: column for name, column in study.columns.items() if name != column},
    }


def _of_replay(request: ReportRequest, path: Path) -> Source:
    with out.downloads() as progress:
        replayed = read_replay(path, read.reading(request), progress=progress)
    trace = replayed.trace
    folder = request.table if Path(request.table).is_dir() else str(path.parent)
    own = replay_command(trace.task.study.name, trace.seed, trace.settings, folder=folder)
    with out.working("following the replay again"):
        return replay_source(
            replayed, replay_record(trace, (own, request.command), files_of([path]))
        )


def replay_record(
    trace: Trace, commands: tuple[str, ...], files: Sequence[File] | None = None
) -> Record:
    """The record of a replay: commands, settings and files to make the report again."""
    study = trace.task.study.name
    settings = {"study": study, "seed": trace.seed, **trace.settings}
    return record(commands, settings, (*(files or ()), *study_files(study)))


def study_record(study: LiveStudy, commands: tuple[str, ...]) -> Record:
    """The record of a live study: commands, settings and files to make the report again."""
    settings = study.spec.model_dump(mode="json", exclude_defaults=True, exclude={"model"})
    files = files_of([study.layout.file, study.layout.journal])
    return record(commands, {**settings, "compute": study.spec.compute}, files)


def replay_command(
    study: str, seed: int, settings: Mapping[str, Any], *, folder: str = "replay"
) -> str:
    """The command that made a replay in ``folder``, from its recorded settings."""
    own = settings.get("policy") in POLICIES and settings.get("surrogate") in SURROGATES
    words = ["lawsmith" if own else "lawsmith-paper", "replay", study, "--seed", str(seed)]
    for name in (name for name in settings if name not in NO_OPTIONS):
        value, option = settings[name], f"--{name.replace('_', '-')}"
        if name == "budget" and value is not None:
            value = f"{100 * float(value):.12g}%"
        if value is True:
            words.append(option)
        elif not (value is None or value is False or value in ({}, [], UNSAID.get(name))):
            words += [option, short_text(value)]
    for target in _listed(settings, "targets"):
        sized = isinstance(target, dict)
        sizes = {k: v for k, v in target.items() if k != "C"} if sized else target
        words += ["--at" if sized else "--target", short_text(sizes)]
    for earlier in _listed(settings, "learn_from"):
        words += ["--learn-from", str(earlier)]
    return shlex.join([*words, "--out", folder])


def _listed(settings: Mapping[str, Any], name: str) -> list[Any]:
    value = settings.get(name)
    return value if isinstance(value, list) else []


def short_text(value: object) -> str:
    """The shortest text of an option's value that reads back as the same."""
    match value:
        case float() if float(f"{value:g}") == value:
            return f"{value:g}"
        case dict():
            return ",".join(f"{name}={short_text(item)}" for name, item in value.items())
        case list():
            return ",".join(map(short_text, value))
    return str(value)


def record(
    commands: tuple[str, ...], settings: Mapping[str, object], files: Sequence[File]
) -> Record:
    """A record, with the present time."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Record(commands, settings, tuple(files), now)
