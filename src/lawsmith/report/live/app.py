"""The live page over HTTP, read-only, behind a token; only this module uses the ASGI server."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from lawsmith.charts.page import POLICY
from lawsmith.errors import LawsmithError
from lawsmith.report.live.board import Board
from lawsmith.report.page import page

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError as error:
    missing = f"no package {(error.name or 'starlette').split('.')[0]}"
    hint = "pip install starlette uvicorn"
    raise LawsmithError("serve", got=missing, want="starlette and uvicorn", hint=hint) from None

MAX_WAIT = 20.0  # seconds until a request for newer cards is answered without any
PAUSE = 0.1  # seconds between looks at the board
LOCAL = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY.format(connect="'self'") + "; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass
class Site:
    """A board, and the token that each request needs."""

    board: Board
    title: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    closing: bool = False

    def has_token(self, request: Any) -> bool:
        """Whether the address contains the token, compared in constant time."""
        given = str(request.path_params["token"])
        return secrets.compare_digest(given.encode(), self.token.encode())

    async def home(self, request: Any) -> Any:
        """The page with all cards."""
        if not self.has_token(request):
            return _not_found()
        news = self.board.news(0)
        sections = [html for _, html in news.cards]
        text = page(
            sections, news.links, title=self.title, kind="live", revision=str(news.revision)
        )
        return HTMLResponse(text, headers=HEADERS)

    async def cards(self, request: Any) -> Any:
        """Cards that are newer than a revision, as soon as there are any."""
        if not self.has_token(request):
            return _not_found()
        since = _revision(request.query_params.get("since", ""))
        for _ in range(round(MAX_WAIT / PAUSE)):
            if self.board.revision > since or self.closing:
                break
            await asyncio.sleep(PAUSE)
        news = self.board.news(since)
        cards = [{"name": name, "html": html} for name, html in news.cards]
        return JSONResponse({**asdict(news), "cards": cards}, headers=HEADERS)


def make_app(site: Site, hosts: tuple[str, ...]) -> Any:
    """The ASGI application; ``hosts`` are the host names that it accepts."""
    routes = [
        Route("/{token}/", site.home, methods=["GET"]),
        Route("/{token}/cards", site.cards, methods=["GET"]),
    ]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    missing = {404: lambda request, error: _not_found()}
    return Starlette(routes=routes, middleware=[guard], exception_handlers=missing)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket at an address; port 0 stands for a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        got = f"{host}:{port}, {error.strerror or error}"
        raise LawsmithError("serve", got=got, want="an address and port that are free") from None


def address(sock: socket.socket, host: str, site: Site) -> str:
    """The URL of the page, with its token."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{sock.getsockname()[1]}/{site.token}/"


def serve(site: Site, sock: socket.socket, host: str, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C; ``ready`` is called once the server has started."""
    hosts = LOCAL if host in LOCAL else ("*",)
    settings = uvicorn.Config(
        make_app(site, hosts),
        log_level="warning",
        access_log=False,  # its lines would contain the token
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(settings)

    async def run() -> None:
        task = asyncio.ensure_future(server.serve(sockets=[sock]))
        while not server.started and not task.done():
            await asyncio.sleep(0.02)
        if server.started:
            ready()
        await task

    try:
        asyncio.run(run())
    finally:
        site.closing = True


def _not_found() -> Response:
    return PlainTextResponse("there is nothing here\n", status_code=404, headers=HEADERS)


def _revision(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else 0
