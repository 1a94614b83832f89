"""A stand-in for a trainer: a known law and a learning rate to be found, no GPU.

Under Slurm it is started by the template beside it, in the run's own folder, and leaves its result
where $LAWSMITH_RESULT says.
"""

import argparse
import json
import math
import os
from pathlib import Path


def loss_after(n: float, tokens: float, lr: float) -> float:
    """The law E + A·N^-α + B·D^-β, and what a poor learning rate adds to it."""
    best_lr = 2e-3 * (n / 1e8) ** -0.3
    excess = 0.02 * math.log(lr / best_lr) ** 2
    return (1.69 + 406.4 * n**-0.34 + 410.7 * tokens**-0.28) * math.exp(excess)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("params", "tokens", "lr"):
        parser.add_argument(f"--{name}", type=float, required=True)
    run = parser.parse_args()
    loss = loss_after(run.params, run.tokens, run.lr)
    # Written beside and renamed: a result is there as a whole, or not at all.
    result = Path(os.environ["LAWSMITH_RESULT"])
    written = result.with_suffix(".new")
    written.write_text(json.dumps({"loss": loss, "N": run.params, "D": run.tokens}))
    written.replace(result)


if __name__ == "__main__":
    main()
