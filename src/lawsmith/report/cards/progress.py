"""A live study's own cards: where it stands, what comes next and why, what failed."""

from __future__ import annotations

from lawsmith.formats import flops, plural
from lawsmith.journal import Trial
from lawsmith.report.parts import Absent, Card, Caution, Facts, Listing, Log, Part, Tile, Tiles
from lawsmith.report.source import Live, Source
from lawsmith.report.words import compute_text, config_text, loss, share_text

ENDED = {
    "budget": "the budget is committed",
    "candidates": "no candidate is left",
    "stop rule": "the answer is known as well as was asked",
}
MOST = 12


def progress(source: Source) -> Card | None:
    """Spend, runs by stage, the window; None for what is no live study."""
    live, spend = source.live, source.spend
    if live is None or spend.budget is None:
        return None
    committed = share_text(spend.spent / spend.budget)
    detail = f"{compute_text(spend, spend.spent)} of {compute_text(spend, spend.budget)}"
    tiles = [Tile("Budget committed", committed, detail)]
    tiles += [Tile(stage.capitalize(), str(n)) for stage, n in live.counts.items()]
    parts: list[Part] = [Tiles(tuple(tiles)), Facts(tuple(_facts(live)))]
    if live.under_way:
        parts.append(_under_way(live))
    ended = ENDED.get(live.ended, live.ended) if live.ended else ""
    lead = f"Ended: {ended}" if ended else _going(live)
    return Card("progress", "Where it stands", f"{lead}.", tuple(parts), _cautions(live))


def _going(live: Live) -> str:
    if live.driver is None and live.by_hand:
        return "Runs are launched by hand; lawsmith ask and lawsmith tell go on from here"
    if live.driver is None:
        return "No driver is at work; lawsmith run goes on from here"
    return f"Driven by {live.driver}"


def _facts(live: Live) -> list[tuple[str, str]]:
    reached = "no run has a result yet"
    if live.reached is not None:
        reached = (
            f"runs of up to {flops(live.reached)} FLOPs so far; candidates of up to "
            f"{flops(live.largest)}"
        )
    found = [("window", reached)]
    if live.best is not None and live.best.loss is not None:
        config = config_text(live.best.config)
        found.append(("best run", f"{loss(live.best.loss)} by {live.best.name} ({config})"))
    if live.n_excluded:
        found.append(("excluded", plural(live.n_excluded, "candidate")))
    return found


def _under_way(live: Live) -> Listing:
    columns = ("under way", "stage", "configuration", "on the way", "FLOPs")
    rows = tuple(
        (t.name, t.stage.value, config_text(t.config), _report(t), flops(t.cost))
        for t in live.under_way[:MOST]
    )
    return Listing("under-way", columns, rows, n_words=3)


def _report(trial: Trial) -> str:
    if trial.report is None:
        return "–"
    tokens, value = trial.report
    return f"{loss(value)} at {tokens:.3g} tokens"


def _cautions(live: Live) -> tuple[Caution, ...]:
    found = []
    if live.torn:
        found.append(Caution("torn", "the journal's last line was torn by a crash and is left out"))
    if live.strangers:
        n = plural(live.strangers, "run")
        found.append(Caution("strangers", f"{n} of no candidate: not in the fit, nor drawn"))
    return tuple(found)


def proposals(source: Source) -> Card | None:
    """What would be asked for next, with acquisition values."""
    if source.live is None:
        return None
    title, lead = "What comes next", "Runs that would be asked for now, and what speaks for them."
    if not source.reasons:
        ended = source.live.ended
        why = ENDED.get(ended, ended) if ended else source.why_not_next or "not worked out yet"
        return Card("next", title, lead, (Absent("next", why),))
    names = list(dict.fromkeys(name for one in source.reasons for name in one.values))
    rows = tuple(
        (
            config_text(one.config),
            one.why,
            flops(one.cost),
            *(one.values.get(n, "–") for n in names),
        )
        for one in source.reasons
    )
    listing = Listing("next", ("configuration", "chosen", "FLOPs", *names), rows, n_words=2)
    return Card("next", title, lead, (listing,))


def failures(source: Source) -> Card | None:
    """Runs that failed, with the ends of their logs; None where none did."""
    if source.live is None or not source.live.failures:
        return None
    parts: list[Part] = []
    for one in source.live.failures[-MOST:]:
        trial = one.trial
        reason = ": ".join(filter(None, (trial.reason, trial.detail)))
        title = f"{trial.name}, {trial.stage.value}: {reason} ({config_text(trial.config)})"
        parts.append(Log(title, one.tail or "no log"))
    lead = "What failed or waits to be tried again, with the end of each log."
    return Card("failures", "What failed", lead, tuple(parts))
