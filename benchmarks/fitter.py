"""The fitter's speed bars, side by side in one run with the classical multi-start grid.

    LAWSMITH_DATA=… python benchmarks/fitter.py          # bars only, seconds
    LAWSMITH_DATA=… python benchmarks/fitter.py --full   # all 4,500 classical starts, minutes

Times are medians over repeats; compare the ratios, machines differ.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from lawsmith.datasets import ReadOptions, load
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.fit import fit_batch, fit_law
from lawsmith.laws.objective import HUBER
from lawsmith.laws.uncertainty import case_bootstrap

GOLDEN_OBJECTIVE = 1.0182740178e-3
# Hoffmann et al.'s grid of starts: α, β × e × a × b.
CLASSICAL = {
    "alpha": np.arange(0.0, 2.1, 0.5),
    "beta": np.arange(0.0, 2.1, 0.5),
    "e": np.arange(-1.0, 1.1, 0.5),
    "a": np.arange(0.0, 26.0, 5.0),
    "b": np.arange(0.0, 26.0, 5.0),
}


def clock(task: Callable[[], object], repeats: int = 20) -> float:
    """Median seconds of a call, after one to warm up."""
    task()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        task()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def classical_fit(x: np.ndarray, y: np.ndarray, start: tuple[float, ...]) -> tuple[float, int]:
    """One start of the classical recipe: scipy's L-BFGS on Huber, with its gradient."""

    def value_and_gradient(phi: np.ndarray) -> tuple[float, np.ndarray]:
        f, jac = CHINCHILLA.form.value_and_jac(phi[None], x[:, None, :])
        r = f[0] - y
        return float(HUBER.rho(r).sum()), jac[0] @ HUBER.psi(r)

    alpha, beta, e, a, b = start
    found = minimize(
        value_and_gradient,
        np.array([e, a, alpha, b, beta]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-12},
    )
    return float(found.fun), int(found.nfev)


def classical_grid(x: np.ndarray, y: np.ndarray, *, full: bool) -> tuple[float, float, int, int]:
    """Seconds for all starts (extrapolated from an even sample unless full), best, starts, run."""
    starts = list(product(*CLASSICAL.values()))
    chosen = starts if full else starts[:: len(starts) // 60]
    begin = time.perf_counter()
    best = min(classical_fit(x, y, start)[0] for start in chosen)
    spent = time.perf_counter() - begin
    return spent * len(starts) / len(chosen), best, len(starts), len(chosen)


def row(name: str, measured: str, bar: str, met: bool) -> None:
    print(f"{name:<58} {measured:>14}  {bar:<12} {'met' if met else 'MISSED'}")


def chinchilla_bars(*, full: bool) -> None:
    study = load("chinchilla", ReadOptions(drop_largest_loss=5))
    loss = study.runs.config_loss(len(study.grid))
    inputs = {"N": study.grid.N, "D": study.grid.D}
    fit = fit_law(CHINCHILLA, inputs, loss)
    cold = clock(lambda: fit_law(CHINCHILLA, inputs, loss))
    reached = abs(fit.value / GOLDEN_OBJECTIVE - 1) < 1e-9
    row("Chinchilla L(N, D), 240 points, cold", f"{1e3 * cold:.1f} ms", "≤ 10 ms", cold <= 0.010)
    row("  objective 1.0182740178e-3 reached", f"{fit.value:.10e}", "", reached)
    spent, best, n_starts, n_run = classical_grid(fit.x, np.log(fit.loss), full=full)
    how = "all run" if full else f"{n_run} of {n_starts} run"
    ratio = spent / cold
    row(f"  classical grid of {n_starts} L-BFGS starts ({how})", f"{spent:.1f} s", "", True)
    print(f"  its best objective: {best:.10e}")
    row("  times faster", f"{ratio:.0f}×", "≥ 500×", ratio >= 500)
    rng = np.random.default_rng(0)
    many = clock(lambda: case_bootstrap(fit, 1000, rng), repeats=3)
    row("1,000 bootstrap refits", f"{many:.2f} s", "≤ 2 s", many <= 2.0)


def posterior_bar() -> None:
    rng = np.random.default_rng(0)
    C = np.geomspace(1e18, 3e21, 20)
    loss = LC.predict({"E": 1.568, "A": 794.4, "alpha": -0.1518}, {"C": C})
    losses = loss * np.exp(0.003 * rng.standard_normal((256, 20)))  # posterior samples spread so
    start = fit_law(LC, {"C": C}, loss)
    spent = clock(lambda: fit_batch(LC, start.x, losses, start=start.phi))
    done = fit_batch(LC, start.x, losses, start=start.phi).converged.mean()
    name = f"256 L(C) refits of 20-point frontiers ({done:.0%} converged)"
    row(name, f"{1e3 * spent:.1f} ms", "≤ 50 ms", spent <= 0.050)


def command_bars() -> None:
    command = [sys.executable, "-m", "lawsmith"]
    spent = clock(lambda: subprocess.run([*command, "--help"], capture_output=True, check=True), 5)
    row("lawsmith --help", f"{spent:.2f} s", "< 0.4 s", spent < 0.4)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        N = rng.choice(np.geomspace(5e7, 2e9, 8), 2000)
        D = rng.choice(np.geomspace(2e9, 3e11, 10), 2000)
        lr = rng.choice(np.geomspace(1e-4, 1e-2, 25), 2000)
        loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28 + 0.02 * np.log(lr / 1e-3) ** 2
        loss *= np.exp(0.001 * rng.standard_normal(2000))
        table = np.stack([N, D, lr, loss], axis=1)
        np.savetxt(path, table, delimiter=",", header="N,D,lr,loss", comments="")
        fit = [*command, "fit", str(path), "--target", "1e24"]
        spent = clock(lambda: subprocess.run(fit, capture_output=True, check=True), 3)
    row("lawsmith fit on 2,000 rows", f"{spent:.2f} s", "< 3 s", spent < 3.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="run all classical starts")
    args = parser.parse_args()
    with threadpool_limits(1):
        chinchilla_bars(full=args.full)
        posterior_bar()
    command_bars()


if __name__ == "__main__":
    main()
