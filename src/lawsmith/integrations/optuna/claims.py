"""Claims: how workers that share nothing but a board never take the same row.

A trial writes its claim on the board, reads the board, and keeps the row only if no rival stood
there. Of two trials that claim one row the later writer reads after both have written, so at least
one of them sees the other, on any board where what was written is read afterwards. If both do, the
lower number waits until the higher has stepped back or turned out to have been first:

    choose ─▶ write ─▶ read ─ no rival ─────────────▶ confirmed: the row is ours
       ▲                 └── rivals ─┬─ all later and unconfirmed ─▶ wait, read again
       └───────── withdraw ◀─────────┘ else

A trial that finds no row waits likewise until every claim is confirmed: one that is withdrawn
leaves its row and its price to others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from lawsmith.runs import State


@dataclass(frozen=True)
class Claim:
    """A row wanted by a trial; ``confirmed`` once it is the trial's own.

    state, loss   what became of the trial
    """

    row: int
    confirmed: bool = False
    state: State = State.PENDING
    loss: float = math.nan


Claims = Mapping[int, Claim]


class ClaimBoard(Protocol):
    """Where the claims of all trials stand, by number, as one trial sees it."""

    def read(self) -> Claims:
        """The claims of the other trials, all that were written before this call."""
        ...

    def write(self, claim: Claim | None) -> None:
        """Put one's own claim in place of the last; seen by all when this returns."""
        ...


@dataclass(frozen=True)
class Rules:
    """What a trial wants and what it must not do.

    choose   a row, given the others' claims; None if there is none to have
    rivals   numbers of the claims that a row cannot stand beside
    pause    between two looks at the board while waiting
    looks    how often to look before going on without a rival: it may have died
    """

    choose: Callable[[Claims], int | None]
    rivals: Callable[[int, Claims], Iterable[int]]
    pause: Callable[[], None]
    looks: int = 100


def claim_row(board: ClaimBoard, number: int, rules: Rules) -> int | None:
    """The row that is now this trial's own; None, with no claim left, if there is none to have."""
    waited = 0
    while True:
        claims = board.read()
        row = rules.choose(claims)
        if row is None:
            # A claim that is not confirmed may be withdrawn and leave its row, or its price, to us.
            if waited == rules.looks or all(map(_settled, claims.values())):
                return None
            waited += 1
            rules.pause()
            continue
        board.write(Claim(row))
        if _stands(board, number, row, rules):
            board.write(Claim(row, confirmed=True))
            return row
        board.write(None)


def settled(claims: Claims) -> Claims:
    """The claims that will not be withdrawn."""
    return {number: claim for number, claim in claims.items() if _settled(claim)}


def _settled(claim: Claim) -> bool:
    return claim.confirmed or claim.state is not State.PENDING


def _stands(board: ClaimBoard, number: int, row: int, rules: Rules) -> bool:
    """Whether our claim, which is on the board, can stay."""
    for look in range(rules.looks):
        if look:
            rules.pause()
        claims = board.read()
        rivals = list(rules.rivals(row, claims))
        if not rivals:
            return True
        if any(claims[rival].confirmed or rival < number for rival in rivals):
            return False
    return False
