"""What a person does to a live study: ask for runs, tell results, exclude, cancel, export."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from lawsmith.cli.console import print_json
from lawsmith.errors import LawsmithError
from lawsmith.files import write_told
from lawsmith.runners import make_runner
from lawsmith.study import changing, exporting
from lawsmith.study.asking import asked_events, exhausted, propose
from lawsmith.study.jobs import for_trainer
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.study.telling import Told, doubts, metrics_of, number_of, read_results, tell

_NOTHING_LEFT = {"budget": "a budget that is committed", "candidates": "no candidate left"}
# What a run is asked for with, beside its configuration; what most runs have of it.
_ASKED: dict[str, Any] = {"kind": "run", "parent": None, "branch_at": None, "save_at": []}


def ask_runs(file: Path, n: int, *, as_json: bool) -> None:
    """Put runs on record as asked for by hand, and print them."""
    study = begun(file)
    events = study.journal.update(
        lambda ledger: asked_events(study, ledger, propose(study, ledger, n, by="hand"), by="hand")
    )
    if not events:
        got = _NOTHING_LEFT[exhausted(study, study.journal.ledger)]
        raise LawsmithError(str(file), got=got, want="runs to ask for")
    asked = [
        {
            "trial": event["trial"],
            "config": for_trainer(study, event["config"]),
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


def begun(file: Path) -> LiveStudy:
    """The study of a file, with a record that can be added to."""
    study = open_study(file)
    study.begin()
    return study


def tell_results(
    file: Path,
    results: Path | None,
    one: tuple[str | None, ...],
    metrics: Sequence[str],
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Put results on record: of a file, or one told as (trial, loss, tokens) and metrics."""
    trial, loss, tokens = one
    if (results is None) == (trial is None):
        got = "neither" if trial is None else "both"
        raise LawsmithError("tell", got=got, want="a file of results, or --trial and --loss")
    if trial is not None and loss is None:
        raise LawsmithError("--loss", got="nothing", want="a number, or nan for a divergence")
    if trial is None and (loss is not None or tokens is not None or metrics):
        where = "--loss, --tokens, --metric"
        raise LawsmithError(where, got="a value and a file", want="one of the two")
    study = begun(file)
    if results is not None:
        given = read_results(results)
    else:
        reached = None if tokens is None else number_of(tokens, where="--tokens")
        if any("=" not in text for text in metrics):
            want = "a name and a number, such as arc_easy=0.61"
            raise LawsmithError("--metric", got=", ".join(metrics), want=want)
        pairs = dict(text.rpartition("=")[::2] for text in metrics)
        further = metrics_of(pairs, where="--metric")
        found = number_of(loss, where="--loss")
        given = [Told(str(trial), found, {}, reached, metrics=further)]
    if not force:
        _ask_back(doubts(study, given))
    events = tell(study, given)
    if as_json:
        print_json([dict(event) for event in events])
    else:
        known = len(given) - len(events)
        typer.echo(f"{len(events)} told" + (f", {known} known before" if known else ""))


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


def exclude_runs(file: Path, where: str | None, trials: Sequence[str], because: str) -> None:
    """Leave candidates alone, or take results back."""
    if (where is None) == (not trials):
        got = "neither" if where is None else "both"
        raise LawsmithError("exclude", got=got, want="--where or --trial")
    study = begun(file)
    if where is not None:
        n = changing.exclude(study, where, because=because)
        typer.echo(f"{n} of {len(study.grid)} candidates excluded")
    else:
        events = changing.take_back(study, trials, because=because or "excluded by hand")
        typer.echo(f"{len(events)} results taken back")


def cancel_runs(file: Path, trials: Sequence[str], *, everything: bool) -> None:
    """Stop trials by name, or all that are open."""
    if everything == bool(trials):
        got = "both" if everything else "neither"
        raise LawsmithError("cancel", got=got, want="names of trials, or --all")
    study = begun(file)
    ledger, place = study.journal.ledger, study.spec.runner
    names = [trial.name for trial in ledger.open()] if everything else list(trials)
    launched = any(t.by == "run" and t.handle for n in names if (t := ledger.trials.get(n)))
    runner = make_runner(place.kind, place.options, study.layout.folder) if launched else None
    events = changing.cancel(study, runner, names)
    for event in events:
        typer.echo(f"{event['trial']} {event['event']}")
    if not events:
        typer.echo("nothing was under way" if not names else "still stopping: see lawsmith status")


def export_runs(file: Path, out: Path | None, *, everything: bool, curves: bool) -> None:
    """Write the runs, or the losses along trunks, as a table."""
    if out is not None and out.suffix not in (".csv", ".jsonl"):
        raise LawsmithError("--out", got=repr(str(out)), want="a name that ends in .csv or .jsonl")
    study = open_study(file)
    rows = (exporting.curve_rows if curves else exporting.rows_of)(study, study.read())
    lines = out is not None and out.suffix == ".jsonl"
    write = exporting.json_lines if lines else exporting.csv_text
    text = write(rows, finished=not everything and not curves)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_told(out, text, where="--out")
