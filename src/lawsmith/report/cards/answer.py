"""The answer: the loss at the target, N and D, hyperparameters, and what it cost to know."""

from __future__ import annotations

from lawsmith.formats import count, flops, number, percent, plural
from lawsmith.laws.uncertainty import Interval
from lawsmith.report.cards.cautions import cautions
from lawsmith.report.forecast import Forecast, Settings, Shares, forecasts, settings, shares
from lawsmith.report.parts import Absent, Card, Listing, Notes, Part, Tile, Tiles
from lawsmith.report.source import Live, Source
from lawsmith.report.words import compute_text, ends, loss, share_text

TITLE = "The answer"


def answer(source: Source) -> Card:
    """What the study says, in the numbers a decision needs."""
    found, best = forecasts(source), shares(source)
    parts: list[Part] = []
    if found:
        parts.append(Tiles((_loss_tile(found[0], source), *_share_tiles(source, best))))
    else:
        parts.append(Absent("answer", _why_not(source)))
    tuned = settings(source)
    parts.append(Tiles((*_setting_tiles(tuned), *_cost_tiles(source))))
    if len(found) > 1:
        parts.append(_targets(found, source))
    parts.append(Notes(tuple(_remarks(source, best, tuned))))
    return Card("answer", TITLE, _lead(source, found), tuple(parts), cautions(source, "answer"))


def _lead(source: Source, found: tuple[Forecast, ...]) -> str:
    made = f"{plural(source.spend.n_runs, 'run')}, {share_text(source.spend.share)} of the compute"
    whole = {
        "table": f"{plural(source.spend.n_runs, 'run')} of a finished study",
        "replay": f"A replay that made {made} of the pool",
        "live": f"A study that has asked for {made} of its dense grid",
    }[source.kind]
    if not found:
        return f"{whole}; there is no law yet."
    law, where = source.law.formula, found[0].label
    return f"{whole}: by {law} the best loss to expect at {where} is {_said(found[0])}."


def _said(forecast: Forecast) -> str:
    if not forecast.intervals:
        return loss(forecast.loss)
    return (
        f"{loss(forecast.loss)}, and likely within {ends(next(iter(forecast.intervals.values())))}"
    )


def _why_not(source: Source) -> str:
    if source.why_no_law:
        return source.why_no_law
    if source.kind == "table":
        return "no target was named: --target 1e25 predicts the loss there"
    return "the search has no outlook: too few runs for the law, or a surrogate without draws"


def _loss_tile(forecast: Forecast, source: Source) -> Tile:
    detail = [
        f"{percent(source.level)} interval of {name}: {ends(interval)}"
        for name, interval in forecast.intervals.items()
    ]
    detail += [] if source.live is None else [_rests_on(source.n_answered, source.live)]
    return Tile(f"Loss at {forecast.label}", loss(forecast.loss), "\n".join(detail))


def _rests_on(n: int, live: Live) -> str:
    """What the answer of a live study rests on; a page may be ahead of it."""
    late = live.n_finished - n
    if late <= 0:
        return f"from all {plural(n, 'finished run')}"
    what = "the newest is" if late == 1 else f"the {late} newest are"
    return f"from {n} of {live.n_finished} finished runs, {what} being worked in"


def _share_tiles(source: Source, best: Shares | None) -> list[Tile]:
    if best is None:
        return []
    law = "" if best.law is source.law else "by a law of N and D"
    tiles = [
        Tile("Best parameters N*", count(best.N.centre), ends(best.N, count)),
        Tile("Best tokens D*", count(best.D.centre), ends(best.D, count)),
        Tile("Tokens per parameter", number(best.ratio.centre, 3), ends(best.ratio, _ratio)),
    ]
    return [Tile(t.label, t.value, "\n".join(filter(None, (t.detail, law)))) for t in tiles]


def _ratio(value: float) -> str:
    return number(value, 3)


def _setting_tiles(found: Settings | None) -> list[Tile]:
    if found is None:
        return []
    return [
        Tile(
            f"Best {one.axis}",
            one.value if isinstance(one.value, str) else number(one.value, 3),
            "\n".join(filter(None, (_spread(one.interval), one.origin))),
        )
        for one in found.settings
    ]


def _spread(interval: Interval | None) -> str:
    return "" if interval is None else ends(interval, lambda v: number(v, 3))


def _cost_tiles(source: Source) -> list[Tile]:
    spend = source.spend
    spent = Tile("Compute spent", flops(spend.spent), _spent_detail(source))
    if source.kind == "table":
        what = f"FLOPs: the {spend.n_dense} configurations run here, once each"
        return [spent, Tile("A dense grid", flops(spend.dense), what)]
    whole = f"all {spend.n_dense} candidates"
    saved = f", {number(1 / spend.share, 3)} times as much" if 0 < spend.share < 0.9995 else ""
    return [spent, Tile("A dense grid", flops(spend.dense), f"FLOPs for {whole}{saved}")]


def _spent_detail(source: Source) -> str:
    spend = source.spend
    lines = [f"FLOPs, {plural(spend.n_runs, 'run')}"]
    if source.kind != "table":
        lines.append(f"{share_text(spend.share)} of the dense grid")
    if spend.budget is not None:
        lines.append(f"{share_text(spend.spent / spend.budget)} of the budget")
    if spend.flops_per_second is not None:
        lines[0] = f"{compute_text(spend, spend.spent)}, {plural(spend.n_runs, 'run')}"
    return "\n".join(lines)


def _targets(found: tuple[Forecast, ...], source: Source) -> Listing:
    names = list(dict.fromkeys(name for forecast in found for name in forecast.intervals))
    level = percent(source.level)
    columns = ("loss at", "expected", *(f"{level}, {name}" for name in names), "decades beyond")
    rows = tuple(
        (
            forecast.label,
            loss(forecast.loss),
            *(ends(forecast.intervals[n]) if n in forecast.intervals else "–" for n in names),
            f"{forecast.decades:.1f}",
        )
        for forecast in found
    )
    return Listing("targets", columns, rows)


def _remarks(source: Source, best: Shares | None, tuned: Settings | None) -> list[str]:
    """Where the numbers of the tiles are from."""
    told = []
    if best is not None and best.law is not source.law:
        told.append(
            f"N* and D* are how to divide that compute between parameters and tokens, by "
            f"{best.law.formula} on the same losses: {source.law.formula} does not say."
        )
    if best is None and source.kind == "table" and source.why_no_shares:
        told.append(f"N* and D* are not known: {source.why_no_shares}.")
    if tuned is not None:
        told.append(f"Hyperparameters: {tuned.how}.")
    if source.seen is not None:
        told.append(
            "Decide by the interval of the true loss: it counts the runs not made, the noise of "
            "those made, that the best of noisy runs look better than they are, and the misfit of "
            "the law's form. That of the law of all candidates counts only the runs not made: it "
            "is where the dense grid's own law would have come out."
        )
    return [*told, *(_sentence(note) for note in source.study.notes)]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
