"""A stand-in for a trainer: a known law, a learning rate to be found, a little noise, no GPU.

It reads its run from the command line, tells its loss on the way, and leaves its result where
lawsmith looks for it. A real trainer differs only in what happens between.
"""

import argparse
import json
import math
import os
import random
from pathlib import Path


def loss_after(n: float, tokens: float, lr: float, batch: float) -> float:
    """The law E + A·N^-α + B·D^-β, and what a poor learning rate or batch size adds to it."""
    best_lr = 2e-3 * (n / 1e8) ** -0.3
    best_batch = 64 * (tokens / 1e9) ** 0.4
    excess = 0.02 * math.log(lr / best_lr) ** 2 + 0.01 * math.log(batch / best_batch) ** 2
    return (1.69 + 406.4 * n**-0.34 + 410.7 * tokens**-0.28) * math.exp(excess)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("params", "tokens", "lr", "batch"):
        parser.add_argument(f"--{name}", type=float, required=True)
    run = parser.parse_args()
    noise = random.Random(f"{run.params} {run.tokens} {run.lr} {run.batch}")

    with open(os.environ["LAWSMITH_PROGRESS"], "a", encoding="utf-8") as progress:
        for part in (0.25, 0.5, 0.75):
            tokens = part * run.tokens
            loss = loss_after(run.params, tokens, run.lr, run.batch)
            progress.write(json.dumps({"tokens": tokens, "loss": loss}) + "\n")

    loss = loss_after(run.params, run.tokens, run.lr, run.batch)
    loss *= math.exp(noise.gauss(0.0, 0.001))
    # Written beside and renamed: a result is there as a whole, or not at all.
    result = Path(os.environ["LAWSMITH_RESULT"])
    written = result.with_suffix(".new")
    written.write_text(json.dumps({"loss": loss, "N": run.params, "D": run.tokens}))
    written.replace(result)


if __name__ == "__main__":
    main()
