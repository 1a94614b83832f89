"""The speed of a replay and of its Gaussian process, and what refitting it rarely costs.

    LAWSMITH_DATA=… python benchmarks/replay.py bars                 # the bars, a minute
    LAWSMITH_DATA=… python benchmarks/replay.py schedule --seeds 10  # refit rarely or every step
    python benchmarks/replay.py growth                               # time against runs and rows
    python benchmarks/replay.py search                               # a step of the default policy

The race against BoTorch is `lawsmith-paper run speed`, what the methods find `lawsmith-paper run
main surrogates`. Everything runs on one thread. Compare the ratios, machines differ.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from lawsmith.datasets import load
from lawsmith.grid import Grid
from lawsmith.laws.catalogue import LC
from lawsmith.metrics import value_at
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, Task, Trace, prepare, run_replay
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate, surface
from lawsmith.surrogates.base import Refits, Surrogate
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.gp.model import REFITS

BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25)
EVERY_STEP = replace(REFITS, growth=0.0)


def oellm() -> Task:
    return prepare(load("oellm-english"), LC)


def timed_replay(
    task: Task, surrogate: Surrogate, seed: int, stop: Stop | None = None
) -> tuple[Trace, float]:
    """A Window replay under LCB and its seconds."""
    begin = time.perf_counter()
    trace = run_replay(task, make_policy("window", surrogate), seed=seed, stop=stop)
    return trace, time.perf_counter() - begin


def error_at(trace: Trace, budgets: tuple[float, ...]) -> np.ndarray:
    """|% difference in the loss at 1e25| of the fantasized law, current at each budget."""
    off = [step.fantasized and abs(step.fantasized.extrapolation["1e25"]) for step in trace.steps]
    return value_at(trace.cost_fraction, np.array(off, dtype=np.float64), budgets)


def random_grid(m: int, rng: np.random.Generator) -> tuple[Grid, np.ndarray]:
    """m candidates in N, D, lr and batch, and a smooth loss with noise on them."""
    N, D = 10 ** rng.uniform(7.5, 9.5, m), 10 ** rng.uniform(9.5, 11.5, m)
    lr, batch = 10 ** rng.uniform(-3.5, -1.5, m), 2 ** rng.uniform(5, 11, m)
    bowl = 0.02 * np.log(lr / 3e-3) ** 2 + 0.01 * np.log(batch / 256) ** 2
    law = np.log(1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28)
    loss = np.exp(law + bowl + 0.002 * rng.standard_normal(m))
    return Grid.from_columns({"N": N, "D": D, "lr": lr, "batch": batch}), loss


def step_times(m: int, n: int, n_steps: int = 9) -> tuple[float, float]:
    """(median seconds of one more observation, seconds of a refit) at n of m observed."""
    grid, loss = random_grid(m, np.random.default_rng(0))
    rare = GP(refits=Refits(first=n, every_until=n, growth=10.0))
    begin = time.perf_counter()
    rare.fit(grid, Runs.from_losses(np.arange(n), loss[:n]))
    refit = time.perf_counter() - begin
    times = []
    for k in range(n + 1, n + 1 + n_steps):
        runs = Runs.from_losses(np.arange(k), loss[:k])
        begin = time.perf_counter()
        rare.fit(grid, runs)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:]), refit  # the first makes room to grow


def search_times(m: int, n: int, n_steps: int = 8) -> tuple[float, float, float]:
    """Processor seconds of a choice by the default policy about n of m observed.

    (median of one in between fits, of one that fits the surface anew, mean over both as they come)
    """
    grid, loss = random_grid(m, np.random.default_rng(0))
    counts = surface.REFITS.points(2 * n)
    first = max(k for k in counts if k <= n)
    following = min(k for k in counts if k > first)
    policy = make_policy("frontier", make_surrogate("surface"))
    times = []
    for k in (first, *range(first + 1, min(first + 1 + n_steps, following))):
        begin = time.process_time()
        policy.ask(grid, Runs.from_losses(np.arange(k), loss[:k]), 1, np.random.default_rng(0))
        times.append(time.process_time() - begin)
    step, gap = statistics.median(times[1:]), following - first
    return step, times[0], (times[0] + (gap - 1) * step) / gap


def search() -> None:
    print("| observed | candidates | a step, ms | one that fits anew, s | mean, ms |")
    print("|---|---|---|---|---|")
    sizes = [(200, 1000), (200, 5000), (200, 20000)]
    sizes += [(n, 5000) for n in (100, 500, 1000, 2000)]
    search_times(200, 20)  # loads what is needed
    for n, m in sizes:
        step, refit, mean = search_times(m, n)
        print(f"| {n:,} | {m:,} | {1e3 * step:.1f} | {refit:.2f} | {1e3 * mean:.0f} |", flush=True)


def bars() -> None:
    step, _ = step_times(2000, 1000)
    print(f"one more observation at 1,000 of 2,000: {1e3 * step:.2f} ms (bar 5 ms)")
    trace, seconds = timed_replay(oellm(), GP(), seed=0)
    print(f"OELLM-English, {len(trace.steps)} runs, Window, LCB: {seconds:.1f} s (bar 40 s)")


def schedules(seeds: int) -> None:
    task = oellm()
    stop = Stop(budget=0.3 * task.total_compute)
    kinds = {"every step": EVERY_STEP}
    kinds |= {"default": REFITS}
    kinds["growth 0.1 from 20 runs on"] = replace(REFITS, growth=0.1, every_until=20)
    print("| refit | seconds |" + "".join(f" {100 * b:g} % |" for b in BUDGETS))
    print("|---" * (len(BUDGETS) + 2) + "|")
    for name, schedule in kinds.items():
        done = [timed_replay(task, GP(refits=schedule), seed, stop) for seed in range(seeds)]
        errors = np.array([error_at(trace, BUDGETS) for trace, _ in done])
        seconds = statistics.mean(s for _, s in done)
        cells = zip(np.nanmean(errors, axis=0), np.nanstd(errors, axis=0), strict=True)
        shown = "".join(f" {mean:.2f} ± {sd:.2f} |" for mean, sd in cells)
        print(f"| {name} | {seconds:.1f} |{shown}", flush=True)


def growth() -> None:
    print("| observed | candidates | one more observation, ms | a refit, s |")
    print("|---|---|---|---|")
    sizes = [(n, 2000) for n in (100, 200, 400, 800, 1500)]
    sizes += [(400, m) for m in (500, 1000, 5000, 10000, 20000)]
    for n, m in sizes:
        step, refit = step_times(m, n)
        print(f"| {n} | {m} | {1e3 * step:.2f} | {refit:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["bars", "schedule", "growth", "search"])
    parser.add_argument("--seeds", type=int, default=3)
    told = parser.parse_args()
    with threadpool_limits(limits=1):
        match told.what:
            case "bars":
                bars()
            case "schedule":
                schedules(told.seeds)
            case "growth":
                growth()
            case "search":
                search()


if __name__ == "__main__":
    main()
