"""Claims on a board: every order in which a few workers can act, tried out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.conftest import extra

extra("optuna")

from lawsmith.integrations.optuna.claims import Claim, Claims, Rules, claim_row  # noqa: E402
from lawsmith.runs import State  # noqa: E402

N_ROWS = 3


class Paused(Exception):
    """A worker is about to do what the schedule does not grant yet."""


@dataclass
class Replayed:
    """A worker's view of the board that repeats what it saw, does one thing more, and stops.

    It makes a worker's next act a function of what it saw before, so that the orders in which
    several act can be listed like moves of a game.
    """

    board: dict[int, Claim | None]
    number: int
    seen: list[Claims]
    acts: int = 0
    granted: bool = True

    def _act(self) -> bool:
        """Whether this act was done before; Paused if it is not granted."""
        self.acts += 1
        if self.acts <= len(self.seen):
            return True
        if not self.granted:
            raise Paused
        self.granted = False
        return False

    def read(self) -> Claims:
        if not self._act():
            others = {n: c for n, c in self.board.items() if c is not None and n != self.number}
            self.seen.append(others)
        return self.seen[self.acts - 1]

    def write(self, claim: Claim | None) -> None:
        if not self._act():
            self.board[self.number] = claim
            self.seen.append({})
            if claim is None:  # it starts anew, and what it saw is forgotten
                self.seen.clear()
                raise Paused


def first_free(claims: Claims) -> int | None:
    taken = {claim.row for claim in claims.values()}
    return next((row for row in range(N_ROWS) if row not in taken), None)


def same_row(row: int, claims: Claims) -> Iterable[int]:
    return [number for number, claim in claims.items() if claim.row == row]


RULES = Rules(first_free, same_row, pause=lambda: None, looks=2)


def step(
    board: dict[int, Claim | None], seen: list[list[Claims]], worker: int, rules: Rules
) -> tuple[bool, int | None]:
    """Let a worker do one thing: (whether it is done, its row)."""
    view = Replayed(board, worker, seen[worker])
    try:
        return True, claim_row(view, worker, rules)
    except Paused:
        return False, None


def key(
    board: dict[int, Claim | None], seen: list[list[Claims]], done: dict[int, int | None]
) -> tuple[object, ...]:
    """A state of the game, to be visited once: of what was seen, what the next act hangs on."""
    minds = tuple(None if n in done else mind(log, board[n]) for n, log in enumerate(seen))
    return tuple(sorted(board.items())), minds, tuple(sorted(done.items()))


def mind(log: list[Claims], own: Claim | None) -> tuple[object, ...]:
    if log and own is None:
        return len(log), first_free(log[-1]), all(claim.confirmed for claim in log[-1].values())
    if len(log) > 2 and own is not None:
        rivals = tuple((n, log[-1][n].confirmed) for n in sorted(same_row(own.row, log[-1])))
        return len(log), rivals
    return (len(log),)


def explore(n_workers: int, rules: Rules, most: int) -> tuple[int, list[dict[int, int | None]]]:
    """(states visited, how it ended each time) over all orders of acts."""
    start = ({n: None for n in range(n_workers)}, [[] for _ in range(n_workers)], {})
    todo, known, ends = [start], set(), []
    while todo:
        board, seen, done = todo.pop()
        assert_no_row_twice(board)
        if len(done) == n_workers:
            ends.append(done)
        for worker in set(range(n_workers)) - set(done):
            next_board, next_seen = dict(board), [list(log) for log in seen]
            over, row = step(next_board, next_seen, worker, rules)
            next_done = {**done, worker: row} if over else done
            mark = key(next_board, next_seen, next_done)
            if mark not in known:
                known.add(mark)
                assert len(known) < most, "more states than expected"
                todo.append((next_board, next_seen, next_done))
    return len(known), ends


def assert_no_row_twice(board: dict[int, Claim | None]) -> None:
    confirmed = [claim.row for claim in board.values() if claim is not None and claim.confirmed]
    assert len(confirmed) == len(set(confirmed))


@pytest.mark.parametrize("n_workers", [2, 3])
def test_in_no_order_of_acts_do_two_workers_get_one_row(n_workers):
    n_states, ends = explore(n_workers, RULES, most=400_000)
    assert n_states > 50
    for end in ends:
        rows = [row for row in end.values() if row is not None]
        assert len(rows) == len(set(rows))
        assert len(rows) == n_workers, "somebody went without though rows were left"


def test_rows_run_out_for_the_last_alone(monkeypatch):
    monkeypatch.setitem(globals(), "N_ROWS", 1)
    _, ends = explore(2, RULES, most=10_000)
    assert {tuple(sorted(end.items(), key=str)) for end in ends} <= {
        ((0, 0), (1, None)),
        ((0, None), (1, 0)),
    }


def test_a_claim_that_is_not_looked_at_again_would_be_given_twice():
    """The check above can fail: without the second look two workers take one row."""
    blind = Rules(first_free, lambda row, claims: [], pause=lambda: None)
    with pytest.raises(AssertionError):
        explore(2, blind, most=10_000)


class Lonely:
    """A board on which the others no longer move."""

    def __init__(self, others: Claims) -> None:
        self.others, self.own = others, []

    def read(self) -> Claims:
        return self.others

    def write(self, claim: Claim | None) -> None:
        self.own.append(claim)


def stubborn(pauses: list[int]) -> Rules:
    """Wants row 0 until it has been there once."""
    rows = iter([0, 1])
    return Rules(lambda _: next(rows), same_row, pause=lambda: pauses.append(1), looks=4)


@pytest.mark.parametrize(
    ("number", "rival", "n_pauses"),
    [(0, Claim(0), 3), (2, Claim(0), 0), (0, Claim(0, confirmed=True), 0)],
    ids=[
        "the lower waits, not for ever",
        "the higher steps back",
        "what is confirmed is confirmed",
    ],
)
def test_who_waits_for_whom(number, rival, n_pauses):
    pauses: list[int] = []
    board = Lonely({1: rival})
    assert claim_row(board, number, stubborn(pauses)) == 1
    assert board.own == [Claim(0), None, Claim(1), Claim(1, confirmed=True)]
    assert len(pauses) == n_pauses


class Watched(Lonely):
    """A board on which the others change their mind at the second look."""

    def __init__(self, before: Claims, after: Claims) -> None:
        super().__init__(before)
        self.after, self.n_reads = after, 0

    def read(self) -> Claims:
        self.n_reads += 1
        return self.others if self.n_reads == 1 else self.after


@pytest.mark.parametrize(
    ("others", "then", "row", "n_pauses"),
    [
        (Claim(0), {}, 0, 1),
        (Claim(0), {1: Claim(0, confirmed=True)}, None, 1),
        (Claim(0), {1: Claim(0)}, None, 4),
        (Claim(0, confirmed=True), {}, None, 0),
        (Claim(0, state=State.FAILED), {}, None, 0),
    ],
    ids=["withdrawn", "confirmed then", "dead", "confirmed", "failed"],
)
def test_who_finds_no_row_waits_for_claims_that_may_be_withdrawn(others, then, row, n_pauses):
    pauses: list[int] = []
    rules = Rules(
        lambda claims: None if claims else 0, same_row, pause=lambda: pauses.append(1), looks=4
    )
    assert claim_row(Watched({1: others}, then), 2, rules) == row
    assert len(pauses) == n_pauses


def test_many_workers_in_random_order_get_rows_of_their_own(monkeypatch):
    monkeypatch.setitem(globals(), "N_ROWS", 8)
    rng = np.random.default_rng(0)
    for _ in range(200):
        board: dict[int, Claim | None] = dict.fromkeys(range(8))
        seen: list[list[Claims]] = [[] for _ in range(8)]
        done: dict[int, int | None] = {}
        while len(done) < 8:
            worker = int(rng.choice([n for n in range(8) if n not in done]))
            over, row = step(board, seen, worker, RULES)
            assert_no_row_twice(board)
            if over:
                done[worker] = row
        assert sorted(row for row in done.values() if row is not None) == list(range(8))
