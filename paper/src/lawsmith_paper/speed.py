"""The suite 'speed': the replay loop with our GP and with BoTorch, the fitter and scipy's grid."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith import datasets
from lawsmith.formats import number
from lawsmith.grid import FloatArray
from lawsmith.metrics import value_at
from lawsmith_paper.jobs import Job, Json, data_digest
from lawsmith_paper.plan import MAIN, Options, Suite, line, setting, source
from lawsmith_paper.race import TARGET
from lawsmith_paper.race.fitter import classical_starts, points
from lawsmith_paper.replays import study_named
from lawsmith_paper.results import finished_lines, is_synthetic
from lawsmith_paper.store import Store
from lawsmith_paper.studies import entry
from lawsmith_paper.tables import Table, mean_sd

CONTENDERS = {"gp": "GP of lawsmith", "botorch": "BoTorch, refitted each step"}
ACQUISITIONS = 200
AT = (50, 100, 200)  # runs at which a step is timed
NEAR = 5  # steps on either side that are averaged: one fit may take thrice as long as the next
BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1)
REPEATS, STARTS = 20, 150
NONE = "–"


def speed(options: Options) -> Suite:
    """The race of the loop, a pair of jobs a seed, and that of the fitter."""
    study = source("oellm-english")
    n_init = MAIN.n_first
    length = replace(options, iterations=options.iterations or n_init + ACQUISITIONS)
    lines = [line(study, "LC", setting(surrogate=name), length) for name in CONTENDERS]
    # Seed by seed, so that both meet the same weather on a machine with other work.
    loops = [
        Job("race", {**job.settings, "event": "loop"}, job.data, job.weight)
        for pair in zip(*lines, strict=True)
        for job in pair
    ]
    return Suite(
        name="speed",
        title=f"The race: the replay loop against BoTorch on {study}, the fitter against scipy",
        about="Window, LCB, the law of observed and fantasized losses after every run: the same "
        "loop, the same initial runs, one thread, one job at a time, in seconds of the processor. "
        "BoTorch's SingleTaskGP is fitted from scratch after every run, as the paper has it; ours "
        "goes on from its last fit, and beyond 50 runs refits now and then. And Chinchilla's "
        "law from cold starts, against L-BFGS from the classical grid of starts on the same "
        "objective with the same gradient.",
        more=(_fitter_job(), *loops),
    )


def _fitter_job() -> Job:
    """Chinchilla on its 240 points where its table is at hand, else the demo's synthetic study."""
    here = datasets.present(entry("chinchilla"))
    study, drop = ("chinchilla", 5) if here else ("synthetic-demo", 0)
    settings = {
        "event": "fitter",
        "study": study,
        "law": "chinchilla",
        "drop_largest_loss": drop,
        "repeats": REPEATS,
        "starts": STARTS,
        "seed": 0,
    }
    return Job("race", settings, data_digest(study_named(study)), weight=4.0)


@dataclass(frozen=True, eq=False)
class Loop:
    """A raced replay: n (T,) runs, seconds of each, of its surrogate, spend, |%| off at TARGET."""

    n: FloatArray
    seconds: FloatArray
    surrogate: FloatArray
    spent: FloatArray
    error: FloatArray

    @classmethod
    def of(cls, lines: Sequence[Json]) -> Loop:
        def column(name: str) -> FloatArray:
            return np.array([row[name] for row in lines], dtype=np.float64)  # null is NaN

        return cls(
            n=column("n"),
            seconds=column("seconds"),
            surrogate=column("surrogate_seconds"),
            spent=column("cost_fraction"),
            error=np.abs(column("difference")),
        )

    def step_ms(self, n: int) -> float:
        """Milliseconds of a step about ``n`` runs; NaN where the replay ended before."""
        near = np.abs(self.n - n) <= NEAR
        return float(1e3 * self.seconds[near].mean()) if self.n[-1] >= n else float("nan")

    def error_at(self, budget: float) -> float:
        """|%| off at TARGET of the law that stood at a budget; NaN where it was not reached."""
        reached = self.spent[-1] >= budget * (1 - 1e-9)
        return float(value_at(self.spent, self.error, budget)[0]) if reached else float("nan")


Loops = Mapping[str, Mapping[int, Loop]]


def speed_tables(store: Store, suite: Suite) -> list[Table]:
    """Of what is finished: seconds, law error, and the fitters."""
    loops: dict[str, dict[int, Loop]] = defaultdict(dict)
    tables = []
    for job in suite.jobs:
        lines = finished_lines(store, job)
        known = job.settings
        if lines and known["event"] == "loop":
            loops[known["surrogate"]][known["seed"]] = Loop.of(lines)
        elif lines:
            tables.append(fitter_table(known["study"], known["drop_largest_loss"], lines))
    return [*([loop_table(loops), law_table(loops)] if loops else []), *tables]


def loop_table(loops: Loops) -> Table:
    """Total seconds and their ratio, and the time of a step against the number of runs."""
    rows = []
    for name, title in CONTENDERS.items():
        runs = loops.get(name, {})
        pairs = [(runs[seed], loop) for seed, loop in loops.get("gp", {}).items() if seed in runs]
        loop_ratios = [run.seconds.sum() / ours.seconds.sum() for run, ours in pairs]
        own_ratios = [run.surrogate.sum() / ours.surrogate.sum() for run, ours in pairs]
        every = list(runs.values())
        rows.append(
            (
                title,
                mean_sd(np.array([run.seconds.sum() for run in every]), 1),
                _mean(loop_ratios, "×"),
                mean_sd(np.array([run.surrogate.sum() for run in every]), 1),
                _mean(own_ratios, "×"),
                *(_mean([run.step_ms(n) for run in every]) for n in AT),
            )
        )
    n_runs = max(int(run.n[-1]) for runs in loops.values() for run in runs.values())
    absent = [title for name, title in CONTENDERS.items() if not loops.get(name)]
    missing = f" {' and '.join(absent)}: did not run." if absent else ""
    return Table(
        name="speed-loop",
        title=f"Processor seconds of a replay of {n_runs} runs, Window, LCB",
        columns=(
            "surrogate",
            "whole loop, s",
            "loop × ours",
            "surrogate alone, s",
            "surrogate × ours",
            *(f"a step at n = {n}, ms" for n in AT),
        ),
        rows=tuple(rows),
        note="Mean ± SD over seeds; ratios are means of the seeds' ratios. A "
        f"step is the mean of those from n − {NEAR} to n + {NEAR} runs: choosing a run, and both "
        f"laws after it.{missing}",
    )


def law_table(loops: Loops) -> Table:
    """What the time bought: how far off the law was at round budgets and in the end."""
    rows = []
    for name, title in CONTENDERS.items():
        runs = list(loops.get(name, {}).values())
        if not runs:
            continue
        cells = [mean_sd(np.array([run.error_at(b) for run in runs]), 2) for b in BUDGETS]
        last = mean_sd(np.array([run.error[-1] for run in runs]), 2)
        spent = mean_sd(np.array([100 * run.spent[-1] for run in runs]), 2)
        rows.append((title, *cells, last, f"{spent} %"))
    columns = ("surrogate", *(f"{100 * b:g} %" for b in BUDGETS), "at the end", "spent by then")
    return Table(
        name="speed-law",
        title=f"|% difference| in the loss predicted at {TARGET} FLOPs, observed + fantasized",
        columns=columns,
        rows=tuple(rows),
        note="At shares of the pool's compute, of the law that stood then; mean ± SD over seeds.",
    )


def fitter_table(study: str, drop: int, lines: Sequence[Json]) -> Table:
    """A cold fit against the classical grid, whose total is scaled up from a sample."""
    ours = [row for row in lines if row["contender"] == "lawsmith"]
    theirs = [row for row in lines if row["contender"] == "scipy"]
    n_all, n_points = len(classical_starts()), len(points(study, drop)[1])
    fast = statistics.median(row["seconds"] for row in ours)
    slow = n_all * statistics.fmean(row["seconds"] for row in theirs)
    best = [min(row["objective"] for row in rows) for rows in (ours, theirs)]
    drawn = " (synthetic)" if is_synthetic(study) else ""
    return Table(
        name="speed-fitter",
        title=f"Chinchilla's law of the {n_points} points of {study}{drawn}, from cold starts",
        columns=("fitter", "processor seconds", "against ours", "least objective"),
        rows=(
            ("lawsmith", number(fast, 3), "1×", f"{best[0]:.10e}"),
            (
                f"scipy's L-BFGS from {n_all} starts",
                number(slow, 3),
                f"{number(slow / fast, 3)}×",
                f"{best[1]:.10e}",
            ),
        ),
        note=f"Ours: median of {len(ours)} fits. scipy's: {len(theirs)} of its {n_all} starts, "
        "drawn at random, were run, and their time scaled up to all.",
    )


def _mean(values: Sequence[float], unit: str = "") -> str:
    known = [value for value in values if np.isfinite(value)]
    return f"{number(statistics.fmean(known), 3)}{unit}" if known else NONE
