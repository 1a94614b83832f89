"""Do the intervals of an outlook hold, and what would a stop rule have saved?

    python paper/benchmarks/outlook.py --seeds 10 --jobs 2 --out outlook.json
    python paper/benchmarks/outlook.py --render outlook.json   # tables of paper/docs/outlook.md

Each study is searched by the default policy. At shares of its compute the outlook is held against
what it is of: `pool` against the law of the whole pool, `truth` against the law of the noise-free
frontier, which only synthetic studies have, and which is here drawn afresh for every seed. Stop
rules are tried after every fourth run.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from lawsmith.datasets import Study, load
from lawsmith.frontier import frontier
from lawsmith.laws.catalogue import LC
from lawsmith.laws.fit import fit_law
from lawsmith.laws.uncertainty import Interval
from lawsmith.policies import make_policy
from lawsmith.replay import Task, prepare
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith.threads import one_thread
from lawsmith_paper.outlook import Prediction, outlook_after, reach
from lawsmith_paper.studies.drawn import SHAPES, drawn_study

BUDGETS = (0.02, 0.05, 0.10)
RULES = (0.10, 0.05, 0.03, 0.02)  # reach of the interval of the true loss
REAL = ("oellm-english", "steplaw", "porian-hp", "tinylm")
DRAWN = tuple(f"drawn-{shape}" for shape in SHAPES)
SLACK = 1e-5  # an interval that has closed is compared to the accuracy of its fits
EVERY = 4


@dataclass(frozen=True)
class Seen:
    """One outlook beside the answers: relative to the whole pool's law, which is 1."""

    budget: float
    pool: tuple[float, float, float]
    truth: tuple[float, float, float]


@dataclass(frozen=True)
class Stopped:
    """When a rule was first met, and whether the truth was inside then."""

    within: float
    spend: float | None
    right: bool | None


@dataclass(frozen=True)
class Case:
    """One study searched once. noise_free, dense: true losses, relative to the pool's law."""

    study: str
    seed: int
    noise_free: float | None
    dense: float | None
    full_pool: tuple[float, float] | None
    seen: list[Seen]
    stopped: list[Stopped]


def case(name: str, seed: int) -> Case:
    study = drawn_study(name.removeprefix("drawn-"), seed) if name in DRAWN else load(name)
    task = prepare(study, LC)
    pool = task.pool
    target = 100.0 * float(pool.C.max())
    unit = float(task.reference.validation.predict({"C": [target]})[0])
    noise_free, dense = truths(study, task, target)
    policy = make_policy("frontier", make_surrogate("surface"), n_init=0, target=target)
    budget = BUDGETS[-1] * task.total_compute
    seen: list[Seen] = []
    first: dict[float, Stopped] = {}
    judge = noise_free or unit
    with one_thread():
        runs = Runs.empty()
        while len(seen) < len(BUDGETS):
            spent = float(pool.C[runs.index].sum())
            rng = np.random.default_rng([seed, len(runs)])
            rows = policy.ask(pool, runs, 1, rng, left=budget - spent)
            spend = spent / task.total_compute
            after = spend + float(pool.C[rows[0]]) / task.total_compute if rows else np.inf
            due = [b for b in BUDGETS[len(seen) :] if after > b]
            if due or len(runs) % EVERY == 0:
                found = outlook_after(task, policy, runs, [target], seed=seed)
                p = None if found is None else found.predictions[0]
                seen += [Seen(b, *relative(p, unit)) for b in due]
                for within in RULES:
                    if p is not None and within not in first and reach(p.truth) <= within:
                        right = p.truth.low <= judge <= p.truth.high
                        first[within] = Stopped(within, spend, bool(right))
            runs = runs.append(Runs.from_losses(rows, task.loss[rows]))
    stopped = [first.get(within, Stopped(within, None, None)) for within in RULES]
    shares = [None if v is None else v / unit for v in (noise_free, dense)]
    return Case(name, seed, *shares, whole_pool(task, target, unit), seen, stopped)


def truths(study: Study, task: Task, target: float) -> tuple[float | None, float | None]:
    """The loss at the target by the noise-free frontier's law, and that of a dense grid."""
    if study.truth is None:
        return None, None
    loss = study.truth.loss[task.rows]
    rows = frontier(task.pool, loss, LC.inputs)
    law = fit_law(LC, {"C": task.pool.C[rows]}, loss[rows])
    exact = study.truth.surface.compute_law
    dense = exact["E"] + exact["A"] * target ** exact["alpha"]
    return float(law.predict({"C": [target]})[0]), float(dense)


def whole_pool(task: Task, target: float, unit: float) -> tuple[float, float] | None:
    """The interval of the true loss from the whole pool."""
    everything = np.arange(len(task.pool))
    runs = Runs.from_losses(everything, task.loss)
    policy = make_policy("frontier", make_surrogate("surface"), n_init=0, target=target)
    with one_thread():
        found = outlook_after(task, policy, runs, [target], seed=0)
    if found is None:
        return None
    truth = found.predictions[0].truth
    return truth.low / unit, truth.high / unit


def relative(
    p: Prediction | None, unit: float
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    nothing = (float("nan"),) * 3
    if p is None:
        return nothing, nothing
    return _scaled(p.pool, unit), _scaled(p.truth, unit)


def _scaled(interval: Interval, unit: float) -> tuple[float, float, float]:
    return interval.centre / unit, interval.low / unit, interval.high / unit


def inside(value: float | None, ends: list[float]) -> bool:
    low, high = ends[1] * (1 - SLACK), ends[2] * (1 + SLACK)
    return value is not None and low <= value <= high


def share(flags: list[bool]) -> str:
    return f"{100 * np.mean(flags):.0f} %" if flags else "–"


def width(ends: list[list[float]]) -> str:
    return f"±{100 * np.mean([(e[2] - e[1]) / 2 / e[0] for e in ends]):.1f} %"


def rows_of(cases: list[dict], name: str) -> list[dict]:
    return [c for c in cases if c["study"] == name]


def coverage_table(cases: list[dict]) -> str:
    lines = [
        "| study | seeds | budget | pool holds | width | truth holds | width | dense limit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = list(dict.fromkeys(c["study"] for c in cases))
    groups = [(name, rows_of(cases, name)) for name in names]
    groups.append(("**all drawn**", [c for c in cases if c["study"].startswith("drawn")]))
    groups.append(("**all**", cases))
    for label, some in groups:
        for j, budget in enumerate(BUDGETS):
            seen = [c["seen"][j] for c in some]
            pool, truth = [s["pool"] for s in seen], [s["truth"] for s in seen]
            known = [(c, t) for c, t in zip(some, truth, strict=True) if c["noise_free"]]
            lines.append(
                f"| {label} | {len(some)} | {100 * budget:g} % "
                f"| {share([inside(1.0, p) for p in pool])} | {width(pool)} "
                f"| {share([inside(c['noise_free'], t) for c, t in known])} | {width(truth)} "
                f"| {share([inside(c['dense'], t) for c, t in known])} |"
            )
        lines.append(whole_row(label, some))
    return "\n".join(lines)


def whole_row(label: str, cases: list[dict]) -> str:
    """The interval of the true loss with every run of the pool made."""
    some = [c for c in cases if c["full_pool"]]
    ends = [[np.mean(c["full_pool"]), *c["full_pool"]] for c in some]
    known = [(c, e) for c, e in zip(some, ends, strict=True) if c["noise_free"]]
    return (
        f"| {label} | {len(some)} | all | – | – "
        f"| {share([inside(c['noise_free'], e) for c, e in known])} | {width(ends)} "
        f"| {share([inside(c['dense'], e) for c, e in known])} |"
    )


def rule_table(cases: list[dict]) -> str:
    lines = [
        "| study | rule | met in | spent then | saved | truth inside |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(c["study"] for c in cases):
        some = rows_of(cases, name)
        for k, within in enumerate(RULES):
            met = [c["stopped"][k] for c in some if c["stopped"][k]["spend"] is not None]
            if not met:
                continue
            spend = np.mean([s["spend"] for s in met])
            lines.append(
                f"| {name} | within {100 * within:g} % | {len(met)} of {len(some)} "
                f"| {100 * spend:.1f} % | {1 / spend:.0f}× | {share([s['right'] for s in met])} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--studies", default=",".join((*REAL, *DRAWN)))
    parser.add_argument("--out", type=Path, default=Path("outlook.json"))
    parser.add_argument("--render", type=Path, help="print the tables of a file made before")
    told = parser.parse_args()
    if told.render:
        cases = json.loads(told.render.read_text(encoding="utf-8"))
        tables = (coverage_table(cases), rule_table(cases))
        sys.stdout.write("\n\n".join(tables) + "\n")
        return
    work = [(name, seed) for seed in range(told.seeds) for name in told.studies.split(",")]
    found: list[Case] = []
    for done in Parallel(n_jobs=told.jobs, return_as="generator")(delayed(case)(*w) for w in work):
        found.append(done)
        told.out.write_text(json.dumps([asdict(c) for c in found]), encoding="utf-8")
        sys.stderr.write(f"{len(found)} of {len(work)}: {done.study}, seed {done.seed}\n")


if __name__ == "__main__":
    main()
