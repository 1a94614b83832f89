"""An outlook for people and for machines: the loss at each target with its two intervals."""

from __future__ import annotations

from rich.console import Console

from lawsmith.cli import console as out
from lawsmith.cli.payload import Json
from lawsmith.formats import count, flops, percent
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import Outlook, Prediction


def show_outlook(console: Console, outlook: Outlook) -> None:
    """What the runs say of the loss at the targets, and what the two intervals are of."""
    if not outlook.predictions:
        return
    level = percent(outlook.level)
    out.heading(console, f"Outlook: what these runs say, with {level} intervals")
    table = out.table("", "loss of the whole pool's law", "true loss", "beyond the pool")
    for prediction in outlook.predictions:
        table.add_row(
            f"{flops(prediction.compute)} FLOPs",
            _text(prediction.pool),
            _text(prediction.truth),
            f"{prediction.decades:.1f} decades",
        )
    out.show(console, table)
    for prediction in outlook.predictions:
        if prediction.allocation is not None:
            out.prose(console, _allocation(prediction))
    n, n_run = len(outlook.rows), int(outlook.observed.sum())
    out.prose(
        console,
        f"From {n} points of the envelope, {n_run} of them run and the others fantasized. The "
        "first interval is of what running the whole pool would give, luck of single runs and all; "
        "the second of the true loss, without that luck and with the misfit of the law.",
    )


def outlook_payload(outlook: Outlook) -> Json:
    """The same as plain values."""
    return {
        "level": outlook.level,
        "params": outlook.fit.params,
        "param_intervals": {name: _ends(found) for name, found in outlook.params.items()},
        "n_points": len(outlook.rows),
        "n_observed": int(outlook.observed.sum()),
        "predictions": [
            {
                "compute": p.compute,
                "inputs": dict(p.inputs),
                "loss": p.loss,
                "pool": _ends(p.pool),
                "truth": _ends(p.truth),
                "decades": p.decades,
                "allocation": None
                if p.allocation is None
                else {name: _ends(found) for name, found in p.allocation.items()},
            }
            for p in outlook.predictions
        ],
    }


def _ends(interval: Interval) -> Json:
    return {"centre": interval.centre, "low": interval.low, "high": interval.high}


def _text(interval: Interval) -> str:
    return f"{interval.centre:.4f} [{interval.low:.4f}, {interval.high:.4f}]"


def _allocation(prediction: Prediction) -> str:
    assert prediction.allocation is not None
    parts = [
        f"{name} = {count(i.centre)} [{count(i.low)}, {count(i.high)}]"
        for name, i in prediction.allocation.items()
    ]
    return f"At {flops(prediction.compute)} FLOPs the best are {', '.join(parts)}."
