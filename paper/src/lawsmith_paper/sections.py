"""Suites as sections of a page: tables, figures, and how both differ from the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lawsmith.laws.catalogue import get_law
from lawsmith.replay import Task, prepare
from lawsmith_paper.charts.data.subsets import SubsetsData
from lawsmith_paper.charts.draw.subsets import difference_text
from lawsmith_paper.claims import claim_remarks, claims_table
from lawsmith_paper.counts import count_remarks, count_tables
from lawsmith_paper.curves import Curves
from lawsmith_paper.figures import Picture, recovery_picture, subsets_picture
from lawsmith_paper.methods.figures import methods_pictures
from lawsmith_paper.methods.results import read_results
from lawsmith_paper.methods.tables import methods_tables
from lawsmith_paper.plan import Figure, Suite, source
from lawsmith_paper.published import PITCH_POINTS
from lawsmith_paper.remarks import (
    coefficient_remarks,
    extrapolation_remarks,
    figure_remark,
    speedup_remarks,
)
from lawsmith_paper.replays import study_named
from lawsmith_paper.results import lines_of
from lawsmith_paper.scalebench.suite import scalebench_tables
from lawsmith_paper.speed import speed_tables
from lawsmith_paper.spends import TARGET, speedup_table, spend_table
from lawsmith_paper.store import Store
from lawsmith_paper.suites import unidentified
from lawsmith_paper.tables import (
    Lines,
    Table,
    budget_table,
    coefficients_table,
    extrapolation_table,
    readings_table,
)
from lawsmith_paper.titles import task_name


@dataclass(frozen=True)
class Section:
    """What a reader sees of a suite.

    about          what was run, with which settings
    remarks        a sentence each: how the numbers differ from the paper's
    figures_first  whether its figures sum up the tables, and stand before them
    """

    name: str
    title: str
    about: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Picture, ...] = ()
    remarks: tuple[str, ...] = ()
    figures_first: bool = False


Builder = Callable[[Suite, Store], Section]


def sections(suites: Sequence[Suite], store: Store) -> list[Section]:
    """A section for each suite, of what is finished in the store."""
    return [BUILDERS.get(suite.name, replays)(suite, store) for suite in suites]


def replays(suite: Suite, store: Store) -> Section:
    """Any suite of replays: its figures, and one table of them all at round budgets."""
    found = _found(suite, store)
    return Section(
        name=suite.name,
        title=suite.title,
        about=suite.about + _unfinished(suite, store),
        tables=_budget_tables(suite, found),
        figures=tuple(recovery_picture(f, lines, _caption(f, lines)) for f, lines in found),
    )


def pitch(suite: Suite, store: Store) -> Section:
    """The paper's first figure; nothing is replayed for it."""
    task = prepare(study_named(source("oellm-english")), get_law("LC"))

    def caption(data: SubsetsData) -> str:
        return (
            f"{data.bad.n_used} of the frontier's points give a law that is off by "
            f"{difference_text(data.bad.difference)} at {data.target} FLOPs, {data.good.n_used} "
            f"others one that is off by {difference_text(data.good.difference)}. Of the "
            f"{data.n_ranked:,} subsets whose fit converges ({data.n_fitted:,} were fitted), the "
            "first is at the 90th percentile of the unsigned difference, the second is the least."
        )

    n = len(task.reference.envelope)
    remark = (
        f"The frontier of the pool of {task_name(task)} has {n} points; the paper's figure shows "
        f"{PITCH_POINTS} and does not say of which study."
    )
    figure = subsets_picture("pitch", task, caption)
    return Section(suite.name, suite.title, suite.about, figures=(figure,), remarks=(remark,))


def main(suite: Suite, store: Store) -> Section:
    """The main result, with what each method spends."""
    section, found = replays(suite, store), _found(suite, store)
    if not found:
        return section
    lines = found[0][1]
    tables = (speedup_table(lines), spend_table(lines), *section.tables)
    remarks = tuple(speedup_remarks(lines))
    return replace(section, tables=tables, remarks=remarks)


def extrapolation(suite: Suite, store: Store) -> Section:
    """The paper's headline table alone, of the main result's replays."""
    return _of_window(suite, store, extrapolation_table, extrapolation_remarks)


def coefficients(suite: Suite, store: Store) -> Section:
    """The paper's table of coefficients alone, of the main result's replays."""
    return _of_window(suite, store, coefficients_table, coefficient_remarks)


def datasets(suite: Suite, store: Store) -> Section:
    """The dataset tables counted here, and the replays on each study."""
    section = replays(suite, store)
    tables = (*count_tables(), *section.tables)
    return replace(section, tables=tables, remarks=tuple(count_remarks()))


def methods(suite: Suite, store: Store) -> Section:
    """The contest of methods: bars, ranks and tests, then every study for itself."""
    results = read_results(store, suite)
    return Section(
        suite.name,
        suite.title,
        suite.about + _unfinished(suite, store),
        tables=tuple(methods_tables(results)),
        figures=tuple(methods_pictures(results)),
        figures_first=True,
    )


# A suite without an entry is shown as replays are.
def with_readings(suite: Suite, store: Store) -> Section:
    """Methods under the paper's setting: the readings of its headline table for each."""
    section, found = replays(suite, store), _found(suite, store)
    if not found:
        return section
    figure, lines = found[0]
    title = f"% difference in predicted loss at {TARGET}: {task_name(_task(lines))}"
    table = readings_table(f"{suite.name}-readings", title, lines, TARGET, figure.fits[0])
    return replace(section, tables=(table, *section.tables))


def claims(suite: Suite, store: Store) -> Section:
    """Every claim of the paper, of what is finished of all suites' figures."""
    figures = {figure.name: lines for figure, lines in _found(suite, store)}
    table = claims_table(figures)
    if not table.rows:
        return Section(suite.name, suite.title, suite.about)
    remarks = tuple(claim_remarks(figures))
    return Section(suite.name, suite.title, suite.about, (table,), remarks=remarks)


BUILDERS: dict[str, Builder] = {
    "pitch": pitch,
    "main": main,
    "extrapolation": extrapolation,
    "coefficients": coefficients,
    "datasets": datasets,
    "hyperpriors": with_readings,
    "botorch": with_readings,
    "weights": with_readings,
    "claims": claims,
    "speed": lambda suite, store: _of_tables(suite, store, speed_tables),
    "scalebench": lambda suite, store: _of_tables(suite, store, scalebench_tables),
    "methods": methods,
}


Found = list[tuple[Figure, Lines]]


def _found(suite: Suite, store: Store) -> Found:
    """The figures that have something to show, with the lines of their finished replays."""
    every = [(figure, lines_of(store, figure)) for figure in suite.figures]
    return [(figure, lines) for figure, lines in every if _has_law(figure, lines)]


def _has_law(figure: Figure, lines: Lines) -> bool:
    runs = [run for group in lines.values() for run in group]
    return any(run.has_law(fit).any() for run in runs for fit in figure.fits)


def _unfinished(suite: Suite, store: Store) -> str:
    """' 3 of 20 replays are finished.', or nothing."""
    jobs = suite.jobs
    n = sum(store.finished(job) for job in jobs)
    return "" if n == len(jobs) else f" {n} of {len(jobs)} replays are finished."


def _caption(figure: Figure, lines: Lines) -> str:
    if figure.value == "incumbent":
        return "The same replays as the paper draws them: each regret is the least so far."
    problem = unidentified(_task(lines))
    marked = f"Not identified: {problem}. " if problem else ""
    return marked + figure_remark(figure.name, lines, figure.fits)


def _budget_tables(suite: Suite, found: Found) -> tuple[Table, ...]:
    """One table of all figures; a figure of the same replays adds nothing to it."""
    shown = [(figure, lines) for figure, lines in found if figure.value == "current"]
    if not shown:
        return ()
    studies = [task_name(_task(lines)) for _, lines in shown]
    by_study = len(set(studies)) == len(shown)
    names = studies if by_study else [figure.title for figure, _ in shown]
    table = budget_table(
        f"{suite.name}-budgets",
        f"L({', '.join(_task(shown[0][1]).law.inputs)}) at round budgets: "
        + ", ".join(dict.fromkeys(studies)),
        dict(zip(names, (lines for _, lines in shown), strict=True)),
        shown[0][0].fits,
        grouped_by="study" if by_study else "compared",
    )
    return (table,)


def _of_tables(
    suite: Suite, store: Store, tables: Callable[[Store, Suite], list[Table]]
) -> Section:
    """A suite of jobs that are not replays: tables alone."""
    about = suite.about + _unfinished(suite, store)
    return Section(suite.name, suite.title, about, tuple(tables(store, suite)))


def _of_window(
    suite: Suite,
    store: Store,
    table: Callable[[Sequence[Curves]], Table],
    remarks: Callable[[Sequence[Curves]], list[str]],
) -> Section:
    """A table of the main figure's Window replays."""
    section = Section(suite.name, suite.title, suite.about + _unfinished(suite, store))
    found = [lines for _, lines in _found(suite, store) if "Window" in lines]
    if not found:
        return section
    runs = found[0]["Window"]
    return replace(section, tables=(table(runs),), remarks=tuple(remarks(runs)))


def _task(lines: Lines) -> Task:
    """The task that all the lines have in common."""
    return next(iter(lines.values()))[0].task
