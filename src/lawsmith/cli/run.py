"""`lawsmith run` and `status`: do the runs of a study, and show where it stands.

Every number of the status is on the terminal and in its JSON.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

from lawsmith import __version__
from lawsmith.answer.text import NO_ANSWER, listing
from lawsmith.cli import console as out
from lawsmith.cli.commands import RunRequest, StatusRequest
from lawsmith.cli.views import tasks_parts
from lawsmith.digest import Digest
from lawsmith.formats import count, flops, percent, plural
from lawsmith.journal import Event, Kind, Trial, driver_lock
from lawsmith.runners import make_runner
from lawsmith.study.answer import (
    ENDED,
    Failure,
    Summary,
    answered,
    config_text,
    saved_by,
    saved_text,
    stop_rule,
    stopped_of,
    summarise,
)
from lawsmith.study.changing import retry_failed
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.study.loop import Driver, drive
from lawsmith.study.prefixes import STOPPED
from lawsmith.tasks.text import payload as task_payload

# The events that end a trial.
ENDS = (Kind.FINISHED, Kind.DIVERGED, Kind.RETRIED, Kind.FAILED, Kind.QUARANTINED, Kind.CANCELLED)
MAX_LISTED = 12  # trials under way, and failures, that a status lists
WATCH_SECONDS = 2.0


def run_study(request: RunRequest) -> None:
    """Run the study to its end or Ctrl-C, failed trials first if requested; print the status."""
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
                    _show_ended(study, events)
        except KeyboardInterrupt:
            _say(_interrupted(study))
            raise typer.Exit(out.INTERRUPTED) from None
    print_status(study, as_json=request.as_json, n_next=0)


def _show_ended(study: LiveStudy, events: Sequence[Event]) -> None:
    """A line for every trial that ended."""
    spend = percent(study.journal.ledger.spend / study.budget, 3)
    for event in events:
        if event["event"] in ENDS:
            trial = study.journal.ledger.trials[event["trial"]]
            config = config_text(trial.config)
            _say(
                f"{trial.name} {_outcome(event, trial)} ({config}; {spend} of the budget committed)"
            )


def _outcome(event: Event, trial: Trial) -> str:
    match event["event"]:
        case "finished":
            return f"loss {event['loss']:.4f}"
        case "retried":
            return f"{event['reason']}, will be run again"
        case "failed":
            return f"failed: {event['reason']}"
        case "cancelled" if trial.reason == STOPPED:
            return "stopped: another run is worth more"
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


def status(request: StatusRequest) -> None:
    """Print the status; with --watch again at every change, until Ctrl-C or the end."""
    study, n_seen = open_study(request.study), -1
    while True:
        ledger = study.read()
        if ledger.n_events != n_seen:
            n_seen = ledger.n_events
            if request.watch and not request.as_json and out.stdout().is_terminal:
                out.stdout().clear()
            print_status(study, as_json=request.as_json, n_next=request.n_next)
        if not request.watch or ledger.ended is not None:
            return
        time.sleep(WATCH_SECONDS)


def print_status(study: LiveStudy, *, as_json: bool, n_next: int | None) -> None:
    """The status, once."""
    summary = summarise(study, study.read(), n_next=n_next)
    if as_json:
        out.print_json(status_payload(summary))
    else:
        show_status(summary)


def show_status(s: Summary) -> None:
    """Facts, the answer, what is under way, what failed, what comes next."""
    out.title(s.study.spec.name)
    out.facts(_facts(s))
    if s.known.answer is None:
        out.show(Digest("No answer yet", [f"{s.known.why_not}."]))
    else:
        parts = tasks_parts(s.tasks) if s.tasks else []
        out.show(Digest("", [listing(s.known.answer), *parts]))
    if s.under_way:
        _show_trials(s.under_way)
    if s.failures:
        _show_failures(s.failures)
    if s.why_not_next:
        why = f"{s.why_not_next}; to see it: lawsmith status --next 3.".capitalize()
        out.show(Digest("Next", [why]))
    if s.proposals:
        rows = [(config_text(one["config"]), flops(one["cost"])) for one in s.proposals]
        out.table("Next, if no further result comes in", ("configuration", "FLOPs"), rows)


def _facts(s: Summary) -> dict[str, object]:
    study, ended, best = s.study, s.ledger.ended, s.best
    runs = [f"{n} {stage}" for stage, n in s.counts.items() if n]
    reached, top = s.window
    window = f"{flops(reached or 0.0)} FLOPs reached, of {flops(top)}"
    share = percent(s.spend / study.budget, 3)
    loss = None if best is None or best.loss is None else f"{best.loss:.4f} by {best.name}"
    stopped = stopped_of(s.ledger)
    unmatched = f"{plural(s.unmatched, 'run')} that match no candidate, not in the fit"
    return {
        "runs": ", ".join(runs) or "none yet",
        "committed": f"{out.spent(study, s.spend)}, {share} of {flops(study.budget)}",
        "window": window if reached else "no run finished",
        "best": best and loss and f"{loss} ({config_text(best.config)})",
        "driven by": s.driver,
        "ended": ended and ENDED.get(ended, ended),
        "stopped": stopped and saved_text(stopped, study.budget),
        "excluded": s.n_excluded and plural(s.n_excluded, "candidate"),
        "unmatched": s.unmatched and unmatched,
        "journal": s.torn and "its last line was cut off by a crash and is ignored",
    }


def _show_trials(trials: Sequence[Trial]) -> None:
    shown = trials[:MAX_LISTED]
    reports = any(trial.report for trial in shown)
    rows = []
    for trial in shown:
        stage = trial.stage.value + (" (by hand)" if trial.by == "hand" else "")
        stage += f", {trial.kind}" if trial.kind != "run" else ""
        cells = [trial.name, stage, config_text(trial.config)]
        if reports:
            D, loss = trial.report or (None, None)
            cells.append("none" if D is None else f"{loss:.4f} at {count(D)} tokens")
        rows.append((*cells, flops(trial.cost)))
    heads = ("trial", "stage", "configuration", *(["on the way"] if reports else []), "FLOPs")
    out.table("Under way", heads, rows, align="lll")
    if len(trials) > MAX_LISTED:
        out.prose(f"and {len(trials) - MAX_LISTED} more")


def _show_failures(failures: Sequence[Failure]) -> None:
    out.heading("Failures")
    for failure in failures[-MAX_LISTED:]:
        trial = failure.trial
        out.item(trial.name, f"{trial.stage.value}, {trial.remark} ({config_text(trial.config)})")
        for line in [*failure.tail.splitlines(), failure.log] if failure.tail else []:
            out.stdout().print(Text(f"      {line}", style="dim"), soft_wrap=True)


def status_payload(s: Summary) -> dict[str, Any]:
    """What `lawsmith status --json` prints."""
    study, stopped = s.study, stopped_of(s.ledger)
    return {
        "version": __version__,
        "study": study.spec.name,
        "id": s.ledger.id,
        "driver": s.driver,
        "ended": s.ledger.ended,
        "runs": s.counts,
        "budget": {
            "flops": study.budget,
            "committed": s.spend,
            "finished": s.finished,
            "share": s.spend / study.budget,
        },
        "stopped": {"runs": len(stopped), "flops_saved": saved_by(stopped)},
        "window": {"reached": s.window[0], "largest": s.window[1]},
        "candidates": len(study.grid),
        "excluded": s.n_excluded,
        "unmatched": s.unmatched,
        "journal_torn": s.torn,
        "best": None if s.best is None else _trial(s.best),
        **(NO_ANSWER if s.known.answer is None else s.known.answer.to_dict()),
        "why_no_answer": s.known.why_not or None,
        "tasks": [task_payload(one) for one in s.tasks],
        "trials": [_trial(trial) for trial in s.ledger.trials.values()],
        "failures": [{**_trial(f.trial), "log": f.log, "tail": f.tail} for f in s.failures],
        "next": [{"config": p["config"], "cost": p["cost"]} for p in s.proposals],
        "why_not_next": s.why_not_next or None,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    report = trial.report
    return {
        "trial": trial.name,
        "state": trial.stage.value,
        "by": trial.by,
        "config": dict(trial.config),
        "kind": trial.kind,
        "parent": trial.parent or None,
        "branch_at": trial.branch_at,
        "cost": trial.cost,
        "spent": trial.spend,
        "loss": trial.loss,
        "attempt": trial.attempt,
        "reason": trial.reason or None,
        "detail": trial.detail or None,
        "on_the_way": None if report is None else {"tokens": report[0], "loss": report[1]},
    }
