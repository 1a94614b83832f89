"""Comparisons: several laws of one study beside each other, as a result to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lawsmith.analysis.payload import Json, plain, prediction_payload, prediction_row
from lawsmith.analysis.records import Comparison
from lawsmith.datasets.frames import frame_of
from lawsmith.digest import Columns, Digest
from lawsmith.formats import digits, number, percent

if TYPE_CHECKING:
    from lawsmith.datasets.frames import Frame


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Laws of one study, best first: the result of `compare_laws`.

    laws   one Comparison each; ``reason`` says why a law could not be fitted

    >>> compare_laws("synthetic-demo", laws=["LC"]).laws[0].law.name
    'LC'
    """

    study: str
    laws: tuple[Comparison, ...]

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The laws as a table of text."""
        return self._listing().text()

    def to_frame(self) -> Frame:
        """One row a law and target: the error on held-out runs, AICc, the loss with intervals."""
        return frame_of(row for one in self.laws for row in _rows(one))

    def to_dict(self) -> dict[str, Any]:
        """The laws as plain values."""
        made: Json = plain({"study": self.study, "laws": [_values(one) for one in self.laws]})
        return made

    def _repr_html_(self) -> str:
        return self._listing().html()

    def _listing(self) -> Digest:
        heads = ("law", "held-out error", "AICc", "predictions", "")
        rows = [_line(one) for one in self.laws]
        return Digest(f"Laws of {self.study}, best first", [Columns("", heads, rows)])


def _line(one: Comparison) -> tuple[str, ...]:
    error = "" if one.score is None else percent(one.score.relative_rmse)
    told = [f"{digits(p.loss, '#.4g')} at {p.target.label}" for p in one.predictions]
    criterion = number(one.aicc) if one.fit is not None else ""
    return one.law.name, error, criterion, ", ".join(told), one.reason


def _rows(one: Comparison) -> list[Json]:
    error = None if one.score is None else one.score.relative_rmse
    first = {"law": one.law.name, "held_out_error": error, "aicc": one.aicc, "reason": one.reason}
    return [{**first, **prediction_row(p)} for p in one.predictions] or [first]


def _values(one: Comparison) -> Json:
    return {
        "law": one.law.name,
        "params": None if one.fit is None else one.fit.params,
        "held_out_error": None if one.score is None else one.score.relative_rmse,
        "aicc": one.aicc,
        "predictions": [prediction_payload(p) for p in one.predictions],
        "reason": one.reason or None,
    }
