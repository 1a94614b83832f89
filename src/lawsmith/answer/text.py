"""An answer as text for people, and as plain values, which every ``--json`` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from lawsmith.curves.gain import GAIN_SD
from lawsmith.digest import Columns, Digest, Part, as_warnings
from lawsmith.formats import count, flops, formatted, interval, number, percent, plural
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.surface import Range

if TYPE_CHECKING:
    from lawsmith.answer.records import Answer, AnyAnswer, Forecast, HeldOutRuns
    from lawsmith.answer.related import OtherLosses
    from lawsmith.curves import CurveFinding

Json = dict[str, Any]
NO_ANSWER: Json = {"answers": [], "verdict": None, "held_out_runs": None, "answer_warnings": []}
NUMBERS = ("loss", "low", "high", "run_low", "run_high", "decades")  # of a forecast


class Line(NamedTuple):
    """One row of a forecast: name, value, interval, and the range that is nearly as good."""

    what: str
    value: str
    interval: str
    near: str = ""


def loss_text(value: float) -> str:
    """A loss with four digits, including zeros: 1.740."""
    return formatted(value, "#.4g")


def loss_cells(forecast: Forecast) -> tuple[str, str]:
    """The loss and its interval, as text."""
    return loss_text(forecast.loss), interval(forecast.low, forecast.high, loss_text)


def headline(answer: Answer, forecast: Forecast) -> str:
    """'1.813 at 1e23 FLOPs, 95% interval [1.759, 1.850]'."""
    loss, ends = loss_cells(forecast)
    return f"{loss} at {forecast.target.label}, {percent(answer.level)} interval {ends}"


def lines(forecast: Forecast) -> list[Line]:
    """The loss, a further run, N, D, D/N and every hyperparameter of a forecast."""
    rows = [
        Line("best loss", *loss_cells(forecast)),
        Line(
            "one further run",
            loss_text(forecast.loss),
            interval(forecast.run_low, forecast.run_high, loss_text),
        ),
    ]
    if not forecast.target.sized:
        rows += [_line(name, r, FORMS.get(name, _short)) for name, r in forecast.scales.items()]
    given = forecast.target.hp
    rows += [_line(name, r, _short) for name, r in forecast.hp.items() if name not in given]
    rows += [Line(name, value, "") for name, value in forecast.levels.items() if name not in given]
    return rows


def _short(value: float) -> str:
    return number(value, 3)


FORMS: dict[str, Callable[[float], str]] = {"N": count, "D": count, "C": flops}


def _line(name: str, value: Range, form: Callable[[float], str]) -> Line:
    return Line(
        name,
        form(value.centre),
        interval(value.low, value.high, form),
        interval(value.near_low, value.near_high, form),
    )


def beyond(forecast: Forecast) -> str:
    """How far a target lies beyond the data, and the curve that its loss is predicted from."""
    source = f", from the curve of {forecast.source}" if forecast.source else ""
    return f"{distance(forecast.decades, ' of compute')}{source}"


def distance(decades: float, of: str = "") -> str:
    """'inside the data', '1.3 decades of compute beyond the largest run'."""
    if decades <= 0.0:
        return "inside the data"
    return f"{formatted(decades, '.1f')} decades{of} beyond the largest run"


def rests_on(answer: AnyAnswer) -> str:
    """'909 runs, 3 of them diverged, up to 1.5e22 FLOPs'."""
    diverged = f", {answer.n_diverged} of them diverged" if answer.n_diverged else ""
    return f"{plural(answer.n_runs, 'run')}{diverged}, up to {flops(answer.largest)} FLOPs"


def learnt_text(answer: Answer) -> str:
    """'26 public studies and last.csv (91 runs)'; '' if the prior was learnt from no study."""
    studies = [f"{len(answer.public)} public studies"] if answer.public else []
    studies += [f"{one.study} ({plural(one.n_runs, 'run')})" for one in answer.learnt_from]
    return " and ".join([", ".join(studies[:-1]), studies[-1]] if len(studies) > 1 else studies)


def held_out_text(answer: Answer) -> str:
    """'5 of 6 held-out best runs inside, median error 0.4%'; '' without any."""
    runs = answer.held_out
    if runs is None:
        return ""
    inside = f"{int(runs.inside.sum())} of {plural(len(runs.rows), 'held-out best run')}"
    level = percent(answer.level)
    return f"{inside} inside their {level} intervals, median error {percent(runs.median_error, 2)}"


def curves_text(found: CurveFinding) -> str:
    """What the answer learnt from losses along runs."""
    parts = []
    if found.n_branches:
        learnt = f"{plural(found.n_branches, 'run')} of {plural(found.n_trunks, 'trunk')}"
        parts.append(f"a decay takes {percent(found.gain, 2)} off the loss of a trunk, by {learnt}")
    elif any(end.kind == "trunk" for end in found.ends):
        assumed = f"assumed to take {percent(found.gain, 2)} ± {percent(GAIN_SD, 2)} off the loss"
        parts.append(f"no run is a branch of a trunk, so a decay is {assumed}")
    if found.n_rows:
        parts.append(f"the surface has {plural(found.n_rows, 'row')} from curves")
    return "; ".join([*parts, *found.notes]) or "none of them was used"


def basis(answer: Answer) -> dict[str, str]:
    """What the answer uses beside its runs: a sentence for each that there is."""
    texts = {
        "Held out": held_out_text(answer),
        "Learnt from": learnt_text(answer),
        "Curves": "" if answer.curves is None else curves_text(answer.curves),
        "Other losses": "" if answer.others is None else others_text(answer.others),
    }
    return {name: text for name, text in texts.items() if text}


def others_text(others: OtherLosses) -> str:
    """What the answer learnt from other losses of its runs; '' if every run has this one."""
    if not others.n_without:
        return ""
    lacking = f"{plural(others.n_without, 'run')} without this loss"
    if not others.relations:
        return f"{lacking} left out, because no other loss predicts it well enough"
    inferred = [
        f"{one.n_rows} inferred from {one.name} ({plural(one.n_shared, 'run')} with both, which "
        f"scatter by {percent(one.scatter, 2)})"
        for one in others.relations
    ]
    left = others.n_without - sum(one.n_rows for one in others.relations)
    inferred += [f"{left} left out"] if left else []
    return f"{lacking}: {'; '.join(inferred)}"


HEADS = ("", "value", "interval", "within 0.5% of the best")
WARNINGS = "Warnings about the answer"


def listing(answer: Answer) -> Digest:
    """The verdict, a table for each target, what else was used, ends of runs, warnings."""
    what, value, ends, near = HEADS
    heads = (what, value, f"{percent(answer.level)} {ends}", near)
    parts: list[Part] = [
        Columns(f"{one.target.label}, {beyond(one)}", heads, lines(one)) for one in answer.forecasts
    ]
    parts += [f"{name}: {text}." for name, text in basis(answer).items()]
    if rows := _unfinished(answer):
        heads = ("run", "D", "loss", f"{percent(answer.level)} of that run")
        parts.append(Columns("Ends of unfinished runs", heads, rows))
    return digest_of(answer, parts)


def digest_of(answer: AnyAnswer, parts: Sequence[Part]) -> Digest:
    """The verdict, then ``parts``, then warnings."""
    verdict = [answer.verdict] if answer.verdict else []
    warned = as_warnings(WARNINGS, answer.warnings)
    title = f"Answer{answer.about}, from {rests_on(answer)}"
    return Digest(title, [*verdict, *parts, *warned])


def _unfinished(answer: Answer) -> list[tuple[str, str, str, str]]:
    """Name, tokens, loss and interval at the end of each run that is not finished."""
    return [
        (run.run, count(run.D), loss_text(run.loss), interval(run.run_low, run.run_high, loss_text))
        for run in (answer.curves.ends if answer.curves else ())
        if run.kind == "scheduled"
    ]


def payload(answer: Answer) -> Json:
    """``answers`` in the order of the targets, and what they are based on."""
    values: Json = {
        "answers": [forecast_payload(f, answer.level) for f in answer.forecasts],
        "n_diverged": answer.n_diverged,
        "held_out_runs": None if answer.held_out is None else held_out_payload(answer.held_out),
        "learnt_from": {
            "public": list(answer.public),
            "studies": [lesson._asdict() for lesson in answer.learnt_from],
        },
        **shared_payload(answer),
    }
    if answer.others is not None:
        values["other_losses"] = asdict(answer.others)
    if answer.curves is not None:
        used = asdict(answer.curves)
        names = {"share": "decay_share", "n_rows": "n_inferred"}
        values["curves"] = {names.get(name, name): value for name, value in used.items()}
        for one, forecast in zip(values["answers"], answer.forecasts, strict=True):
            one["source"] = forecast.source or "surface"
    return values


def shared_payload(answer: AnyAnswer) -> Json:
    """What answers for losses and for tasks both have."""
    return {
        "verdict": answer.verdict,
        "level": answer.level,
        "n_runs": answer.n_runs,
        "largest_compute": answer.largest,
        "answer_warnings": [warning_payload(w) for w in answer.warnings],
    }


def forecast_payload(forecast: Forecast, level: float) -> Json:
    """One forecast; ``near`` are the values of N, D, D/N or λ that cost at most 0.5 % more loss."""
    scales = forecast.scales
    return {
        "compute": forecast.compute,
        "N": scales["N"].centre if "N" in scales else forecast.target.N,
        "D": scales["D"].centre if "D" in scales else forecast.target.D,
        **{name: getattr(forecast, name) for name in NUMBERS},
        "level": level,
        "scales": {name: _range(r) for name, r in scales.items()},
        "hyperparameters": {
            **{name: _range(r) for name, r in forecast.hp.items()},
            **{name: {"value": value} for name, value in forecast.levels.items()},
        },
        "at_edge": list(forecast.at_edge),
    }


def forecast_row(forecast: Forecast) -> Json:
    """One forecast as a flat row of a table; ends of intervals are NAME_low and NAME_high."""
    row: Json = {"target": forecast.target.label, "C": forecast.compute}
    row |= {name: getattr(forecast, name) for name in NUMBERS}
    for name, value in {**forecast.scales, **forecast.hp}.items():
        row |= {name: value.centre, f"{name}_low": value.low, f"{name}_high": value.high}
    return {**row, **forecast.levels}


def _range(values: Range) -> Json:
    return {
        "value": values.centre,
        "interval": [values.low, values.high],
        "near": [values.near_low, values.near_high],
    }


def held_out_payload(held_out: HeldOutRuns) -> Json:
    """Held-out runs, each with its prediction."""
    names = ("row", "compute", "loss", "predicted", "run_low", "run_high")
    errors = {"median_error": held_out.median_error, "rms_error": held_out.rms_error}
    return judged_payload(held_out, names, errors)


def judged_payload(held_out: HeldOutRuns, names: Sequence[str], errors: Json) -> Json:
    """How many runs lie in their intervals, the errors, and the runs with ``names`` as keys."""
    rows = zip(*(column.tolist() for column in vars(held_out).values()), strict=True)
    runs = [dict(zip(names, row, strict=True)) for row in rows]
    return {"n": len(runs), "n_inside": int(held_out.inside.sum()), **errors, "runs": runs}


def warning_payload(warning: Diagnostic) -> Json:
    """A warning: its code, its sentence and its numbers."""
    return {"code": warning.code, "message": warning.message, **dict(warning.numbers)}
