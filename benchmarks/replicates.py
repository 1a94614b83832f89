"""What do replicates tell the surrogate of the noise of a run, and what is that worth?

    python benchmarks/replicates.py --seeds 20

Drawn studies in the shape of OELLM-English, each with a law and optima of its own, and normal noise
that is said here. Eighty runs, cheap ones likelier, are made once and twenty of them again. The
surrogate sees all hundred both times; once it is told how far replicates lie apart.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

from lawsmith.datasets.drawn import drawn_study
from lawsmith.frontier import frontier
from lawsmith.laws.catalogue import LC
from lawsmith.laws.fit import fit_law
from lawsmith.outlook import outlook
from lawsmith.replay import prepare
from lawsmith.runs import Runs
from lawsmith.stopping import reach
from lawsmith.surrogates.trend import TrendGP, model
from lawsmith.surrogates.trend.fit import NO_SCATTER
from lawsmith.threads import one_thread

NOISES = (0.001, 0.003, 0.01, 0.03)
N_RUNS, N_AGAIN = 80, 20


@dataclass(frozen=True)
class Found:
    """Noise over the true one, RMSE of log loss, reach of the interval, whether that held."""

    noise: float
    rmse: float
    width: float
    held: bool


def case(seed: int, sigma: float) -> tuple[Found, Found]:
    """Without, and with what replicates say."""
    study = drawn_study("oellm-english", seed)
    task = prepare(study, LC)
    pool, true = task.pool, study.truth.loss[task.rows]
    known = np.flatnonzero(np.isfinite(true))
    target = 100.0 * float(pool.C.max())
    on = frontier(pool, true, LC.inputs)
    answer = float(fit_law(LC, {"C": pool.C[on]}, true[on]).predict({"C": [target]})[0])
    rng = np.random.default_rng([seed, 9])
    likely = pool.C[known] ** -0.6
    rows = rng.choice(known, N_RUNS, replace=False, p=likely / likely.sum())
    index = np.concatenate([np.repeat(rows[:N_AGAIN], 2), rows[N_AGAIN:]])
    runs = Runs.from_losses(index, true[index] * np.exp(sigma * rng.standard_normal(len(index))))

    def look() -> Found:
        posterior = TrendGP().fit(pool, runs)
        found = outlook(pool, runs, posterior, LC, [target], seed=seed).predictions[0].truth
        off = posterior.mean[known] - np.log(true[known])
        held = found.low <= answer <= found.high
        return Found(posterior.noise / sigma, float(np.sqrt((off**2).mean())), reach(found), held)

    with one_thread():
        with patch.object(model, "scatter_of", lambda found, extra: NO_SCATTER):
            without = look()
        return without, look()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    told = parser.parse_args()
    out = sys.stdout
    out.write("| noise of a run | told | noise found | RMSE of the surface | width | holds |\n")
    out.write("|---|---|---|---|---|---|\n")
    for sigma in NOISES:
        pairs = [case(seed, sigma) for seed in range(told.seeds)]
        for word, found in zip(("no", "yes"), zip(*pairs, strict=True), strict=True):
            noise = np.exp(np.mean([np.log(f.noise) for f in found]))
            out.write(
                f"| {100 * sigma:g} % | {word} | {noise:.2f} of it "
                f"| {100 * np.mean([f.rmse for f in found]):.2f} % "
                f"| ±{100 * np.mean([f.width for f in found]):.1f} % "
                f"| {sum(f.held for f in found)} of {len(found)} |\n"
            )
            out.flush()


if __name__ == "__main__":
    main()
