"""Where a replay stood at round budgets."""

from __future__ import annotations

import math

from rich.console import Console

from lawsmith.cli import console as out
from lawsmith.cli.replay_summary import (
    FIT_TEXTS,
    FITS,
    FitName,
    at_budgets,
    scores,
)
from lawsmith.formats import number, percent
from lawsmith.replay import Replayed, Scores

NONE = "–"


def present(done: Replayed) -> list[FitName]:
    """The fits that the replay has; random search has no fantasies."""
    return [fit for fit in FITS if any(scores(step, fit) for step in done.trace.steps)]


def show_budgets(console: Console, done: Replayed) -> None:
    """Runs, envelope and the difference in predicted loss at each round budget."""
    rows, fits = at_budgets(done), present(done)
    if not rows:
        return
    label = next(iter(done.trace.task.targets), None) if fits else None
    and_loss = "" if label is None else f", and loss at {label} against the whole pool's law"
    out.heading(console, f"Envelope recovered{and_loss}")
    mixed = "fantasized" in fits
    shares = ["mixed grid", "observed"] if mixed else ["observed"]
    table = out.table("spent", "runs", *shares, *(FIT_TEXTS[fit] for fit in fits if label))
    for budget, step in rows:
        found = [_share(step.envelope_mixed)] if mixed else []
        cells = [_difference(scores(step, fit), label) for fit in fits if label]
        cells = [*found, _share(step.envelope_observed), *cells]
        table.add_row(percent(budget), str(step.iteration), *cells)
    out.show(console, table)


def _share(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.0f}%"


def _difference(found: Scores | None, label: str) -> str:
    """'+4.92%'."""
    return NONE if found is None else signed(found.extrapolation[label])


def signed(x: float) -> str:
    """'+4.92%', and '+0.00%' whatever the sign of nearly nothing."""
    return f"{round(x, 2) + 0.0:+.2f}%" if math.isfinite(x) else number(x)
