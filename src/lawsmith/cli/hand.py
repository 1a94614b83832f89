"""What a person does to a live study: ask for runs, tell results, exclude, cancel, export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lawsmith.cli.console import print_json
from lawsmith.cli.live import DEFAULT_FILE, StudyFile, at_least_one
from lawsmith.cli.params import Json
from lawsmith.errors import LawsmithError
from lawsmith.files import write_told

if TYPE_CHECKING:
    from lawsmith.study.live import LiveStudy

_NOTHING_LEFT = {"budget": "a budget that is committed", "candidates": "no candidate left"}
# What a run is asked for with, beside its configuration; what most runs have of it.
_ASKED: dict[str, Any] = {"kind": "run", "parent": None, "branch_at": None, "save_at": []}
Texts = list[str] | None


def begun(file: Path) -> LiveStudy:
    """The study of a file, with a record that can be added to."""
    from lawsmith.study.live import open_study  # here, as below: --help need not wait for numpy

    study = open_study(file)
    study.begin()
    return study


def _check_one(where: str, want: str, *given: object) -> None:
    """Exactly one of two must be given."""
    n_given = sum(bool(one) for one in given)
    if n_given != 1:
        raise LawsmithError(where, got="both" if n_given else "neither", want=want)


def ask(
    study: StudyFile = DEFAULT_FILE,
    n: Annotated[
        int, typer.Option("-n", parser=at_least_one, metavar="N", help="Number of runs.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Ask for runs to do by hand; they stay pending until `lawsmith tell`.

    For example: lawsmith ask study.toml -n 4 --json > round1.json
    """
    from lawsmith.study.asking import exhausted, propose
    from lawsmith.study.jobs import for_trainer

    opened = begun(study)
    events = opened.journal.update(lambda ledger: propose(opened, ledger, n, by="hand"))
    if not events:
        got = _NOTHING_LEFT[exhausted(opened, opened.journal.ledger)]
        raise LawsmithError(str(study), got=got, want="runs to ask for")
    asked = [
        {
            "trial": event["trial"],
            "config": for_trainer(opened, event["config"]),
            "cost": event["cost"],
            "why": event["why"],
            **{name: event.get(name, usual) for name, usual in _ASKED.items()},
        }
        for event in events
    ]
    if as_json:
        print_json(asked)
        return
    for one in asked:
        shown = dict(one["config"])
        if one["kind"] != "run":
            shown |= {name: one[name] for name in ("kind", "parent", "branch_at") if one[name]}
        values = ", ".join(f"{name}={value}" for name, value in shown.items())
        typer.echo(f"{one['trial']}  {values}  ({one['why']})")


def tell(
    study: StudyFile = DEFAULT_FILE,
    results: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RESULTS]",
            show_default=False,
            help="A JSON, JSON-lines or CSV file with trial and loss of each run.",
        ),
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="t0004", help="Trial to report on, without a file.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="2.31", help="Its loss; nan where it diverged.")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="1e9", help="Tokens trained so far: the loss is not final."),
    ] = None,
    metric: Annotated[
        Texts,
        typer.Option(metavar="NAME=0.61", help="A further number of the run, such as an accuracy."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Take a loss that is far from all others.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Report results of runs that were asked for; a file is recorded as a whole or not at all.

    For example: lawsmith tell study.toml --trial t0004 --loss 2.31
    """
    from lawsmith.study import telling

    _check_one("tell", "a file of results, or --trial and --loss", results, trial is not None)
    if trial is not None and loss is None:
        raise LawsmithError("--loss", got="nothing", want="a number, or nan for a divergence")
    if trial is None and (loss is not None or tokens is not None or metric):
        where = "--loss, --tokens, --metric"
        raise LawsmithError(where, got="a value and a file", want="one of the two")
    opened = begun(study)
    if results is not None:
        given = telling.read_results(results)
    else:
        numbers = {"loss": telling.number_of(loss, where="--loss")}
        numbers |= {"tokens": telling.number_of(tokens, where="--tokens")}
        given = [telling.TrialResult(str(trial), {**numbers, "metrics": _further(metric or [])})]
    if not force:
        _ask_back(telling.doubts(opened, given))
    events = telling.tell(opened, given)
    if as_json:
        print_json([dict(event) for event in events])
    else:
        known = len(given) - len(events)
        typer.echo(f"{len(events)} told" + (f", {known} known before" if known else ""))


def _further(texts: list[str]) -> dict[str, float | None]:
    """--metric of a run: names and numbers."""
    from lawsmith.study.telling import number_of

    if any("=" not in text for text in texts):
        want = "a name and a number, such as arc_easy=0.61"
        raise LawsmithError("--metric", got=", ".join(texts), want=want)
    pairs = (text.rpartition("=")[::2] for text in texts)
    return {k: number_of(v, where=f"--metric: {k}", want="a number") for k, v in pairs}


def _ask_back(doubtful: list[str]) -> None:
    """Ask a person whether odd losses are meant; refuse them where there is nobody to ask."""
    if not doubtful:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo("\n".join(doubtful), err=True)
        typer.confirm("Is that right?", abort=True, err=True)
        return
    got, hint = "; ".join(doubtful[:3]), "if it is right: --force; if the run diverged: --loss nan"
    raise LawsmithError("tell", got=got, want="a loss near the others", hint=hint)


def exclude(
    study: StudyFile = DEFAULT_FILE,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR", help="Exclude candidates where this holds: batch == 512 and N > 1e9"
        ),
    ] = None,
    trial: Annotated[
        Texts, typer.Option(metavar="t0004", help="Trials whose results to ignore.")
    ] = None,
    because: Annotated[
        str, typer.Option(metavar="TEXT", help="Reason, kept in the record.", show_default=False)
    ] = "",
) -> None:
    """Drop candidates in the middle of a study, or results that turned out wrong.

    For example: lawsmith exclude study.toml --where "batch == 512" --because "out of memory"
    """
    from lawsmith.study import changing

    _check_one("exclude", "--where or --trial", where is not None, trial)
    opened = begun(study)
    if where is not None:
        n = changing.exclude(opened, where, because=because)
        typer.echo(f"{n} of {len(opened.grid)} candidates excluded")
    else:
        events = changing.take_back(opened, trial or (), because=because or "excluded by hand")
        typer.echo(f"{len(events)} results taken back")


def cancel(
    study: StudyFile,
    trials: Annotated[
        Texts,
        typer.Argument(metavar="[TRIAL]…", show_default=False, help="Names of the trials."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All runs under way, also those asked by hand.")
    ] = False,
) -> None:
    """Stop runs; one that ends before it can be stopped keeps its result.

    For example: lawsmith cancel study.toml t0004 t0007
    """
    from lawsmith.runners import make_runner
    from lawsmith.study import changing

    _check_one("cancel", "names of trials, or --all", everything, trials)
    opened = begun(study)
    ledger, place = opened.journal.ledger, opened.spec.runner
    names = [trial.name for trial in ledger.open()] if everything else list(trials or ())
    launched = any(t.by == "run" and t.handle for n in names if (t := ledger.trials.get(n)))
    runner = make_runner(place.kind, place.options, opened.layout.folder) if launched else None
    events = changing.cancel(opened, runner, names)
    for event in events:
        typer.echo(f"{event['trial']} {event['event']}")
    if not events:
        typer.echo("nothing was under way" if not names else "still stopping: see lawsmith status")


def export(
    study: StudyFile = DEFAULT_FILE,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="runs.csv or runs.jsonl; CSV on stdout by default."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Include trials without a result.")
    ] = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="The losses along trunks instead, for fit --curves.")
    ] = False,
) -> None:
    """Write the runs as a table that `lawsmith fit` reads.

    For example: lawsmith export study.toml --out runs.csv; lawsmith fit runs.csv
    """
    from lawsmith.study import exporting, open_study

    if out is not None and out.suffix not in (".csv", ".jsonl"):
        raise LawsmithError("--out", got=repr(str(out)), want="a name that ends in .csv or .jsonl")
    opened = open_study(study)
    rows = (exporting.curve_rows if curves else exporting.rows_of)(opened, opened.read())
    lines = out is not None and out.suffix == ".jsonl"
    write = exporting.json_lines if lines else exporting.csv_text
    text = write(rows, finished=not everything and not curves)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_told(out, text, where="--out")
