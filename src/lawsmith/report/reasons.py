"""Why a run is proposed next: the values it is chosen by, as text."""

from __future__ import annotations

from collections.abc import Mapping

from lawsmith.formats import digits, number, percent
from lawsmith.journal import Ledger
from lawsmith.report.source import Reason
from lawsmith.study.asking import config_of, propose
from lawsmith.study.live import LiveStudy

_SHARES = ("lowers the envelope by", "worth for the answer")  # of the loss, for a surface of logs


def reasons(study: LiveStudy, ledger: Ledger, n: int) -> tuple[Reason, ...]:
    """Up to ``n`` runs that would be asked for next, each with the values it was chosen by."""
    return tuple(
        Reason(
            config_of(study, one),
            one.cost,
            one.choice.why,
            as_text(one.choice.values, logs=study.method.surrogate == "surface"),
        )
        for one in propose(study, ledger, n, by=study.launched_by)
    )


def as_text(values: Mapping[str, float], *, logs: bool) -> dict[str, str]:
    """Values by name as people read them; ``logs`` says that losses are modelled by their logs."""
    shown = {
        name: percent(value, 2) if logs and name in _SHARES else number(value, 3)
        for name, value in values.items()
        if name not in ("expected loss", "SD")
    }
    if "expected loss" in values:
        shown["expected loss"] = _loss(values["expected loss"], values["SD"])
    return shown


def _loss(mean: float, sd: float) -> str:
    return f"{digits(mean, '.4g')} ± {digits(sd, '.2g')}"
