"""`lawsmith check` and `plan`: what a study file describes, and what to expect of its budget."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from lawsmith.cli import console as out
from lawsmith.cli.commands import CheckRequest, PlanRequest
from lawsmith.digest import Columns, Digest
from lawsmith.errors import LawsmithError
from lawsmith.formats import count, flops, number, percent, plural
from lawsmith.study.answer import targets_of
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.study.planning import SHARES, Checkup, Point, check, plan


def check_study(request: CheckRequest) -> None:
    """Print what a study file describes, before anything runs."""
    checkup = check(open_study(request.study))
    if request.as_json:
        out.print_json(check_payload(checkup))
    else:
        show_check(checkup)


def show_check(checkup: Checkup) -> None:
    """Show candidates, budget, the first command and warnings."""
    study = checkup.study
    dense = f"{out.spent(study, checkup.total)} for every candidate"
    if checkup.total != checkup.apart:
        dense += f" with trunks shared, {flops(checkup.apart)} without"
    share = percent(study.budget / checkup.total)
    largest = plural(checkup.n_largest, "run")
    out.title(f"{study.spec.name}: {study.layout.file.name} is in order")
    out.facts(
        {
            "candidates": _candidates(checkup),
            "compute": f"{flops(checkup.least)} to {flops(checkup.largest)} FLOPs a run",
            "dense grid": dense,
            "budget": f"{out.spent(study, study.budget)}: {share} of the dense grid",
            "enough for": f"the {checkup.n_cheap} cheapest candidates, or {largest} of the largest",
            "chosen by": f"{study.policy(study.grid).name}, seed {study.spec.seed}",
            "law": f"{study.law.formula}{_targets(study)}",
            "runs on": _place(study),
        }
    )
    command = [shlex.join(checkup.command)] if checkup.command else []
    out.paths(command, "The first candidate's command")
    if checkup.warnings:
        out.heading("Warnings")
        for line in checkup.warnings:
            out.prose(line, style="yellow")


def _candidates(checkup: Checkup) -> str:
    study = checkup.study
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


def check_payload(checkup: Checkup) -> dict[str, Any]:
    """What `lawsmith check --json` prints."""
    study = checkup.study
    return {
        "study": study.spec.name,
        "candidates": len(study.grid),
        "candidates_before_constraints": study.candidates.n_dense,
        "compute": {"least": checkup.least, "largest": checkup.largest},
        "dense_grid": {"total": checkup.total, "without_trunks": checkup.apart},
        "budget": {"flops": study.budget, "share_of_dense_grid": study.budget / checkup.total},
        "buys": {"cheapest": checkup.n_cheap, "largest": checkup.n_largest},
        "law": study.law.name,
        "targets": list(study.spec.law.targets),
        "runner": study.spec.runner.kind,
        "slots": study.spec.runner.slots,
        "command": list(checkup.command),
        "warnings": list(checkup.warnings),
    }


def plan_study(request: PlanRequest) -> None:
    """Simulate the study and show the intervals to expect."""
    study = open_study(request.study)
    if not targets_of(study):
        where = f"{study.layout.file.name}: law.targets"
        raise LawsmithError(where, got="none", want="a compute at which the loss is to be known")
    with out.working(f"running {plural(request.draws, 'simulation')}"):
        points = list(plan(study, draws=request.draws))
    if request.as_json:
        out.print_json(plan_payload(study, points))
    else:
        show_plan(study, points, request.draws)


def plan_payload(study: LiveStudy, points: Sequence[Point]) -> dict[str, Any]:
    """What `lawsmith plan --json` prints."""
    return {
        "study": study.spec.name,
        "budget": study.budget,
        "targets": targets_of(study),
        "level": study.spec.law.level,
        "points": [asdict(point) for point in points],
        "expected": [
            {"share": share, "spend": share * study.budget, "n_runs": runs, "half_width": widths}
            for share, runs, widths in expected(points)
        ],
    }


def expected(points: Sequence[Point]) -> list[tuple[float, float, list[float]]]:
    """(share, runs, half-width at each target): medians over the draws, at or above each share."""
    draws: dict[int, list[Point]] = {}
    for point in points:
        draws.setdefault(point.draw, []).append(point)
    medians = []
    for share in SHARES:
        reached = [[p for p in draw if p.share >= share - 1e-9] for draw in draws.values()]
        at = [draw[0] for draw in reached if draw]
        if share == SHARES[-1]:  # the end of the study, which rarely spends its whole budget
            at = [draw[-1] for draw in draws.values()]
        if at:
            widths = np.array([point.half_width for point in at])
            known = np.where(np.isnan(widths), np.inf, widths)
            runs = float(np.median([point.n_runs for point in at]))
            medians.append((share, runs, np.median(known, axis=0).tolist()))
    return medians


def show_plan(study: LiveStudy, points: Sequence[Point], draws: int) -> None:
    """Show the interval to expect after each share of the budget."""
    level = percent(study.spec.law.level)
    out.title(f"{study.spec.name}: what to expect of the budget")
    targets = [f"± at {flops(C)}" for C in targets_of(study)]
    rows = []
    for share, runs, widths in expected(points):
        cells = [percent(w, 2) if np.isfinite(w) else "no answer yet" for w in widths]
        rows.append((percent(share), flops(share * study.budget), number(runs, 3), *cells))
    table = Columns("", ("committed", "FLOPs", "runs", *targets), rows)
    text = (
        f"± is half the width of the {level} interval of the best loss, as a share of it: the "
        f"median over {plural(draws, 'simulation')}. It is a forecast from a prior, not a promise."
    )
    out.show(Digest("", [table, text]))
