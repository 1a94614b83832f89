"""All of `lawsmith replay` on the terminal and as one JSON object; every number is in both.

In the JSON, ``candidate`` and ``envelope`` count rows of the pool from 0; ``pool.rows`` says which
of the study's distinct configurations, in the order of its table, each row of the pool is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from rich.console import Console
from rich.text import Text

from lawsmith import __version__
from lawsmith.analysis.payload import plain
from lawsmith.answer.payload import warning_payload
from lawsmith.answer.text import listing
from lawsmith.cli import console as out
from lawsmith.cli import views
from lawsmith.cli.fit_payload import NO_ANSWER, Json
from lawsmith.digest import Digest
from lawsmith.formats import digits, figure, flops, percent, plural
from lawsmith.laws.fit import LawFit
from lawsmith.metrics import DENSE_GRID, speedup, spend_until_settled, value_at
from lawsmith.replay import Replayed, Scores, Step, Task, Trace, step_values
from lawsmith.replay.replayed import signed, whole_pool

BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
WITHIN = (1.0, 0.5)  # per cent of predicted loss
RECOVERED = 0.9
FitName = Literal["fantasized", "observed"]
FITS: tuple[FitName, ...] = ("fantasized", "observed")
NONE = "–"
FIT_TEXTS = {"fantasized": "observed + fantasized", "observed": "observed only"}
_TRUNKS = "runs that differ in D alone share a trunk, paid once"
_PLAIN = {
    "cheapest": "cheapest first",
    "vopt": "V-optimality: the variance of the linearised law, per cost",
}
_ENDED = {
    "exhausted": "the pool is exhausted",
    "iterations": "as many runs as asked for",
    "budget": "the next run would have exceeded the budget",
    "answered": "the answer is known as well as asked for",
    "interrupted": "interrupted, these results are partial",
}


def show_replay(
    console: Console, done: Replayed, drawn: views.Drawn, written: Sequence[Path]
) -> None:
    """What was replayed, the law found, how it came closer, what it took, where files are."""
    show_head(console, done)
    views.show_reading(console, done.study)
    if done.answers is not None:
        found = listing(done.answers.chosen)
        out.show(console, Digest("", [found, *whole_pool(done.answers)]))
    show_laws(console, done)
    show_budgets(console, done)
    out.notes(console, done.trace.task.notes)
    views.show_charts(console, drawn)
    out.paths(console, written, "Written")


def show_head(console: Console, done: Replayed) -> None:
    """Title, labelled where the study is synthetic, and facts."""
    task, trace, last = done.trace.task, done.trace, done.last
    label = " (synthetic)" if task.synthetic and "synthetic" not in task.title else ""
    console.print(Text(task.title + label, style="bold"))
    pool = f"{plural(len(task.pool), 'configuration')}, {flops(task.total_compute)} FLOPs in all"
    ran = f"{plural(last.iteration, 'run')}, {percent(last.cost_fraction)} of that compute"
    out.facts(
        console,
        [
            *([] if task.study == task.title else [("study", task.study)]),
            ("chosen by", f"{_method(done)}; seed {trace.seed}"),
            ("pool", pool),
            *([("prices", _TRUNKS)] if trace.settings["trunk_decay"] else []),
            ("held out", _held_out(done)),
            ("ran", f"{ran}: {_ENDED[done.stopped]}"),
        ],
    )


def _method(done: Replayed) -> str:
    told = done.trace.settings
    n_first = int(str(told["n_init"]))
    start = plural(n_first, "initial run")
    model = [str(told["surrogate"]), *(str(told[k]) for k in ("kernel", "priors") if told[k])]
    model += ["of log loss"] if told["scale"] == "log" else []
    if told["policy"] == "frontier":
        words = [" ".join(model), "answer and envelope by turns", "per FLOP"]
        return ", ".join([*words, start] if n_first else words)
    if told["policy"] in _PLAIN:
        filled = [] if told["surrogate"] == "none" else [f"the others fantasized by {model[0]}"]
        first = [] if told["policy"] == "cheapest" else [start]  # which has no initial design
        return ", ".join([_PLAIN[str(told["policy"])], *filled, *first])
    space = _space(told)
    if told["surrogate"] == "none":
        return f"random search in {space}, {start}"
    rule = f"lcb κ = {told['kappa']:g}" if told["acquisition"] == "lcb" else told["acquisition"]
    return f"{' '.join(model)}, {rule} in {space}, {start}"


def _space(told: Mapping[str, object]) -> str:
    """Where a search looks: the whole pool, a window, or what a window adds."""
    if told["policy"] in ("full", "random"):
        return "the whole pool"
    kind = "the new slice of a window" if told["policy"] == "slice" else "a window"
    by = "" if told["slice_by"] == "C" else f" in {told['slice_by']}"
    return f"{kind} of reach {told['reach']:g}{by}"


def _held_out(done: Replayed) -> str:
    task, grid = done.trace.task, done.study.grid
    text = views.held_out_text(task.hold_out, grid)
    if not len(task.held_out.loss):
        return text
    n, n_beyond = len(task.held_out.loss), int(task.held_out.beyond.sum())
    beyond = "" if n_beyond == n else f", {n_beyond} of them not dominated by the pool"
    return f"{text}, {n} on their frontier{beyond}"


def show_laws(console: Console, done: Replayed) -> None:
    """The law of the whole pool beside those found by the end."""
    task, reference = done.trace.task, done.trace.task.reference
    laws = {FIT_TEXTS[fit]: law for fit in FITS if (law := scores(done.last, fit)) is not None}
    whole = reference.validation
    rows = [
        (
            name,
            _value(value, whole.log_params.get(name)),
            *(_value(s.params[name], s.log_params.get(name)) for s in laws.values()),
        )
        for name, value in whole.params.items()
    ]
    for label, loss in reference.losses.items():
        cells = (_loss(loss, s, label) for s in laws.values())
        rows.append((f"loss at {label}", digits(loss, ".4f"), *cells))
    rows.append(("points", str(whole.n_points), *(str(s.n_points) for s in laws.values())))
    out.heading(console, f"{task.law.formula}: of the whole pool, and as found")
    if not laws:
        out.prose(console, "No law was found: too few runs on the frontier.")
    out.table(console, "", ("", "whole pool", *laws), rows)


def _value(natural: float, log: float | None) -> str:
    return figure(natural) if log is None else f"{figure(natural)} (ln {figure(log)})"


def _loss(reference: float, found: Scores, label: str) -> str:
    off = found.extrapolation[label]
    return f"{digits(reference * (1 + off / 100), '.4f')} ({signed(off)})"


def show_budgets(console: Console, done: Replayed) -> None:
    """Runs, envelope and the difference in predicted loss at each round budget."""
    # Random search has no fantasies.
    fits = [fit for fit in FITS if any(scores(step, fit) for step in done.trace.steps)]
    label = next(iter(done.trace.task.targets), None) if fits else None
    mixed = "fantasized" in fits
    rows = []
    for budget, step in at_budgets(done):
        shares = ([step.envelope_mixed] if mixed else []) + [step.envelope_observed]
        found = [NONE if share is None else f"{100 * share:.0f}%" for share in shares]
        laws = [scores(step, fit) for fit in fits if label]
        off = [NONE if law is None else signed(law.extrapolation[str(label)]) for law in laws]
        rows.append((percent(budget), str(step.iteration), *found, *off))
    if not rows:
        return
    and_loss = "" if label is None else f", and loss at {label} against the whole pool's law"
    names = [*(["mixed grid"] if mixed else []), "observed"]
    heads = ("spent", "runs", *names, *(FIT_TEXTS[fit] for fit in fits if label))
    out.table(console, f"Envelope recovered{and_loss}", heads, rows)


def replay_payload(done: Replayed, drawn: views.Drawn) -> Json:
    """What `lawsmith replay --json` prints and ``trace.json`` holds."""
    trace, task = done.trace, done.trace.task
    return {
        "version": __version__,
        "study": task.study,
        "title": task.title,
        "synthetic": task.synthetic,
        "policy": trace.settings["policy"],
        "method": trace.policy,
        "seed": trace.seed,
        "settings": trace.settings,
        "law": task.law.name,
        "formula": task.law.formula,
        "pool": _pool(done),
        "reference": _reference(task),
        "trace": [step_values(step) for step in trace.steps],
        "summary": _summary(done),
        **_answers(done),
        "complete": done.stopped != "interrupted",
        "stopped": done.stopped,
        "charts": drawn.paths,
        "charts_missing": drawn.missing,
        "reading_warnings": [warning_payload(w) for w in done.study.warnings],
        "notes": list(task.notes),
    }


def _answers(done: Replayed) -> Json:
    """By the runs chosen, as `lawsmith fit --json` has it, and by the whole pool."""
    if done.answers is None:
        return {**NO_ANSWER, "whole_pool": None}
    return {**done.answers.chosen.to_dict(), "whole_pool": done.answers.pool.to_dict()}


def _pool(done: Replayed) -> Json:
    task, grid = done.trace.task, done.study.grid
    return {
        "n": len(task.pool),
        "total_compute": task.total_compute,
        "n_levels": len(task.pool.levels),
        "n_held_out": len(grid) - len(task.pool),
        "n_held_out_frontier": len(task.held_out.loss),
        "n_held_out_beyond": int(task.held_out.beyond.sum()),
        "threshold": task.hold_out.threshold(grid),
        "rows": task.rows,
    }


def _reference(task: Task) -> Json:
    reference = task.reference
    return {
        **_law(reference.validation),
        "held_out_mse": reference.held_out_mse,
        "held_out_mse_beyond": reference.held_out_mse_beyond,
        "pool_mse": reference.pool_mse,
        "envelope": reference.envelope,
        "losses": reference.losses,
        "global": _law(reference.everything),
    }


def _law(fit: LawFit) -> Json:
    return {"params": fit.params, "log_params": fit.log_params, "n_points": fit.n_points}


def _summary(done: Replayed) -> Json:
    kept = ("iteration", "cost_fraction", "envelope", "fits")
    return {
        "budgets": [
            {"budget": budget, **{name: step_values(step)[name] for name in kept}}
            for budget, step in at_budgets(done)
        ],
        "spend_to_reach": reached(done.trace),
    }


def step_table(trace: Trace) -> list[Json]:
    """One flat row a step, every row with the same columns: what ``steps.csv`` holds."""
    rows = [_flat(plain(step_values(step))) for step in trace.steps]
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _flat(value: Json, prefix: str = "") -> Json:
    """{'fits': {'observed': {'regret': {'E': 1}}}} → {'observed.regret.E': 1}."""
    found: Json = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= _flat(item, "" if name == "fits" else f"{prefix}{name}.")
        elif name not in FITS or item is not None:  # a fit that is not there has no columns
            found[prefix + name] = item
    return found


def scores(step: Step, fit: FitName) -> Scores | None:
    """The scores of one of the two fits."""
    return step.fantasized if fit == "fantasized" else step.observed


def at_budgets(done: Replayed) -> list[tuple[float, Step]]:
    """(budget, the last step within it) of every round budget that the replay reached."""
    steps, spent = done.trace.steps, done.trace.cost_fraction
    number = value_at(spent, [step.iteration for step in steps], BUDGETS)
    return [
        (budget, steps[int(iteration) - 1])
        for budget, iteration in zip(BUDGETS, number.tolist(), strict=True)
        if not np.isnan(iteration) and budget <= _known_to(done) + 1e-9
    ]


def _known_to(done: Replayed) -> float:
    """The spend up to which it is known what stands; beyond, the replay did not go.

    One that its budget ended stands there: the next run would have cost more.
    """
    spent, budget = done.last.cost_fraction, done.trace.settings.get("budget")
    return max(spent, budget) if done.stopped == "budget" and isinstance(budget, float) else spent


def reached(trace: Trace) -> list[Json]:
    """The paper's goals: extrapolations that stay close, an envelope that stays found.

    spend   the share of the pool's compute after which a goal was met to the end, by fit; None
            where it was not met at the end
    """
    label = next(iter(trace.task.targets), None)
    found = []
    for within in WITHIN if label is not None else ():
        close = partial(_close, label=str(label), within=within)
        found.append(_goal(trace, "extrapolation", label, within, close))
    return [*found, _goal(trace, "envelope", None, RECOVERED, _recovered)]


def _goal(
    trace: Trace, metric: str, target: str | None, goal: float, met: Callable[[Step, FitName], bool]
) -> Json:
    steps, spent = trace.steps, trace.cost_fraction
    spend = {fit: spend_until_settled(spent, [met(s, fit) for s in steps]) for fit in FITS}
    less = {fit: speedup(value, DENSE_GRID) for fit, value in spend.items()}
    return {"metric": metric, "target": target, "goal": goal, "spend": spend, "times_less": less}


def _close(step: Step, fit: FitName, label: str, within: float) -> bool:
    found = scores(step, fit)
    return found is not None and abs(found.extrapolation[label]) <= within


def _recovered(step: Step, fit: FitName) -> bool:
    share = step.envelope_mixed if fit == "fantasized" else step.envelope_observed
    return share is not None and share >= RECOVERED
