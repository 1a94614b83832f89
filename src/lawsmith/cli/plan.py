"""A plan on the terminal: how wide the intervals would be after each share of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, number, percent, plural
from lawsmith.study.answer import targets_of
from lawsmith.study.live import LiveStudy, open_study
from lawsmith.study.planning import SHARES, Point, plan


def plan_study(file: Path, *, draws: int, as_json: bool) -> None:
    """Play the study through and show what was found."""
    study = open_study(file)
    if not targets_of(study):
        where = f"{study.layout.file.name}: law.targets"
        raise LawsmithError(where, got="none", want="a compute at which the loss is to be known")
    with out.working(f"playing {plural(draws, 'world')} through"):
        points = list(plan(study, draws=draws))
    if as_json:
        out.print_json(_payload(study, points))
    else:
        _show(study, points, draws)


def _payload(study: LiveStudy, points: Sequence[Point]) -> dict[str, object]:
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
    found = []
    for share in SHARES:
        firsts: dict[int, Point] = {}
        for point in points:
            if point.share >= share - 1e-9 or share == SHARES[-1]:
                kept = firsts.get(point.draw)
                # The last share is where the money ends, which is rarely at its last cent.
                if kept is None or share == SHARES[-1]:
                    firsts[point.draw] = point
        if not firsts:
            continue
        widths = np.array([point.half_width for point in firsts.values()])
        runs = float(np.median([point.n_runs for point in firsts.values()]))
        known = np.where(np.isnan(widths), np.inf, widths)
        found.append((share, runs, np.median(known, axis=0).tolist()))
    return found


def _show(study: LiveStudy, points: Sequence[Point], draws: int) -> None:
    console = out.stdout()
    level = percent(study.spec.law.level)
    console.print(Text(f"{study.spec.name}: what to expect of the budget", style="bold"))
    targets = [f"± at {flops(C)}" for C in targets_of(study)]
    rows = []
    for share, runs, widths in expected(points):
        cells = [percent(w, 2) if np.isfinite(w) else "no law yet" for w in widths]
        rows.append((percent(share), flops(share * study.budget), number(runs, 3), *cells))
    out.table(console, "", ("committed", "FLOPs", "runs", *targets), rows)
    console.print()
    out.prose(
        console,
        f"Half-width of the {level} interval of the best loss, as a share of it: the median over "
        f"{plural(draws, 'synthetic world')}. It is a forecast from a prior, not a promise.",
    )
