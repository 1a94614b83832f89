"""What a person does to a live study: ask for runs, tell results, exclude, cancel, export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from lawsmith.cli.commands import (
    AskRequest,
    CancelRequest,
    ExcludeRequest,
    ExportRequest,
    TellRequest,
)
from lawsmith.cli.console import print_json
from lawsmith.cli.options import pairs
from lawsmith.errors import LawsmithError
from lawsmith.files import write_output
from lawsmith.formats import plural
from lawsmith.runners import make_runner
from lawsmith.study import changing, exporting, telling
from lawsmith.study.asking import exhausted, propose
from lawsmith.study.jobs import for_trainer
from lawsmith.study.live import LiveStudy, open_study

_NOTHING_LEFT = {"budget": "a budget that is committed", "candidates": "no candidate left"}
# Further keys of a run that was asked for, with their usual values.
_USUAL: dict[str, Any] = {"kind": "run", "parent": None, "branch_at": None, "save_at": []}


def _open(file: Path) -> LiveStudy:
    """The study of a file, with a journal that can be added to."""
    study = open_study(file)
    study.begin()
    return study


def _check_one(where: str, want: str, *given: object) -> None:
    """Refuse anything but exactly one of two options."""
    n_given = sum(bool(one) for one in given)
    if n_given != 1:
        raise LawsmithError(where, got="both" if n_given else "neither", want=want)


def ask(request: AskRequest) -> None:
    """Record the next runs as asked for, and print them."""
    study = _open(request.study)
    events = study.journal.update(lambda ledger: propose(study, ledger, request.n, by="hand"))
    if not events:
        got = _NOTHING_LEFT[exhausted(study, study.journal.ledger)]
        raise LawsmithError(str(request.study), got=got, want="runs to ask for")
    runs = [
        {
            "trial": event["trial"],
            "config": for_trainer(study, event["config"]),
            "cost": event["cost"],
            "why": event["why"],
            **{name: event.get(name, usual) for name, usual in _USUAL.items()},
        }
        for event in events
    ]
    if request.as_json:
        print_json(runs)
        return
    for run in runs:
        shown = dict(run["config"])
        if run["kind"] != "run":
            shown |= {name: run[name] for name in ("kind", "parent", "branch_at") if run[name]}
        values = ", ".join(f"{name}={value}" for name, value in shown.items())
        typer.echo(f"{run['trial']}  {values}  ({run['why']})")


def tell(request: TellRequest) -> None:
    """Record results: of a file, or of one trial."""
    results, trial, loss = request.results, request.trial, request.loss
    _check_one("tell", "a file of results, or --trial and --loss", results, trial is not None)
    if trial is not None and loss is None:
        raise LawsmithError("--loss", got="nothing", want="a number, or nan for a divergence")
    if trial is None and (loss is not None or request.tokens is not None or request.metric):
        where = "--loss, --tokens, --metric"
        raise LawsmithError(where, got="a value and a file", want="one of the two")
    study = _open(request.study)
    if results is not None:
        given = telling.read_results(results)
    else:
        numbers = {"loss": telling.number_of(loss, where="--loss")}
        numbers |= {"tokens": telling.number_of(request.tokens, where="--tokens")}
        named = pairs(
            request.metric or (), "--metric", "a name and a number, such as arc_easy=0.61"
        )
        metrics = {
            name: telling.number_of(value, where=f"--metric: {name}", want="a number")
            for name, value in named.items()
        }
        given = [telling.TrialResult(str(trial), {**numbers, "metrics": metrics})]
    if not request.force:
        _confirm(telling.doubts(study, given))
    events = telling.tell(study, given)
    if request.as_json:
        print_json([dict(event) for event in events])
    else:
        n_known = len(given) - len(events)
        typer.echo(f"{len(events)} recorded" + (f", {n_known} already known" if n_known else ""))


def _confirm(doubtful: list[str]) -> None:
    """Ask whether unusual losses are right; refuse them if there is no terminal."""
    if not doubtful:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo("\n".join(doubtful), err=True)
        typer.confirm("Is that right?", abort=True, err=True)
        return
    got, hint = "; ".join(doubtful[:3]), "if it is right: --force; if the run diverged: --loss nan"
    raise LawsmithError("tell", got=got, want="a loss near the others", hint=hint)


def exclude(request: ExcludeRequest) -> None:
    """Exclude candidates, or withdraw results."""
    where, trials, because = request.where, request.trial, request.because
    _check_one("exclude", "--where or --trial", where is not None, trials)
    study = _open(request.study)
    if where is not None:
        n = changing.exclude(study, where, because=because)
        typer.echo(f"{n} of {len(study.grid)} candidates excluded")
    else:
        events = changing.take_back(study, trials or (), because=because or "excluded by hand")
        typer.echo(f"{plural(len(events), 'result')} taken back")


def cancel(request: CancelRequest) -> None:
    """Stop runs, and print what became of each."""
    _check_one("cancel", "names of trials, or --all", request.everything, request.trials)
    study = _open(request.study)
    ledger, place = study.journal.ledger, study.spec.runner
    names = request.trials or [trial.name for trial in ledger.open()]
    launched = any(t.by == "run" and t.handle for n in names if (t := ledger.trials.get(n)))
    runner = make_runner(place.kind, place.options, study.layout.folder) if launched else None
    events = changing.cancel(study, runner, names)
    for event in events:
        typer.echo(f"{event['trial']} {event['event']}")
    if not events:
        typer.echo("nothing was under way" if not names else "still stopping: see lawsmith status")


def export(request: ExportRequest) -> None:
    """Write the runs, or the losses along them, as a table."""
    out = request.out
    if out is not None and out.suffix not in (".csv", ".jsonl"):
        raise LawsmithError("--out", got=repr(str(out)), want="a name that ends in .csv or .jsonl")
    study = open_study(request.study)
    rows = (exporting.curve_rows if request.curves else exporting.rows_of)(study, study.read())
    lines = out is not None and out.suffix == ".jsonl"
    write = exporting.json_lines if lines else exporting.csv_text
    text = write(rows, finished=not request.everything and not request.curves)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_output(out, text, where="--out")
