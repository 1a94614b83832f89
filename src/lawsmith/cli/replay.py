"""`lawsmith replay`: choose the runs of a finished study anew, show what its law costs."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from rich.progress import BarColumn, Progress

from lawsmith.answer import Target
from lawsmith.answer.text import listing
from lawsmith.cli import console as out
from lawsmith.cli import options, replay_options, views
from lawsmith.cli.commands import ReplayRequest
from lawsmith.cli.replay_options import CHOICES, Choices
from lawsmith.cli.views import draw_replay
from lawsmith.costs import SeparateRuns, Trunks
from lawsmith.datasets import ReadOptions, Study
from lawsmith.digest import Digest, as_notes
from lawsmith.files import write_output
from lawsmith.formats import flops, formatted, padded, percent, plural
from lawsmith.grid import HeldOut
from lawsmith.laws.fit import LawFit
from lawsmith.policies import Method, Policy
from lawsmith.replay import (
    Replayed,
    Scores,
    Step,
    Stop,
    Task,
    Trace,
    answers_of,
    prepare,
    replay,
    stopped_by,
)
from lawsmith.replay.loop import BLOCK
from lawsmith.replay.replayed import at_budgets, signed, whole_pool
from lawsmith.replay.steps import FITS, scores, step_table
from lawsmith.study.live import prior_from
from lawsmith.surface import PUBLIC, Prior

FAST = ("surface", "gp", "none")  # surrogates whose steps take milliseconds
# Options of reading a table that go on record, and settings of the method that are shown.
READ = ("skip_bad_rows", "where", "drop_largest_loss", "diverged_above", "compute")
SHOWN = ("kernel", "priors", "scale", "kappa", "reach", "slice_by")
NONE = "–"
FIT_TEXTS = {"fantasized": "observed + fantasized", "observed": "observed only"}
_TRUNKS = "runs that differ in D alone share a trunk, paid once"
_ENDED = {
    "exhausted": "the pool is exhausted",
    "iterations": "as many runs as asked for",
    "budget": "the next run would have exceeded the budget",
    "answered": "the answer is known as well as asked for",
    "interrupted": "interrupted, these results are partial",
}


@dataclass(frozen=True)
class Setup:
    """A replay before its runs are read: the request, and what follows from it."""

    request: ReplayRequest
    method: Method
    hold_out: HeldOut
    reading: ReadOptions
    choices: Choices = CHOICES

    def settings(self, task: Task, stop: Stop, wanted: Sequence[Target]) -> dict[str, Any]:
        """For the record: everything that decides the result, except the study and the seed."""
        request, reading = self.request, self.reading
        return {
            **self.method.settings(),
            "law": request.law.name,
            "hold_out": str(self.hold_out),
            "iterations": request.iterations,
            "budget": None if stop.budget is None else stop.budget / task.total_compute,
            "stop_when": None if request.rule is None else str(request.rule),
            "trunk_decay": request.pricing.decay if isinstance(request.pricing, Trunks) else None,
            "targets": [target.plain for target in wanted],
            "learn_from": list(request.learn_from or ()) or None,
            "force": request.force,
            "columns": dict(reading.columns) or None,
            "ignore": list(reading.ignore) or None,
            **{name: getattr(reading, name) for name in READ},
        }

    def policy(self, computes: Sequence[float], prior: Prior = PUBLIC) -> Policy:
        """The policy, with its target, its prices and its prior."""
        request = self.request
        target = request.rule.compute if request.rule else min(computes, default=None)
        priced = request.pricing or SeparateRuns()
        how = replace(self.method, target=target, pricing=priced, prior=prior)
        surrogate = how.make_surrogate(self.choices.make_surrogate)
        return self.choices.make_policy(how.policy, surrogate, **how.options())


def set_up(
    request: ReplayRequest, choices: Choices = CHOICES, further: Mapping[str, Any] | None = None
) -> Setup:
    """Check the request before the study is read; ``further`` are settings of the surrogate."""
    known = replay_options.catalogued(request.study, choices)
    method = replay_options.method(request, known, choices, further)
    rule = replay_options.split(request.hold_out, request.law, known)
    return Setup(request, method, rule, options.reading(request), choices)


def replay_runs(
    setup: Setup,
    study: Study,
    prior: Prior | None = None,
    *,
    report: Callable[[Step, Task, Stop], None] | None = None,
    block: int = BLOCK,
) -> Replayed:
    """Replay the study that was read.

    prior    used instead of the one learnt from ``learn_from``
    report   called after every step; with it, Ctrl-C ends the replay and its steps are kept
    block    how many laws are fitted together
    """
    request = setup.request
    wanted, computes = _targets(setup, study)
    task = _task(setup, study, computes, prior)
    stop = replay_options.stop_rule(request.iterations, request.budget, task)
    stop = replace(stop, rule=request.rule)
    policy = setup.policy(computes, task.prior)
    walk = replay(task, policy, seed=request.seed, stop=stop, block=block)
    if report is None:
        steps, interrupted = list(walk), False
    else:
        steps, interrupted = collect(walk, lambda step: report(step, task, stop))
    if interrupted and not steps:
        raise KeyboardInterrupt
    replay_options.check_ran(len(steps), stop, task)
    settings = setup.settings(task, stop, wanted)
    trace = Trace(task, policy.name, request.seed, settings, tuple(steps))
    answers = answers_of(task, [step.candidate for step in steps], wanted)
    return Replayed(trace, stopped_by(trace, stop, answers, interrupted=interrupted), answers)


def _targets(setup: Setup, study: Study) -> tuple[tuple[Target, ...], list[float]]:
    """The targets, with that of the stop rule, and the computes among them."""
    request, rule = setup.request, setup.request.rule
    options.check_inputs(study, request.law)
    known = replay_options.catalogued(request.study, setup.choices)
    wanted = replay_options.targets(request.targets, study, known)
    computes = [target.C for target in wanted if not target.sized]
    if rule is not None and not any(math.isclose(rule.compute, C) for C in computes):
        return (*wanted, Target(rule.compute)), [*computes, rule.compute]
    return wanted, computes


def _task(setup: Setup, study: Study, computes: list[float], prior: Prior | None) -> Task:
    """The task; its pool must be large enough for the initial design."""
    request = setup.request
    task = prepare(
        study,
        request.law,
        hold_out=setup.hold_out,
        targets=computes,
        pricing=request.pricing or SeparateRuns(),
        slice_by=setup.method.slice_by or "C",
        force=request.force,
    )
    replay_options.check_pool(setup.method, task)
    learnt = prior or prior_from(request.learn_from or (), entries=setup.choices.entries)
    return replace(task, prior=learnt)


def run(request: ReplayRequest) -> None:
    """Run `lawsmith replay`."""
    if run_replay(set_up(request)).stopped == "interrupted":
        raise typer.Exit(out.INTERRUPTED)


def run_replay(setup: Setup) -> Replayed:
    """Replay, write files and charts if requested, print the result."""
    request = setup.request
    folder = options.folder(request.out, "--out") if request.out else None
    charts = request.charts or (folder and folder / "charts")
    if request.charts:
        options.folder(request.charts, "--charts")
    replayed = replay_with_bar(setup)
    drawn = draw_replay(charts, replayed) if charts else views.Drawn()
    payload, written = {**replayed.to_dict(), **drawn.payload}, []
    if folder:
        trace = out.json_text(payload) + "\n"
        written.append(write_output(folder / "trace.json", trace, where="--out"))
        written.append(views.write_rows(folder / "steps.csv", step_table(replayed.trace)))
    if request.as_json:
        out.print_json(payload)
    else:
        show_replay(replayed, drawn, written)
    return replayed


def replay_with_bar(setup: Setup) -> Replayed:
    """Replay with a progress bar; Ctrl-C keeps the steps made so far."""
    study = options.load_study(setup.request.study, setup.reading, setup.choices.entries)
    with described_bars() as bars:
        bar = bars.add_task("preparing", total=1.0)

        def report(step: Step, task: Task, stop: Stop) -> None:
            bars.update(
                bar, completed=share_done(step, task, stop), description=described(step, task)
            )

        # Fitting laws in blocks is faster; where a step takes a second, each is shown at once.
        block = 16 if setup.method.surrogate in FAST else 1
        return replay_runs(setup, study, report=report, block=block)


def described_bars() -> Progress:
    """Progress bars on stderr with a description, removed at the end; none without a terminal."""
    columns = (BarColumn(bar_width=10), "{task.description}")
    hidden = not sys.stderr.isatty()
    return Progress(*columns, console=out.stderr(), disable=hidden, transient=True)


def collect(steps: Iterable[Step], report: Callable[[Step], None]) -> tuple[list[Step], bool]:
    """(the steps, whether Ctrl-C cut them short)."""
    kept: list[Step] = []
    try:
        for step in steps:
            kept.append(step)
            report(step)
    except KeyboardInterrupt:
        return kept, True
    return kept, False


def share_done(step: Step, task: Task, stop: Stop) -> float:
    """Progress from 0 to 1: by runs or by budget, whichever is nearer to its end."""
    limit = min(len(task.pool), stop.iterations or len(task.pool))
    return max(step.iteration / limit, step.cost / (stop.budget or math.inf))


def described(step: Step, task: Task) -> str:
    """'43/879 runs · 1.2% spent'."""
    return f"{step.iteration}/{len(task.pool)} runs · {percent(step.cost_fraction, 2)} spent"


def show_replay(replayed: Replayed, drawn: views.Drawn, written: Sequence[Path]) -> None:
    """Show what was replayed, the answer, the law, its progress by budget, and files."""
    show_head(replayed)
    views.show_reading(replayed.study)
    if replayed.answers is not None:
        answer = listing(replayed.answers.chosen)
        out.show(Digest("", [answer, *whole_pool(replayed.answers)]))
    show_laws(replayed)
    show_budgets(replayed)
    out.show(Digest("", as_notes(replayed.study.notes)))
    views.show_charts(drawn)
    out.paths(written, "Written")


def show_head(replayed: Replayed) -> None:
    """Show the title, marked if the study is synthetic, and facts."""
    task, trace, last = replayed.trace.task, replayed.trace, replayed.last
    study = replayed.study
    label = " (synthetic)" if study.synthetic and "synthetic" not in study.title else ""
    out.title(study.title + label)
    pool = f"{plural(len(task.pool), 'configuration')}, {flops(task.total_compute)} FLOPs in all"
    ran = f"{plural(last.iteration, 'run')}, {percent(last.cost_fraction)} of that compute"
    out.facts(
        {
            "study": study.name if study.name != study.title else "",
            "chosen by": _method(trace),
            "pool": pool,
            "prices": trace.settings["trunk_decay"] and _TRUNKS,
            "held out": _held_out(replayed),
            "ran": f"{ran}: {_ENDED[replayed.stopped]}",
        }
    )


def _method(trace: Trace) -> str:
    """'window+gp+lcb, kernel matern, kappa 2.0, 10 initial runs; seed 0'."""
    settings = trace.settings
    shown = {name: settings[name] for name in SHOWN if settings[name] is not None}
    words = [f"{name.replace('_', ' ')} {value}" for name, value in shown.items()]
    first = [plural(int(str(settings["n_init"])), "initial run")] if settings["n_init"] else []
    # A method of another package may be one of ours under its own name.
    name = str(settings["policy"])
    name = trace.policy if name in trace.policy else name
    return f"{', '.join([name, *words, *first])}; seed {trace.seed}"


def _held_out(replayed: Replayed) -> str:
    task, grid = replayed.trace.task, replayed.study.grid
    text = views.held_out_text(task.hold_out, grid)
    if not len(task.held_out.loss):
        return text
    n, n_beyond = len(task.held_out.loss), int(task.held_out.beyond.sum())
    beyond = "" if n_beyond == n else f", {n_beyond} of them not dominated by the pool"
    return f"{text}, {n} on their frontier{beyond}"


def show_laws(replayed: Replayed) -> None:
    """Show the law of the whole pool beside those fitted at the end."""
    task, reference = replayed.trace.task, replayed.trace.task.reference
    laws = {FIT_TEXTS[fit]: law for fit in FITS if (law := scores(replayed.last, fit)) is not None}
    fits: list[LawFit | Scores] = [reference.validation, *laws.values()]
    rows = [(name, *(_value(fit, name) for fit in fits)) for name in reference.validation.params]
    for label, loss in reference.losses.items():
        cells = (_loss(loss, law, label) for law in laws.values())
        rows.append((f"loss at {label}", formatted(loss, ".4f"), *cells))
    rows.append(("points", *(str(fit.n_points) for fit in fits)))
    out.heading(f"{task.law.formula}: of the whole pool, and as found")
    if not laws:
        out.prose("No law was found: too few runs on the frontier.")
    out.table("", ("", "whole pool", *laws), rows)


def _value(fit: LawFit | Scores, name: str) -> str:
    """A parameter, with its logarithm if the law is fitted in that."""
    value, log = fit.params[name], fit.log_params.get(name)
    return padded(value) if log is None else f"{padded(value)} (ln {padded(log)})"


def _loss(reference: float, law: Scores, label: str) -> str:
    off = law.extrapolation[label]
    return f"{formatted(reference * (1 + off / 100), '.4f')} ({signed(off)})"


def show_budgets(replayed: Replayed) -> None:
    """Show runs, envelope and the difference in predicted loss at each round budget."""
    # Random search has no fantasies.
    fits = [fit for fit in FITS if any(scores(step, fit) for step in replayed.trace.steps)]
    label = next(iter(replayed.trace.task.targets), None) if fits else None
    mixed = "fantasized" in fits
    rows = []
    for budget, step in at_budgets(replayed):
        shares = ([step.envelope_mixed] if mixed else []) + [step.envelope_observed]
        recovered = [NONE if share is None else f"{100 * share:.0f}%" for share in shares]
        laws = [scores(step, fit) for fit in fits if label]
        off = [NONE if law is None else signed(law.extrapolation[str(label)]) for law in laws]
        rows.append((percent(budget), str(step.iteration), *recovered, *off))
    if not rows:
        return
    and_loss = "" if label is None else f", and loss at {label} against the whole pool's law"
    names = [*(["mixed grid"] if mixed else []), "observed"]
    heads = ("spent", "runs", *names, *(FIT_TEXTS[fit] for fit in fits if label))
    out.table(f"Envelope recovered{and_loss}", heads, rows)
