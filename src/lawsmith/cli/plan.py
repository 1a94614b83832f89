"""`lawsmith plan STUDY`: what a study would teach, played through on a synthetic prior."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, Json, StudyFile, at_least_one


def plan(
    study: StudyFile = DEFAULT_FILE,
    draws: Annotated[
        int, typer.Option(parser=at_least_one, metavar="N", help="Worlds drawn from the prior.")
    ] = 3,
    as_json: Json = False,
) -> None:
    """Simulate a study before paying for it: the interval to expect against the spend."""
    from lawsmith.cli.plan_view import run_plan
    from lawsmith.study import open_study

    run_plan(open_study(study), draws=draws, as_json=as_json)
