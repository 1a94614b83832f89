"""All of `lawsmith replay` on the terminal: every number is in the JSON as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lawsmith.answer.text import listing
from lawsmith.cli import console as out
from lawsmith.cli import views
from lawsmith.digest import Digest, as_notes
from lawsmith.formats import digits, figure, flops, percent, plural
from lawsmith.replay import Replayed, Scores
from lawsmith.replay.replayed import at_budgets, signed, whole_pool
from lawsmith.replay.steps import FITS, scores

NONE = "–"
FIT_TEXTS = {"fantasized": "observed + fantasized", "observed": "observed only"}
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


def show_replay(
    console: Console, done: Replayed, drawn: views.Drawn, written: Sequence[Path]
) -> None:
    """What was replayed, the law found, how it came closer, what it took, where files are."""
    show_head(console, done)
    views.show_reading(console, done.study)
    if done.answers is not None:
        found = listing(done.answers.chosen)
        out.show(console, Digest("", [found, *whole_pool(done.answers)]))
    show_laws(console, done)
    show_budgets(console, done)
    out.show(console, Digest("", as_notes(done.trace.task.notes)))
    views.show_charts(console, drawn)
    out.paths(console, written, "Written")


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
    settings = done.trace.settings
    n_first = int(str(settings["n_init"]))
    start = plural(n_first, "initial run")
    model = [
        str(settings["surrogate"]),
        *(str(settings[k]) for k in ("kernel", "priors") if settings[k]),
    ]
    model += ["of log loss"] if settings["scale"] == "log" else []
    if settings["policy"] == "frontier":
        words = [" ".join(model), "answer and envelope by turns", "per FLOP"]
        return ", ".join([*words, start] if n_first else words)
    if settings["policy"] in _PLAIN:
        filled = [] if settings["surrogate"] == "none" else [f"the others fantasized by {model[0]}"]
        first = [] if settings["policy"] == "cheapest" else [start]  # which has no initial design
        return ", ".join([_PLAIN[str(settings["policy"])], *filled, *first])
    space = _space(settings)
    if settings["surrogate"] == "none":
        return f"random search in {space}, {start}"
    rule = (
        f"lcb κ = {settings['kappa']:g}"
        if settings["acquisition"] == "lcb"
        else settings["acquisition"]
    )
    return f"{' '.join(model)}, {rule} in {space}, {start}"


def _space(settings: Mapping[str, object]) -> str:
    """Where a search looks: the whole pool, a window, or what a window adds."""
    if settings["policy"] in ("full", "random"):
        return "the whole pool"
    kind = "the new slice of a window" if settings["policy"] == "slice" else "a window"
    by = "" if settings["slice_by"] == "C" else f" in {settings['slice_by']}"
    return f"{kind} of reach {settings['reach']:g}{by}"


def _held_out(done: Replayed) -> str:
    task, grid = done.trace.task, done.study.grid
    text = views.held_out_text(task.hold_out, grid)
    if not len(task.held_out.loss):
        return text
    n, n_beyond = len(task.held_out.loss), int(task.held_out.beyond.sum())
    beyond = "" if n_beyond == n else f", {n_beyond} of them not dominated by the pool"
    return f"{text}, {n} on their frontier{beyond}"


def show_laws(console: Console, done: Replayed) -> None:
    """The law of the whole pool beside those found by the end."""
    task, reference = done.trace.task, done.trace.task.reference
    laws = {FIT_TEXTS[fit]: law for fit in FITS if (law := scores(done.last, fit)) is not None}
    whole = reference.validation
    rows = [
        (
            name,
            _value(value, whole.log_params.get(name)),
            *(_value(s.params[name], s.log_params.get(name)) for s in laws.values()),
        )
        for name, value in whole.params.items()
    ]
    for label, loss in reference.losses.items():
        cells = (_loss(loss, s, label) for s in laws.values())
        rows.append((f"loss at {label}", digits(loss, ".4f"), *cells))
    rows.append(("points", str(whole.n_points), *(str(s.n_points) for s in laws.values())))
    out.heading(console, f"{task.law.formula}: of the whole pool, and as found")
    if not laws:
        out.prose(console, "No law was found: too few runs on the frontier.")
    out.table(console, "", ("", "whole pool", *laws), rows)


def _value(natural: float, log: float | None) -> str:
    return figure(natural) if log is None else f"{figure(natural)} (ln {figure(log)})"


def _loss(reference: float, found: Scores, label: str) -> str:
    off = found.extrapolation[label]
    return f"{digits(reference * (1 + off / 100), '.4f')} ({signed(off)})"


def show_budgets(console: Console, done: Replayed) -> None:
    """Runs, envelope and the difference in predicted loss at each round budget."""
    # Random search has no fantasies.
    fits = [fit for fit in FITS if any(scores(step, fit) for step in done.trace.steps)]
    label = next(iter(done.trace.task.targets), None) if fits else None
    mixed = "fantasized" in fits
    rows = []
    for budget, step in at_budgets(done):
        shares = ([step.envelope_mixed] if mixed else []) + [step.envelope_observed]
        found = [NONE if share is None else f"{100 * share:.0f}%" for share in shares]
        laws = [scores(step, fit) for fit in fits if label]
        off = [NONE if law is None else signed(law.extrapolation[str(label)]) for law in laws]
        rows.append((percent(budget), str(step.iteration), *found, *off))
    if not rows:
        return
    and_loss = "" if label is None else f", and loss at {label} against the whole pool's law"
    names = [*(["mixed grid"] if mixed else []), "observed"]
    heads = ("spent", "runs", *names, *(FIT_TEXTS[fit] for fit in fits if label))
    out.table(console, f"Envelope recovered{and_loss}", heads, rows)
