"""Measure what nominal 95 % intervals cover on simulated studies: the table of docs/coverage.md.

Truth: L(C) with OELLM-English's fitted law over 1e18–3e21 FLOPs, and Chinchilla's L(N, D) over
5e7–1e10 parameters × 5e9–3e11 tokens. Log losses get normal noise of the stated SD (and, apart,
Student's t with 3 degrees of freedom). Three designs:

    none   one run per point; the law is fitted to all of them
    bowl   35 runs per point (5 learning rates × 7 batch sizes) in a skewed bowl that drifts with
           scale; the law is fitted to Π
    flat   35 runs per point, all equally good: the worst case for the minimum of noisy losses

Estimand: the parameters of the noise-free law, and its loss at 10, 100 and 10,000 times the
largest compute. With ``bowl`` and ``flat`` that is the law of the noise-free frontier.

    python benchmarks/coverage.py --simulations 2000 --jobs 2 --out coverage.json
    python benchmarks/coverage.py --render coverage.json > docs/coverage.md
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from lawsmith.frontier import cell_minima_batch, pareto_batch
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.noise import smooth_surface
from lawsmith.laws.objective import HUBER, LEAST_SQUARES_LOG
from lawsmith.laws.selection import correct_selection
from lawsmith.laws.uncertainty import (
    Uncertainty,
    case_bootstrap,
    covariance,
    law_uncertainty,
    refit,
)

TRUTH = {
    "LC": {"E": 1.568, "A": 794.4, "alpha": -0.1518},
    "chinchilla": {"E": 1.8172, "A": 477.8, "alpha": 0.3473, "B": 2143.4, "beta": 0.3672},
}
SHAPES = {9: (3, 3), 16: (4, 4), 30: (5, 6), 100: (10, 10)}
N_DRAWS = 200
BOOTSTRAP_EVERY = 8  # the bootstraps are shown for comparison, on every eighth simulation


@dataclass(frozen=True)
class Condition:
    law: str
    n_points: int
    noise: float
    design: str  # none, bowl, flat
    tails: str = "normal"  # or t3


@dataclass(frozen=True)
class World:
    """A condition's noise-free study. m runs at n points."""

    law: Law
    x: np.ndarray  # (q, m) log inputs
    mean: np.ndarray  # (m,) log loss
    hp: np.ndarray  # (m, 2)
    scale: np.ndarray  # (m, q)
    cells: np.ndarray  # (m,)
    targets: dict[str, np.ndarray]

    @property
    def phi(self) -> np.ndarray:
        return self.law.phi(TRUTH[self.law.name])

    def among(self, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda losses: self.select(losses, rows)

    def select(self, losses: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        rows = np.arange(self.mean.size) if rows is None else rows
        if self.law is LC:
            return pareto_batch(np.exp(self.x[0, rows]), losses)
        rows = cell_minima_batch(self.cells[rows], losses)
        on = np.zeros((len(losses), losses.shape[1] + 1), dtype=bool)
        np.put_along_axis(on, rows, True, axis=1)
        return on[:, :-1]

    def floor(self, mean: np.ndarray) -> np.ndarray:
        least = np.full(int(self.cells.max()) + 1, np.inf)
        np.minimum.at(least, self.cells, mean)
        return (np.minimum.accumulate(least) if self.law is LC else least)[self.cells]


def make_world(condition: Condition) -> World:
    law = LC if condition.law == "LC" else CHINCHILLA
    n = condition.n_points
    if law is LC:
        points = np.log(np.logspace(18, 21.5, n))[None]
        targets = {"C": 10**21.5 * np.array([10.0, 100.0, 10_000.0])}
    else:
        rows, columns = SHAPES[n]
        N, D = np.meshgrid(np.geomspace(5e7, 1e10, rows), np.geomspace(5e9, 3e11, columns))
        points = np.log(np.stack([N.ravel(), D.ravel()]))
        grow = np.sqrt([10.0, 100.0, 10_000.0])
        targets = {"N": 1e10 * grow, "D": 3e11 * grow}
    best = law.form.value(law.phi(TRUTH[law.name])[None], points[:, None, :])[0]
    scale = (points - points.min(axis=1, keepdims=True)) / np.ptp(points, axis=1)[:, None]
    if condition.design == "none":
        empty = np.empty((n, 0))
        return World(law, points, best, empty, scale.T, np.arange(n), targets)
    lr, batch = (v.ravel() for v in np.meshgrid(np.arange(5) - 2.0, np.arange(7) - 3.0))
    excess = np.zeros((n, lr.size))
    if condition.design == "bowl":
        drift = (2 * scale.mean(axis=0) - 1)[:, None]
        u, v = lr - 0.6 * drift, batch - 0.8 * drift
        excess = 0.004 * 8 * (np.exp(u / 2) - u / 2 - 1) + 0.0015 * v**2
        excess -= excess.min(axis=1, keepdims=True)
    hp = np.tile(np.stack([lr, batch], axis=1) / 6, (n, 1))
    repeat = lr.size
    return World(
        law,
        np.repeat(points, repeat, axis=1),
        (best[:, None] + excess).ravel(),
        hp,
        np.repeat(scale.T, repeat, axis=0),
        np.repeat(np.arange(n), repeat),
        targets,
    )


def quantities(world: World) -> Callable[[np.ndarray], np.ndarray]:
    """phi (B, p) → parameters (in phi) and log losses at the targets, (B, p + 3)."""
    x = world.law.log_inputs(world.targets)

    def of(phi: np.ndarray) -> np.ndarray:
        return np.concatenate([phi, world.law.form.value(phi, x)], axis=1)

    return of


Bounds = tuple[np.ndarray, np.ndarray]


def student(uncertainty: Uncertainty, of: Callable[[np.ndarray], np.ndarray]) -> Bounds:
    interval = uncertainty.of(of)
    return interval.low, interval.high


def percentiles(phi: np.ndarray, of: Callable[[np.ndarray], np.ndarray]) -> Bounds:
    low, high = np.quantile(of(phi), [0.025, 0.975], axis=0)
    return low, high


def plug_in(fit: LawFit, of: Callable[[np.ndarray], np.ndarray]) -> Bounds:
    """Huber's fit with the textbook covariance, E[ψ²]/E[ρ″]²·(JᵀJ)⁻¹, and normal quantiles."""
    r, dof = fit.residuals, fit.n_points - fit.law.n_params
    inside = max(float(HUBER.rho2(r).mean()), 1 / r.size)
    variance = float((HUBER.psi(r) ** 2).sum() / dof) / inside**2
    u = Uncertainty(fit.law, fit.phi, covariance(fit, variance), 10**6, 0.0, "", "")
    return student(u, of)


def points_intervals(fit: LawFit, of, rng, with_bootstraps) -> Iterator[tuple[str, Bounds]]:  # type: ignore[no-untyped-def]
    squares = refit(fit, LEAST_SQUARES_LOG)
    dof = fit.n_points - fit.law.n_params
    variance = float((squares.residuals**2).sum() / dof)
    plain = Uncertainty(fit.law, squares.phi, covariance(squares, variance), dof, 0.0, "", "")
    chosen = law_uncertainty(fit)
    assert chosen is not None
    yield "lawsmith", student(chosen, of)
    yield "least squares, t", student(plain, of)
    yield "Huber plug-in", plug_in(fit, of)
    if not with_bootstraps:
        return
    yield "case bootstrap", percentiles(case_bootstrap(fit, N_DRAWS, rng).phi, of)


def frontier_intervals(world: World, losses, fit, of, rng) -> Iterator[tuple[str, Bounds]]:  # type: ignore[no-untyped-def]
    squares = refit(fit, LEAST_SQUARES_LOG)
    dof = fit.n_points - fit.law.n_params
    variance = float((squares.residuals**2).sum() / dof)
    plain = Uncertainty(fit.law, squares.phi, covariance(squares, variance), dof, 0.0, "", "")
    surface = smooth_surface(np.log(losses), world.hp, world.scale, world.cells, floor=world.floor)
    if surface:
        freed = correct_selection(plain, world.x, losses, surface, world.among, rng=rng)
        if freed is not plain:
            yield "lawsmith", student(freed, of)
    yield "least squares, t", student(plain, of)


def simulate(task: tuple[Condition, int, int]) -> dict[str, list[list[float]]]:
    """Hits and half-widths per method over some simulations of one condition."""
    with threadpool_limits(1):
        return _simulate(*task)


def _simulate(condition: Condition, seed: int, n_simulations: int) -> dict[str, list[list[float]]]:
    world = make_world(condition)
    of = quantities(world)
    truth = of(world.phi[None])[0]
    found: dict[str, list[list[float]]] = {}
    rng = np.random.default_rng([seed, *json.dumps(asdict(condition)).encode()])
    for k in range(n_simulations):
        with_bootstraps = k % BOOTSTRAP_EVERY == 0
        noise = rng.standard_normal(world.mean.size)
        if condition.tails == "t3":
            noise = rng.standard_t(3, world.mean.size) / np.sqrt(3.0)
        losses = np.exp(world.mean + condition.noise * noise)
        on = world.select(losses[None])[0] if condition.design != "none" else slice(None)
        inputs = {name: np.exp(world.x[i, on]) for i, name in enumerate(world.law.inputs)}
        fit = fit_law(world.law, inputs, losses[on])
        if condition.design == "none":
            intervals = points_intervals(fit, of, rng, with_bootstraps)
        else:
            intervals = frontier_intervals(world, losses, fit, of, rng)
        for name, (low, high) in intervals:
            hit = (low <= truth) & (truth <= high)
            found.setdefault(name, []).append([*hit.astype(float), *((high - low) / 2)])
    return found


def conditions() -> list[Condition]:
    out = [
        Condition(law, n, noise, design)
        for design in ("none", "bowl", "flat")
        for law in ("LC", "chinchilla")
        for n in SHAPES
        for noise in (0.001, 0.005)
    ]
    return out + [Condition(law, n, 0.005, "none", "t3") for law in TRUTH for n in (30, 100)]


def summarise(condition: Condition, parts: list[dict[str, list[list[float]]]]) -> list[dict]:  # type: ignore[type-arg]
    names = [*TRUTH[condition.law], "x10", "x100", "x10000"]
    rows = []
    for method in parts[0]:
        table = np.array([row for part in parts for row in part.get(method, [])])
        hits, widths = table[:, : len(names)], table[:, len(names) :]
        rows.append(
            {
                **asdict(condition),
                "method": method,
                "simulations": len(table),
                "coverage": dict(zip(names, hits.mean(axis=0).round(4).tolist(), strict=True)),
                "half_width_x100": float(np.median(widths[:, -2])),
            }
        )
    return rows


HEADER = """# What the intervals cover

This page measures 95 % intervals on simulated studies (`benchmarks/coverage.py`). The true law is
known, so the coverage can be counted: the share of simulations whose interval holds the true value.

**Truth.** There are two true laws: L(C) as fitted to OELLM-English, at n compute levels between
1e18 and 3e21 FLOPs, and Chinchilla's L(N, D), on an n-cell grid of 5e7–1e10 parameters × 5e9–3e11
tokens. Log losses have normal noise of the stated SD. In the last table the noise is Student's t
with 3 degrees of freedom, scaled to that SD.

**What is estimated.** The parameters of the noise-free law, and its loss at 10, 100 and 10,000
times the largest compute. If a frontier is selected, the true law is that of the noise-free
frontier.

**Reading the tables.** The columns have the coverage in percent for E, the exponents, and the loss
at ×10, ×100, ×10⁴. *Width* is the median half-width of the interval for the loss at ×100, in
percent of loss. The standard error of a coverage near 95 % is 0.5 points with 2,000 simulations and
1.4 with 250.

**The method of lawsmith.** Rows named *lawsmith* are what `lawsmith fit` prints. It uses least
squares on log loss with Student's t. If 30 or more degrees of freedom show heavy tails, it uses a
case bootstrap of the stated objective. For a selected frontier it adds the correction of
[formulae.md](formulae.md#uncertainty).

**Where it falls short.** With 2,000 simulations two conditions of the bowl at 0.5 % noise fall just
below 93 %: L(C) at 16 points (A and α, 92.8 %) and L(N, D) at 100 points (losses, 92.0–92.8 %). A
likely reason at 100 points (not tested separately) is that a cubic surface does not fit the skewed
bowl exactly, and the intervals are so narrow that this error matters.
"""
SECTIONS = {
    ("none", "normal"): "Every point is one run: nothing is selected",
    ("bowl", "normal"): "The minimum of 35 runs in a bowl (5 learning rates × 7 batch sizes)",
    ("flat", "normal"): "The minimum of 35 equally good runs: the worst case",
    ("none", "t3"): "Heavy-tailed noise, nothing selected",
}


def _summary(rows: list[dict]) -> list[str]:  # type: ignore[type-arg]
    """Least, mean and largest coverage of each method, over the conditions of a section."""
    lines = ["## In short", "", "| section | method | least | mean | largest |"]
    lines += ["|---|---|---|---|---|"]
    for (design, tails), title in SECTIONS.items():
        here = [r for r in rows if (r["design"], r["tails"]) == (design, tails)]
        for method in dict.fromkeys(r["method"] for r in here):
            shares = [v for r in here if r["method"] == method for v in r["coverage"].values()]
            least, mean, most = (f"{100 * f(shares):.1f}" for f in (min, np.mean, max))
            lines.append(f"| {title} | {method} | {least} | {mean} | {most} |")
    return [*lines, ""]


def render(rows: list[dict]) -> str:  # type: ignore[type-arg]
    """The page: one table a section, one line a condition and method."""
    lines = [HEADER, *_summary(rows)]
    for (design, tails), title in SECTIONS.items():
        lines += [f"## {title}", ""]
        lines += ["| law | n | noise | method | E | α | β | ×10 | ×100 | ×10⁴ | width | sims |"]
        lines += ["|---|---|---|---|---|---|---|---|---|---|---|---|"]
        for row in rows:
            if (row["design"], row["tails"]) != (design, tails):
                continue
            c = {name: f"{100 * value:.1f}" for name, value in row["coverage"].items()}
            ours = row["method"] == "lawsmith"
            cells = [c["E"], c["alpha"], c.get("beta", ""), c["x10"], c["x100"], c["x10000"]]
            marked = [f"**{v}**" if ours and v else v for v in cells]
            lines.append(
                f"| {row['law']} | {row['n_points']} | {100 * row['noise']:.1f} % | "
                f"{row['method']} | {' | '.join(marked)} | "
                f"{100 * row['half_width_x100']:.2f} % | {row['simulations']} |"
            )
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("coverage.json"))
    parser.add_argument("--only", default="", help="run only conditions whose name contains this")
    parser.add_argument("--render", type=Path, help="print the page from a finished run's file")
    args = parser.parse_args()
    if args.render:
        print(render(json.loads(args.render.read_text())))
        return
    wanted = [c for c in conditions() if args.only in f"{c.design}-{c.law}-{c.n_points}-{c.tails}"]
    chunk = min(args.simulations, 50)
    n_chunks = -(-args.simulations // chunk)
    tasks = [(c, seed, chunk) for seed in range(n_chunks) for c in wanted]
    tasks.sort(key=lambda task: task[0].n_points == 100 and task[0].design != "none")  # slow last
    parts: dict[Condition, list[dict[str, list[list[float]]]]] = {c: [] for c in wanted}
    begin = time.time()
    with ProcessPoolExecutor(args.jobs) as pool:
        for k, (task, part) in enumerate(zip(tasks, pool.map(simulate, tasks), strict=True)):
            parts[task[0]].append(part)
            if k % 50 == 0:
                print(f"{k}/{len(tasks)} {time.time() - begin:.0f} s", file=sys.stderr, flush=True)
            if k % 200 == 199 or k == len(tasks) - 1:
                ready = [row for c in wanted if parts[c] for row in summarise(c, parts[c])]
                args.out.write_text(json.dumps(ready, indent=1))


if __name__ == "__main__":
    main()
