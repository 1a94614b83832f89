"""The suite 'scalebench': our policies on its tasks, R² in the target region beside its figures."""

from __future__ import annotations

from collections.abc import Mapping

from lawsmith import datasets
from lawsmith.errors import LawsmithError
from lawsmith_paper.jobs import Job, Json, data_digest
from lawsmith_paper.plan import Options, Suite
from lawsmith_paper.replays import study_named
from lawsmith_paper.results import finished_lines
from lawsmith_paper.scalebench.run import SPACES, jobs, summary_table
from lawsmith_paper.scalebench.tasks import TASKS, get_task
from lawsmith_paper.store import Store
from lawsmith_paper.studies import entry
from lawsmith_paper.tables import Table

# Rough seconds of a run with a surrogate; one without takes about a third.
_SECONDS: Mapping[str, float] = {"farseer": 2.4, "data_con": 9.0}
# The frontier policy's; a step of it takes tens of milliseconds.
_FRONTIER_SECONDS: Mapping[str, float] = {"lr&bsz": 25.0, "farseer": 3.0, "data_con": 5.0}
SPACE_TITLES = {"window": "Window", "full": "Full", "frontier": "Frontier"}
CHOOSER_TITLES = {
    ("none", "lcb"): "random",
    ("gp", "lcb"): "GP, LCB",
    ("gp", "ei"): "GP, EI",
    ("surface", None): "surface",
}
NOTE = (
    "Not like for like: the published figures are means over the benchmark's own law families (ten "
    "for most tasks) and repeats, while here a task has one law. And the law forms and objectives "
    "here were compared on the target region while they were being chosen, so ours are not "
    "figures of a region never seen. A run without a law counts as −1, as in the benchmark."
)
ALIKE = 1e-4
SAME = (
    f" A figure without ± is the same for every seed, within {ALIKE:.4f}: a seed decides which of "
    "the cheapest candidates are run first and in what order; on most of these pools all seeds "
    "run the same ones, and the GP, which draws nothing, then goes the same way (at −1.00 all may "
    "only be clipped to the same)."
)


def scalebench(options: Options) -> Suite:
    """Every task whose table is at hand, to the last of the benchmark's budgets."""
    here = {name for name, task in TASKS.items() if datasets.present(entry(task.study))}
    absent = [TASKS[name].study for name in TASKS if name not in here]
    if not here:
        hint = f"lawsmith_paper.studies.load downloads them: {', '.join(absent)}"
        raise LawsmithError("scalebench", got="none of its tables", want="them", hint=hint)
    left_out = f" Left out for want of a table: {', '.join(absent)}." if absent else ""
    return Suite(
        name="scalebench",
        title="ScaleBench: R² in the target region at a share of the pool's cost",
        about="The benchmark's tasks (arXiv 2604.22753) with its pools, costs, budgets and score, "
        "R² clipped to [−1, 1]; for each task the law form a user would choose from the paper it "
        "comes from. Domain mixtures are not among them: a run has five losses. The frontier "
        "policy searches for the last of a task's budgets, and wants the best loss at a hundred "
        f"times the pool's largest cost. It does not search {', '.join(_negative())}, where "
        f"losses may be negative: the surface is of log loss.{left_out}",
        more=tuple(_job(s) for s in jobs(range(options.seeds)) if s["task"] in here),
    )


def _negative() -> list[str]:
    """Tasks whose losses may be negative."""
    return [name for name, task in TASKS.items() if task.offset]


def _job(settings: Json) -> Job:
    pace = _FRONTIER_SECONDS if settings["space"] == "frontier" else _SECONDS
    weight = pace.get(settings["task"], 1.0) * (0.3 if settings["surrogate"] == "none" else 1.0)
    digest = data_digest(study_named(get_task(settings["task"]).study))
    return Job("scalebench", settings, digest, weight)


def scalebench_tables(store: Store, suite: Suite) -> list[Table]:
    """A table for each space, a row for each task and budget, of what is finished."""
    tables = []
    for space in SPACES:
        found: dict[tuple[str, float], dict[str, Json]] = {}
        for (surrogate, acquisition), head in CHOOSER_TITLES.items():
            wanted = {"space": space, "surrogate": surrogate, "acquisition": acquisition}
            lines = _lines(store, suite, wanted)
            for row in summary_table(lines):
                label = head if surrogate == "none" else f"{head}, {row['fit']}"
                found.setdefault((row["task"], row["budget"]), {})[label] = row
        if found:
            tables.append(_table(space, found))
    return tables


def _lines(store: Store, suite: Suite, wanted: Mapping[str, str | None]) -> list[Json]:
    chosen = [job for job in suite.jobs if wanted.items() <= dict(job.settings).items()]
    return [line for job in chosen for line in finished_lines(store, job) or []]


def _table(space: str, found: Mapping[tuple[str, float], Mapping[str, Json]]) -> Table:
    labels = list(dict.fromkeys(label for cells in found.values() for label in cells))
    rows = []
    for (name, budget), cells in found.items():
        task = get_task(name)
        theirs = next(figure for figure in task.mspe if figure.budget == budget)
        ours = [cell(cells[label]) if label in cells else "–" for label in labels]
        published = (f"{theirs.r2:.2f} ± {theirs.sd:.2f}", "{:.2f} ± {:.2f}".format(*task.all_data))
        rows.append((name, f"{100 * budget:g} %", *ours, *published))
    constant = any(is_constant(row) for cells in found.values() for row in cells.values())
    return Table(
        name=f"scalebench-{space}",
        title=f"R² in the target region, {SPACE_TITLES[space]}, beside ScaleBench's own method",
        columns=("task", "budget", *labels, "published, MSPE", "published, whole pool"),
        rows=tuple(rows),
        note=NOTE + (SAME if constant else ""),
        n_heads=2,
    )


def is_constant(row: Json) -> bool:
    """Whether several seeds gave the same figure; the order of runs moves its last digits."""
    return row["r2_sd"] is not None and row["r2_sd"] < ALIKE


def cell(row: Json) -> str:
    """'0.93 ± 0.02', '0.93' where seeds agree, and how many seeds had no law."""
    n, without = row["n_seeds"], row["n_without_law"]
    if without == n:
        return "no law"
    text = f"{row['r2_mean']:.2f}"
    if row["r2_sd"] is not None and not is_constant(row):
        text += f" ± {row['r2_sd']:.2f}"
    return f"{text} ({without} of {n} without a law)" if without else text
