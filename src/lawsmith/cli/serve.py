"""`lawsmith serve`: print the address of the page, then serve it until Ctrl-C.

It needs packages of an extra, so no other module imports this one.
"""

from __future__ import annotations

import typer

from lawsmith.cli import console as out
from lawsmith.cli.commands import STUDY_FILE, ServeRequest
from lawsmith.cli.report import study_record
from lawsmith.report.live.app import LOCAL, Site, address, listen, serve
from lawsmith.report.live.watch import Watch, new_board
from lawsmith.study.live import open_study


def serve_study(request: ServeRequest) -> None:
    """Serve the page of a study, given by its file or its folder, until Ctrl-C."""
    file, host = request.study, request.host
    path = file / STUDY_FILE if file.is_dir() else file
    study = open_study(path)
    commands = (f"lawsmith report {path.name} -o report.html",)
    board = new_board()
    watch = Watch(path, board, lambda opened: study_record(opened, commands))
    site = Site(board, study.spec.name)
    with listen(host, request.port) as sock:
        watch.start()
        try:
            serve(site, sock, host, lambda: _show_address(address(sock, host, site), host))
        except KeyboardInterrupt:
            pass
        finally:
            watch.stop()


def _show_address(url: str, host: str) -> None:
    typer.echo(url)
    note = "Ctrl-C ends it; the study goes on without it."
    if host not in LOCAL:
        note = f"Others can reach this address: whoever has the link can read. {note}"
    out.stderr().print(note, soft_wrap=True)
