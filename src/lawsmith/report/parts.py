"""What cards are made of: figures, facts, tables, logs and cautions, all plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawsmith.charts import NARROW, WIDE, Chart, ChartUnavailable, spec_of

Spec = Mapping[str, Any]
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Caution:
    """Something a careful reader must know of what it stands beside; ``code`` names its kind."""

    code: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A chart as Vega-Lite specifications for a page and for a telephone."""

    name: str
    caption: str
    wide: Spec
    narrow: Spec
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class Absent:
    """In the place of what cannot be made: why."""

    name: str
    reason: str
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Links:
    """What is said elsewhere on the page: words before the links, then (text, name of its card)."""

    text: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notes:
    """Remarks, a sentence each, smaller than what they are about."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Tile:
    """A number to be seen from afar: what it is, its value, and what qualifies it.

    mark   a short warning that stands beside the value
    """

    label: str
    value: str
    detail: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side; the first is the largest."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Facts:
    """What, and its value."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Listing:
    """A small table; its first ``n_words`` columns hold words, the others numbers."""

    name: str
    columns: tuple[str, ...]
    rows: Rows
    n_words: int = 1


@dataclass(frozen=True)
class Log:
    """Text as a program wrote it."""

    title: str
    text: str


@dataclass(frozen=True)
class Command:
    """A line to be copied into a shell."""

    text: str


@dataclass(frozen=True)
class RunColumn:
    """A column of the table of runs.

    form    how its values are written: 'text', 'count' (1.7B), 'flops' (1e21), 'loss' (2.8230),
            'percent' (−0.21) or 'number'
    values  one a run, None where there is none
    """

    name: str
    form: str
    values: Sequence[float | str | None]


@dataclass(frozen=True)
class RunTable:
    """Every run, to be sorted and filtered by the reader."""

    columns: tuple[RunColumn, ...]

    @property
    def n_runs(self) -> int:
        return len(self.columns[0].values)


Part = Figure | Absent | Words | Links | Notes | Tiles | Facts | Listing | Log | Command | RunTable


@dataclass(frozen=True)
class Card:
    """One question a reader asks, answered.

    name      of its place in the page
    lead      one sentence on what it shows
    cautions  that concern all of it
    """

    name: str
    title: str
    lead: str
    parts: tuple[Part, ...]
    cautions: tuple[Caution, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is empty; () where it has something to show."""
        absent = [part for part in self.parts if isinstance(part, Absent) and not part.cautions]
        if self.cautions or len(absent) < len(self.parts):
            return ()
        return tuple(dict.fromkeys(part.reason for part in absent))


ABSENT = "absent"


def without_empty(cards: Sequence[Card]) -> list[Card]:
    """The cards that show something, and last one that says why the others are not there."""
    why: dict[str, list[str]] = {}
    for card in cards:
        if card.reasons:
            why.setdefault("; ".join(card.reasons), []).append(card.title)
    shown = [card for card in cards if not card.reasons]
    if why:
        rows = tuple((", ".join(titles), f"{reason}.") for reason, titles in why.items())
        shown.append(Card(ABSENT, "Not shown", "What could not be made, and why.", (Facts(rows),)))
    return shown


def figure(
    name: str,
    caption: str,
    draw: Callable[..., Chart],
    *,
    cautions: Sequence[Caution] = (),
) -> Figure | Absent:
    """The chart that ``draw(width=…)`` gives, or why there is none."""
    try:
        wide, narrow = (spec_of(draw(width=width)) for width in (WIDE, NARROW))
    except ChartUnavailable as error:
        return Absent(name, error.reason, tuple(cautions))
    return Figure(name, caption, wide, narrow, tuple(cautions))
