"""`lawsmith check STUDY`: what a study file amounts to, before anything runs."""

from __future__ import annotations

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, Json, StudyFile


def check(study: StudyFile = DEFAULT_FILE, as_json: Json = False) -> None:
    """Look a study file over: its candidates, what the budget buys, what is odd."""
    import json

    from lawsmith.cli.check_view import check_payload, show_check
    from lawsmith.cli.console import stdout
    from lawsmith.study import open_study
    from lawsmith.study.checkup import check as look_over

    found = look_over(open_study(study))
    if as_json:
        typer.echo(json.dumps(check_payload(found), indent=2, ensure_ascii=False))
    else:
        show_check(stdout(), found)
