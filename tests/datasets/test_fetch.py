"""Where a table is found, and what a download does when all does not go well."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from lawsmith.datasets import ENTRIES
from lawsmith.datasets.catalogue import Entry, Source, Variant
from lawsmith.datasets.fetch import BUILT_IN, cache_dir, locate, present
from lawsmith.datasets.records import ReadOptions
from lawsmith.errors import LawsmithError

TABLE = b"N,D,loss\n" + b"100000000,2000000000,3.5\n" * 9000
SHA256 = hashlib.sha256(TABLE).hexdigest()


class _Server(BaseHTTPRequestHandler):
    """Serves TABLE, whole at /table.csv and cut short at /cut.csv; counts requests."""

    requests: list[str] = []  # noqa: RUF012 (emptied by the fixture)

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if self.path == "/gone.csv":
            self.send_error(404)
            return
        body = TABLE[:1000] if self.path == "/cut.csv" else TABLE
        self.send_response(200)
        self.send_header("Content-Length", str(len(TABLE)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Silence."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a local server; no proxy, no $LAWSMITH_DATA."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    _Server.requests.clear()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def _entry(url: str | None, *, obtain: str | None = None, **source: object) -> Entry:
    return Entry(
        name="toy",
        title="A toy",
        citation="",
        licence="",
        homepage="",
        folder="toy",
        variants={"": Variant("", ReadOptions())},
        sources=(Source("table.csv", url=url, **source),),  # type: ignore[arg-type]
        obtain=obtain,
    )


def _message(entry: Entry) -> str:
    with pytest.raises(LawsmithError) as caught:
        locate(entry)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _cached(cache: Path) -> list[str]:
    return sorted(p.name for p in cache.rglob("*") if p.is_file())


def test_a_download_lands_in_the_cache_and_is_not_repeated(server, own_cache) -> None:
    entry = _entry(f"{server}/table.csv", sha256=SHA256, n_bytes=len(TABLE))
    assert not present(entry)
    steps: list[tuple[str, int, int | None]] = []
    (path,) = locate(entry, progress=lambda *step: steps.append(step))
    assert path == own_cache / "toy" / "table.csv"
    assert path.read_bytes() == TABLE
    assert steps[-1] == ("table.csv", len(TABLE), len(TABLE))
    assert len(steps) > 1
    assert present(entry)
    assert locate(entry) == (path,)
    assert _Server.requests == ["/table.csv"]
    assert _cached(own_cache) == ["table.csv"]


def test_a_damaged_file_in_the_cache_is_fetched_again(server, own_cache) -> None:
    entry = _entry(f"{server}/table.csv", sha256=SHA256)
    (path,) = locate(entry)
    path.write_bytes(TABLE[:-1])
    assert locate(entry)[0].read_bytes() == TABLE
    assert len(_Server.requests) == 2


def test_a_wrong_checksum_leaves_nothing_behind(server, own_cache) -> None:
    entry = _entry(f"{server}/table.csv", sha256="0" * 64)
    assert _message(entry) == (
        f"{server}/table.csv: got sha256 {SHA256[:12]}…, want 000000000000… "
        "(not the published file)"
    )
    assert _cached(own_cache) == []


def test_a_wrong_length_leaves_nothing_behind(server, own_cache) -> None:
    message = _message(_entry(f"{server}/table.csv", n_bytes=7))
    assert message.endswith(f"got {len(TABLE)} bytes, want 7 (not the published file)")
    assert _cached(own_cache) == []


def test_a_download_cut_short_is_an_error_even_without_a_checksum(server, own_cache) -> None:
    message = _message(_entry(f"{server}/cut.csv"))
    assert message.startswith(f"toy: download of {server}/cut.csv: got ")
    assert "1000" in message
    assert _cached(own_cache) == []


def test_a_missing_address_says_what_was_tried(server, own_cache) -> None:
    assert _message(_entry(f"{server}/gone.csv")) == (
        f"toy: download of {server}/gone.csv: got HTTP 404 Not Found, want toy/table.csv in "
        f"$LAWSMITH_DATA, which is not set, or in the cache {own_cache} "
        "(put table.csv there, or give its path instead of the name; without a network: tinylm and "
        "synthetic-demo are built in)"
    )


def test_offline_says_what_was_tried(server, own_cache, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    assert _message(_entry("http://127.0.0.1:1/table.csv")) == (
        "toy: download of http://127.0.0.1:1/table.csv: got Connection refused, want "
        f"toy/table.csv in $LAWSMITH_DATA or in the cache {own_cache} "
        "(put table.csv there, or give its path instead of the name; without a network: tinylm and "
        "synthetic-demo are built in)"
    )


def test_the_studies_named_without_a_network_are_built_in(own_cache) -> None:
    built_in = {e.name for e in ENTRIES.values() if e.bundled or e.synthetic}
    assert set(re.findall(r"\S+(?= and| are)", BUILT_IN)) == {"tinylm", "synthetic-demo"}
    assert {"tinylm", "synthetic-demo"} <= built_in


def test_a_study_without_an_address_says_how_to_have_it(own_cache, monkeypatch) -> None:
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    message = _message(_entry(None, obtain="ask its owner"))
    assert message.startswith("toy: got no table, want toy/table.csv in $LAWSMITH_DATA, which is")
    assert message.endswith("(ask its owner)")


def test_the_data_folder_comes_before_cache_and_network(server, monkeypatch, tmp_path) -> None:
    own = tmp_path / "toy" / "table.csv"
    own.parent.mkdir()
    own.write_bytes(TABLE)
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    assert locate(_entry(f"{server}/table.csv", sha256=SHA256)) == (own,)
    assert _Server.requests == []


def test_a_changed_file_in_the_data_folder_is_refused(server, monkeypatch, tmp_path) -> None:
    own = tmp_path / "toy" / "table.csv"
    own.parent.mkdir()
    own.write_bytes(b"N,D\n")
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    assert _message(_entry(f"{server}/table.csv", sha256=SHA256)).startswith(f"{own}: got sha256")


def test_what_is_served_can_be_converted(server) -> None:
    entry = _entry(f"{server}/table.csv", convert=lambda data: data[:9])
    assert locate(entry)[0].read_bytes() == b"N,D,loss\n"


def test_a_cache_that_cannot_be_written_is_named(server, monkeypatch, tmp_path) -> None:
    file = tmp_path / "a-file"
    file.write_text("")
    monkeypatch.setenv("LAWSMITH_CACHE", str(file))
    message = _message(_entry(f"{server}/table.csv"))
    assert message.endswith("(point $LAWSMITH_CACHE at a folder that can be written)")


def test_the_cache_follows_the_environment(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("LAWSMITH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "lawsmith"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "lawsmith"
