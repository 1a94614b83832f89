"""What `lawsmith replay` does with its options: load, prepare, replay with a bar, report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isclose
from pathlib import Path
from typing import Any

import typer

from lawsmith.cli.console import downloads, stdout
from lawsmith.cli.draw import Drawn, draw_replay
from lawsmith.cli.options import check_inputs
from lawsmith.cli.replay_ends import check_ran, stop_rule
from lawsmith.cli.replay_files import json_text, write_files
from lawsmith.cli.replay_options import Method, check_pool
from lawsmith.cli.replay_payload import replay_payload
from lawsmith.cli.replay_progress import collect, replaying
from lawsmith.cli.replay_summary import Replayed, stopped_by
from lawsmith.cli.replay_view import show_replay
from lawsmith.costs import Apart, Pricing, Trunks
from lawsmith.datasets import ReadOptions, load
from lawsmith.grid import HeldOut
from lawsmith.laws.law import Law
from lawsmith.outlook import Outlook
from lawsmith.policies import Policy
from lawsmith.replay import Stop, Task, Trace, outlook_after, prepare, replay
from lawsmith.runs import Runs
from lawsmith.stopping import StopRule
from lawsmith.threads import one_thread


@dataclass(frozen=True)
class Asked:
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
    targets: tuple[float, ...]
    rule: StopRule | None = None
    pricing: Pricing = field(default_factory=Apart)

    def settings(self, task: Task, stop: Stop) -> dict[str, Any]:
        """For the record: all that decides the result, but for the study and the seed."""
        return {
            **self.method.settings(),
            "law": self.law.name,
            "hold_out": str(self.hold_out),
            "iterations": self.iterations,
            "budget": None if stop.budget is None else stop.budget / task.total_compute,
            "stop_when": None if self.rule is None else str(self.rule),
            "trunk_decay": self.pricing.decay if isinstance(self.pricing, Trunks) else None,
            "extrapolate_to": list(task.targets),
            "force": self.force,
            "columns": dict(self.reading.columns) or None,
            "skip_bad_rows": self.reading.skip_bad_rows,
            "where": self.reading.where,
            "drop_largest_loss": self.reading.drop_largest_loss,
            "diverged_above": self.reading.diverged_above,
            "compute": self.reading.compute,
        }

    def make_policy(self, stop: Stop) -> Policy:
        """The policy that chooses; it knows the target and the budget."""
        return self.method.make_policy(
            self.seed,
            self.law,
            target=self.rule.compute if self.rule else min(self.targets, default=None),
            budget=stop.budget,
            pricing=self.pricing,
        )


def run(asked: Asked) -> Replayed:
    """Replay until the end or Ctrl-C; what was found until then is kept."""
    with downloads() as progress:
        study = load(asked.study, asked.reading, progress=progress)
    check_inputs(study, asked.law)
    task = prepare(
        study,
        asked.law,
        hold_out=asked.hold_out,
        extrapolate_to=asked.targets,
        pricing=asked.pricing,
        force=asked.force,
    )
    check_pool(asked.method, task)
    stop = replace(stop_rule(asked.iterations, asked.budget, task), rule=asked.rule)
    policy = asked.make_policy(stop)
    with replaying(task, stop) as report_step:
        # Laws fitted together come sooner; where a run takes a second, each is shown at once.
        block = 16 if asked.method.surrogate in ("trend", "gp", "none") else 1
        walk = replay(task, policy, seed=asked.seed, stop=stop, block=block)
        steps, interrupted = collect(walk, report_step)
    if interrupted and not steps:
        raise KeyboardInterrupt
    check_ran(len(steps), stop, task)
    settings = asked.settings(task, stop)
    trace = Trace(task, policy.name, asked.seed, settings, tuple(steps))
    seen = final_outlook(trace, policy, asked)
    ended = stopped_by(trace, stop, seen, interrupted=interrupted)
    return Replayed(study, trace, ended, seen)


def final_outlook(trace: Trace, policy: Policy, asked: Asked) -> Outlook | None:
    """What the runs of a replay say of the law by its end, at its targets and its rule's."""
    rows = [step.candidate for step in trace.steps]
    runs = Runs.from_losses(rows, trace.task.loss[rows])
    computes = list(asked.targets) if trace.task.targets else []  # labels are rounded
    if asked.rule is not None and not any(isclose(asked.rule.compute, C) for C in computes):
        computes.append(asked.rule.compute)
    with one_thread():
        return outlook_after(trace.task, policy, runs, computes, seed=trace.seed)


def report(done: Replayed, *, folder: Path | None, charts: Path | None, as_json: bool) -> None:
    """Charts and files where they are asked for, then the result on stdout."""
    drawn = draw_replay(done.trace, charts) if charts else Drawn()
    payload = replay_payload(done, drawn)
    written = write_files(payload, done.trace, folder) if folder else ()
    if as_json:
        typer.echo(json_text(payload))
    else:
        show_replay(stdout(), done, drawn, written)
