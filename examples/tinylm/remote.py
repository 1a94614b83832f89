"""The command of a trial that server.py trains: train.py's arguments, variables and files.

The variable TINYLM_SERVER names the server's socket. The corpus and the device are the server's.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Message = Mapping[str, Any]


def trial_config() -> dict[str, Any]:
    """lawsmith's config of the trial."""
    file = os.environ.get("LAWSMITH_CONFIG")
    return json.loads(Path(file).read_text()) if file else {}


def exchange(arguments: Sequence[str], config: Mapping[str, Any]) -> Iterator[Message]:
    """Ask the server to train; what it tells until the training has ended."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ.get("TINYLM_SERVER", "server.socket"))
        wanted = {"arguments": list(arguments), "config": config}
        connection.sendall(json.dumps(wanted).encode() + b"\n")
        with connection.makefile("r", encoding="utf-8") as messages:
            yield from map(json.loads, messages)
    raise ConnectionError("the server is gone")


def follow(messages: Iterable[Message]) -> int:
    """Write down what the server tells until the trial has ended; the exit code."""
    with open(os.environ.get("LAWSMITH_PROGRESS", os.devnull), "a", encoding="utf-8") as progress:
        for message in messages:
            if "tell" not in message:
                return finish(message)
            progress.write(json.dumps(message["tell"]) + "\n")
            progress.flush()
    return 1


def finish(message: Message) -> int:
    """Write the result that the server tells, or its error; the exit code."""
    if "error" in message:
        print(f"tinylm: {message['error']}", file=sys.stderr)
        return 2
    row = message["row"]
    print(json.dumps(row))
    result = os.environ.get("LAWSMITH_RESULT")
    if result:
        Path(f"{result}.part").write_text(json.dumps(row) + "\n")
        Path(f"{result}.part").replace(result)
    if row["diverged"]:
        print("tinylm: this run diverged", file=sys.stderr)
    return 0


def command(trial: Callable[[], int]) -> int:
    """The exit code of a trial, also where there is no server."""
    try:
        return trial()
    except OSError as error:
        address = os.environ.get("TINYLM_SERVER", "server.socket")
        print(f"tinylm: no server at {address}: {error.strerror or error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(command(lambda: follow(exchange(sys.argv[1:], trial_config()))))
