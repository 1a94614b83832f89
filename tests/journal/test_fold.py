"""The ledger: what events add up to."""

from __future__ import annotations

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, Stage, fold, make
from lawsmith.journal.events import check

CONFIG = {"model": "xs", "N": 1e7, "D": 1e8}


def asked(name: str, *, by: str = "run", cost: float = 1.0) -> dict[str, object]:
    return make(Kind.ASKED, name, by=by, config=CONFIG, cost=cost)


def submitted(name: str, attempt: int = 1) -> dict[str, object]:
    return make(Kind.SUBMITTED, name, attempt=attempt, handle="h")


def stage(*events: dict[str, object]) -> Stage:
    return fold([asked("t0001"), *events]).trials["t0001"].stage


def test_a_trial_goes_from_asked_to_its_end():
    assert stage() is Stage.ASKED
    assert stage(submitted("t0001")) is Stage.SUBMITTED
    assert stage(submitted("t0001"), make(Kind.RUNNING, "t0001", attempt=1)) is Stage.RUNNING
    assert stage(make(Kind.FINISHED, "t0001", loss=2.0)) is Stage.FINISHED
    assert stage(make(Kind.DIVERGED, "t0001", loss=None)) is Stage.DIVERGED
    assert stage(make(Kind.FAILED, "t0001", reason="crash")) is Stage.FAILED
    assert stage(make(Kind.QUARANTINED, "t0001", detail="x")) is Stage.QUARANTINED
    assert stage(make(Kind.CANCELLING, "t0001"), submitted("t0001")) is Stage.CANCELLING
    assert stage(make(Kind.CANCELLING, "t0001"), make(Kind.CANCELLED, "t0001")) is Stage.CANCELLED


def test_a_retry_counts_its_attempts_and_only_the_trainers_own_crashes():
    again = [
        make(Kind.RETRIED, "t0001", attempt=1, reason="preempted", wait=5.0),
        make(Kind.RETRIED, "t0001", attempt=2, reason="crash", wait=5.0),
    ]
    trial = fold([asked("t0001"), *again]).trials["t0001"]
    assert (trial.stage, trial.attempt, trial.crashes, trial.wait) == (Stage.WAITING, 3, 1, 5.0)


def test_a_report_on_the_way_is_never_a_loss():
    report = make(Kind.REPORTED, "t0001", tokens=1e7, loss=2.0)
    trial = fold([asked("t0001"), report]).trials["t0001"]
    assert (trial.loss, trial.report, trial.open) == (None, (1e7, 2.0), True)
    later = fold([asked("t0001"), make(Kind.FINISHED, "t0001", loss=3.0), report])
    assert later.trials["t0001"].loss == 3.0


def test_spend_counts_all_but_runs_imported_or_called_off_before_they_began():
    events = [asked(f"t000{i}", cost=10.0**i) for i in range(1, 5)]
    events += [
        make(Kind.FINISHED, "t0001", loss=2.0),
        submitted("t0002"),
        make(Kind.CANCELLED, "t0002"),
        make(Kind.CANCELLED, "t0003"),
        make(Kind.IMPORTED, "i0001", config=CONFIG, loss=2.0, key="k"),
    ]
    assert fold(events).spend == 10.0 + 100.0 + 10_000.0


def test_imported_runs_do_not_count_as_asked():
    imported = make(Kind.IMPORTED, "i0001", config=CONFIG, loss=None, key="k")
    ledger = fold([asked("t0001"), imported])
    assert ledger.n_asked == 1
    assert ledger.trials["i0001"].stage is Stage.DIVERGED
    assert (ledger.next_name(), ledger.next_name("i")) == ("t0002", "i0002")


def test_a_study_that_ended_goes_on_when_more_is_asked():
    ended = make(Kind.ENDED, reason="budget")
    assert fold([asked("t0001"), ended]).ended == "budget"
    assert fold([asked("t0001"), ended, asked("t0002")]).ended is None


def test_an_event_of_a_trial_never_asked_for_is_told():
    with pytest.raises(LawsmithError, match="finished: got trial t0009"):
        fold([make(Kind.FINISHED, "t0009", loss=2.0)])
    with pytest.raises(LawsmithError, match="t0001 a second time"):
        fold([asked("t0001"), asked("t0001")])


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"event": "aksed"},
        {"event": ["asked"]},
        {"event": "asked", "trial": "../../x", "config": {}, "cost": 1, "by": "run"},
        {"event": "asked", "trial": "t1", "config": {}, "cost": 1, "by": "run"},
        {"event": "asked", "trial": "t0001", "config": {"a": [1]}, "cost": 1, "by": "run"},
        {"event": "asked", "trial": "t0001", "config": {}, "cost": float("nan"), "by": "run"},
        {"event": "asked", "trial": "t0001", "config": {}, "cost": True, "by": "run"},
        {"event": "finished", "trial": "t0001", "loss": None},
        {"event": "finished", "trial": "t0001", "loss": float("inf")},
        {"event": "submitted", "trial": "t0001", "attempt": -1, "handle": ""},
        {"event": "submitted", "trial": "t0001", "attempt": 1.5, "handle": ""},
    ],
)
def test_what_is_no_event_is_refused(event):
    with pytest.raises(LawsmithError, match="line 3"):
        check(event, where="line 3")
