"""The kind 'trial': a method on a study up to a share of its compute, judged at round budgets.

A method that knows what it may still spend chooses otherwise with another budget. It has a trial of
its own for each, judged at its end; the others have one, judged on the way.

A trial is a replay whose settings say more than those of the paper's suites: which fields of the
policy and the surrogate differ from their defaults, where to stop, and whether the study is drawn
afresh under the trial's seed. Its rows are every metric at that moment, never an incumbent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from lawsmith.datasets import Study
from lawsmith.grid import FloatArray, HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.metrics import value_at
from lawsmith.policies import Policy
from lawsmith.replay import TARGETS, Step, Stop, Task, prepare, replay
from lawsmith_paper.curves import FITS, Curves, FitName, curves_from
from lawsmith_paper.jobs import Json
from lawsmith_paper.records import step_record, steps_from
from lawsmith_paper.replays import Settings, policy_of, study_named, surrogate_of
from lawsmith_paper.rivals.vopt import VOptimal
from lawsmith_paper.studies import entry
from lawsmith_paper.studies.drawn import drawn_study
from lawsmith_paper.trial import answers

BUDGETS = (0.01, 0.02, 0.05, 0.1)
KNOW_BUDGET = ("frontier", "vopt")  # policies that choose by what is left of a budget
ABOVE = 100.0  # a drawn study's target, as a multiple of the largest compute in its pool
BLOCK = 64  # runs judged together


def trial_lines(settings: Settings, done: Sequence[Json]) -> Iterator[Json]:
    """The step records of a trial, with the answer at every budget that it is judged at."""
    task, question = task_of(settings), question_of(settings)
    stop = Stop(settings["iterations"], settings["budget"] * task.total_compute)
    steps = replay(
        task,
        trial_policy(settings, task),
        seed=settings["seed"],
        stop=stop,
        done=steps_from(task, done),
        block=trial_block(settings),
    )
    rows = [line["row"] for line in done]
    for step, after in with_next(steps):
        rows.append(step.candidate)
        record = step_record(step, task.law)
        if _is_judged(settings, step, after):
            record["answer"] = question.judged(task, rows)
        yield record


def with_next(steps: Iterable[Step]) -> Iterator[tuple[Step, Step | None]]:
    """Each step beside the one after it."""
    before = None
    for step in steps:
        if before is not None:
            yield before, step
        before = step
    if before is not None:
        yield before, None


def _is_judged(settings: Settings, step: Step, after: Step | None) -> bool:
    """Whether some budget ends between a step and the next; none ends a trial cut short."""
    spent = [step.cost_fraction]
    if after is not None:
        spent.append(after.cost_fraction)
    elif step.iteration == settings["iterations"]:
        return False
    last = value_at(spent, np.arange(len(spent)) == 0, budgets_of(settings))
    return bool(np.any(last == 1.0))


def budgets_of(settings: Settings) -> tuple[float, ...]:
    """The budgets that a trial is judged at."""
    if settings["space"] in KNOW_BUDGET:
        return (settings["budget"],)
    return tuple(budget for budget in BUDGETS if budget <= settings["budget"])


def question_of(settings: Settings) -> answers.Question:
    """What the answer of a trial is judged by."""
    if settings["noise"] is None:
        return _of_table(settings["study"], task_of(settings))
    return answers.of_drawn(study_of(settings), target_of(task_of(settings)))


@lru_cache(maxsize=32)
def _of_table(study: str, task: Task) -> answers.Question:
    return answers.of_table(study_named(study), task)


def n_trial_lines(settings: Settings) -> int:
    """About how many runs a trial has: as many of the pool's as it has of its compute."""
    n = int(settings["budget"] * len(task_of(settings).pool)) + 1
    return min(n, settings["iterations"] or n)


def trial_block(settings: Settings) -> int:
    """Runs judged together."""
    return BLOCK


def trial_policy(settings: Settings, task: Task) -> Policy:
    """The policy of a trial, with the fields that its settings change."""
    surrogate: Any = surrogate_of(settings)
    if surrogate is not None:
        surrogate = replace(surrogate, **settings["surrogate_fields"])
    policy: Any = policy_of(settings, surrogate, target_of(task))
    if isinstance(policy, VOptimal):
        policy = replace(policy, decades=float(np.log10(target_of(task) / task.pool.C.max())))
    changed: Policy = replace(policy, **settings["policy_fields"])
    return changed


def study_of(settings: Settings) -> Study:
    """The study of a trial: by name, or drawn under its seed where the settings give a noise."""
    if settings["noise"] is None:
        return study_named(settings["study"])
    return _drawn(settings["study"], settings["seed"], settings["noise"])


def task_of(settings: Settings) -> Task:
    """The task of a trial; a drawn study's target lies `ABOVE` its own pool."""
    if settings["noise"] is None:
        key: tuple[Any, ...] = (settings["study"], None, None)
    else:
        key = (settings["study"], settings["seed"], settings["noise"])
    return _task(*key, settings["law"], settings["hold_out"], settings["force"])


@lru_cache(maxsize=32)
def _task(
    study: str, seed: int | None, noise: float | None, law: str, hold_out: str, force: bool
) -> Task:
    split = HeldOut.parse(hold_out)
    if seed is None or noise is None:
        own = entry(study).targets or TARGETS
        return prepare(study_named(study), get_law(law), hold_out=split, targets=own, force=force)
    drawn = _drawn(study, seed, noise)
    pool, _ = drawn.grid.split(split)
    # As its label has it, to six digits: a target is known by its label.
    targets = (float(f"{ABOVE * drawn.grid.C[pool].max():g}"),)
    return prepare(drawn, get_law(law), hold_out=split, targets=targets, force=force)


@lru_cache(maxsize=32)
def _drawn(study: str, seed: int, noise: float) -> Study:
    return drawn_study(study.removeprefix("synthetic-"), seed, noise=noise)


def target_of(task: Task) -> float:
    """FLOPs of the target that a method is judged at: the first one."""
    label = next(iter(task.targets), None)
    return TARGETS[0] if label is None else float(label)


def study_name(settings: Settings) -> str:
    """The study, or the family of drawn ones: 'drawn-steplaw, noise × 2'."""
    name = str(settings["study"])
    if settings["noise"] is None:
        return name
    return f"{name.replace('synthetic-', 'drawn-')}, noise × {settings['noise']:g}"


def trial_facts(settings: Settings) -> tuple[str, Json]:
    """(law, what the fractions of its budgets are of); a drawn family has no one law."""
    task = task_of(settings)
    facts: Json = {"hold_out": str(task.hold_out), "n_pool": len(task.pool)}
    if settings["noise"] is None:
        facts["total_compute"] = task.total_compute
        facts["n_envelope"] = len(task.reference.envelope)
        facts["params"] = task.reference.validation.params
    return settings["law"], facts


def trial_rows(settings: Settings, lines: Sequence[Json]) -> Iterator[Json]:
    """A row for each fit and budget: the settings, then every metric of `scores`."""
    run = trial_curves(settings, lines)
    shown = {name: value for name, value in settings.items() if not name.endswith("_fields")}
    n_runs = _at_budgets(run, np.arange(1.0, len(run) + 1.0))
    answered = {name: _at_budgets(run, column) for name, column in _answers(lines).items()}
    for fit in FITS:
        if fit == "fantasized" and settings["surrogate"] == "none":
            continue
        columns = scores(run, fit, study_of(settings)) | answered
        for i, budget in enumerate(budgets_of(settings)):
            values = {name: float(column[i]) for name, column in columns.items()}
            yield {
                **shown,
                "family": study_name(settings),
                "synthetic": run.task.study.synthetic,
                "fit": fit,
                "budget": budget,
                "n_runs": float(n_runs[i]),
                **values,
            }


def trial_curves(settings: Settings, lines: Sequence[Json]) -> Curves:
    """The arrays of a trial's step records."""
    task, seed = task_of(settings), settings["seed"]
    return curves_from(task, lines, policy=settings["method"], seed=seed, settings=dict(settings))


def _answers(lines: Sequence[Json]) -> dict[str, FloatArray]:
    """(T,) what the answer was judged by after each run, NaN where it was not; see `Question`."""
    found = [line.get("answer") or {} for line in lines]
    return {
        f"answer_{name}": np.array([answer.get(name, np.nan) for answer in found])
        for name in answers.NAMES
    }


def scores(run: Curves, fit: FitName, study: Study) -> dict[str, FloatArray]:
    """Every metric at the budgets, (budgets,) each; NaN where there is no law.

    difference          |%| of the loss at the target, from the law of the whole pool
    regret_<parameter>  |parameter − that of the whole pool's law|, positive ones in logs
    held_out            |MSE on the held-out frontier − that of the whole pool's law|
    held_out_rmse       as a multiple of that of the whole pool's law
    envelope_observed, envelope_mixed   share of the pool's frontier; without a surrogate the same
    true_error          |%| of the loss at the target from the true best loss, where that is known;
                        true_error_pool is that of the whole pool's law
    """
    task = run.task
    label = next(iter(task.targets))
    difference = run.extrapolation(label, fit)
    keys = [f"log_{p.name}" if p.positive else p.name for p in task.law.params]
    mse, reference = run.held_out_mse(fit), task.reference.held_out_mse
    mixed = run.envelope["fantasized"] if np.isfinite(run.envelope["fantasized"]).any() else None
    columns = {
        "difference": np.abs(difference),
        **{f"regret_{key}": run.regret(key, fit) for key in keys},
        "held_out": np.abs(mse - reference),
        "held_out_rmse": np.sqrt(mse / reference),
        "envelope_observed": run.envelope["observed"],
        "envelope_mixed": run.envelope["observed"] if mixed is None else mixed,
    }
    if study.truth is not None:
        true = study.truth.best_loss(target_of(task))
        pool = task.reference.losses[label]
        predicted = pool * (1.0 + difference / 100.0)
        columns["true_error"] = 100.0 * np.abs(predicted / true - 1.0)
        columns["true_error_pool"] = np.full(len(run), 100.0 * abs(pool / true - 1.0))
    return {name: _at_budgets(run, column) for name, column in columns.items()}


def _at_budgets(run: Curves, column: FloatArray) -> FloatArray:
    """(budgets,) what stood at each; NaN beyond the end of a trial cut short after so many runs."""
    budgets = budgets_of(run.settings)
    found = value_at(run.cost_fraction, column, budgets)
    if len(run) == run.settings["iterations"]:
        found[np.greater(budgets, run.cost_fraction[-1])] = np.nan
    return found
