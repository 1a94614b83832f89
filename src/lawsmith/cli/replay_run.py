"""What `lawsmith replay` does with its options: load, prepare, replay with a bar, report."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawsmith.answer import Target
from lawsmith.cli import options, replay_options
from lawsmith.cli.console import json_text, print_json, stderr, stdout, symbol, working
from lawsmith.cli.draw import Drawn, draw_replay
from lawsmith.cli.fit_payload import Json
from lawsmith.cli.replay_options import CHOICES, Choices, catalogued
from lawsmith.cli.replay_payload import replay_payload, step_table
from lawsmith.cli.replay_view import show_replay
from lawsmith.cli.request import load_study
from lawsmith.costs import Apart, Pricing, Trunks
from lawsmith.datasets import ReadOptions, Study
from lawsmith.files import write_told
from lawsmith.formats import flops, number, percent
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.law import Law
from lawsmith.policies import Method, Policy
from lawsmith.replay import (
    Replayed,
    Step,
    Stop,
    Task,
    Trace,
    answers_of,
    prepare,
    replay,
    stopped_by,
)
from lawsmith.spreadsheet import csv_text
from lawsmith.stopping import StopRule
from lawsmith.study.earlier import prior_from
from lawsmith.surface import PUBLIC, Prior

FAST = ("surface", "gp", "none")  # surrogates whose steps take milliseconds

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[Step], None]


@dataclass(frozen=True)
class ReplayRequest:
    """The options of a replay, each checked by itself; ``budget`` as `stop_rule` reads it."""

    study: str
    reading: ReadOptions
    law: Law
    hold_out: HeldOut
    force: bool
    method: Method
    seed: int
    iterations: int | None
    budget: float | None
    targets: tuple[tuple[str, str], ...]
    choices: Choices = CHOICES
    learn_from: tuple[str, ...] = ()
    rule: StopRule | None = None
    pricing: Pricing = field(default_factory=Apart)

    def settings(self, task: Task, stop: Stop, wanted: Sequence[Target]) -> dict[str, Any]:
        """For the record: all that decides the result, but for the study and the seed."""
        return {
            **self.method.settings(),
            "law": self.law.name,
            "hold_out": str(self.hold_out),
            "iterations": self.iterations,
            "budget": None if stop.budget is None else stop.budget / task.total_compute,
            "stop_when": None if self.rule is None else str(self.rule),
            "trunk_decay": self.pricing.decay if isinstance(self.pricing, Trunks) else None,
            "targets": [target.plain for target in wanted],
            "learn_from": list(self.learn_from) or None,
            "force": self.force,
            "columns": dict(self.reading.columns) or None,
            "skip_bad_rows": self.reading.skip_bad_rows,
            "ignore": list(self.reading.ignore) or None,
            "where": self.reading.where,
            "drop_largest_loss": self.reading.drop_largest_loss,
            "diverged_above": self.reading.diverged_above,
            "compute": self.reading.compute,
        }

    def policy(self, computes: Sequence[float], prior: Prior = PUBLIC) -> Policy:
        """The policy that chooses; it knows the target, the prices and what was learnt before."""
        target = self.rule.compute if self.rule else min(computes, default=None)
        how = replace(self.method, target=target, pricing=self.pricing, prior=prior)
        surrogate = how.make_surrogate(self.choices.make_surrogate)
        return self.choices.make_policy(how.policy, surrogate, **how.options())


def read_options(given: Mapping[str, Any], choices: Choices) -> ReplayRequest:
    """The options of the command line by name, checked and made values."""
    law, known = get_law(given["law"]), catalogued(given["study"], choices)
    names = ("kernel", "priors", "scale", "acquisition", "kappa", "reach", "slice_by", "further")
    how = replay_options.method(
        given["policy"],
        given["surrogate"],
        given["n_init"],
        known=known,
        given={name: given.get(name) for name in names},
        choices=choices,
    )
    return ReplayRequest(
        study=given["study"],
        reading=options.reading(given),
        law=law,
        hold_out=replay_options.split(given["hold_out"], law, known),
        force=given["force"],
        method=how,
        choices=choices,
        seed=given["seed"],
        iterations=given["iterations"],
        budget=replay_options.budget(given["budget"]),
        learn_from=tuple(given.get("learn_from") or ()),
        rule=replay_options.answer_rule(given["stop_when"]),
        pricing=replay_options.pricing(given["trunk_decay"]),
        targets=options.target_texts(given["context"].obj or ()),
    )


@dataclass(frozen=True, eq=False)
class Begun:
    """All that a replay walks on: the task, when to stop, who chooses, where losses are wanted."""

    study: Study
    task: Task
    stop: Stop
    policy: Policy
    wanted: tuple[Target, ...]


def begin(asked: ReplayRequest, study: Study, prior: Prior | None = None) -> Begun:
    """The replay asked for, before its first run; ``prior`` replaces what ``learn_from`` says."""
    choices = asked.choices
    options.check_inputs(study, asked.law)
    wanted = replay_options.targets(asked.targets, study, catalogued(asked.study, choices))
    computes = [target.C for target in wanted if not target.sized]
    if asked.rule is not None and not any(math.isclose(asked.rule.compute, C) for C in computes):
        wanted = (*wanted, Target(asked.rule.compute))
        computes.append(asked.rule.compute)
    task = prepare(
        study,
        asked.law,
        hold_out=asked.hold_out,
        targets=computes,
        pricing=asked.pricing,
        slice_by=asked.method.slice_by or "C",
        force=asked.force,
    )
    learnt = prior or prior_from(asked.learn_from, entries=choices.entries)
    task = replace(task, prior=learnt)
    replay_options.check_pool(asked.method, task)
    stop = replace(replay_options.stop_rule(asked.iterations, asked.budget, task), rule=asked.rule)
    return Begun(study, task, stop, asked.policy(computes, task.prior), wanted)


def finish(
    asked: ReplayRequest, begun: Begun, steps: Sequence[Step], *, interrupted: bool
) -> Replayed:
    """What a replay's steps come to."""
    task, stop, wanted = begun.task, begun.stop, begun.wanted
    replay_options.check_ran(len(steps), stop, task)
    settings = asked.settings(task, stop, wanted)
    trace = Trace(task, begun.policy.name, asked.seed, settings, tuple(steps))
    found = answers_of(task, begun.study, [step.candidate for step in steps], wanted)
    ended = stopped_by(trace, stop, found, interrupted=interrupted)
    return Replayed(begun.study, trace, ended, found)


def run(asked: ReplayRequest) -> Replayed:
    """Replay until the end or Ctrl-C; what was found until then is kept."""
    study = load_study(asked.study, asked.reading, asked.choices.entries)
    begun = begin(asked, study)
    task, stop = begun.task, begun.stop
    with replaying(task, stop) as report_step:
        # Laws fitted together come sooner; where a run takes a second, each is shown at once.
        block = 16 if asked.method.surrogate in FAST else 1
        walk = replay(task, begun.policy, seed=asked.seed, stop=stop, block=block)
        steps, interrupted = collect(walk, report_step)
    if interrupted and not steps:
        raise KeyboardInterrupt
    with working("Working out the answer"):
        return finish(asked, begun, steps, interrupted=interrupted)


def run_replay(asked: ReplayRequest, given: Mapping[str, Any]) -> Replayed:
    """The replay asked for: files and charts where they are wanted, the result on stdout."""
    folder, charts = output_folders(given["out"], given["charts"])
    done = run(asked)
    drawn = draw_replay(charts, done) if charts else Drawn()
    payload = replay_payload(done, drawn)
    written = write_files(payload, done.trace, folder) if folder else ()
    if given["as_json"]:
        print_json(payload)
    else:
        show_replay(stdout(), done, drawn, written)
    return done


def output_folders(out: Path | None, charts: Path | None) -> tuple[Path | None, Path | None]:
    """Where files and charts go, made before the work; charts with the files where not said."""
    files = options.folder(out, "--out") if out else None
    return files, options.folder(charts, "--charts") if charts else files and files / "charts"


def write_files(payload: Json, trace: Trace, folder: Path) -> tuple[Path, ...]:
    """trace.json, the whole object of --json, and steps.csv, one row a run: their paths."""
    paths = folder / "trace.json", folder / "steps.csv"
    rows = step_table(trace)
    write_told(paths[0], json_text(payload) + "\n", where="--out")
    write_told(paths[1], csv_text(list(rows[0]), rows), where="--out")
    return paths


@contextmanager
def replaying(task: Task, stop: Stop) -> Iterator[Report]:
    """A function that shows each step; nothing is shown where stderr is no terminal."""
    with described_bars() as bars:
        bar = bars.add_task(f"{len(task.pool)} runs to choose from", total=1.0)

        def report(step: Step) -> None:
            bars.update(bar, completed=done(step, task, stop), description=described(step, task))

        yield report


def described_bars() -> Progress:
    """Bars on stderr with words beside them, gone at the end; none where it is no terminal."""
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=10),
        TextColumn("{task.description}"),
        console=stderr(),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


def collect(steps: Iterable[Step], report: Report) -> tuple[list[Step], bool]:
    """(the steps, whether Ctrl-C cut them short): what was found until then is kept."""
    found: list[Step] = []
    try:
        for step in steps:
            found.append(step)
            report(step)
    except KeyboardInterrupt:
        return found, True
    return found, False


def done(step: Step, task: Task, stop: Stop) -> float:
    """How much of a replay lies behind, from 0 to 1, by runs or by budget, whichever is nearer."""
    limit = min(len(task.pool), stop.iterations or len(task.pool))
    return max(step.iteration / limit, step.cost / (stop.budget or math.inf))


def described(step: Step, task: Task) -> str:
    """'43/879 runs · 1.2% spent · ≤ 3.2e20 FLOPs · envelope 61/16% · E 1.57, A 795, α -0.152'."""
    parts = [f"{step.iteration}/{len(task.pool)} runs", f"{percent(step.cost_fraction, 2)} spent"]
    if math.isfinite(step.window):
        parts.append(f"≤ {flops(step.window, 2)} FLOPs")
    shares = [share for share in (step.envelope_mixed, step.envelope_observed) if share is not None]
    parts.append(f"envelope {'/'.join(f'{100 * share:.0f}' for share in shares)}%")
    law = step.fantasized or step.observed
    if law is not None:
        values = (f"{symbol(k)} {number(v, 3)}" for k, v in law.params.items())
        parts.append(" ".join(values))
    return " · ".join(parts)
