"""What a trial may want: rows that can be paid for, beside claims it can stand beside."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.grid import Grid
from lawsmith.policies import make_policy
from lawsmith.runs import State
from tests.conftest import extra

optuna = extra("optuna")

from lawsmith.integrations.optuna.claims import Claim  # noqa: E402
from lawsmith.integrations.optuna.trials import Chooser, outcome, runs_of  # noqa: E402

GRID = Grid.from_columns({"N": [1.0, 2.0, 3.0, 4.0], "D": [1.0] * 4}, compute="N")
POLICY = make_policy("full", None, n_init=1)


def choice(budget: float) -> Chooser:
    return Chooser(GRID, POLICY, budget, retries=1)


def claim(row: int, *, confirmed: bool = True, state: State = State.PENDING) -> Claim:
    return Claim(row, confirmed, state, 3.0 if state is State.DONE else float("nan"))


def test_claims_on_the_row_are_rivals_unless_they_failed():
    claims = {0: claim(2), 1: claim(1), 2: claim(2, state=State.FAILED)}
    assert choice(100.0).rivals(2, claims) == [0]
    assert choice(100.0).rivals(0, claims) == []


def test_claims_that_together_cost_too_much_are_rivals_the_unsettled_first():
    claims = {0: claim(3), 1: claim(2, confirmed=False)}
    assert choice(8.0).rivals(0, claims) == []  # 4 + 3 + 1
    assert choice(7.0).rivals(0, claims) == [1]
    assert choice(4.0).rivals(0, {0: claims[0]}) == [0]


def test_only_rows_that_can_be_paid_for_are_asked_for():
    rng = np.random.default_rng(0)
    claims = {0: claim(3, state=State.DONE)}
    assert {choice(6.0).ask(claims, rng) for _ in range(20)} == {0, 1}
    assert choice(4.5).ask(claims, rng) is None
    assert choice(6.0).enqueued(claims, {"D": 1.0}) == 0


def test_a_claim_that_was_never_settled_and_failed_cost_nothing():
    gone = claim(3, confirmed=False, state=State.FAILED)
    assert choice(4.0).open_rows({0: gone}).all()
    assert not choice(4.0).open_rows({0: claim(3, state=State.FAILED)}).any()


def test_failures_close_a_row_once_there_were_too_many():
    failed = {number: claim(1, state=State.FAILED) for number in range(2)}
    assert len(runs_of({0: failed[0]}, retries=1)) == 0
    assert runs_of(failed, retries=1).state.tolist() == ["failed"]
    again = {**failed, 2: claim(1, state=State.DONE)}
    assert runs_of(again, retries=1).state.tolist() == ["done"]


@pytest.mark.parametrize(
    ("state", "value", "attrs", "expected"),
    [
        ("COMPLETE", 3.0, {}, State.DONE),
        ("COMPLETE", float("inf"), {}, State.DIVERGED),
        ("COMPLETE", 11.0, {}, State.DIVERGED),
        ("COMPLETE", 3.0, {"diverged": True}, State.DIVERGED),
        ("FAIL", None, {"diverged": True}, State.DIVERGED),
        ("FAIL", None, {}, State.FAILED),
        ("PRUNED", 3.0, {}, State.FAILED),
        ("RUNNING", None, {}, State.PENDING),
        ("WAITING", None, {}, State.PENDING),
    ],
)
def test_what_became_of_a_trial(state, value, attrs, expected):
    known = optuna.trial.TrialState[state]
    trial = optuna.trial.create_trial(state=known, value=value, user_attrs=attrs)
    assert outcome(trial, 10.0)[0] is expected
