"""`lawsmith ask STUDY -n 4`: proposals for people with a launcher of their own."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, Json, StudyFile, at_least_one


def ask(
    study: StudyFile = DEFAULT_FILE,
    n: Annotated[
        int, typer.Option("-n", parser=at_least_one, metavar="N", help="How many runs.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Ask for runs to do by hand; they are on record as pending until `lawsmith tell`.

    For example: lawsmith ask study.toml -n 4 --json > round1.json
    """
    import json

    from lawsmith.errors import LawsmithError
    from lawsmith.study.asking import asked_events, exhausted, propose
    from lawsmith.study.jobs import for_trainer
    from lawsmith.study.live import open_study

    opened = open_study(study)
    opened.begin()
    events = opened.journal.update(
        lambda ledger: asked_events(
            opened, ledger, propose(opened, ledger, n, by="hand"), by="hand"
        )
    )
    if not events:
        reason = exhausted(opened, opened.journal.ledger)
        words = {"budget": "a budget that is committed", "candidates": "no candidate left"}
        raise LawsmithError(str(study), got=words[reason], want="runs to ask for")
    asked = [
        {
            "trial": event["trial"],
            "config": for_trainer(opened, event["config"]),
            "cost": event["cost"],
            "why": event["why"],
            "kind": event.get("kind", "run"),
            "parent": event.get("parent"),
            "branch_at": event.get("branch_at"),
            "save_at": event.get("save_at", []),
        }
        for event in events
    ]
    if as_json:
        typer.echo(json.dumps(asked, indent=2, ensure_ascii=False))
        return
    for event in asked:
        told = dict(event["config"])
        if event["kind"] != "run":
            told |= {name: event[name] for name in ("kind", "parent", "branch_at") if event[name]}
        values = ", ".join(f"{name}={value}" for name, value in told.items())
        typer.echo(f"{event['trial']}  {values}  ({event['why']})")
