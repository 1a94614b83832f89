"""What a trial may want: rows that can be paid for, beside claims it can stand beside."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.grid import Grid
from lawsmith.policies import make_policy
from lawsmith.runs import State
from tests.conftest import extra

optuna = extra("optuna")

from lawsmith.integrations.optuna.choice import Chooser  # noqa: E402
from lawsmith.integrations.optuna.claims import Claim  # noqa: E402
from lawsmith.integrations.optuna.history import ClaimedTrial, outcome, runs_of  # noqa: E402

GRID = Grid.from_columns({"N": [1.0, 2.0, 3.0, 4.0], "D": [1.0] * 4}, compute="N")
POLICY = make_policy("full", None, n_init=1)


def choice(budget: float) -> Chooser:
    return Chooser(GRID, POLICY, budget, retries=1)


def entry(
    number: int, row: int, *, confirmed: bool = True, state: State = State.PENDING
) -> ClaimedTrial:
    return ClaimedTrial(
        number, Claim(row, confirmed), state, 3.0 if state is State.DONE else float("nan")
    )


def test_claims_on_the_row_are_rivals_unless_they_failed():
    entries = [entry(0, 2), entry(1, 1), entry(2, 2, state=State.FAILED)]
    assert choice(100.0).rivals(2, entries) == [0]
    assert choice(100.0).rivals(0, entries) == []


def test_claims_that_together_cost_too_much_are_rivals_the_unsettled_first():
    entries = [entry(0, 3), entry(1, 2, confirmed=False)]
    assert choice(8.0).rivals(0, entries) == []  # 4 + 3 + 1
    assert choice(7.0).rivals(0, entries) == [1]
    assert choice(4.0).rivals(0, entries[:1]) == [0]


def test_only_rows_that_can_be_paid_for_are_asked_for():
    rng = np.random.default_rng(0)
    entries = [entry(0, 3, state=State.DONE)]
    assert {choice(6.0).ask(entries, rng) for _ in range(20)} == {0, 1}
    assert choice(4.5).ask(entries, rng) is None
    assert choice(6.0).enqueued(entries, np.array([3, 2, 1])) == 1


def test_a_claim_that_was_never_settled_and_failed_cost_nothing():
    gone = entry(0, 3, confirmed=False, state=State.FAILED)
    assert choice(4.0).open_rows([gone]).all()
    assert not choice(4.0).open_rows([entry(0, 3, state=State.FAILED)]).any()


def test_failures_close_a_row_once_there_were_too_many():
    failed = [entry(number, 1, state=State.FAILED) for number in range(2)]
    assert len(runs_of(failed[:1], retries=1)) == 0
    assert runs_of(failed, retries=1).state.tolist() == ["failed"]
    again = [*failed, entry(2, 1, state=State.DONE)]
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
