"""Any launcher of your own: runs in, losses out. It knows nothing of lawsmith but two files.

    python3 launcher.py asked.json told.json

It may run on another machine, on which lawsmith is not installed.
"""

import json
import math
import random
import sys


def train(config: dict) -> float:
    """Your training run; here a law whose best learning rate falls with size, and some noise."""
    law = 1.69 + 406.4 * config["N"] ** -0.34 + 410.7 * config["D"] ** -0.28
    off = math.log(config["lr"] / (2e-3 * (config["N"] / 1e8) ** -0.3))
    noise = random.Random(json.dumps(config, sort_keys=True)).gauss(0.0, 0.001)
    return law * math.exp(0.02 * off**2 + noise)


def main(asked: str, told: str) -> None:
    with open(asked, encoding="utf-8") as file:
        runs = json.load(file)
    results = [{"trial": run["trial"], "loss": train(run["config"])} for run in runs]
    with open(told, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
