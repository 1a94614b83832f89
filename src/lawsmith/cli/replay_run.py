"""What `lawsmith replay` does with its options: load, prepare, replay with a bar, report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from lawsmith.cli.console import downloads, stdout
from lawsmith.cli.draw import Drawn, draw_replay
from lawsmith.cli.options import check_inputs
from lawsmith.cli.replay_files import json_text, write_files
from lawsmith.cli.replay_options import Method, check_pool, check_ran, stop_rule
from lawsmith.cli.replay_payload import replay_payload
from lawsmith.cli.replay_progress import collect, replaying
from lawsmith.cli.replay_summary import Replayed, stopped_by
from lawsmith.cli.replay_view import show_replay
from lawsmith.datasets import ReadOptions, load
from lawsmith.grid import HeldOut
from lawsmith.laws.law import Law
from lawsmith.replay import Stop, Task, Trace, prepare, replay


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

    def settings(self, task: Task, stop: Stop) -> dict[str, Any]:
        """For the record: all that decides the result, but for the study and the seed."""
        return {
            **self.method.settings(),
            "law": self.law.name,
            "hold_out": str(self.hold_out),
            "iterations": self.iterations,
            "budget": None if stop.budget is None else stop.budget / task.total_compute,
            "extrapolate_to": list(task.targets),
            "force": self.force,
            "where": self.reading.where,
            "drop_largest_loss": self.reading.drop_largest_loss,
            "diverged_above": self.reading.diverged_above,
            "compute": self.reading.compute,
        }


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
        force=asked.force,
    )
    check_pool(asked.method, task)
    stop = stop_rule(asked.iterations, asked.budget, task)
    target = min(asked.targets, default=None)
    policy = asked.method.make_policy(asked.seed, asked.law, target, stop.budget)
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
    return Replayed(study, trace, stopped_by(trace, stop, interrupted=interrupted))


def report(done: Replayed, *, folder: Path | None, charts: Path | None, as_json: bool) -> None:
    """Charts and files where they are asked for, then the result on stdout."""
    drawn = draw_replay(done.trace, charts) if charts else Drawn()
    payload = replay_payload(done, drawn)
    written = write_files(payload, done.trace, folder) if folder else ()
    if as_json:
        typer.echo(json_text(payload))
    else:
        show_replay(stdout(), done, drawn, written)
