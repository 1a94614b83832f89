"""Trials that one process trains side by side: each is what its own process would have trained."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

from data import load_corpus  # noqa: E402
from server import Server  # noqa: E402

from tests.examples.test_tinylm_commands import RUN, command, flat  # noqa: E402
from tests.examples.tiny import write_corpus  # noqa: E402


@pytest.fixture
def server(tmp_path: Path, monkeypatch) -> Iterator[Server]:
    """One that serves in a thread; its socket's path is short, as a system wants it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TINYLM_SERVER", "socket")
    monkeypatch.setattr("ensemble.WARMUP_TOKENS", 512)  # so that a decay of these few steps is one
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        listener.listen()
        found = Server(
            listener, load_corpus(write_corpus(tmp_path / "corpus"), torch.device("cpu"))
        )
        thread = threading.Thread(target=found.serve)
        thread.start()
        yield found
        found.stop()
        thread.join()


def result(monkeypatch, script: str, folder: Path, **config: object) -> dict[str, object]:
    """What a trial leaves as its result."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**config, "folder": str(folder)}))
    files = {"CONFIG": "config.json", "RESULT": "result.json", "PROGRESS": "progress.jsonl"}
    for name, file in files.items():
        monkeypatch.setenv(f"LAWSMITH_{name}", str(folder / file))
    assert command(monkeypatch, script, *flat(RUN)) == 0
    return json.loads((folder / "result.json").read_text())


def test_runs_and_branches_are_those_of_the_command(server: Server, monkeypatch, tmp_path: Path):
    run = result(monkeypatch, "train.py", tmp_path / "own", kind="run")
    del run["wall_s"]
    assert result(monkeypatch, "remote.py", tmp_path / "run", kind="run") == run
    trunk = result(monkeypatch, "remote.py", tmp_path / "trunk", kind="trunk", save_at=[3328])
    told = (tmp_path / "trunk" / "progress.jsonl").read_text().splitlines()
    assert json.loads(told[0]) == {"saved": 3328}
    above = {"kind": "branch", "parent_folder": str(tmp_path / "trunk"), "branch_at": 3328}
    branch = result(monkeypatch, "remote.py", tmp_path / "branch", **above)
    assert branch["loss"] == run["loss"] != trunk["loss"]
    wait_for(lambda: server.n_done == 3)
    assert sum(len(spares) for spares in server.spares.values()) == 1


def test_runs_that_share_a_trunk_are_whole_runs(server: Server, monkeypatch, tmp_path: Path):
    shared = ("--trunks", tmp_path / "trunks", "--budgets", "2048,4096,6144")
    n_done = 0
    for tokens in (4096, 2048, 6144):
        losses = []
        for words in (("train.py",), ("shared.py", *shared)):
            monkeypatch.setenv("LAWSMITH_RESULT", str(tmp_path / "result.json"))
            assert command(monkeypatch, *words, *flat(RUN | {"--tokens": tokens})) == 0
            losses.append(json.loads((tmp_path / "result.json").read_text())["loss"])
        assert losses[0] == losses[1]
        n_done += 1 if tokens == 2048 else 2  # the checkpoint of 2048 is there already
        wait_for(lambda n_done=n_done: server.n_done == n_done)
    (trunk,) = (tmp_path / "trunks").iterdir()
    kept = sorted(path.name for path in trunk.glob("*.pt"))
    assert kept == ["tokens-1638.pt", "tokens-3277.pt", "tokens-4915.pt"]
    assert command(monkeypatch, "shared.py", *shared, *flat(RUN | {"--tokens": 2**30})) == 2


def test_a_trial_that_cannot_be_trained_ends_with_one_line(server: Server, monkeypatch, capfd):
    assert command(monkeypatch, "remote.py", *flat(RUN | {"--tokens": 2**30})) == 2
    assert "budget of 1073741824 tokens" in capfd.readouterr().err
    assert command(monkeypatch, "remote.py", "--nonsense") == 2
    monkeypatch.setenv("TINYLM_SERVER", "elsewhere")
    assert command(monkeypatch, "remote.py", *flat(RUN)) == 1
    assert "no server at elsewhere" in capfd.readouterr().err


def test_a_trial_whose_process_ends_is_stopped(server: Server):
    words = [str(word) for word in flat(RUN | {"--batch": 1, "--tokens": 6400})]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("socket")
        connection.sendall(json.dumps({"arguments": words, "config": {}}).encode() + b"\n")
        wait_for(lambda: server.jobs)
    wait_for(lambda: server.n_done == 1)
    (job,) = server.spares.values()
    assert int(job[0].state["step"]) < 200


def wait_for(thing) -> None:
    deadline = time.monotonic() + 60.0
    while not thing():
        assert time.monotonic() < deadline
        time.sleep(0.001)
