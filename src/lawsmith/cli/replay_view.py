"""All of `lawsmith replay` on the terminal: every number is in the JSON as well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.cli.console import figure
from lawsmith.cli.draw import Drawn
from lawsmith.cli.fit_view import show_charts, show_notes
from lawsmith.cli.outlook_view import show_outlook
from lawsmith.cli.replay_summary import FIT_TEXTS, Replayed
from lawsmith.cli.replay_tables import show_budgets, show_distances, show_goals, signed
from lawsmith.cli.study_view import held_out_text
from lawsmith.formats import flops, percent, plural
from lawsmith.replay import Scores

_TRUNKS = "runs that differ in D alone share a trunk, paid once"
_PLAIN = {
    "cheapest": "cheapest first",
    "vopt": "V-optimality: the variance of the linearised law, per cost",
}
_ENDED = {
    "exhausted": "the pool is exhausted",
    "iterations": "as many runs as asked for",
    "budget": "the next run would have exceeded the budget",
    "answered": "the answer is known as well as asked for",
    "interrupted": "interrupted, these results are partial",
}


def show_replay(console: Console, done: Replayed, drawn: Drawn, written: Sequence[Path]) -> None:
    """What was replayed, the law found, how it came closer, what it took, where files are."""
    show_head(console, done)
    show_laws(console, done)
    if done.outlook is not None:
        show_outlook(console, done.outlook)
    show_budgets(console, done)
    show_distances(console, done)
    show_goals(console, done)
    show_notes(console, done.trace.task.notes)
    show_charts(console, drawn)
    if written:
        out.heading(console, "Written")
        out.paths(console, written)


def show_head(console: Console, done: Replayed) -> None:
    """Title, labelled where the study is synthetic, and facts."""
    task, trace, last = done.trace.task, done.trace, done.last
    label = " (synthetic)" if task.synthetic and "synthetic" not in task.title else ""
    console.print(Text(task.title + label, style="bold"))
    pool = f"{plural(len(task.pool), 'configuration')}, {flops(task.total_compute)} FLOPs in all"
    ran = f"{plural(last.iteration, 'run')}, {percent(last.cost_fraction)} of that compute"
    out.facts(
        console,
        [
            *([] if task.study == task.title else [("study", task.study)]),
            ("chosen by", f"{_method(done)}; seed {trace.seed}"),
            ("pool", pool),
            *([("prices", _TRUNKS)] if trace.settings["trunk_decay"] else []),
            ("held out", _held_out(done)),
            ("ran", f"{ran}: {_ENDED[done.stopped]}"),
        ],
    )


def _method(done: Replayed) -> str:
    told = done.trace.settings
    start = f"{plural(int(str(told['n_init'])), 'initial run')}"
    model = [str(told["surrogate"]), *(str(told[k]) for k in ("kernel", "priors") if told[k])]
    model += ["of log loss"] if told["scale"] == "log" else []
    if told["policy"] == "frontier":
        return f"{' '.join(model)}, envelope and law by turns, per FLOP, {start}"
    if told["policy"] in _PLAIN:
        filled = [] if told["surrogate"] == "none" else [f"the others fantasized by {model[0]}"]
        first = [] if told["policy"] == "cheapest" else [start]  # which has no initial design
        return ", ".join([_PLAIN[str(told["policy"])], *filled, *first])
    full = told["policy"] in ("full", "random")
    space = "the whole pool" if full else f"a window of reach {told['reach']:g}"
    if told["surrogate"] == "none":
        return f"random search in {space}, {start}"
    rule = f"lcb κ = {told['kappa']:g}" if told["acquisition"] == "lcb" else told["acquisition"]
    return f"{' '.join(model)}, {rule} in {space}, {start}"


def _held_out(done: Replayed) -> str:
    task, grid = done.trace.task, done.study.grid
    text = held_out_text(task.hold_out, grid, len(grid) - len(task.pool))
    n, n_beyond = len(task.held_out.loss), int(task.held_out.beyond.sum())
    beyond = "" if n_beyond == n else f", {n_beyond} of them not dominated by the pool"
    return f"{text}, {n} on their frontier{beyond}"


def show_laws(console: Console, done: Replayed) -> None:
    """The law of the whole pool beside those found by the end."""
    task, last = done.trace.task, done.last
    found = {FIT_TEXTS["fantasized"]: last.fantasized, FIT_TEXTS["observed"]: last.observed}
    laws = {name: law for name, law in found.items() if law is not None}
    out.heading(console, f"{task.law.formula}: of the whole pool, and as found")
    if not laws:
        out.prose(console, "No law was found: too few runs on the frontier.")
    table = out.table("", "whole pool", *laws)
    reference = task.reference.validation
    for name, value in reference.params.items():
        own = _value(value, reference.log_params.get(name))
        table.add_row(
            name, own, *(_value(s.params[name], s.log_params.get(name)) for s in laws.values())
        )
    for label, loss in task.reference.losses.items():
        cells = (_loss(loss, s, label) for s in laws.values())
        table.add_row(f"loss at {label}", f"{loss:.4f}", *cells)
    table.add_row("points", str(reference.n_points), *(str(s.n_points) for s in laws.values()))
    out.show(console, table)


def _value(natural: float, log: float | None) -> str:
    return figure(natural) if log is None else f"{figure(natural)} (ln {figure(log)})"


def _loss(reference: float, found: Scores, label: str) -> str:
    off = found.extrapolation[label]
    return f"{reference * (1 + off / 100):.4f} ({signed(off)})"
