"""The results that take a while: the laws of any study; of a live one its answer, what is next.

The answer comes first and by itself, since people wait for it; the rest follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, analyse
from lawsmith.answer import LEAST_RUNS, Target, answer
from lawsmith.charts.answer import answer_with_runs
from lawsmith.charts.narrowing import Moment
from lawsmith.charts.trunks import Curved
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import formatted, number, percent
from lawsmith.grid import Grid
from lawsmith.journal import Ledger
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.catalogue import CHINCHILLA
from lawsmith.report.source import Findings, Reason
from lawsmith.runs import Runs
from lawsmith.study.answer import answer_of, targets_of, tasks_of, too_many
from lawsmith.study.asking import propose
from lawsmith.study.live import LiveStudy, runs_made
from lawsmith.study.trunks import along_of
from lawsmith.surface import PUBLIC, Prior

N_NEXT = 4
SHARES = ("lowers the envelope by", "worth for the answer")  # of the loss, for a surface of logs
GROWTH = 1.35  # between the counts of runs at which the way to the answer is looked at
NONE_YET = "no run has finished yet"
Memory = dict[bytes, Moment | None]  # moments on the way, by the runs that they rest on


def find_out(
    study: LiveStudy,
    ledger: Ledger,
    memory: Memory,
    *,
    n_next: int = N_NEXT,
    alive: Callable[[], bool] = lambda: True,
) -> Findings:
    """All results of a ledger's runs; those of `find_way` as long as ``alive()``."""
    found = find_answer(study, ledger, Findings())
    found = find_next(study, ledger, found, n_next=n_next)
    found = find_laws(study, ledger, found)
    return find_way(study, ledger, found, memory, alive=alive)


def find_answer(study: LiveStudy, ledger: Ledger, before: Findings) -> Findings:
    """The answer of a ledger's runs; the rest as it was ``before``."""
    known = answer_of(study, ledger)
    if known.answer is None:
        return replace(before, answered=None, why_no_answer=known.why_not, curved=None)
    answered = answer_with_runs(known.answer, runs_made(study, ledger))
    curved = None
    if known.answer.curves is not None:
        along, runs = along_of(study, ledger), study.history(ledger).runs
        curved = Curved(study.spec.name, along, study.grid, runs, known.answer)
    return replace(before, answered=answered, why_no_answer="", curved=curved)


def find_next(
    study: LiveStudy, ledger: Ledger, found: Findings, *, n_next: int = N_NEXT
) -> Findings:
    """The runs that would be asked for next."""
    why_not = too_many(study, ledger)
    asking = n_next and ledger.ended is None and not why_not
    following = reasons(study, ledger, n_next) if asking else ()
    return replace(found, reasons=following, why_not_next=why_not)


def find_laws(study: LiveStudy, ledger: Ledger, found: Findings) -> Findings:
    """The law of the runs made, that of N and D, each with why there is none, and accuracies."""
    targets, level = targets_of(study), study.spec.law.level
    options = FitOptions(study.law, targets=tuple(map(Target, targets[:1])), level=level)
    known = None if found.answered is None else found.answered.answer
    found = with_laws(found, runs_made(study, ledger), options)
    return replace(found, tasks=tasks_of(study, ledger, known))


def find_way(
    study: LiveStudy,
    ledger: Ledger,
    found: Findings,
    memory: Memory,
    *,
    alive: Callable[[], bool] = lambda: True,
) -> Findings:
    """What was known after fewer of the runs; no more is worked out once ``alive()`` is False."""
    targets, made = targets_of(study), runs_made(study, ledger)
    if not targets:
        return replace(found, moments=())
    dense = study.pricing.total(study.grid, np.arange(len(study.grid)))

    def spend(part: Runs) -> float:
        return study.pricing.total(made.grid, part.index) / dense

    level, target, prior = study.spec.law.level, Target(targets[0]), study.prior
    way = moments(made, target, spend, memory, level=level, prior=prior, alive=alive)
    return replace(found, moments=way)


def moments(
    made: Study,
    target: Target,
    spend: Callable[[Runs], float],
    memory: Memory,
    *,
    level: float = 0.95,
    prior: Prior = PUBLIC,
    alive: Callable[[], bool] = lambda: True,
) -> tuple[Moment, ...]:
    """What was known at ``target`` after more and more of the runs, each count looked at once.

    spend   what runs cost, as a share of the dense grid
    memory  what is known from before; nothing is added once ``alive()`` is False
    """
    found, grid, runs = [], made.grid, made.runs
    for n in ladder(LEAST_RUNS, len(runs)):
        part = Runs(runs.index[:n], runs.loss[:n], runs.state[:n])
        key = part.index.tobytes() + part.loss.tobytes() + grid.C[part.index].tobytes()
        if key not in memory and alive():
            memory[key] = _moment(grid, part, target, spend(part), level, prior)
        found.append(memory.get(key))
    return tuple(known for known in found if known is not None)


def _moment(
    grid: Grid, runs: Runs, target: Target, spend: float, level: float, prior: Prior
) -> Moment | None:
    """What was known after ``runs``; None with too few of them."""
    try:
        found = answer(grid, runs, [target], level=level, prior=prior)
    except LawsmithError:
        return None
    return Moment(spend, len(runs), found.forecasts[0])


def ladder(first: int, last: int) -> list[int]:
    """Counts of runs from ``first`` to ``last``, each GROWTH times the one before.

    They do not depend on ``last``, so that what was computed on the way is of use again.
    """
    counts, n = [], float(max(first, 1))
    while round(n) < last:
        counts.append(round(n))
        n = max(n * GROWTH, n + 1)
    return [*counts, last] if last >= first else []


def with_laws(found: Findings, study: Study, options: FitOptions) -> Findings:
    """With the law of a study, and that of N and D: its own, else Chinchilla's on the same runs."""
    own, why_not = _analysed(study, options)
    sizes = own if can_allocate(options.law) else None
    if not can_allocate(options.law) and {"N", "D"} <= set(study.grid.names):
        other = replace(options, law=CHINCHILLA, objective=None, fixed={})
        sizes, _ = _analysed(study, other)
    return replace(found, analysis=own, why_no_law=why_not, sizes=sizes)


def _analysed(study: Study, options: FitOptions) -> tuple[Analysis | None, str]:
    """The analysis, or None and why not."""
    try:
        return analyse(study, options), ""
    except LawsmithError as error:
        return None, str(error)


def reasons(study: LiveStudy, ledger: Ledger, n: int) -> tuple[Reason, ...]:
    """Up to ``n`` runs that would be asked for next, each with the values it was chosen by."""
    return tuple(
        Reason(
            event["config"],
            event["cost"],
            event["why"],
            as_text(event["values"], logs=study.method.surrogate == "surface"),
        )
        for event in propose(study, ledger, n, by=study.launched_by)
    )


def as_text(values: Mapping[str, float | None], *, logs: bool) -> dict[str, str]:
    """Values by name as people read them; ``logs`` says that losses are modelled by their logs."""
    shown = {
        name: percent(value, 2) if logs and name in SHARES else number(value, 3)
        for name, value in values.items()
        if name not in ("expected loss", "SD") and value is not None
    }
    loss, scatter = values.get("expected loss"), values.get("SD")
    if loss is not None and scatter is not None:
        mean, sd = formatted(loss, ".4g"), formatted(scatter, ".2g")
        shown["expected loss"] = f"{mean} ± {sd}"
    return shown
