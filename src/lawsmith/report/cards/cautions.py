"""Which warning stands beside what."""

from __future__ import annotations

from collections.abc import Iterable

from lawsmith.analysis import Analysis
from lawsmith.answer import Answer
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report.parts import Caution

# The card that each warning about the law concerns; one that is not listed stands with the law.
PLACES = {
    "isoflop_unbracketed": "isoflop",
    "influential_point": "residuals",
    "lack_of_fit": "residuals",
    "at_bound": "parameters",
    "ill_conditioned": "parameters",
}


def of_answer(answer: Answer | None) -> tuple[Caution, ...]:
    """All warnings about the answer."""
    return () if answer is None else _cautions(answer.warnings)


def of_law(analysis: Analysis | None, place: str) -> tuple[Caution, ...]:
    """The warnings about a law that belong in ``place``."""
    told = () if analysis is None else analysis.warnings
    return _cautions(w for w in told if PLACES.get(w.code, "law") == place)


def _cautions(warnings: Iterable[Diagnostic]) -> tuple[Caution, ...]:
    return tuple(Caution(warning.code, warning.message) for warning in warnings)
