"""The answer card: the loss at the target, N, D, hyperparameters, and the compute spent."""

from __future__ import annotations

import numpy as np

from lawsmith import charts
from lawsmith.answer import Answer, Forecast
from lawsmith.answer import text as words
from lawsmith.charts.answer import AnswerWithRuns
from lawsmith.datasets import Study
from lawsmith.digest import sentence
from lawsmith.formats import flops, gpu_hours, interval, number, percent, plural
from lawsmith.report import parts
from lawsmith.report.cards.figures import of_answer, place_of
from lawsmith.report.cards.progress import journal_warnings
from lawsmith.report.parts import Card, Listing, Paragraph, Part, Tile, Tiles
from lawsmith.report.source import Live, Source, share_text

AT_EDGE = "at the edge"
UNITS = {"N": "parameters", "D": "tokens", "D/N": "tokens per parameter", "C": "FLOPs"}
MAX_HELD_OUT = 8  # held-out runs that are listed
CAPTION = (
    "Blue: the best so far at each compute. The line is the best loss to expect; the band is its "
    "interval. Hover over a point to see the run."
)


def answer(source: Source) -> Card:
    """The answer of the study, in the numbers that a decision needs."""
    known, answered = source.answer, source.findings.answered
    shown: list[Part] = []
    if known is None or not known.forecasts:
        shown.append(parts.Absent("answer", source.findings.why_no_answer or "no target was named"))
    else:
        shown += [Paragraph(known.verdict), Tiles(tuple(_tiles(known, source)))]
    shown.append(Tiles(tuple(_cost_tiles(source))))
    if known is not None:
        shown += [_listing(known, i) for i in range(1, len(known.forecasts))]
    shown += _links_to_warnings(source)
    if answered is not None:
        shown.append(of_answer(source, "answer", _caption(answered), charts.answer))
        shown += _checks(answered)
    if known is not None and (learnt := words.learnt_text(known)):
        shown.append(Paragraph(f"Learnt from: {learnt}."))
    notes = tuple(map(sentence, source.study.notes))
    shown += [parts.Notes(notes)] if notes else []
    warnings = (*source.study.warnings, *(() if known is None else known.warnings))
    return Card("answer", "The answer", _lead(source), tuple(shown), warnings)


def _lead(source: Source) -> str:
    made = f"{plural(source.spend.n_runs, 'run')}, {share_text(source.spend.share)} of the compute"
    whole = {
        "table": f"{plural(source.spend.n_runs, 'run')} of a finished study",
        "replay": f"A replay that made {made} of the pool",
        "live": f"A study that has asked for {made} of its dense grid",
    }[source.kind]
    if source.answer is None or not source.answer.forecasts:
        return f"{whole}; there is no answer yet."
    summary = words.headline(source.answer, source.answer.forecasts[0])
    return f"{whole}: the best loss to expect is {summary}."


def _tiles(known: Answer, source: Source) -> list[Tile]:
    """A tile for the loss, then one for N, D and each hyperparameter."""
    first = known.forecasts[0]
    level = percent(known.level)
    loss, run, *others = words.lines(first)
    detail = [f"{level} interval {loss.interval}", f"of one further run {run.interval}"]
    detail += [words.beyond(first)]
    detail += [] if source.live is None else [_runs_used(known, source.live)]
    tiles = [Tile(f"Best loss at {first.target.label}", loss.value, "\n".join(detail))]
    return tiles + [_tile(line, level, first, source.study) for line in others]


def _tile(line: words.Line, level: str, forecast: Forecast, study: Study) -> Tile:
    detail = [_unit(line.what, study)]
    detail += [f"{level} interval {line.interval}"] if line.interval else []
    detail += [f"within 0.5% of the best: {line.near}"] if line.near else []
    mark = AT_EDGE if line.what in forecast.at_edge else ""
    return Tile(f"Best {line.what}", line.value, "\n".join(detail), mark)


def _unit(name: str, study: Study) -> str:
    """The unit of an axis; for a hyperparameter, whose unit is not known, the range tried."""
    if name in UNITS:
        return UNITS[name]
    column = study.columns.get(name, name)
    named = "" if column == name else f" (column {column})"
    tried = study.grid.column(name)[study.runs.index]
    if study.grid.hp[name].dtype.kind != "f":
        return f"of {plural(len(set(tried)), 'value')} tried{named}"
    return f"tried {number(float(tried.min()), 3)} to {number(float(tried.max()), 3)}{named}"


def _runs_used(known: Answer, live: Live) -> str:
    """The number of runs in the answer of a live study, which may lack the newest."""
    n = known.n_runs - known.n_diverged
    n_newer = live.n_finished - n
    if n_newer <= 0:
        return f"from all {plural(n, 'finished run')}"
    what = "the newest is" if n_newer == 1 else f"the {n_newer} newest are"
    return f"from {n} of {live.n_finished} finished runs, {what} being added"


def _listing(known: Answer, i: int) -> Listing:
    """The table of a further target."""
    forecast = known.forecasts[i]
    head = f"{forecast.target.label}, {words.beyond(forecast)}"
    columns = [head, words.HEADS[1], f"{percent(known.level)} {words.HEADS[2]}", words.HEADS[3]]
    rows = [tuple(line) for line in words.lines(forecast)]
    if any(row[0] in forecast.at_edge for row in rows):
        columns.append("note")
        rows = [(*row, AT_EDGE if row[0] in forecast.at_edge else "") for row in rows]
    return Listing(f"target-{i + 1}", tuple(columns), tuple(rows))


def _links_to_warnings(source: Source) -> list[Part]:
    """Links to the warnings on other cards."""
    law = () if source.findings.analysis is None else source.findings.analysis.warnings
    places = [(warning.code, place_of(warning)) for warning in law]
    places += [(warning.code, "tasks") for one in source.findings.tasks for warning in one.warnings]
    if source.live is not None:
        places += [(warning.code, "progress") for warning in journal_warnings(source.live)]
    items = tuple((f"{code} ({place})", place) for code, place in dict.fromkeys(places))
    return [parts.Links("Warnings further down:", items)] if items else []


def _caption(answered: AnswerWithRuns) -> str:
    text = f"Grey: every run. {CAPTION}"
    if answered.pool_answer is not None:
        text = f"Pale blue: runs. Grey: runs of the pool not made. {CAPTION}"
        text += " The grey line is the answer from all runs of the pool."
    if answered.answer.held_out is not None:
        text += " Stars are the best of the runs held out, which the answer does not use."
    if len(answered.answer.forecasts) > 1:
        text += " The line ends at the nearest target beyond the runs."
    return text


def _checks(answered: AnswerWithRuns) -> list[Part]:
    """The answer compared with held-out runs, and with the answer of the whole pool."""
    known, pool_answer, shown = answered.answer, answered.pool_answer, list[Part]()
    if known.held_out is not None:
        shown.append(Paragraph(f"Held out: {words.held_out_text(known)}."))
    if pool_answer is not None and known.forecasts:
        shown.append(Paragraph(_pool_text(known.forecasts[0], pool_answer)))
    return [*shown, *_held_out(known)]


def _held_out(known: Answer) -> list[Part]:
    """The largest held-out runs, each with its prediction."""
    judged = known.held_out
    if judged is None or not len(judged.rows):
        return []
    rows = []
    for i in np.argsort(-judged.C)[:MAX_HELD_OUT].tolist():
        C, loss, predicted = (float(v[i]) for v in (judged.C, judged.measured, judged.predicted))
        ends = interval(float(judged.low[i]), float(judged.high[i]), words.loss_text)
        off, held = percent(abs(predicted / loss - 1.0), 2), "yes" if judged.inside[i] else "no"
        rows.append((flops(C), words.loss_text(loss), words.loss_text(predicted), off, ends, held))
    level = f"{percent(known.level)} interval of a run"
    heads = (
        "FLOPs of a held-out run",
        "loss",
        "predicted",
        "error",
        level,
        "inside",
    )
    return [Listing("unseen", heads, tuple(rows))]


def _pool_text(chosen: Forecast, pool_answer: Answer) -> str:
    """The forecast of the runs chosen compared with that of the whole pool."""
    whole = pool_answer.forecasts[0]
    off = percent(abs(chosen.loss / whole.loss - 1.0), 2)
    ends = interval(whole.low, whole.high, words.loss_text)
    return (
        f"The whole pool ({words.rests_on(pool_answer)}) gives {words.loss_text(whole.loss)} "
        f"{ends} at {chosen.target.label}; the answer from the chosen runs differs by {off}."
    )


def _cost_tiles(source: Source) -> list[Tile]:
    spend = source.spend
    detail = [
        f"FLOPs{gpu_hours(spend.spent, spend.flops_per_second)}, {plural(spend.n_runs, 'run')}"
    ]
    whole = f"FLOPs for all {spend.n_dense} candidates"
    if source.kind == "table":
        whole = f"FLOPs: the {spend.n_dense} configurations run here, once each"
    else:
        detail.append(f"{share_text(spend.share)} of the dense grid")
        more = 0 < spend.share < 0.9995
        whole += f", {number(1 / spend.share, 3)} times as much" if more else ""
    if spend.budget is not None:
        detail.append(f"{share_text(spend.spent / spend.budget)} of the budget")
    spent = Tile("Compute spent", flops(spend.spent), "\n".join(detail))
    return [spent, Tile("A dense grid", flops(spend.dense), whole)]
