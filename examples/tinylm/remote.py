"""The command of a trial that server.py trains: train.py's arguments, variables and files.

The variable TINYLM_SERVER names the server's socket. The corpus and the device are the server's.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import IO, Any


def request() -> dict[str, Any]:
    """What the server is asked to train."""
    file = os.environ.get("LAWSMITH_CONFIG")
    config = json.loads(Path(file).read_text()) if file else {}
    return {"arguments": sys.argv[1:], "config": config}


def follow(messages: IO[str]) -> int:
    """Write down what the server tells until the trial has ended; the exit code."""
    with open(os.environ.get("LAWSMITH_PROGRESS", os.devnull), "a", encoding="utf-8") as progress:
        for line in messages:
            message = json.loads(line)
            if "tell" in message:
                progress.write(json.dumps(message["tell"]) + "\n")
                progress.flush()
            elif "row" in message:
                return finish(message["row"])
            else:
                print(f"tinylm: {message['error']}", file=sys.stderr)
                return 2
    print("tinylm: the server is gone", file=sys.stderr)
    return 1


def finish(row: dict[str, Any]) -> int:
    print(json.dumps(row))
    result = os.environ.get("LAWSMITH_RESULT")
    if result:
        Path(f"{result}.part").write_text(json.dumps(row) + "\n")
        Path(f"{result}.part").replace(result)
    if row["diverged"]:
        print("tinylm: this run diverged", file=sys.stderr)
    return 0


def main() -> int:
    address = os.environ.get("TINYLM_SERVER", "server.socket")
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address)
        except OSError as error:
            print(f"tinylm: no server at {address}: {error.strerror}", file=sys.stderr)
            return 1
        connection.sendall(json.dumps(request()).encode() + b"\n")
        with connection.makefile("r", encoding="utf-8") as messages:
            return follow(messages)


if __name__ == "__main__":
    sys.exit(main())
