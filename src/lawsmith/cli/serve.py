"""`lawsmith serve STUDY`: a live study's report in the browser, up to date while it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, StudyFile
from lawsmith.cli.params import whole


def serve(
    study: StudyFile = DEFAULT_FILE,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; by default only here.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(parser=whole, metavar="PORT", help="0 takes a free one.")
    ] = 0,
) -> None:
    """Show a live study in the browser: the report's cards, kept up to date. It changes nothing."""
    from lawsmith.cli.serve_live import serve_study

    serve_study(study, host, port)
