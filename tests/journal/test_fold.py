"""The ledger: what events add up to."""

from __future__ import annotations

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, Stage, Trial, fold, make
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


def trial_of(*events: dict[str, object], start: float | None = None) -> Trial:
    """A trial of 1e8 tokens that costs 100, after some events."""
    line = {**asked("t0001", cost=100.0), "kind": "trunk", "branch_at": start}
    return fold([line, submitted("t0001"), *events]).trials["t0001"]


def retried(trained: float | None = None) -> dict[str, object]:
    told = {} if trained is None else {"trained": trained}
    return make(Kind.RETRIED, "t0001", attempt=1, reason="crash", wait=0.0, **told)


def saved(tokens: float) -> dict[str, object]:
    return make(Kind.SAVED, "t0001", tokens=tokens)


DONE = make(Kind.FINISHED, "t0001", loss=2.0)


@pytest.mark.parametrize(
    ("events", "spend"),
    [
        ([], 100.0),
        ([DONE], 100.0),
        ([retried()], 100.0),  # nothing is known of it
        ([retried(3e7)], 130.0),  # it begins anew
        ([retried(3e7), DONE], 130.0),
        ([saved(2e7), retried(3e7)], 110.0),  # it goes on from its checkpoint
        ([saved(2e7), retried(3e7), DONE], 110.0),
        ([saved(2e7), retried(3e7), retried(1e7), DONE], 120.0),
        ([make(Kind.CANCELLED, "t0001", trained=4e7)], 40.0),
        ([make(Kind.CANCELLED, "t0001")], 100.0),
        ([make(Kind.FAILED, "t0001", reason="crash", trained=4e7)], 40.0),
        ([make(Kind.FAILED, "t0001", reason="crash", trained=4e7), retried()], 140.0),
        ([make(Kind.DIVERGED, "t0001", loss=None, trained=5e6)], 5.0),
        ([make(Kind.FINISHED, "t0001", loss=2.0, trained=1.2e8)], 120.0),  # requeued on its way
    ],
)
def test_what_is_paid_is_what_was_trained(events, spend):
    assert trial_of(*events).spend == pytest.approx(spend, rel=1e-12)


def test_a_branch_pays_from_where_it_left_its_trunk():
    assert trial_of(start=8e7).spend == 100.0
    assert trial_of(retried(5e6), start=8e7).spend == pytest.approx(125.0)
    assert trial_of(make(Kind.CANCELLED, "t0001", trained=1e7), start=8e7).spend == 50.0


def test_a_run_that_goes_back_to_a_checkpoint_tells_the_same_tokens_again():
    def report(tokens: float, loss: float) -> dict[str, object]:
        return make(Kind.REPORTED, "t0001", tokens=tokens, loss=loss)

    before = [report(1e7, 5.0), saved(1e7), report(2e7, 4.0), report(3e7, 3.0)]
    assert trial_of(*before).reports == ((1e7, 5.0), (2e7, 4.0), (3e7, 3.0))
    after = trial_of(*before, retried(3e7), report(2e7, 4.1))
    assert (after.reports, after.begun) == (((1e7, 5.0), (2e7, 4.1)), 1e7)


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "twig"},
        {"parent": 3},
        {"parent": "../t0001"},
        {"branch_at": -1.0},
        {"branch_at": "x"},
        {"save_at": [1.0, "x"]},
    ],
)
def test_a_lineage_that_is_none_is_refused(values):
    with pytest.raises(LawsmithError, match=next(iter(values))):
        check({**asked("t0001"), **values}, where="journal")


def test_a_parent_was_asked_for_before():
    with pytest.raises(LawsmithError, match="parent of t0001"):
        fold([{**asked("t0001"), "parent": "t0001"}])
    with pytest.raises(LawsmithError, match="parent of t0002"):
        fold([asked("t0001"), {**asked("t0002"), "parent": "t0003"}])
