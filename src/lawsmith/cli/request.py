"""What `fit` and `report` are asked: their options as values, and the table that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lawsmith.analysis import FitOptions, with_curves
from lawsmith.answer import Target
from lawsmith.cli import options as read
from lawsmith.cli.console import downloads
from lawsmith.curves import Along
from lawsmith.datasets import ENTRIES, CurveOptions, Entry, ReadOptions, Study, load, load_curves
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.law import Law
from lawsmith.laws.own import read_law
from lawsmith.tasks import Task


@dataclass(frozen=True)
class Request:
    """The options of a fit; those whose meaning depends on the table or the law as text."""

    table: str
    reading: ReadOptions
    hold_out: HeldOut | None
    targets: tuple[tuple[str, str], ...]
    level: float
    tasks: tuple[Task, ...]
    via: str
    curves: str | None
    curve_reading: CurveOptions | None
    learn_from: tuple[str, ...]
    law: Law | None
    fix: tuple[str, ...]
    prior: tuple[str, ...]
    objective: str | None
    delta: float | None
    force: bool
    seed: int
    compare: bool
    inference_tokens: float | None
    n_next: int
    critical_batch: bool
    other_n: str | None

    @property
    def about_the_law(self) -> bool:
        """Whether options say which law is fitted, or how."""
        texts = self.law or self.fix or self.prior or self.objective or self.force
        return bool(texts) or self.delta is not None


def request_of(given: Mapping[str, Any]) -> Request:
    """The options of `fit`, and those of them that `report` has, checked before a table is read."""
    get = given.get
    asked = Request(
        table=given["table"],
        reading=read.reading(given),
        hold_out=HeldOut.parse(given["hold_out"]) if given["hold_out"] else None,
        targets=read.target_texts(given["context"].obj or ()),
        level=read.level(given["level"]),
        tasks=read.tasks(given),
        via=given["via"] or "",
        curves=given["curves"],
        curve_reading=read.curve_options(given),
        learn_from=tuple(get("learn_from") or ()),
        law=read_law(given["law"]) if given["law"] else None,
        fix=tuple(get("fix") or ()),
        prior=tuple(get("prior") or ()),
        objective=get("objective"),
        delta=get("delta"),
        force=given["force"],
        seed=given["seed"],
        compare=get("compare", False),
        inference_tokens=read.tokens(get("inference_tokens"), "--inference-tokens"),
        n_next=get("next_runs", 0),
        critical_batch=get("critical_batch", False),
        other_n=get("other_n"),
    )
    read.targets(asked.targets)
    return asked


def load_study(source: str, reading: ReadOptions, entries: Mapping[str, Entry] = ENTRIES) -> Study:
    """The runs of a table or of a published study; a download shows its progress."""
    with downloads() as progress:
        return load(source, reading, progress=progress, entries=entries)


def read_runs(asked: Request) -> tuple[Study, Along | None, tuple[Target, ...]]:
    """The runs, the curves beside them, and the targets, whose names are then known."""
    study = load_study(asked.table, asked.reading)
    table, along = study.curves, None
    if asked.curves is not None and asked.curve_reading is not None:
        options = replace(asked.curve_reading, carry=tuple(study.grid.hp))
        table = load_curves(asked.curves, options)
    if table is not None:
        joined, along = with_curves(study, table)
        study = replace(joined, notes=(*joined.notes, *along.notes))
    return study, along, read.targets(asked.targets, list(study.grid.hp))


def law_options(study: Study, asked: Request, law: Law, targets: Sequence[Target]) -> FitOptions:
    """How a law is fitted to a study; it knows no hyperparameters but its own inputs."""
    read.check_inputs(study, law)
    pinned = read.fixed(asked.fix, law)
    return FitOptions(
        law=law,
        hold_out=asked.hold_out,
        targets=tuple(target for target in targets if set(target.hp) <= set(law.inputs)),
        objective=read.objective(asked.objective, asked.delta, law),
        fixed=pinned,
        priors=read.priors(asked.prior, law, pinned),
        level=asked.level,
        force=asked.force,
        seed=asked.seed,
    )


def law_for(study: Study, asked: Request) -> Law:
    """The law asked for, else the study's usual one."""
    return asked.law or get_law(read.law_of(study))
