"""The loop on real processes: budgets, failures, retries, exclusions, stopping, going on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, Ledger, Stage, make
from lawsmith.runners import Ending, Job, Phase, Runner, Status, make_runner
from lawsmith.study import LiveStudy
from lawsmith.study.changing import retry_failed
from lawsmith.study.loop import Driver, drive
from tests.study.studies import N_CANDIDATES, shell, small_study

ONE_SLOT = ("slots = 2", "slots = 1")


def runner_of(study: LiveStudy) -> Runner:
    told = study.spec.runner
    return make_runner(told.kind, told.options, study.layout.folder)


def finish(study: LiveStudy, runner: Runner | None = None, **options: object) -> Ledger:
    """Drive the study to its end."""
    study.begin()
    for _ in drive(Driver(study, runner or runner_of(study), **options)):
        pass
    return study.read()


def events(study: LiveStudy) -> list[dict[str, object]]:
    return [json.loads(line) for line in study.layout.journal.read_text().splitlines()]


class Scripted:
    """A runner whose jobs end as they are told to, one ending an attempt, then completed."""

    name = "scripted"

    def __init__(self, *endings: Ending | None) -> None:
        self.endings, self.submitted, self.cancelled = endings, Counter[str](), list[str]()

    def submit(self, jobs: list[Job]) -> dict[str, str]:
        self.submitted.update(job.name for job in jobs)
        return {job.name: "h" for job in jobs}

    def poll(self, jobs: list[Job]) -> dict[str, Status]:
        return {job.name: self._status(job) for job in jobs}

    def _status(self, job: Job) -> Status:
        attempt = int(job.name.rsplit("-", 1)[1])
        ending = self.endings[attempt - 1] if attempt <= len(self.endings) else Ending.COMPLETED
        if ending is None:
            return Status(Phase.LOST)
        if ending is Ending.COMPLETED:
            (job.folder / "result.json").write_text('{"loss": 3.0}')
        return Status(Phase.ENDED, ending)

    def cancel(self, jobs: list[Job]) -> None:
        self.cancelled += [job.name for job in jobs]


def test_a_study_runs_every_candidate_once_and_ends(tmp_path: Path):
    study = small_study(tmp_path)
    ledger = finish(study)
    assert ledger.ended == "candidates"
    assert len(ledger.trials) == N_CANDIDATES
    assert {t.stage for t in ledger.trials.values()} == {Stage.FINISHED}
    rows = [study.candidates.row_of(t.config) for t in ledger.trials.values()]
    assert sorted(rows) == list(range(N_CANDIDATES))


def test_intent_is_on_record_before_its_effect(tmp_path: Path):
    study = small_study(tmp_path)
    finish(study)
    order: dict[str, list[str]] = {}
    for event in events(study):
        if "trial" in event and event["event"] != "running":
            order.setdefault(str(event["trial"]), []).append(str(event["event"]))
    assert set(map(tuple, order.values())) == {("asked", "submitted", "finished")}


def test_the_budget_is_never_exceeded_and_what_fits_is_used(tmp_path: Path):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 5e17"))
    ledger = finish(study)
    assert ledger.ended == "budget"
    assert ledger.spend <= 5e17
    left = 5e17 - ledger.spend
    ran = {study.candidates.row_of(t.config) for t in ledger.trials.values()}
    free = [C for row, C in enumerate(study.grid.C) if row not in ran]
    assert left < max(0.01 * 5e17, min(free))


def test_a_budget_that_is_the_sum_of_all_costs_buys_them_all(tmp_path: Path):
    total = float(small_study(tmp_path / "a").grid.C.sum())
    ledger = finish(small_study(tmp_path / "b", ("flops = 1e30", f"flops = {total!r}")))
    assert len(ledger.trials) == N_CANDIDATES


def test_a_larger_budget_goes_on_where_the_last_ended(tmp_path: Path):
    first = finish(small_study(tmp_path, ("flops = 1e30", "flops = 2e17")))
    more = finish(small_study(tmp_path, ("flops = 1e30", "flops = 1e18")))
    assert list(more.trials)[: len(first.trials)] == list(first.trials)
    assert len(more.trials) > len(first.trials)
    assert more.ended == "budget"


def test_a_study_that_has_ended_is_left_as_it_is(tmp_path: Path):
    study = small_study(tmp_path)
    finish(study)
    before = study.layout.journal.read_bytes()
    finish(small_study(tmp_path))
    assert study.layout.journal.read_bytes() == before


def test_the_same_seed_gives_the_same_runs_and_another_does_not(tmp_path: Path):
    def order(folder: str, *changes: tuple[str, str]) -> list[object]:
        ledger = finish(small_study(tmp_path / folder, ONE_SLOT, *changes))
        return [dict(t.config) for t in ledger.trials.values()]

    assert order("a") == order("b")
    assert order("a2", ("seed = 3", "seed = 4")) != order("b")


def test_a_crash_is_tried_again_and_its_second_result_counts(tmp_path: Path):
    line = 'if [ "$LAWSMITH_ATTEMPT" = 1 ]; then exit 3; fi; echo "{\\"loss\\": 2.5}" > result.json'
    study = small_study(tmp_path, shell(line), ("flops = 1e30", "flops = 7e15"))
    ledger = finish(study)
    (trial,) = ledger.trials.values()
    assert (trial.stage, trial.attempt, trial.loss) == (Stage.FINISHED, 2, 2.5)


def test_a_trainer_that_keeps_crashing_is_failed_with_its_log(tmp_path: Path):
    study = small_study(
        tmp_path,
        shell("echo Traceback: no such tokenizer; exit 3"),
        ("flops = 1e30", "flops = 7e15"),
        ("backoff = 0", "backoff = 0\nretries = 1"),
    )
    ledger = finish(study)
    (trial,) = ledger.trials.values()
    assert (trial.stage, trial.attempt, trial.reason) == (Stage.FAILED, 2, "crash")
    failed = next(e for e in events(study) if e["event"] == "failed")
    assert "no such tokenizer" in str(failed["tail"])


def test_a_trainer_that_always_fails_does_not_use_the_budget_up(tmp_path: Path):
    study = small_study(
        tmp_path, shell("exit 3"), ONE_SLOT, ("backoff = 0", "backoff = 0\nretries = 0")
    )
    with pytest.raises(LawsmithError, match="5 failed trials and no result between them"):
        finish(study)
    assert study.read().counts()["failed"] == 5


def test_failed_trials_are_tried_once_more_when_asked(tmp_path: Path):
    broken = small_study(
        tmp_path,
        shell("exit 3"),
        ("flops = 1e30", "flops = 7e15"),
        ("backoff = 0", "backoff = 0\nretries = 0"),
    )
    finish(broken)
    mended = small_study(tmp_path, ("flops = 1e30", "flops = 7e15"))
    mended.begin()
    assert len(retry_failed(mended)) == 1
    (trial,) = finish(mended).trials.values()
    assert (trial.stage, trial.attempt) == (Stage.FINISHED, 2)
    assert retry_failed(mended) == []


def test_a_trial_that_waits_leaves_its_slot_to_others(tmp_path: Path):
    class FirstPreempted(Scripted):
        def _status(self, job: Job) -> Status:
            if "t0001" in job.name:
                return super()._status(job)
            (job.folder / "result.json").write_text('{"loss": 3.0}')
            return Status(Phase.ENDED, Ending.COMPLETED)

    study = small_study(tmp_path, ONE_SLOT, ("backoff = 0", "backoff = 0.3"))
    ledger = finish(study, FirstPreempted(Ending.PREEMPTED))
    closed = sorted(ledger.trials.values(), key=lambda trial: trial.closed)
    assert [t.name for t in closed].index("t0001") > 0
    assert {t.stage for t in ledger.trials.values()} == {Stage.FINISHED}


class Crashing(Scripted):
    """Every job crashes."""

    def _status(self, job: Job) -> Status:
        return Status(Phase.ENDED, Ending.FAILED)


def test_a_trainer_that_crashes_starts_no_second_trial_while_the_first_waits(tmp_path: Path):
    study = small_study(tmp_path, ONE_SLOT, ("backoff = 0", "backoff = '10h'"))
    study.begin()
    runner = Crashing()
    driver = Driver(study, runner)
    for _ in range(8):
        driver.step()
    assert [t.stage for t in study.read().trials.values()] == [Stage.WAITING]
    assert sum(runner.submitted.values()) == 1


def test_after_a_result_a_crash_does_not_hold_others_back(tmp_path: Path):
    class SecondCrashes(Scripted):
        def _status(self, job: Job) -> Status:
            if "t0002" in job.name:
                return Status(Phase.ENDED, Ending.FAILED)
            return super()._status(job)

    study = small_study(tmp_path, ONE_SLOT, ("backoff = 0", "backoff = '10h'"))
    study.begin()
    driver = Driver(study, SecondCrashes())
    for _ in range(12):
        driver.step()
    stages = [t.stage for t in study.read().trials.values()]
    assert stages[:3] == [Stage.FINISHED, Stage.WAITING, Stage.FINISHED]


def test_a_run_without_a_result_is_a_failure(tmp_path: Path):
    study = small_study(
        tmp_path,
        shell("true"),
        ("flops = 1e30", "flops = 7e15"),
        ("backoff = 0", "backoff = 0\nretries = 0"),
    )
    (trial,) = finish(study).trials.values()
    assert (trial.stage, trial.reason) == (Stage.FAILED, "no_result")


def test_out_of_memory_leaves_the_memory_class_alone(tmp_path: Path):
    line = (
        'if [ "$(grep -c muon "$LAWSMITH_CONFIG")" = 1 ]; '
        "then echo RuntimeError: CUDA out of memory; exit 1; fi; "
        'echo "{\\"loss\\": 3.5}" > result.json'
    )
    study = small_study(
        tmp_path, ONE_SLOT, shell(line), ("backoff = 0", 'memory_class = ["model", "opt"]')
    )
    ledger = finish(study)
    failed = [t for t in ledger.trials.values() if t.stage is Stage.FAILED]
    assert sorted((t.config["model"], t.config["opt"]) for t in failed) == [
        ("s", "muon"),
        ("xs", "muon"),
    ]
    assert all(t.attempt == 1 and t.reason == "out_of_memory" for t in failed)
    finished = [t for t in ledger.trials.values() if t.stage is Stage.FINISHED]
    assert len(finished) == N_CANDIDATES / 2
    assert ledger.ended == "candidates"


def test_a_diverged_run_is_an_observation(tmp_path: Path):
    study = small_study(tmp_path, shell('echo "{\\"loss\\": NaN}" > result.json'))
    ledger = finish(study)
    assert {t.stage for t in ledger.trials.values()} == {Stage.DIVERGED}
    assert study.history(ledger).runs.counts()["diverged"] == N_CANDIDATES


def test_a_result_that_contradicts_its_configuration_is_quarantined(tmp_path: Path):
    line = 'echo "{\\"loss\\": 2.5, \\"N\\": 123}" > result.json'
    study = small_study(tmp_path, shell(line), ("flops = 1e30", "flops = 7e15"))
    ledger = finish(study)
    (trial,) = ledger.trials.values()
    assert (trial.stage, trial.loss) == (Stage.QUARANTINED, None)
    assert "N is 123 in the result" in trial.detail
    assert study.history(ledger).runs.counts()["done"] == 0


def test_losses_on_the_way_are_on_record_and_never_final(tmp_path: Path):
    line = (
        'for p in 1 2 3; do echo "{\\"tokens\\": ${p}e7, \\"loss\\": $((9 - p))}" '
        '>> "$LAWSMITH_PROGRESS"; done; echo "{\\"loss\\": 2.5}" > result.json'
    )
    study = small_study(tmp_path, shell(line), ("flops = 1e30", "flops = 7e15"))
    ledger = finish(study)
    reported = [e for e in events(study) if e["event"] == "reported"]
    assert [(e["tokens"], e["loss"]) for e in reported] == [(1e7, 8), (2e7, 7), (3e7, 6)]
    (trial,) = ledger.trials.values()
    assert (trial.loss, trial.report) == (2.5, (3e7, 6.0))


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (Ending.PREEMPTED, "preempted"),
        (Ending.NODE_FAILURE, "node_failure"),
        (None, "lost"),
        (Ending.FAILED, "crash"),
    ],
)
def test_what_may_pass_is_tried_again(tmp_path: Path, ending: Ending | None, reason: str):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 7e15"))
    (trial,) = finish(study, Scripted(ending)).trials.values()
    assert (trial.stage, trial.attempt) == (Stage.FINISHED, 2)
    retried = next(e for e in events(study) if e["event"] == "retried")
    assert retried["reason"] == reason


def test_preemption_does_not_use_up_the_retries_of_crashes(tmp_path: Path):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 7e15"))
    endings = [Ending.PREEMPTED] * 5 + [Ending.FAILED] * 2
    (trial,) = finish(study, Scripted(*endings)).trials.values()
    assert (trial.stage, trial.attempt) == (Stage.FINISHED, 8)


def test_waits_double_with_every_attempt(tmp_path: Path):
    study = small_study(
        tmp_path, ("flops = 1e30", "flops = 7e15"), ("backoff = 0", "backoff = 0.001")
    )
    finish(study, Scripted(*[Ending.PREEMPTED] * 4))
    waits = [e["wait"] for e in events(study) if e["event"] == "retried"]
    assert waits == [0.001, 0.002, 0.004, 0.008]


def test_a_clock_that_went_back_does_not_hold_up_a_retry(tmp_path: Path):
    study = small_study(
        tmp_path, ("flops = 1e30", "flops = 7e15"), ("backoff = 0", "backoff = '10h'")
    )
    driver = Driver(study, Scripted(Ending.PREEMPTED))
    study.begin()
    while not any(t.stage is Stage.WAITING for t in study.journal.ledger.trials.values()):
        driver.step()
    text = study.layout.journal.read_text()
    line = next(line for line in text.splitlines() if '"retried"' in line)
    future = json.dumps({**json.loads(line), "time": "2999-01-01T00:00:00Z"})
    study.layout.journal.write_text(text.replace(line, future))
    (trial,) = finish(small_study_again(study), Scripted(Ending.PREEMPTED)).trials.values()
    assert trial.stage is Stage.FINISHED


def small_study_again(study: LiveStudy) -> LiveStudy:
    """The same study in what might be another process."""
    from lawsmith.study import open_study

    return open_study(study.layout.file)


@pytest.mark.parametrize(("rule", "stage"), [("fail", Stage.FAILED), ("retry", Stage.FINISHED)])
def test_a_time_limit_fails_or_is_tried_again_as_the_study_says(tmp_path, rule, stage):
    study = small_study(
        tmp_path,
        ("flops = 1e30", "flops = 7e15"),
        ("backoff = 0", f'backoff = 0\non_timeout = "{rule}"'),
    )
    (trial,) = finish(study, Scripted(Ending.TIMEOUT)).trials.values()
    assert trial.stage is stage


def test_a_job_cancelled_elsewhere_is_cancelled(tmp_path: Path):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 7e15"))
    (trial,) = finish(study, Scripted(Ending.CANCELLED)).trials.values()
    assert trial.stage is Stage.CANCELLED


def test_a_job_the_queue_would_not_take_is_submitted_later(tmp_path: Path):
    class Full(Scripted):
        refused = 3

        def submit(self, jobs: list[Job]) -> dict[str, str]:
            if self.refused:
                self.refused -= 1
                return {}
            return super().submit(jobs)

    study = small_study(tmp_path, ("flops = 1e30", "flops = 7e15"))
    assert finish(study, Full()).counts()["finished"] == 1


def test_no_more_than_the_slots_run_at_a_time(tmp_path: Path):
    study = small_study(tmp_path, ("slots = 2", "slots = 3"))
    finish(study)
    open_now, most = set(), 0
    for event in events(study):
        if event["event"] == "asked":
            open_now.add(event["trial"])
        elif event["event"] == "finished":
            open_now.discard(event["trial"])
        most = max(most, len(open_now))
    assert most == 3


def test_a_stop_rule_ends_the_study_and_runs_under_way_are_waited_for(tmp_path: Path):
    study = small_study(tmp_path)
    ledger = finish(study, stop=lambda ledger: ledger.counts()["finished"] >= 4)
    assert ledger.ended == "stop rule"
    assert 4 <= ledger.counts()["finished"] <= 6
    assert not ledger.open()


def test_a_result_told_by_hand_while_the_driver_runs_is_kept(tmp_path: Path):
    study = small_study(tmp_path, ONE_SLOT, ("flops = 1e30", "flops = 7e15"))

    class Told(Scripted):
        def poll(self, jobs: list[Job]) -> dict[str, Status]:
            """Somebody tells a result after the driver has read the journal."""
            told = make(Kind.FINISHED, "t0001", loss=1.25)
            small_study_again(study).journal.update(lambda _: [told])
            return super().poll(jobs)

    ledger = finish(study, Told())
    assert ledger.trials["t0001"].loss == 1.25
    assert sum(e["event"] == "finished" for e in events(study)) == 1


def test_an_excluded_candidate_that_waits_is_called_off(tmp_path: Path):
    study = small_study(
        tmp_path, ("flops = 1e30", "flops = 7e15"), ("backoff = 0", "backoff = '10h'")
    )
    driver = Driver(study, Scripted(Ending.PREEMPTED))
    study.begin()
    driver.step()
    driver.step()
    (trial,) = study.journal.ledger.trials.values()
    assert trial.stage is Stage.WAITING
    study.journal.update(lambda _: [make(Kind.EXCLUDED, where="N > 0", reason="x")])
    driver.step()
    assert study.journal.ledger.trials[trial.name].stage is Stage.CANCELLED


def test_trials_of_people_are_left_to_people(tmp_path: Path):
    from lawsmith.study.asking import propose

    study = small_study(tmp_path, ONE_SLOT)
    study.begin()
    study.journal.update(lambda ledger: propose(study, ledger, 3, by="hand"))
    ledger = finish(study)
    by_hand = [t for t in ledger.trials.values() if t.by == "hand"]
    assert {t.stage for t in by_hand} == {Stage.ASKED}
    assert ledger.counts()["finished"] == N_CANDIDATES - 3


def test_the_replay_runner_drives_a_study_to_its_end(tmp_path: Path):
    study = small_study(tmp_path, ('kind = "local"', 'kind = "local"'))
    rows = ["N,D,lr,opt,loss"]
    rows += [
        f"{c['N']},{c['D']},{c['lr']},{c['opt']},{3 + i / 100}"
        for i, c in enumerate(study.candidates.configs)
    ]
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    options = {"table": "runs.csv", "columns": {n: n for n in ("N", "D", "lr", "opt", "loss")}}
    ledger = finish(study, make_runner("replay", options, tmp_path))
    assert [t.loss for t in ledger.trials.values()] == [
        pytest.approx(3 + (study.candidates.row_of(t.config) or 0) / 100)
        for t in ledger.trials.values()
    ]
