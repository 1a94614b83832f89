"""Cards of a study over time: its state, the next runs, failures, what the compute bought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite, nan

from lawsmith import charts
from lawsmith.answer.text import loss_text
from lawsmith.formats import count, flops, gpu_hours, plural
from lawsmith.journal import Trial
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report import parts
from lawsmith.report.parts import Absent, Card, Figure, Listing, Part, Tile, Tiles, figure
from lawsmith.report.source import Live, Source, share_text
from lawsmith.study.answer import (
    ENDED,
    best_of,
    config_text,
    failures_of,
    saved_text,
    window_of,
)

NO_ORDER = (
    "a table does not tell in which order its runs were made; lawsmith replay shows the answer "
    "from fewer runs"
)
MAX_LISTED = 12  # runs under way, and failures
LOG_LINES = 12  # of a failed run


def progress(source: Source) -> Card | None:
    """The state of a live study: spend, runs by stage, window; None for other sources."""
    live, spend = source.live, source.spend
    if live is None or spend.budget is None:
        return None
    committed = share_text(spend.spent / spend.budget)
    amounts = [
        f"{flops(C)} FLOPs{gpu_hours(C, spend.flops_per_second)}"
        for C in (spend.spent, spend.budget)
    ]
    tiles = [Tile("Budget committed", committed, " of ".join(amounts))]
    counts = live.ledger.counts()
    tiles += [Tile(stage.capitalize(), str(n)) for stage, n in counts.items() if n]
    shown: list[Part] = [Tiles(tuple(tiles)), parts.Facts(tuple(_facts(live)))]
    if under_way := live.ledger.open():
        shown.append(_under_way(under_way))
    if live.stopped and live.stopped[0].kind == "run":  # trunks are shown with their curves
        shown.append(parts.stopped_listing(live.stopped))
    ended = live.ledger.ended
    lead = f"Ended: {ENDED.get(ended, ended)}" if ended else _going(live)
    return Card("progress", "Where it stands", f"{lead}.", tuple(shown), journal_warnings(live))


def _going(live: Live) -> str:
    if live.driver is None and live.by_hand:
        return "Runs are launched by hand. Continue with lawsmith ask and lawsmith tell"
    if live.driver is None:
        return "No driver is running. Continue with lawsmith run"
    return f"Driven by {live.driver}"


def _facts(live: Live) -> list[tuple[str, str]]:
    reached, largest = window_of(live.study, live.history)
    text = "no run has a result yet"
    if reached is not None:
        text = f"up to {flops(reached)} FLOPs so far; candidates have up to {flops(largest)}"
    facts = [("window", text)]
    best, n_excluded = best_of(live.ledger), int(live.history.excluded.sum())
    if best is not None and best.loss is not None:
        config = config_text(best.config)
        facts.append(("best run", f"{loss_text(best.loss)} by {best.name} ({config})"))
    if live.stopped:
        facts.append(("stopped", saved_text(live.stopped, live.study.budget)))
    return facts + ([("excluded", plural(n_excluded, "candidate"))] if n_excluded else [])


def _under_way(trials: Sequence[Trial]) -> Listing:
    columns = ("under way", "stage", "configuration", "last report", "FLOPs")
    rows = tuple(
        (t.name, t.stage.value, config_text(t.config), _report(t), flops(t.cost))
        for t in trials[:MAX_LISTED]
    )
    return Listing("under-way", columns, rows, n_words=3)


def _report(trial: Trial) -> str:
    if trial.report is None:
        return "–"
    tokens, value = trial.report
    return f"{loss_text(value)} at {count(tokens)} tokens"


def journal_warnings(live: Live) -> tuple[Diagnostic, ...]:
    """Warnings about the journal of a live study."""
    warnings = []
    if live.study.journal.torn:
        text = "the last line of the journal is incomplete after a crash and is ignored"
        warnings.append(Diagnostic("incomplete_journal", text))
    if live.history.unmatched:
        text = (
            f"{plural(live.history.unmatched, 'run')} match no candidate: not in the fit, not drawn"
        )
        warnings.append(Diagnostic("unmatched_runs", text))
    return tuple(warnings)


def next_runs(source: Source) -> Card | None:
    """The runs that would be asked for next, with their acquisition values."""
    if source.live is None:
        return None
    title, lead = "What comes next", "Runs that lawsmith would ask for now, and why."
    ended, proposals = source.live.ledger.ended, source.findings.proposals
    if not proposals:
        why = source.findings.why_not_next or "not computed yet"
        why = ENDED.get(ended, ended) if ended else why
        return Card("next", title, lead, (Absent("next", why),))
    names = list(dict.fromkeys(name for one in proposals for name in one.values))
    rows = [
        (config_text(p.config), p.why, flops(p.cost), *(p.values.get(n, "–") for n in names))
        for p in proposals
    ]
    heads = ("configuration", "reason", "FLOPs", *names)
    return Card("next", title, lead, (Listing("next", heads, tuple(rows), n_words=2),))


def failures(source: Source) -> Card | None:
    """Runs that failed, with the ends of their logs; None if there are none."""
    live = source.live
    failed = () if live is None else failures_of(live.study, live.ledger, lines=LOG_LINES)
    if not failed:
        return None
    shown: list[Part] = []
    for one in failed[-MAX_LISTED:]:
        trial = one.trial
        title = f"{trial.name}, {trial.stage.value}: {trial.remark} ({config_text(trial.config)})"
        shown.append(parts.Log(title, one.tail or "no log"))
    lead = "Runs that failed or will be tried again, with the end of each log."
    return Card("failures", "What failed", lead, tuple(shown))


def spend(source: Source) -> Card:
    """How the interval narrowed with the compute spent."""
    caption = "The best loss to expect at the target with its interval, as runs were added."
    answered = source.findings.answered
    whole = None if answered is None else answered.pool_answer
    loss = whole.forecasts[0].loss if whole is not None and whole.forecasts else nan
    draw = partial(charts.narrowing, source.findings.moments, name=source.name, reference=loss)
    lead = "How the interval of the answer narrowed as compute was spent."
    part = _in_order(source, "narrowing", caption, draw)
    return Card("spend", "What the compute bought", lead, (part,))


def timeline(source: Source) -> Card:
    """The runs over time, and the window that they were chosen from."""
    caption = "Above: the compute of each run, where it ended. Below: the compute spent so far."
    if source.live is not None and source.live.by_hand:
        caption += " A run launched by hand lasts from its proposal to its result."
    if len({a.window for a in source.attempts if isfinite(a.window)}) > 1:
        caption += " The dotted line is the window: the largest compute that a run could have."
    until = 0.0 if source.live is None else source.live.until
    draw = partial(charts.timeline, source.attempts, until=until, name=source.name)
    lead = "When each run was made, and its compute."
    part = _in_order(source, "timeline", caption, draw)
    return Card("timeline", "Runs over time", lead, (part,))


def _in_order(
    source: Source, name: str, caption: str, draw: Callable[..., charts.Chart]
) -> Figure | Absent:
    """A chart of runs in their order, or for a table, why there is none."""
    return Absent(name, NO_ORDER) if source.kind == "table" else figure(name, caption, draw)
