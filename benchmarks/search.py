"""How near the answer comes with a small part of a study's compute: policies on real tables.

    python benchmarks/search.py --out search.json                 # everything; resumes
    python benchmarks/search.py --out search.json --tables tinylm oellm-english --seeds 3
    python benchmarks/search.py --out search.json --page docs/search.md

Real tables. The pool of a table is its runs below a tenth of its largest compute. A method chooses
runs of the pool until a share of the pool's compute is spent. The surface of those runs then
predicts the best loss of the held-out cells on the frontier, as in `holdout.py`. The prior of
the surface is learnt from the other studies. Beside it: the same from all runs of the pool, and
L(C) fitted to the frontier of all of them. Methods choose runs for the best loss at the largest
held-out compute, so it is also told how far that is from the one by all runs of the pool.

Drawn studies have a known law. Their pool is all their runs, and what is predicted is the true best
loss at a hundred times the largest compute. They are judged twice: with the prior that ships with
lawsmith, learnt from real studies (drawn-…), and with one learnt from other drawn studies (own-…),
as real tables are judged with a prior learnt from other real ones.

Every budget is a search of its own, since a policy that knows its budget spends it differently. A
seed draws nine tenths of the candidates (seed 0 takes all), so that methods without chance vary
too; all methods have the same candidates under one seed. Errors are of log loss, in per cent.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from holdout import by_law, split, tables
from left_out import LeftOut
from population import population

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.policies import Method, Policy
from lawsmith.runs import Runs
from lawsmith.surface import BROAD, PUBLIC, Prior, fit_surface
from lawsmith.surface.learning import evidence
from lawsmith.surface.mixture import Mixture
from lawsmith.surface.surface import Surface
from lawsmith.threads import one_thread
from lawsmith_paper.rivals import make_policy, make_surrogate
from lawsmith_paper.studies.drawn import SHAPES, drawn_study

CUT = 10.0
EVIDENCE = Path(os.environ.get("LAWSMITH_EVIDENCE", "evidence.json"))
BUDGETS = (0.01, 0.02, 0.05)
FURTHER = 100.0  # times the largest compute of a drawn study
WORLDS = ("drawn", "own")  # see the top: which prior a drawn study is judged with
TEACHING_SEEDS = (100, 101, 102)
TABLES = (
    "oellm-english",
    "steplaw",
    "porian-hp",
    "tinylm",
    "gemstones-shape",
    "moe",
    "farseer",
    "chinchilla",
    "data_constrained",
    "marin",
)
WITH_HP = ("oellm-english", "steplaw", "porian-hp", "tinylm", "gemstones-shape", "moe")
METHODS: dict[str, Method] = {
    "frontier": Method(),
    "window, LCB (paper)": Method("window", "gp", n_init=10),
    "frontier, GP": Method("frontier", "gp", scale="log", n_init=10),
    "V-optimality": Method("vopt", "none", n_init=10),
    "cheapest": Method("cheapest", "none"),
    "random": Method("random", "none", n_init=10),
}
Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """Candidates with their losses, a target compute, and what an answer is judged by.

    judged   surface → for each thing predicted, its mixture and the true log loss
    run      whether intervals are those of a further run
    """

    grid: Grid
    loss: np.ndarray
    target: float
    judged: Callable[[Surface], list[tuple[Mixture, float]]]
    run: bool
    prior: Prior
    law_error: float = float("nan")


@cache
def subject(name: str, seed: int) -> Subject:
    world, _, shape = name.partition("-")
    found = _drawn(shape, seed, world) if world in WORLDS else _real(name)
    if seed == 0:
        return found
    n = len(found.grid)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[: int(0.9 * n)])
    kept = (found.grid.subset(rows), found.loss[rows])
    return replace(found, grid=kept[0], loss=kept[1])


@cache
def _real(name: str) -> Subject:
    study = tables()[name].load()
    parts = split(study, CUT)
    if parts is None:
        raise LawsmithError(name, got="too few runs below the cut", want="another table")
    cells = parts.cells[parts.frontier]
    true = np.log(study.runs.config_loss(len(study.grid))[cells])

    def judged(surface: Surface) -> list[tuple[Mixture, float]]:
        found = []
        for row, y in zip(cells, true, strict=True):
            scales = {k: float(study.grid.numbers(k)[row]) for k in surface.scale_names}
            found.append((surface.mixture_at(scales), float(y)))
        return found

    try:
        laws = [r["loss"] for r in by_law("LC", study, parts)]
        off = np.abs(np.log(np.array(laws)[parts.frontier]) - true)
        law_error = 100.0 * float(off.mean())
    except LawsmithError:
        law_error = float("nan")
    loss = parts.pool.runs.config_loss(len(parts.pool.grid))
    known = np.flatnonzero(np.isfinite(loss))
    target = float(study.grid.C[cells].max())
    grid, prior = parts.pool.grid.subset(known), left_out()(tables()[name].study)
    return Subject(grid, loss[known], target, judged, True, prior, law_error)


@cache
def left_out() -> LeftOut:
    """Priors learnt without one study; what the tables tell is kept in EVIDENCE."""
    known = json.loads(EVIDENCE.read_text()) if EVIDENCE.exists() else {}
    n = len(known)
    found = LeftOut(tables().values(), known)
    if len(known) > n:
        EVIDENCE.write_text(json.dumps(known))
    return found


@cache
def drawn_prior() -> Prior:
    """A prior learnt from drawn studies that no search is judged on."""
    told = {}
    for shape in SHAPES:
        for seed in TEACHING_SEEDS:
            study = drawn_study(shape, seed)
            told[f"{shape} {seed}"] = evidence(fit_surface(study.grid, study.runs, BROAD))
    return population(told)


@cache
def _drawn(shape: str, seed: int, world: str) -> Subject:
    study = drawn_study(shape, seed)
    assert study.truth is not None
    target = FURTHER * float(study.grid.C.max())
    true = float(np.log(study.truth.best_loss(target)))

    def judged(surface: Surface) -> list[tuple[Mixture, float]]:
        return [(surface.mixture_best(target), true)]

    loss = study.runs.config_loss(len(study.grid))
    prior = drawn_prior() if world == "own" else PUBLIC
    return Subject(study.grid, loss, target, judged, run=False, prior=prior)


def scored(on: Subject, rows: np.ndarray) -> Record:
    """Error, coverage and half-width of the answer by some rows of a subject."""
    surface = fit_surface(on.grid, Runs.from_losses(rows, on.loss[rows]), on.prior)
    errors, held, half, said = [], [], [], []
    for mixture, true in on.judged(surface):
        said.append({"true": true, **{k: v.tolist() for k, v in vars(mixture).items()}})
        low, centre, high = (mixture.quantile(p, run=on.run) for p in (0.025, 0.5, 0.975))
        errors.append(100.0 * abs(centre - true))
        held.append(low <= true <= high)
        half.append(50.0 * (high - low))
    return {
        "best": 100.0 * surface.mixture_best(on.target).quantile(0.5, run=False),
        "error": float(np.mean(errors)),
        "held": float(np.mean(held)),
        "half": float(np.median(half)),
        "said": said,
    }


def policy_of(method: Method, on: Subject) -> Policy:
    how = replace(method, target=on.target, prior=on.prior)
    surrogate = None if how.surrogate == "none" else how.make_surrogate(make_surrogate)
    return make_policy(how.policy, surrogate, **how.options())


def searched(key: str) -> tuple[str, Record]:
    """One search; ``key`` is table|method|seed|budget, a method 'all' is the whole pool."""
    name, label, seed, share = key.split("|")
    on = subject(name, int(seed))
    with one_thread():
        if label == "all":
            return key, {**scored(on, np.arange(len(on.grid))), "law": on.law_error}
        rows, seconds = _chosen(on, METHODS[label], int(seed), float(share))
        record = {"n_runs": len(rows), "seconds": seconds}
        if len(rows) < 5:
            return key, record
        return key, {**record, **scored(on, rows)}


def _chosen(on: Subject, method: Method, seed: int, share: float) -> tuple[np.ndarray, float]:
    """The rows that a method runs with a share of the pool's compute, and the time it thought."""
    policy = policy_of(method, on)
    budget, spent, runs, seconds = share * float(on.grid.C.sum()), 0.0, Runs.empty(), 0.0
    while True:
        begin = time.perf_counter()
        rng = np.random.default_rng([seed, len(runs)])
        asked = policy.ask(on.grid, runs, 1, rng, left=budget - spent)
        seconds += time.perf_counter() - begin
        if not asked:
            return runs.index, seconds
        spent += float(on.grid.C[asked[0]])
        runs = runs.append(Runs.from_losses(asked, on.loss[asked]))


def keys(names: Iterable[str], methods: Iterable[str], seeds: int) -> Iterator[str]:
    for seed in range(seeds):
        for name in names:
            yield f"{name}|all|{seed}|1"
            for method in methods:
                for budget in BUDGETS:
                    yield f"{name}|{method}|{seed}|{budget:g}"


def report(known: dict[str, Record], names: list[str], methods: list[str], seeds: int) -> None:
    head = "  ".join(f"{100 * b:g} %: runs error held half-width" for b in BUDGETS)
    print(f"{'':40s}{head}")
    for name in names:
        whole = [known[f"{name}|all|{s}|1"] for s in range(seeds) if f"{name}|all|{s}|1" in known]
        if whole:
            law = whole[0].get("law", float("nan"))
            mean = {k: np.mean([r[k] for r in whole]) for k in ("error", "held", "half")}
            print(
                f"{name}: all runs of the pool {mean['error']:.2f} %, held {mean['held']:.0%}, "
                f"±{mean['half']:.2f} %; L(C) of them {law:.2f} %"
            )
        for method in methods:
            print(f"  {method:22s}" + "  ".join(_cells(known, name, method, seeds)))


def _cells(known: dict[str, Record], name: str, method: str, seeds: int) -> Iterator[str]:
    for budget in BUDGETS:
        found = [known.get(f"{name}|{method}|{s}|{budget:g}", {}) for s in range(seeds)]
        found = [r for r in found if "error" in r]
        if not found:
            yield f"{'–':>30s}"
            continue
        errors = [r["error"] for r in found]
        runs, held = np.mean([r["n_runs"] for r in found]), np.mean([r["held"] for r in found])
        half = np.median([r["half"] for r in found])
        spread = np.std(errors, ddof=1) if len(errors) > 1 else 0.0
        yield f"{runs:5.0f} {np.mean(errors):6.2f} ±{spread:5.2f} {held:5.0%} ±{half:5.2f}"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    drawn = [f"{world}-{shape}" for world in WORLDS for shape in SHAPES]
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tables", nargs="*", default=[*TABLES, *drawn])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", nargs="*", default=[], help="Methods to run again.")
    parser.add_argument("--page", type=Path, help="Page whose tables are made anew.")
    return parser.parse_args()


def main() -> None:
    asked = options()
    known: dict[str, Record] = json.loads(asked.out.read_text()) if asked.out.exists() else {}
    known = {k: v for k, v in known.items() if k.split("|")[1] not in asked.again}
    todo = [k for k in keys(asked.tables, asked.methods, asked.seeds) if k not in known]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for i, (key, record) in enumerate(pool.map(searched, todo)):
            known[key] = record
            if i % 10 == 9 or i == len(todo) - 1:
                asked.out.write_text(json.dumps(known))
    report(known, asked.tables, asked.methods, asked.seeds)
    if asked.page:
        import search_page  # here: it imports this module

        search_page.write(known, asked.page)


if __name__ == "__main__":
    main()
