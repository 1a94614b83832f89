"""Further runs and critical batches on the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console

from lawsmith.analysis import Moved
from lawsmith.answer.batch import OVERHEAD, CriticalBatch
from lawsmith.answer.next_runs import NextRun
from lawsmith.answer.text import loss_text
from lawsmith.cli import console as out
from lawsmith.cli.fit_run import Decided
from lawsmith.formats import count, flops, interval, number, percent


def show_decisions(console: Console, found: Decided) -> None:
    """What was asked for of one target."""
    if found.runs:
        show_next(console, found.target.label, found.runs)
    if found.batch is not None:
        show_batch(console, found.batch)


def show_moved(console: Console, found: Sequence[Moved]) -> None:
    """Each target with N as the table counts it, and counted in another way."""
    if not found:
        return
    out.heading(console, f"If N is counted as {found[0].expression}")
    table = out.table("", "loss", "interval", "N", "D", "loss moves by")
    for one in found:
        for label, forecast in ((one.forecast.target.label, one.forecast), ("", one.other)):
            ends = interval(forecast.low, forecast.high, loss_text)
            sizes = [
                count(forecast.scales[name].centre) if name in forecast.scales else ""
                for name in ("N", "D")
            ]
            by = percent(one.loss, 2) if forecast is one.other else ""
            table.add_row(label, loss_text(forecast.loss), ends, *sizes, by)
    out.show(console, table)
    if any(one.matters for one in found):
        text = "The loss leaves its interval: say which N is meant wherever the answer is used."
        out.prose(console, text)


def show_next(console: Console, label: str, runs: tuple[NextRun, ...]) -> None:
    """Runs by how much they narrow the interval for a FLOP, best first."""
    out.heading(console, f"What one more run would change at {label}")
    names = list(runs[0].scales)
    table = out.table("cost", *names, *runs[0].hp, "interval after", "narrower by")
    for run in runs:
        scales = [flops(v) if name == "C" else count(v) for name, v in run.scales.items()]
        hp = [v if isinstance(v, str) else number(v, 3) for v in run.hp.values()]
        after = f"±{percent(run.after, 2)}"
        table.add_row(flops(run.C, 2), *scales, *hp, after, percent(run.narrowed, 2))
    out.show(console, table)
    now = percent(runs[0].before, 2)
    out.prose(console, f"The interval is ±{now} now. Runs that tell most for a FLOP come first.")


def show_batch(console: Console, found: CriticalBatch) -> None:
    """The critical batch, or that the runs do not tell it."""
    at = f"N = {count(found.N)}, D = {count(found.D)}"
    out.heading(console, f"Critical {found.axis} at {at}")
    best = f"The best {found.axis} is {number(found.best, 3)}."
    most = f"costs at most {percent(OVERHEAD)} more tokens for the same loss"
    if not found.identified:
        text = f"Not identified: even {number(found.largest, 3)}, the largest that was run, {most}."
        out.prose(console, f"{text} {best}")
        return
    ends = interval(found.low, found.high, _text)
    text = f"Up to {number(found.critical, 3)} {ends} it {most}."
    if math.isinf(found.high):
        text += " The runs have no larger one to bound it from above."
    out.prose(console, f"{text} {best}")


def _text(value: float) -> str:
    return "beyond" if math.isinf(value) else number(value, 3)
