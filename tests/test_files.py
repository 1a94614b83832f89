"""Files are regular, written whole, and never through a link; what is read never waits."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.files import (
    check_disk_space,
    check_inside,
    read_bytes,
    read_tail,
    write_file,
    write_output,
)


def at_once(call):
    """The result of a call that must not wait for anybody; errors are passed on."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20.0)
    assert found, "it still waits"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_named_pipe_is_no_file(pipe):
    with pytest.raises(OSError, match="a named pipe"):
        at_once(lambda: read_bytes(pipe, limit=10))


def test_a_socket_a_device_and_a_folder_are_no_files(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(OSError, match=r"No such device|a socket"):
            read_bytes(tmp_path / "socket", limit=10)
    with pytest.raises(OSError, match="a device"):
        read_bytes("/dev/zero", limit=10)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path, limit=10)


def test_reading_stops_one_byte_beyond_the_limit_and_starts_where_it_is_told(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(100)))
    assert read_bytes(path, limit=10) == bytes(range(11))
    assert read_bytes(path, limit=1000, offset=95) == bytes(range(95, 100))
    assert read_tail(path, limit=3) == bytes([97, 98, 99])


def test_a_link_in_the_way_of_a_file_is_replaced_and_what_it_points_to_is_left_alone(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("result.json", "result.json.new"):
        (tmp_path / name).symlink_to(precious)
    write_file(tmp_path / "result.json", "ours")
    assert precious.read_text() == "mine"
    assert (tmp_path / "result.json").read_text() == "ours"
    assert not (tmp_path / "result.json").is_symlink()


def test_a_file_that_cannot_be_written_whole_is_not_there_at_all(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lawsmith.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_file(path, "after")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "before"
    with pytest.raises(LawsmithError, match="No space left on device, want a disk with room"):
        check_disk_space(tmp_path)
    with pytest.raises(LawsmithError, match=r"--out: got .*No space left"):
        write_output(path, "after", where="--out")


def test_a_place_behind_a_link_is_inside_only_if_the_link_stays_inside(tmp_path):
    home, away = tmp_path / "home", tmp_path / "away"
    (home / "deep").mkdir(parents=True)
    away.mkdir()
    (home / "near").symlink_to(home / "deep")
    (home / "far").symlink_to(away)
    assert check_inside(home / "near" / "file", home)
    with pytest.raises(LawsmithError, match=r"a symbolic link to .*away"):
        check_inside(home / "far" / "new" / "file", home)
    linked = tmp_path / "linked"
    linked.symlink_to(home)  # the folder of a study may be one
    assert check_inside(linked / "deep", linked)
