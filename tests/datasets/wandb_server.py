"""The part of a W&B server that wandb.Api() asks for a project's runs and their histories.

Every other run has its history in a Parquet file, as W&B keeps those that ended long ago; the
others have rows, as runs of today have. A run without a history is told by an error, as W&B does.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PAGE = 5  # runs a page, though the client asks for more: a server may give fewer
Json = dict[str, Any]


class Server(ThreadingHTTPServer):
    """runs: {"name", "state", "config", "summary", "history": rows with _step} each."""

    daemon_threads = True

    def __init__(self, runs: list[Json], *, stalls: str = "", denies: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.runs = runs
        self.stalls = stalls  # the operation that is never answered
        self.denies = denies
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def data(self, operation: str, told: Json) -> Json:
        """What is answered to a query, by its name and variables."""
        if operation == "Viewer":
            return {"viewer": {"id": "1", "entity": "me", "username": "me"}}
        if told.get("project") != "scaling":
            return {"project": None}
        if operation == "Runs":
            return {"project": self._page(int(told["cursor"] or 0), told["perPage"])}
        i = int(told.get("name") or told.get("runName") or told.get("run") or "0")
        rows = self.runs[i]["history"]
        if operation == "RunHistoryKeys":
            return _of_run(
                {"historyKeys": {"lastStep": max((r["_step"] for r in rows), default=-1)}}
            )
        if operation == "RunParquetHistory":
            stored = bool(rows) and i % 2 == 0
            live = [] if stored else [{"_step": row["_step"]} for row in rows]
            urls = [f"{self.address}/history/{i}.parquet"] if stored else []
            return _of_run({"parquetHistory": {"parquetUrls": urls, "liveData": live}})
        assert operation == "HistoryPage", operation
        inside = [row for row in rows if told["minStep"] <= row["_step"] < told["maxStep"]]
        return _of_run({"history": [json.dumps(row) for row in inside]})

    def _page(self, start: int, size: int) -> Json:
        end = min(start + min(size, PAGE), len(self.runs))
        edges = [{"node": _node(i, self.runs[i]), "cursor": str(i + 1)} for i in range(start, end)]
        more = {"endCursor": str(end), "hasNextPage": end < len(self.runs)}
        runs = {"edges": edges, "pageInfo": more}
        return {"internalId": "7", "runCount": len(self.runs), "readOnly": False, "runs": runs}

    def parquet(self, i: int) -> bytes:
        file = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([_flat(row) for row in self.runs[i]["history"]]), file)
        return file.getvalue()


def _of_run(told: Json) -> Json:
    return {"project": {"run": told}}


def _node(i: int, run: Json) -> Json:
    """A run as the fragment RunFragment asks for it."""
    config = {key: {"value": value, "desc": None} for key, value in run["config"].items()}
    return {
        "id": f"storage-{i}",
        "name": str(i),
        "displayName": run["name"],
        "state": run["state"],
        "config": json.dumps({**config, "_wandb": {"value": {"cli_version": "0.31.0"}}}),
        "summaryMetrics": json.dumps({**run["summary"], "_runtime": 5, "_wandb": {"runtime": 5}}),
        "systemMetrics": "{}",
        "historyLineCount": len(run["history"]),
        "historyKeys": None,
        "projectId": "7",
        "tags": [],
        "user": {"name": "Me", "username": "me"},
    }


def _flat(row: Json, before: str = "") -> Json:
    """Nested values by names with dots, as W&B's Parquet files have them."""
    flat: Json = {}
    for key, value in row.items():
        nested = isinstance(value, dict)
        flat |= _flat(value, f"{before}{key}.") if nested else {f"{before}{key}": value}
    return flat


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/graphql":  # W&B's own measurements
            return self._answer(404, b"")
        asked = json.loads(body)
        operation = asked.get("operationName") or asked["query"].split("query ")[-1].split("(")[0]
        operation = "Viewer" if "viewer" in asked["query"] else operation.strip()
        self.server.asked.append(operation)
        assert "LightweightRunFragment" not in asked["query"], "one question a page, not one a run"
        if operation == self.server.stalls:
            time.sleep(60)
        if self.server.denies:
            return self._answer(401, b'{"errors": [{"message": "invalid API key"}]}')
        data = self.server.data(operation, asked.get("variables") or {})
        return self._answer(200, json.dumps({"data": data}).encode())

    def do_GET(self) -> None:
        _, place, *name = self.path.split("/")
        found = place == "history"
        self._answer(
            200 if found else 404, self.server.parquet(int(name[0][:-8])) if found else b""
        )

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server at work, in a thread."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
