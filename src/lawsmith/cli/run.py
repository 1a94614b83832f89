"""`lawsmith run`: start the runs of a study and wait for them, until its end or Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from lawsmith.cli import console as out
from lawsmith.cli.commands import RunRequest
from lawsmith.cli.status import print_status
from lawsmith.formats import percent, plural
from lawsmith.journal import Event, Kind, driver_lock
from lawsmith.runners import make_runner
from lawsmith.study.answer import answered, config_text, stop_rule
from lawsmith.study.changing import retry_failed
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.study.loop import Driver, drive

_ENDS = (Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED, Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED)


def run_study(request: RunRequest) -> None:
    """Run the study to its end, failed trials first if asked for, and print where it stands."""
    study = open_study(request.study)
    stop_rule(study)  # an error in it is reported before anything runs
    place = study.spec.runner
    runner = make_runner(place.kind, place.options, study.layout.folder)
    with driver_lock(study.layout.lock):
        study.begin()
        if study.journal.torn:
            _say("the journal's last line was cut off by a crash and is ignored")
        study.note_changes()
        if request.retry_failed:
            _say(f"{plural(len(retry_failed(study)), 'failed trial')} to be run again")
        driver = Driver(study, runner, lambda ledger: answered(study, ledger))
        try:
            for events in drive(driver):
                if not request.quiet:
                    _show(study, events)
        except KeyboardInterrupt:
            _say(_interrupted(study))
            raise typer.Exit(out.INTERRUPTED) from None
    print_status(study, as_json=request.as_json, n_next=0)


def _show(study: LiveStudy, events: Sequence[Event]) -> None:
    """A line for every trial that ended."""
    spend = percent(study.journal.ledger.spend / study.budget, 3)
    for event in events:
        if event["event"] in _ENDS:
            trial = study.journal.ledger.trials[event["trial"]]
            config = config_text(trial.config)
            _say(f"{trial.name} {_what(event)} ({config}; {spend} of the budget committed)")


def _what(event: Event) -> str:
    match event["event"]:
        case "finished":
            return f"loss {event['loss']:.4f}"
        case "retried":
            return f"{event['reason']}, will be run again"
        case "failed":
            return f"failed: {event['reason']}"
    return str(event["event"])


def _interrupted(study: LiveStudy) -> str:
    study.journal.refresh()
    n_open = sum(trial.by == "run" for trial in study.journal.ledger.open())
    if not n_open:
        return "interrupted; lawsmith run goes on from here"
    file = study.layout.file.name
    return (
        f"interrupted; {plural(n_open, 'run')} under way and left alone: lawsmith run goes on from "
        f"here, lawsmith cancel {file} --all stops what runs"
    )


def _say(line: str) -> None:
    out.stderr().print(line, soft_wrap=True)
