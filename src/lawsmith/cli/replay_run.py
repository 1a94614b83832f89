"""What `lawsmith replay` does with its options: load, prepare, replay with a bar, report."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawsmith.answer import Target
from lawsmith.cli import options
from lawsmith.cli.console import json_text, print_json, stderr, stdout, working
from lawsmith.cli.replay import ReplayRequest
from lawsmith.cli.replay_options import (
    CHOICES,
    Choices,
    catalogued,
    check_pool,
    check_ran,
    method,
    split,
    stop_rule,
    targets,
)
from lawsmith.cli.replay_view import show_replay
from lawsmith.cli.views import Drawn, draw_replay
from lawsmith.costs import Apart, Trunks
from lawsmith.datasets import ReadOptions, Study
from lawsmith.files import write_told
from lawsmith.formats import flops, number, percent, symbol
from lawsmith.grid import HeldOut
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
from lawsmith.replay.steps import step_table
from lawsmith.spreadsheet import csv_text
from lawsmith.study.live import prior_from
from lawsmith.surface import PUBLIC, Prior

FAST = ("surface", "gp", "none")  # surrogates whose steps take milliseconds

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[Step], None]


@dataclass(frozen=True)
class Setup:
    """What was asked of a replay, with what is so whatever its runs are."""

    asked: ReplayRequest
    method: Method
    hold_out: HeldOut
    reading: ReadOptions
    choices: Choices = CHOICES

    def settings(self, task: Task, stop: Stop, wanted: Sequence[Target]) -> dict[str, Any]:
        """For the record: all that decides the result, but for the study and the seed."""
        asked, reading = self.asked, self.reading
        return {
            **self.method.settings(),
            "law": asked.law.name,
            "hold_out": str(self.hold_out),
            "iterations": asked.iterations,
            "budget": None if stop.budget is None else stop.budget / task.total_compute,
            "stop_when": None if asked.rule is None else str(asked.rule),
            "trunk_decay": asked.pricing.decay if isinstance(asked.pricing, Trunks) else None,
            "targets": [target.plain for target in wanted],
            "learn_from": list(asked.learn_from or ()) or None,
            "force": asked.force,
            "columns": dict(reading.columns) or None,
            "skip_bad_rows": reading.skip_bad_rows,
            "ignore": list(reading.ignore) or None,
            "where": reading.where,
            "drop_largest_loss": reading.drop_largest_loss,
            "diverged_above": reading.diverged_above,
            "compute": reading.compute,
        }

    def policy(self, computes: Sequence[float], prior: Prior = PUBLIC) -> Policy:
        """The policy that chooses; it knows the target, the prices and what was learnt before."""
        asked = self.asked
        target = asked.rule.compute if asked.rule else min(computes, default=None)
        priced = asked.pricing or Apart()
        how = replace(self.method, target=target, pricing=priced, prior=prior)
        surrogate = how.make_surrogate(self.choices.make_surrogate)
        return self.choices.make_policy(how.policy, surrogate, **how.options())


def set_up(
    asked: ReplayRequest, choices: Choices = CHOICES, further: Mapping[str, Any] | None = None
) -> Setup:
    """Check what was asked before the study is read; ``further`` is for the surrogate."""
    known = catalogued(asked.study, choices)
    names = ("kernel", "priors", "scale", "acquisition", "kappa", "reach", "slice_by")
    given = {name: getattr(asked, name) for name in names} | {"further": further}
    how = method(
        asked.policy, asked.surrogate, asked.n_init, known=known, given=given, choices=choices
    )
    rule = split(asked.hold_out, asked.law, known)
    return Setup(asked, how, rule, options.reading(asked), choices)


@dataclass(frozen=True, eq=False)
class Begun:
    """All that a replay walks on: the task, when to stop, who chooses, where losses are wanted."""

    study: Study
    task: Task
    stop: Stop
    policy: Policy
    wanted: tuple[Target, ...]


def begin(setup: Setup, study: Study, prior: Prior | None = None) -> Begun:
    """The replay asked for, before its first run; ``prior`` replaces what ``learn_from`` says."""
    asked, entries = setup.asked, setup.choices.entries
    options.check_inputs(study, asked.law)
    wanted = targets(asked.targets, study, catalogued(asked.study, setup.choices))
    computes = [target.C for target in wanted if not target.sized]
    if asked.rule is not None and not any(math.isclose(asked.rule.compute, C) for C in computes):
        wanted = (*wanted, Target(asked.rule.compute))
        computes.append(asked.rule.compute)
    task = prepare(
        study,
        asked.law,
        hold_out=setup.hold_out,
        targets=computes,
        pricing=asked.pricing or Apart(),
        slice_by=setup.method.slice_by or "C",
        force=asked.force,
    )
    task = replace(task, prior=prior or prior_from(asked.learn_from or (), entries=entries))
    check_pool(setup.method, task)
    stop = replace(stop_rule(asked.iterations, asked.budget, task), rule=asked.rule)
    return Begun(study, task, stop, setup.policy(computes, task.prior), wanted)


def finish(setup: Setup, begun: Begun, steps: Sequence[Step], *, interrupted: bool) -> Replayed:
    """What a replay's steps come to."""
    task, stop, wanted = begun.task, begun.stop, begun.wanted
    check_ran(len(steps), stop, task)
    settings = setup.settings(task, stop, wanted)
    trace = Trace(task, begun.policy.name, setup.asked.seed, settings, tuple(steps))
    found = answers_of(task, begun.study, [step.candidate for step in steps], wanted)
    ended = stopped_by(trace, stop, found, interrupted=interrupted)
    return Replayed(begun.study, trace, ended, found)


def run(setup: Setup) -> Replayed:
    """Replay until the end or Ctrl-C; what was found until then is kept."""
    study = options.load_study(setup.asked.study, setup.reading, setup.choices.entries)
    begun = begin(setup, study)
    task, stop = begun.task, begun.stop
    with replaying(task, stop) as report_step:
        # Laws fitted together come sooner; where a run takes a second, each is shown at once.
        block = 16 if setup.method.surrogate in FAST else 1
        walk = replay(task, begun.policy, seed=setup.asked.seed, stop=stop, block=block)
        steps, interrupted = collect(walk, report_step)
    if interrupted and not steps:
        raise KeyboardInterrupt
    with working("Working out the answer"):
        return finish(setup, begun, steps, interrupted=interrupted)


def run_replay(setup: Setup) -> Replayed:
    """The replay asked for: files and charts where they are wanted, the result on stdout."""
    asked = setup.asked
    folder, charts = output_folders(asked.out, asked.charts)
    done = run(setup)
    drawn = draw_replay(charts, done) if charts else Drawn()
    payload = {**done.to_dict(), "charts": drawn.paths, "charts_missing": drawn.missing}
    written = write_files(payload, done.trace, folder) if folder else ()
    if asked.as_json:
        print_json(payload)
    else:
        show_replay(stdout(), done, drawn, written)
    return done


def output_folders(out: Path | None, charts: Path | None) -> tuple[Path | None, Path | None]:
    """Where files and charts go, made before the work; charts with the files where not said."""
    files = options.folder(out, "--out") if out else None
    return files, options.folder(charts, "--charts") if charts else files and files / "charts"


def write_files(payload: dict[str, Any], trace: Trace, folder: Path) -> tuple[Path, ...]:
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
