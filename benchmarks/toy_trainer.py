"""A trainer that knows the answer: trunks, decays and whole runs of a law, in chunks of tokens.

    python toy_trainer.py [--chunk 2e7] [--pause 0.01] [--diverge-above 1] [--hang-above 1]

A learning rate above the last two diverges, or hangs half-way until it is stopped; after PATIENCE
seconds it fails.

It reads $LAWSMITH_CONFIG, trains from its last checkpoint (or its parent's) chunk by chunk, tells
each chunk in $LAWSMITH_PROGRESS, and leaves its loss in $LAWSMITH_RESULT. It needs the standard
library alone. The loss after a decay is

    L(N, D, lr) = (1.69 + 406.4·N^−0.34 + 410.7·D^−0.28) · exp(0.02·(ln lr − ln lr*(N))²)

and that of a trunk is higher by what a decay takes off, some 3 %.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time

PATIENCE = 100.0  # seconds


def annealed(N: float, D: float, lr: float) -> float:
    """The loss after a decay that ends at D."""
    off = math.log(lr / (2e-3 * (N / 1e8) ** -0.3))
    return (1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28) * math.exp(0.02 * off**2)


def on_trunk(N: float, D: float, lr: float) -> float:
    """The loss of a trunk after D tokens, whose decay would have ended at D/0.8."""
    taken_off = 0.03 + 0.002 * math.log(N / 1e8) - 0.001 * math.log(D / 1e9)
    return annealed(N, D / 0.8, lr) * math.exp(taken_off)


def noise(*about: object) -> float:
    """SD 0.05 %, the same for the same run."""
    return math.exp(random.Random(str(about)).gauss(0.0, 0.0005))


def checkpoint(folder: str, tokens: float) -> str:
    return os.path.join(folder, f"checkpoint-{tokens:.0f}")


def last_checkpoint(folder: str, start: float) -> float:
    """Tokens of the last checkpoint of a trial's own, ``start`` without one."""
    names = [name for name in os.listdir(folder) if name.startswith("checkpoint-")]
    done = [float(name.split("-")[1]) for name in names if not name.endswith(".new")]
    return max(done, default=start)


def tell(**values: object) -> None:
    """One line of progress, in one write: it is there as a whole or not at all."""
    line = json.dumps({**values, "time": time.time()}).encode() + b"\n"
    file = os.open(os.environ["LAWSMITH_PROGRESS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line)
    os.close(file)


def save(folder: str, tokens: float) -> None:
    path = checkpoint(folder, tokens)
    with open(path + ".new", "w") as file:
        file.write("weights")
    os.rename(path + ".new", path)
    tell(saved=tokens)


def train(run: dict, told: argparse.Namespace) -> float | None:
    """The loss at the end; None where it diverged."""
    N, D, lr, folder = run["N"], run["D"], run["lr"], run["folder"]
    start = run["branch_at"] or 0.0
    if run["parent"] and not os.path.exists(checkpoint(run["parent_folder"], start)):
        raise SystemExit(f"{run['parent']} left no checkpoint at {start:.0f} tokens")
    at = last_checkpoint(folder, start)
    # Killed between a checkpoint and its line, a run would never have told of it.
    tell(resumed=at, **({"saved": at} if at > start else {}))
    stops = sorted({*run["save_at"], float(D)})
    while at < D:
        stop = min(stop for stop in stops if stop > at)
        at = min(at + told.chunk, stop)
        time.sleep(told.pause)
        if lr > told.diverge_above:
            tell(tokens=at)
            return None
        if lr > told.hang_above and at > 0.5 * D:
            time.sleep(PATIENCE)
            raise SystemExit("nobody stopped it")
        loss = on_trunk(N, at, lr) * noise(N, lr, at)
        tell(tokens=at, **({} if run["kind"] == "branch" else {"loss": loss}))
        if at == stop and run["kind"] == "trunk":
            save(folder, at)
    end = on_trunk(N, D, lr) if run["kind"] == "trunk" else annealed(N, D, lr)
    return end * noise(N, lr, D, run["kind"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunk", type=float, default=2e7)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--diverge-above", type=float, default=1.0)
    parser.add_argument("--hang-above", type=float, default=1.0)
    told = parser.parse_args()
    with open(os.environ["LAWSMITH_CONFIG"]) as file:
        run = json.load(file)
    loss = train(run, told)
    result = os.environ["LAWSMITH_RESULT"]
    with open(result + ".new", "w") as file:
        json.dump({"loss": loss, "N": run["N"], "D": run["D"]}, file)
    os.rename(result + ".new", result)


if __name__ == "__main__":
    main()
