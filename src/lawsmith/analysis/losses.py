"""Answers for several losses of the same runs, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lawsmith.answer import Answer, Origin, Target, answer, default_target
from lawsmith.arrays import FloatArray
from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.runs import Runs, State


def reading_of(name: str, names: Sequence[str], options: ReadOptions) -> ReadOptions:
    """How to read the table for one of several losses: the others are kept beside it."""
    if len(set(names)) < len(names):
        raise LawsmithError("losses", got="a column twice", want="each column once")
    return replace(options, columns={**options.columns, "loss": name}, metrics=tuple(names))


def answer_losses(
    studies: Mapping[str, Study],
    targets: Sequence[float | Target] = (),
    *,
    level: float = 0.95,
    hold_out: HeldOut | None = None,
) -> dict[str, Answer]:
    """The answer for each loss at the same targets.

    studies   by the name of their loss: one table, read with `reading_of` for each

    A run that has one of the losses and lacks another did not diverge: what it lacks was not
    measured. Where another loss says what it would be, it is inferred (`lawsmith.answer.related`).
    """
    told = {name: _measured(study, name) for name, study in studies.items()}
    wanted = [t if isinstance(t, Target) else Target(float(t)) for t in targets]
    if not wanted:
        usual = [default_target(s.grid, s.runs) for s in told.values() if s.has_compute]
        wanted = [max(usual, key=lambda target: target.C)] if usual else []
    found = {}
    for name, study in told.items():
        made = answer(
            study.grid,
            study.runs,
            wanted,
            study=study.name,
            level=level,
            held_out=None if hold_out is None else study.grid.split(hold_out)[1],
            others=_others(study, name),
        )
        found[name] = replace(made, origin=Origin(study, hold_out))
    return found


def _others(study: Study, name: str) -> dict[str, FloatArray]:
    """The other losses, where some run lacks this one."""
    if not len(study.runs.of(State.PENDING)):
        return {}
    return {other: values for other, values in study.metrics.items() if other != name}


def _measured(study: Study, name: str) -> Study:
    """The study with runs as pending that lack this loss and have another one."""
    runs = study.runs
    others = [np.isfinite(v) for other, v in study.metrics.items() if other != name]
    has_other = np.logical_or.reduce(others) if others else np.zeros(len(runs), dtype=np.bool_)
    lacking = np.isnan(study.metrics[name]) & has_other
    state = np.where(lacking, State.PENDING.value, runs.state)
    return replace(study, runs=Runs(runs.index, runs.loss, state))
