"""The frontier policy beside the paper's, study by study: error of the law and envelope found.

    LAWSMITH_DATA=… python benchmarks/methods.py oellm-english steplaw --seeds 10 --jobs 2

Values are those at that moment, mean ± SD over seeds; budgets are shares of the pool's compute.
"""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed

from lawsmith.datasets import entry, load
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LC
from lawsmith.metrics import value_at
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, prepare, run_replay
from lawsmith.replay.curves import curves_of
from lawsmith.surrogates import make_surrogate

BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25)
METHODS = {"frontier": ("frontier", "trend"), "Window, LCB": ("window", "gp")}


def replayed(study: str, method: str, seed: int) -> dict[str, np.ndarray]:
    """Metrics of one replay at the budgets."""
    known = entry(study)
    hold_out = None if known.hold_out is None else HeldOut.by_compute(known.hold_out)
    task = prepare(load(study), LC, hold_out=hold_out)
    space, surrogate = METHODS[method]
    reach = known.reach or 1.5
    policy = make_policy(space, make_surrogate(surrogate), reach=reach)
    stop = Stop(budget=0.26 * task.total_compute)
    run = curves_of(run_replay(task, policy, seed=seed, stop=stop))
    series = {
        "% off at 1e25": np.abs(run.extrapolation("1e25", "fantasized")),
        "% of the envelope, mixed": 100 * run.envelope["fantasized"],
        "% of the envelope, run": 100 * run.envelope["observed"],
    }
    return {name: value_at(run.cost_fraction, s, BUDGETS) for name, s in series.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    told = parser.parse_args()
    print("| study | method | metric |" + "".join(f" {100 * b:g} % |" for b in BUDGETS))
    print("|---" * (3 + len(BUDGETS)) + "|")
    for study in told.studies:
        for method in METHODS:
            work = (delayed(replayed)(study, method, seed) for seed in range(told.seeds))
            done = Parallel(n_jobs=told.jobs)(work)
            for metric, digits in zip(done[0], (2, 0, 0), strict=True):
                table = np.array([values[metric] for values in done])
                cells = zip(np.nanmean(table, axis=0), np.nanstd(table, axis=0), strict=True)
                shown = "".join(f" {mean:.{digits}f} ± {sd:.{digits}f} |" for mean, sd in cells)
                print(f"| {study} | {method} | {metric} |{shown}", flush=True)


if __name__ == "__main__":
    main()
