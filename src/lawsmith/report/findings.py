"""Results that take a while: the laws of any study, the answer and next runs of a live study.

The answer has a function of its own, because people wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, analyse
from lawsmith.answer import LEAST_RUNS, Target, answer
from lawsmith.charts.answer import answer_with_runs
from lawsmith.charts.narrowing import Moment
from lawsmith.charts.trunks import AnswerWithCurves
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import formatted, number, percent
from lawsmith.journal import Ledger
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.catalogue import CHINCHILLA
from lawsmith.report.source import Findings, Proposal
from lawsmith.runs import Runs
from lawsmith.study.answer import answer_of, targets_of, tasks_of, too_many
from lawsmith.study.asking import propose
from lawsmith.study.live import LiveStudy, runs_made
from lawsmith.study.trunks import along_of
from lawsmith.surface import PUBLIC, Prior

N_NEXT = 4
SHARES = ("lowers the envelope by", "worth for the answer")  # of the loss, if its log is modelled
GROWTH = 1.35  # ratio of the counts of runs at which a forecast is made
Memory = dict[bytes, Moment | None]  # moments that were computed, by their runs


def find_all(
    study: LiveStudy,
    ledger: Ledger,
    memory: Memory,
    *,
    n_next: int = N_NEXT,
    keep_going: Callable[[], bool] = lambda: True,
) -> Findings:
    """All results of the runs of a ledger, one after the other."""
    findings = find_answer(study, ledger, Findings())
    findings = find_next(study, ledger, findings, n_next=n_next)
    findings = find_laws(study, ledger, findings)
    return find_moments(study, ledger, findings, memory, keep_going=keep_going)


def find_answer(study: LiveStudy, ledger: Ledger, findings: Findings) -> Findings:
    """With the answer of the runs of a ledger."""
    known = answer_of(study, ledger)
    if known.answer is None:
        return replace(findings, answered=None, why_no_answer=known.why_not, curved=None)
    answered = answer_with_runs(known.answer, runs_made(study, ledger))
    curved = None
    if known.answer.curves is not None:
        along, runs = along_of(study, ledger), study.history(ledger).runs
        curved = AnswerWithCurves(study.spec.name, along, study.grid, runs, known.answer)
    return replace(findings, answered=answered, why_no_answer="", curved=curved)


def find_next(
    study: LiveStudy, ledger: Ledger, findings: Findings, *, n_next: int = N_NEXT
) -> Findings:
    """With up to ``n_next`` runs that would be asked for next."""
    why_not = too_many(study, ledger)
    asking = n_next and ledger.ended is None and not why_not
    events = propose(study, ledger, n_next, by=study.launched_by) if asking else ()
    logs = study.method.surrogate == "surface"
    proposals = tuple(
        Proposal(e["config"], e["cost"], e["why"], values_text(e["values"], logs=logs))
        for e in events
    )
    return replace(findings, proposals=proposals, why_not_next=why_not)


def find_laws(study: LiveStudy, ledger: Ledger, findings: Findings) -> Findings:
    """With the laws of the runs, and the answers for tasks."""
    targets, level = targets_of(study), study.spec.law.level
    options = FitOptions(study.law, targets=tuple(map(Target, targets[:1])), level=level)
    known = None if findings.answered is None else findings.answered.answer
    findings = with_laws(findings, runs_made(study, ledger), options)
    return replace(findings, tasks=tasks_of(study, ledger, known))


def find_moments(
    study: LiveStudy,
    ledger: Ledger,
    findings: Findings,
    memory: Memory,
    *,
    keep_going: Callable[[], bool] = lambda: True,
) -> Findings:
    """With the forecasts after fewer runs, see `moments`."""
    targets, made = targets_of(study), runs_made(study, ledger)
    if not targets:
        return replace(findings, moments=())
    dense = study.pricing.total(study.grid, np.arange(len(study.grid)))

    def spend(part: Runs) -> float:
        return study.pricing.total(made.grid, part.index) / dense

    known = moments(
        made,
        Target(targets[0]),
        spend,
        memory,
        level=study.spec.law.level,
        prior=study.prior,
        keep_going=keep_going,
    )
    return replace(findings, moments=known)


def moments(
    made: Study,
    target: Target,
    spend: Callable[[Runs], float],
    memory: Memory,
    *,
    level: float = 0.95,
    prior: Prior = PUBLIC,
    keep_going: Callable[[], bool] = lambda: True,
) -> tuple[Moment, ...]:
    """The forecasts of ``target`` after more and more of the runs.

    spend   cost of runs as a share of the dense grid
    memory  keeps what was computed; nothing is added once ``keep_going()`` returns False
    """
    grid, runs, keys = made.grid, made.runs, []
    for n in run_counts(LEAST_RUNS, len(runs)):
        part = runs.take(slice(n))
        key = part.index.tobytes() + part.loss.tobytes() + grid.C[part.index].tobytes()
        if key not in memory and keep_going():
            memory[key] = None
            with suppress(LawsmithError):  # too few runs
                forecast = answer(grid, part, [target], level=level, prior=prior).forecasts[0]
                memory[key] = Moment(spend(part), n, forecast)
        keys.append(key)
    return tuple(known for key in keys if (known := memory.get(key)) is not None)


def run_counts(first: int, last: int) -> list[int]:
    """Counts of runs from ``first`` to ``last``, each GROWTH times the one before.

    Only the final count depends on ``last``, so that forecasts can be used again later.
    """
    counts, n = [], float(max(first, 1))
    while round(n) < last:
        counts.append(round(n))
        n = max(n * GROWTH, n + 1)
    return [*counts, last] if last >= first else []


def with_laws(findings: Findings, study: Study, options: FitOptions) -> Findings:
    """With the law of a study, and a law of N and D: the same, else Chinchilla's."""
    own, why_not = _analysed(study, options)
    sizes = own if can_allocate(options.law) else None
    if not can_allocate(options.law) and {"N", "D"} <= set(study.grid.names):
        other = replace(options, law=CHINCHILLA, objective=None, fixed={})
        sizes, _ = _analysed(study, other)
    return replace(findings, analysis=own, why_no_law=why_not, sizes=sizes)


def _analysed(study: Study, options: FitOptions) -> tuple[Analysis | None, str]:
    """(the analysis, ''), or (None, why there is none)."""
    try:
        return analyse(study, options), ""
    except LawsmithError as error:
        return None, str(error)


def values_text(values: Mapping[str, float | None], *, logs: bool) -> dict[str, str]:
    """Acquisition values by name, as text; ``logs``: the surrogate models the log of the loss."""
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
