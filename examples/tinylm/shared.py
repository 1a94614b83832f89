"""The command of a whole run that shares its trunk with others: remote.py's, and where trunks are.

    python shared.py --trunks FOLDER --budgets 2097152,4194304 --width 48 … --tokens 2097152

For a study with `[cost] trunk = true`. Runs that differ in tokens alone have one trunk. Its
checkpoints, where the decays of all budgets begin, stay in FOLDER. A run trains what is missing of
the trunk, then its own decay; while another trains the trunk, it waits for the checkpoint. It tells
its final loss alone.
"""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from pathlib import Path

from remote import command, exchange, finish

DECAY_SHARE = 0.2  # as in trunk.py, which imports torch; this command does not wait for that
LOOK_SECONDS = 0.1  # between two looks for a checkpoint that another run will leave


def branch_point(budget: int) -> int:
    return round((1.0 - DECAY_SHARE) * budget)


def train() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trunks", type=Path, required=True)
    parser.add_argument("--budgets", required=True, help="tokens of all runs, between commas")
    parser.add_argument("--tokens", type=int, required=True)
    args, words = parser.parse_known_args()
    start = branch_point(args.tokens)
    points = [
        point for point in map(branch_point, map(int, args.budgets.split(","))) if point < start
    ]
    folder = args.trunks / "_".join(word.removeprefix("--") for word in words)
    folder.mkdir(parents=True, exist_ok=True)
    trunk = {"kind": "trunk", "folder": str(folder), "save_at": points}
    with (folder / "lock").open("w") as lock:
        while not (folder / f"tokens-{start}.pt").is_file():
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOOK_SECONDS)
                continue
            told = exchange([*words, "--tokens", str(start)], trunk)
            end = next(message for message in told if "tell" not in message)
            if "error" in end:
                return finish(end)
    branch = {"kind": "branch", "parent_folder": str(folder), "branch_at": start}
    told = exchange([*words, "--tokens", str(args.tokens)], branch)
    return finish(next(message for message in told if "tell" not in message))


if __name__ == "__main__":
    sys.exit(command(train))
