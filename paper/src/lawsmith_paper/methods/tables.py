"""The tables of 'methods': what must be reached, ranks, tests, then every study for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lawsmith_paper.methods.bars import bars_table
from lawsmith_paper.methods.contenders import CONTENDERS, OURS, Contender, Role, of_role
from lawsmith_paper.methods.results import METRICS, SHOWN, Metric, Outcome, Results
from lawsmith_paper.methods.standings import LEVEL, rankable, standings, verdicts
from lawsmith_paper.tables import Table, fixed, mean_sd, percent

TITLES: dict[Role, str] = {"rival": "the other methods", "ablation": "its ablations"}
NO_LAW = "A method without a law at a budget counts as the worst there."
BUDGET_HEADS = tuple(percent(budget) for budget in SHOWN)


def methods_tables(results: Results) -> list[Table]:
    """Every table of what is finished; none before the first trial of ours is."""
    if not results:
        return []
    tables = [bars_table(results)]
    for role in TITLES:
        tables.append(ranks_table(results, role))
        if any(can_be_certain(found[OURS]) for found in results.values()):
            tables.append(tests_table(results, role))
    tables += [subject_table(results, subject, i) for i, subject in enumerate(results)]
    return [*(table for table in tables if table.rows), seconds_table(results)]


def ranks_table(results: Results, role: Role) -> Table:
    """Average ranks of ours and the contenders of a role, at every budget."""
    contenders = of_role(role)
    rows = [
        (standing.label, contender.label, *(fixed(float(rank), 2) for rank in ranks))
        for standing in standings(results, contenders)
        for contender, ranks in zip(contenders, standing.ranks, strict=True)
    ]
    return Table(
        name=f"methods-ranks-{role}",
        title=f"Average ranks of the frontier policy and {TITLES[role]}, 1 is best",
        columns=("metric", "method", *BUDGET_HEADS),
        rows=tuple(rows),
        note=f"Ranks among these {len(contenders)} in each study and seed, averaged over seeds, "
        f"then studies; ties share their places. {NO_LAW}",
        n_heads=2,
    )


def can_be_certain(outcome: Outcome) -> bool:
    """Whether a paired test of so many seeds can pass the level, without any correction."""
    return 2.0 ** (1 - len(outcome.seeds)) <= LEVEL


def tests_table(results: Results, role: Role) -> Table:
    """On how many studies ours is better and worse for certain than each contender of a role."""
    rows = [
        (metric.label, contender.label, *_verdicts(results, metric, contender))
        for metric in METRICS
        for contender in of_role(role)
        if contender.name != OURS and rankable(results, metric, [OURS, contender.name])
    ]
    return Table(
        name=f"methods-tests-{role}",
        title=f"Studies where the frontier policy is certainly better : worse than {TITLES[role]}",
        columns=("metric", "method", *BUDGET_HEADS),
        rows=tuple(rows),
        note="Wilcoxon's signed-rank test, paired over seeds, in each study; Holm's correction "
        "over the tables of a cell, and over its drawn families; two-sided, at the "
        f"{100 * LEVEL:g} % level. n seeds give no p below 2^(1 − n), so that with fewer than ten "
        f"none may be certain. {NO_LAW}",
        n_heads=2,
    )


def _verdicts(results: Results, metric: Metric, contender: Contender) -> Iterator[str]:
    for budget in SHOWN:
        found = verdicts(results, metric, contender.name, budget)
        yield f"{len(found.better)} : {len(found.worse)} of {found.n_subjects}"


def subject_table(results: Results, subject: str, number: int) -> Table:
    """Every metric of every contender on one study."""
    rows = []
    for metric in METRICS:
        for column in metric.columns:
            for contender in CONTENDERS:
                outcome = results[subject].get(contender.name)
                if outcome is not None and column in outcome.columns:
                    label = _label(metric, column)
                    rows.append((label, contender.label, *_cells(outcome, metric, column)))
    rows += _pool_rows(results[subject][OURS])
    return Table(
        name=f"methods-study-{number + 1}",
        title=f"{subject}: mean ± SD over seeds",
        columns=("metric", "method", *BUDGET_HEADS),
        rows=tuple(rows),
        note="Columns are budgets, shares of the pool's compute; values at that moment.",
        n_heads=2,
        detail=True,
    )


def _label(metric: Metric, column: str) -> str:
    """The metric, or for the regrets of parameters which one."""
    if len(metric.columns) == 1:
        return metric.label + metric.unit
    return f"regret of {column.removeprefix('regret_').replace('log_', 'ln ')}"


def _cells(outcome: Outcome, metric: Metric, column: str) -> Iterator[str]:
    digits = metric.digits if len(metric.columns) == 1 else 3
    for budget in SHOWN:
        yield mean_sd(metric.factor * outcome.at(column, budget), digits)


def _pool_rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """The truth's distance from the law of the whole pool, below those of the methods."""
    if "true_error_pool" not in outcome.columns:
        return []
    (metric,) = [m for m in METRICS if m.name == "true_error"]
    cells = _cells(outcome, metric, "true_error_pool")
    return [(metric.label, "the whole pool's law", *cells)]


def seconds_table(results: Results) -> Table:
    """What a trial of each contender takes, and all of them together."""
    rows = []
    for contender in CONTENDERS:
        outcomes = [found[contender.name] for found in results.values() if contender.name in found]
        if contender.trial or not outcomes:
            continue
        seconds = np.concatenate([outcome.seconds for outcome in outcomes])
        step = 1e3 * seconds.sum() / sum(int(outcome.n_runs.sum()) for outcome in outcomes)
        mean, total = float(seconds.mean()), float(seconds.sum()) / 60.0
        rows.append((contender.label, str(len(seconds)), *_fixed(mean, step, total)))
    return Table(
        name="methods-seconds",
        title="What the methods take",
        columns=("method", "trials", "seconds a trial", "ms a run", "minutes in all"),
        rows=tuple(rows),
        note="Of one process, the laws after every run and the answers at the budgets included. A "
        "trial is all that one seed takes, for a method that knows its budget one search for each. "
        "It ends at a tenth of the pool's compute, so that a method of cheap runs makes more.",
    )


def _fixed(*values: float) -> Sequence[str]:
    return [fixed(value, 1) for value in values]
