"""What `lawsmith report` makes of its argument: which kind of source it is, read and worked out."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import typer

from lawsmith.analysis import FitOptions, answer_tasks
from lawsmith.answer import Target
from lawsmith.cli import console as out
from lawsmith.cli.curves import join_curves
from lawsmith.cli.options import check_inputs, law_of
from lawsmith.cli.options import targets as read_targets
from lawsmith.datasets import CurveOptions, ReadOptions, Study, load, names
from lawsmith.datasets.sources import KINDS, has_runs
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.law import Law
from lawsmith.policies.catalogue import POLICIES
from lawsmith.report.cards.answer import answer
from lawsmith.report.finding import Memory, find_out
from lawsmith.report.of_live import live_source
from lawsmith.report.of_replay import FILE, read_replay, replay_source
from lawsmith.report.of_table import table_source
from lawsmith.report.source import Record, Source, files_of, study_files
from lawsmith.study import open_study
from lawsmith.study.live import LiveStudy
from lawsmith.surrogates import SURROGATES
from lawsmith.tasks import Task, TaskAnswer

STUDY_FILE = "study.toml"
# Settings of a replay that are options of the same name.
REPLAY_OPTIONS = (
    *("law", "hold_out", "policy", "surrogate", "kernel", "priors", "scale", "model_path"),
    *(
        "acquisition",
        "kappa",
        "reach",
        "slice_by",
        "n_init",
        "iterations",
        "stop_when",
        "trunk_decay",
    ),
    *("where", "diverged_above"),
)


@dataclass(frozen=True)
class ReportRequest:
    """The options of a report, each checked by itself; None or empty where not given."""

    source: str
    command: str
    reading: ReadOptions
    law: Law | None = None
    hold_out: HeldOut | None = None
    targets: tuple[tuple[str, str], ...] = ()
    level: float = 0.95
    force: bool = False
    seed: int = 0
    tasks: tuple[Task, ...] = ()
    via: str = ""
    curves: str | None = None
    curve_reading: CurveOptions | None = None


def make_source(asked: ReportRequest) -> Source:
    """The source of the report asked for."""
    path = Path(asked.source)
    if asked.source.partition(":")[0] not in names():
        if path.is_dir():
            path = _inside(path)
        if path.name == FILE:
            _check_table_options(asked, "a replay")
            return _of_replay(asked, path)
        if path.suffix == ".toml":
            _check_table_options(asked, "a live study")
            with out.working("reading the study and working out its answer"):
                return study_source(open_study(path), (asked.command,))
    return _of_table(asked)


def _inside(folder: Path) -> Path:
    """The file of a folder that says what it is."""
    for name in (FILE, STUDY_FILE):
        if (folder / name).is_file():
            return folder / name
    files = sorted(folder.glob("*.toml"))
    if len(files) == 1:
        return files[0]
    if has_runs(folder):
        return folder  # of a tracker
    want = f"{FILE} (lawsmith replay --out), {STUDY_FILE}, or {KINDS}"
    raise LawsmithError(str(folder), got="a folder with none of them", want=want)


def _check_table_options(asked: ReportRequest, kind: str) -> None:
    """Options that only a table leaves open; a replay and a study have told them already."""
    given = {
        "--law": asked.law is not None,
        "--hold-out": asked.hold_out is not None,
        "--target or --at": bool(asked.targets),
        "--force": asked.force,
        "--metric or --via": bool(asked.tasks or asked.via),
        "--curves": asked.curves is not None,
    }
    for option, is_given in given.items():
        if is_given:
            raise LawsmithError(option, got=f"{kind}, which has its own", want="a table of runs")


def _of_table(asked: ReportRequest) -> Source:
    with out.downloads() as progress:
        study = load(asked.source, asked.reading, progress=progress)
    study, along = join_curves(study, asked.curves, asked.curve_reading)
    law = asked.law or get_law(law_of(study))
    check_inputs(study, law)
    targets = read_targets(asked.targets, list(study.grid.hp))
    options = FitOptions(
        law=law,
        hold_out=asked.hold_out,
        targets=tuple(t for t in targets if not t.hp),
        level=asked.level,
        force=asked.force,
        seed=asked.seed,
    )
    settings = {
        "law": law.name,
        "held out": None if asked.hold_out is None else str(asked.hold_out),
        "targets": [target.label for target in targets],
        "level": asked.level,
        "seed": asked.seed,
        "ignore": list(asked.reading.ignore) or None,
        "where": asked.reading.where,
        "columns": {name: column for name, column in study.columns.items() if name != column},
        "compute": asked.reading.compute,
    }
    files = (*study_files(asked.source), *files_of([Path(asked.curves)] if asked.curves else []))
    record = Record((asked.command,), settings, files, now())
    with out.working("fitting and drawing"):
        made = table_source(study, options, targets, record, along)
        return replace(made, found=replace(made.found, tasks=_tasks(study, asked, targets)))


def _tasks(study: Study, asked: ReportRequest, targets: Sequence[Target]) -> tuple[TaskAnswer, ...]:
    """The answers for the tasks asked for."""
    if not asked.tasks:
        return ()
    rule, via = asked.hold_out, asked.via
    answers = answer_tasks(study, asked.tasks, targets, via=via, level=asked.level, hold_out=rule)
    return tuple(answers)


def _of_replay(asked: ReportRequest, path: Path) -> Source:
    with out.downloads() as progress:
        replayed = read_replay(path, asked.reading, progress=progress)
    trace = replayed.trace
    settings = {"study": trace.task.study, "seed": trace.seed, **trace.settings}
    files = (*files_of([path]), *study_files(trace.task.study))
    folder = asked.source if Path(asked.source).is_dir() else str(path.parent)
    own = replay_command(trace.task.study, trace.seed, settings, folder=folder)
    commands = (own, asked.command)
    with out.working("following the replay again"):
        return replay_source(replayed, Record(commands, settings, files, now()))


def study_source(study: LiveStudy, commands: tuple[str, ...]) -> Source:
    """The source of a live study as it stands now."""
    ledger = study.read()
    found = find_out(study, ledger, Memory())
    return live_source(study, ledger, found, study_record(study, commands))


def study_record(study: LiveStudy, commands: tuple[str, ...]) -> Record:
    """How a live study can be reported on again."""
    settings = study.spec.model_dump(mode="json", exclude_defaults=True, exclude={"model"})
    files = files_of([study.layout.file, study.layout.journal])
    return Record(commands, {**settings, "compute": study.spec.compute}, files, now())


def replay_command(
    study: str, seed: int, settings: dict[str, object], *, folder: str = "replay"
) -> str:
    """The replay's own command, from what it put on record; it wrote to ``folder``."""
    own = settings.get("policy") in POLICIES and settings.get("surrogate") in SURROGATES
    words = ["lawsmith" if own else "lawsmith-paper", "replay", study, "--seed", str(seed)]
    for name in REPLAY_OPTIONS:
        value = settings.get(name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", _word(value)]
    if settings.get("budget") is not None:
        words += ["--budget", f"{100 * float(str(settings['budget'])):.12g}%"]
    columns = settings.get("columns")
    if isinstance(columns, dict) and columns:
        words += ["--columns", ",".join(f"{name}={column}" for name, column in columns.items())]
    ignored = settings.get("ignore")
    if isinstance(ignored, list) and ignored:
        words += ["--ignore", ",".join(str(name) for name in ignored)]
    words += ["--skip-bad-rows"] if settings.get("skip_bad_rows") else []
    if settings.get("drop_largest_loss"):
        words += ["--drop-largest-loss", _word(settings["drop_largest_loss"])]
    if settings.get("compute") not in (None, "auto"):
        words += ["--compute", _word(settings["compute"])]
    targets = settings.get("targets")
    for target in targets if isinstance(targets, list) else ():
        words += _target_words(target)
    words += ["--force"] if settings.get("force") else []
    return shlex.join([*words, "--out", folder])


def _target_words(target: object) -> list[str]:
    if not isinstance(target, dict):
        return ["--target", _word(target)]
    given = (f"{name}={_word(value)}" for name, value in target.items() if name != "C")
    return ["--at", ",".join(given)]


def _word(value: object) -> str:
    """As short as it can be read back by."""
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value)


def command_of(context: typer.Context) -> str:
    """The command line as it was given, options that were left out left out."""
    words = ["lawsmith", str(context.info_name)]
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        values = context.params[param.name or ""]
        option = [] if param.param_type_name == "argument" else [max(param.opts, key=len)]
        if isinstance(values, bool):
            words += option
            continue
        for value in values if isinstance(values, list | tuple) else [values]:
            words += [*option, _word(value)]
    return shlex.join(words)


def show_report(source: Source, path: Path) -> None:
    """The answer in a sentence, what to beware of, and where the page is."""
    first = answer(source)
    console = out.stdout()
    out.prose(console, first.lead)
    for caution in first.cautions:
        out.item(console, caution.code, caution.text)
    size = path.stat().st_size / 1e6
    out.heading(console, f"Report, {size:.1f} MB, opens offline")
    out.paths(console, [path])


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
