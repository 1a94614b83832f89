"""What `lawsmith replay` does with its options: load, prepare, replay with a bar, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lawsmith.answer import Target
from lawsmith.cli.console import downloads, stdout, working
from lawsmith.cli.draw import Drawn, draw_replay
from lawsmith.cli.options import check_inputs, columns, diverged_above, ignored, in_order
from lawsmith.cli.replay_ends import answer_rule, budget, check_ran, pricing, stop_rule
from lawsmith.cli.replay_files import json_text, write_files
from lawsmith.cli.replay_options import (
    CHOICES,
    Choices,
    catalogued,
    check_pool,
    method,
    split,
    targets,
)
from lawsmith.cli.replay_payload import replay_payload
from lawsmith.cli.replay_progress import collect, replaying
from lawsmith.cli.replay_view import show_replay
from lawsmith.costs import Apart, Pricing, Trunks
from lawsmith.datasets import ReadOptions, Study, load
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
from lawsmith.stopping import StopRule
from lawsmith.study.earlier import prior_from
from lawsmith.surface import PUBLIC, Prior

FAST = ("surface", "gp", "none")  # surrogates whose steps take milliseconds

if TYPE_CHECKING:
    from lawsmith.charts import Answered


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
    how = method(
        given["policy"],
        given["surrogate"],
        given["n_init"],
        known=known,
        given={name: given.get(name) for name in names},
        choices=choices,
    )
    return ReplayRequest(
        study=given["study"],
        reading=ReadOptions(
            columns=columns(given["columns"] or ()),
            ignore=ignored(given["ignore"]),
            where=given["where"],
            drop_largest_loss=given["drop_largest_loss"],
            skip_bad_rows=given["skip_bad_rows"],
            diverged_above=diverged_above(given["diverged_above"]),
            compute=given["compute"],
        ),
        law=law,
        hold_out=split(given["hold_out"], law, known),
        force=given["force"],
        method=how,
        choices=choices,
        seed=given["seed"],
        iterations=given["iterations"],
        budget=budget(given["budget"]),
        learn_from=tuple(given.get("learn_from") or ()),
        rule=answer_rule(given["stop_when"]),
        pricing=pricing(given["trunk_decay"]),
        targets=tuple(in_order(given["args"], ("--target", "--at"))),
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
    check_inputs(study, asked.law)
    wanted = targets(asked.targets, study, catalogued(asked.study, choices))
    computes = [target.C for target in wanted if not target.sized]
    if asked.rule is not None and not any(isclose(asked.rule.compute, C) for C in computes):
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
    check_pool(asked.method, task)
    stop = replace(stop_rule(asked.iterations, asked.budget, task), rule=asked.rule)
    return Begun(study, task, stop, asked.policy(computes, task.prior), wanted)


def finish(
    asked: ReplayRequest, begun: Begun, steps: Sequence[Step], *, interrupted: bool
) -> Replayed:
    """What a replay's steps come to."""
    task, stop, wanted = begun.task, begun.stop, begun.wanted
    check_ran(len(steps), stop, task)
    settings = asked.settings(task, stop, wanted)
    trace = Trace(task, begun.policy.name, asked.seed, settings, tuple(steps))
    found = answers_of(task, begun.study, [step.candidate for step in steps], wanted)
    ended = stopped_by(trace, stop, found, interrupted=interrupted)
    return Replayed(begun.study, trace, ended, found)


def run(asked: ReplayRequest) -> Replayed:
    """Replay until the end or Ctrl-C; what was found until then is kept."""
    with downloads() as progress:
        study = load(asked.study, asked.reading, progress=progress, entries=asked.choices.entries)
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


def report(done: Replayed, folders: tuple[Path | None, Path | None], *, as_json: bool) -> None:
    """Files and charts where they are asked for, then the result on stdout."""
    folder, charts = folders
    drawn = draw_replay(done.trace, _answered(done), charts) if charts else Drawn()
    payload = replay_payload(done, drawn)
    written = write_files(payload, done.trace, folder) if folder else ()
    if as_json:
        typer.echo(json_text(payload))
    else:
        show_replay(stdout(), done, drawn, written)


def _answered(done: Replayed) -> Answered | None:
    from lawsmith.charts.answer import answered_in  # here: pandas is slow to import

    return None if done.answers is None else answered_in(done.trace, done.study, done.answers)
