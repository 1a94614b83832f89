"""What `lawsmith check` finds in a study file, as text and as JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.formats import count, flops, percent, plural
from lawsmith.study.checkup import Checkup, check
from lawsmith.study.live import LiveStudy, open_study


def check_study(file: Path, *, as_json: bool) -> None:
    """Print what a study file amounts to, before anything runs."""
    found = check(open_study(file))
    if as_json:
        out.print_json(check_payload(found))
    else:
        show_check(out.stdout(), found)


def show_check(console: Console, found: Checkup) -> None:
    """Candidates, budget, the first command, warnings."""
    study = found.study
    dense = f"{out.spent(study, found.total)} for every candidate"
    if found.total != found.apart:
        dense += f" with trunks shared, {flops(found.apart)} without"
    share = percent(study.budget / found.total)
    largest = plural(found.n_largest, "run")
    console.print(Text(f"{study.spec.name}: {study.layout.file.name} is in order", style="bold"))
    out.facts(
        console,
        [
            ("candidates", _candidates(found)),
            ("compute", f"{flops(found.least)} to {flops(found.largest)} FLOPs a run"),
            ("dense grid", dense),
            ("budget", f"{out.spent(study, study.budget)}: {share} of the dense grid"),
            ("it buys", f"the {found.n_cheap} cheapest candidates, or {largest} of the largest"),
            ("chosen by", f"{study.policy(study.grid).name}, seed {study.spec.seed}"),
            ("law", f"{study.law.formula}{_targets(study)}"),
            ("runs on", _place(study)),
        ],
    )
    if found.command:
        out.heading(console, "The first candidate's command")
        console.print(f"{out.INDENT}{shlex.join(found.command)}", soft_wrap=True)
    if found.warnings:
        out.heading(console, "Warnings")
        for line in found.warnings:
            out.prose(console, line, style="yellow")


def _candidates(found: Checkup) -> str:
    study = found.study
    parts = [f"{len(study.spec.model)} models", f"{len(study.spec.tokens.values)} D"]
    parts += [f"{len(axis.values)} {name}" for name, axis in study.spec.axes.items()]
    kept = plural(len(study.grid), "candidate")
    dense = study.candidates.n_dense
    left = "" if dense == len(study.grid) else f", of {dense} before the constraints"
    sizes = f"N {count(study.grid.N.min())} to {count(study.grid.N.max())}"
    return f"{kept}{left}: {' × '.join(parts)}; {sizes}"


def _place(study: LiveStudy) -> str:
    place = study.spec.runner
    if not place.model_fields_set:
        return "a launcher of your own: lawsmith ask and tell"
    return f"{place.kind}, {place.slots} at a time"


def _targets(study: LiveStudy) -> str:
    computes = ", ".join(flops(C) for C in study.spec.law.targets)
    return f", to be known at {computes} FLOPs" if computes else ""


def check_payload(found: Checkup) -> dict[str, Any]:
    """What `lawsmith check --json` prints."""
    study = found.study
    return {
        "study": study.spec.name,
        "candidates": len(study.grid),
        "candidates_before_constraints": study.candidates.n_dense,
        "compute": {"least": found.least, "largest": found.largest},
        "dense_grid": {"total": found.total, "without_trunks": found.apart},
        "budget": {"flops": study.budget, "share_of_dense_grid": study.budget / found.total},
        "buys": {"cheapest": found.n_cheap, "largest": found.n_largest},
        "law": study.law.name,
        "targets": list(study.spec.law.targets),
        "runner": study.spec.runner.kind,
        "slots": study.spec.runner.slots,
        "command": list(found.command),
        "warnings": list(found.warnings),
    }
