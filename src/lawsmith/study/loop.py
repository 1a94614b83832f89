"""The loop of a live study: the one place that knows policy, runner and journal.

    journal ─▶ runs ─▶ policy ─▶ journal(asked) ─▶ runner.submit ─▶ journal(submitted)
       ▲                                                                  │
       └── journal(finished, …) ◀── the run's folder ◀── runner.poll ◀────┘

Intent is on record before the effect, and every effect may be repeated: whenever the driver dies,
the next one goes on, and no run is made twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lawsmith.errors import LawsmithError
from lawsmith.files import check_disk_space
from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, make
from lawsmith.journal.events import time_of
from lawsmith.journal.fold import CRASHES
from lawsmith.runners.base import Ending, Job, Phase, Runner, Status
from lawsmith.runners.results import read_progress
from lawsmith.study.asking import exhausted, looks, propose, stops
from lawsmith.study.history import excluded_rows
from lawsmith.study.jobs import job_of, prepare
from lawsmith.study.live import LiveStudy
from lawsmith.study.outcomes import events_of, orphaned, patience, progress_events
from lawsmith.study.trunks import ready

StopRule = Callable[[Ledger], bool]
FIRST_PAUSE = 0.005  # seconds; runs of a second are noticed at once, and pauses grow by half
QUIET = 5.0  # seconds without news, after which the disk is looked at
MAX_FAILURES = 5  # trials in a row that failed for good, before a person should have a look


@dataclass
class Driver:
    """Drives one study. All state is in the journal; what is kept here only saves time.

    stop   whether the answer is known well enough to stop asking for runs
    """

    study: LiveStudy
    runner: Runner
    stop: StopRule = lambda _: False
    _offsets: dict[str, int] = field(default_factory=dict)
    _waiting_since: dict[str, float] = field(default_factory=dict)
    _judged: tuple[int, bool] = (-1, False)
    _judged_at: dict[str, int] = field(default_factory=dict)
    _nothing_at: int = -1
    _failures: int = 0

    @property
    def ledger(self) -> Ledger:
        return self.study.journal.ledger

    def step(self) -> list[Event]:
        """One round: collect what ended, start what is due, ask for more. The events it led to."""
        self.study.journal.refresh()
        done = self._collect()
        done += [*self._stop(done), *self._call_off()]
        self._give_up(done)
        while True:
            done += self._submit()
            asked = self._ask()
            if not asked:
                return done
            done += asked

    def _give_up(self, events: list[Event]) -> None:
        """Stop before a trainer that always fails has spent the whole budget."""
        for event in events:
            if event["event"] == Kind.FAILED and event["reason"] in CRASHES:
                self._failures += 1
            elif event["event"] in (Kind.FINISHED, Kind.DIVERGED):
                self._failures = 0
        if self._failures >= MAX_FAILURES:
            trial = next(e["trial"] for e in reversed(events) if e["event"] == Kind.FAILED)
            folder = self.study.layout.attempt(trial, self.ledger.trials[trial].attempt)
            got = f"{self._failures} failed trials and no result between them"
            hint = "lawsmith status shows why; mend it, then lawsmith run --retry-failed"
            want = f"a trainer that works: see {folder}/log.txt"
            raise LawsmithError(self.study.spec.name, got=got, want=want, hint=hint)

    def _mine(self, *stages: Stage) -> list[Trial]:
        """Open trials that lawsmith launches, at one of the stages."""
        return [t for t in self.ledger.open() if t.by == "run" and t.stage in stages]

    def _collect(self) -> list[Event]:
        """Results and failures of the jobs that ended, reports of those that run."""
        started = self._mine(Stage.SUBMITTED, Stage.RUNNING, Stage.CANCELLING)
        under_way = [(t, job_of(self.study, self.ledger, t)) for t in started if t.handle]
        if not under_way:
            return []
        stopping = [job for trial, job in under_way if trial.stage is Stage.CANCELLING]
        if stopping:
            self.runner.cancel(stopping)
        statuses = self.runner.poll([job for _, job in under_way])
        seen = [(trial, job) for trial, job in under_way if job.name in statuses]
        news = (self._news(trial, job, statuses[job.name]) for trial, job in seen)
        return self._record([event for events in news for event in events])

    def _news(self, trial: Trial, job: Job, status: Status) -> list[Event]:
        """The events a status leads to."""
        steps, offset = read_progress(job.folder, self._offsets.get(job.name, 0))
        self._offsets[job.name] = offset
        found = progress_events(trial, steps)
        if not status.over:
            if status.phase is Phase.RUNNING and trial.stage is Stage.SUBMITTED:
                found.insert(0, make(Kind.RUNNING, trial.name, attempt=trial.attempt))
            return found
        events, has_result = events_of(self.study.spec, trial, job, status)
        missing = not has_result and status.ending is Ending.COMPLETED
        return found if missing and self._may_appear(job.name) else [*found, *events]

    def _may_appear(self, name: str) -> bool:
        """Whether a result may still come: on a shared disk it is seen a while after its job."""
        since = self._waiting_since.setdefault(name, time.monotonic())
        return time.monotonic() - since < patience(self.study.spec)

    def _stop(self, news: list[Event]) -> list[Event]:
        """Stop runs that are hopeless, judged at some points of their way."""
        due: list[str] = []
        for event in news:
            if event["event"] == Kind.REPORTED:
                trial = self.ledger.trials[event["trial"]]
                behind = looks(trial, event["tokens"])
                if behind > self._judged_at.get(trial.name, 0):
                    self._judged_at[trial.name] = behind
                    due.append(trial.name)
        return self._record(stops(self.study, self.ledger, list(dict.fromkeys(due))))

    def _call_off(self) -> list[Event]:
        """Cancel trials that were not started and are no longer wanted."""
        excluded = excluded_rows(self.ledger.excluded, self.study.grid)
        found: list[Event] = []
        for trial in self._mine(Stage.ASKED, Stage.WAITING, Stage.CANCELLING):
            row = self.study.candidates.row_of(trial.config)
            if trial.stage is Stage.CANCELLING:
                if not trial.handle:
                    found.append(make(Kind.CANCELLED, trial.name))
            elif row is not None and excluded[row]:
                found.append(make(Kind.CANCELLED, trial.name, detail="its candidate was excluded"))
            elif not self._ready(trial) and not self.ledger.trials[trial.parent].open:
                found.append(orphaned(trial, self.ledger.trials[trial.parent]))
        return self._record(found)

    def _ready(self, trial: Trial) -> bool:
        """Whether the checkpoint that the trial starts from exists."""
        return ready(self.ledger, trial, self.study.spec.results.tolerance)

    def _submit(self) -> list[Event]:
        """Start what was asked for and what may be tried again, as slots are free.

        A branch whose trunk has not left its checkpoint yet waits.
        """
        busy = len(self._mine(Stage.SUBMITTED, Stage.RUNNING, Stage.CANCELLING))
        again = [trial for trial in self._mine(Stage.WAITING) if _due(trial)]
        able = [trial for trial in [*self._mine(Stage.ASKED), *again] if self._ready(trial)]
        free = max(0, self.study.spec.runner.slots - busy)
        due = [(trial, job_of(self.study, self.ledger, trial)) for trial in able[:free]]
        if not due:
            return []
        for trial, job in due:
            prepare(self.study, trial, job)
        handles = self.runner.submit([job for _, job in due])
        started = [(trial, handles[job.name]) for trial, job in due if job.name in handles]
        return self._record(
            [make(Kind.SUBMITTED, t.name, attempt=t.attempt, handle=h) for t, h in started]
        )

    def _ask(self) -> list[Event]:
        """Fill the free slots."""
        slots = self.study.spec.runner.slots
        if self._n_busy(self.ledger) >= slots or self._nothing_at == self.ledger.n_events:
            return []
        if self._answered() or self._only_crashed():
            return []

        def decide(ledger: Ledger) -> list[Event]:
            free = slots - self._n_busy(ledger)
            return propose(self.study, ledger, free) if free > 0 else []

        asked = self.study.journal.update(decide)
        # Not worked out again at every look while the last runs are waited for.
        self._nothing_at = -1 if asked else self.ledger.n_events
        return asked

    def _only_crashed(self) -> bool:
        """Whether the first trials crashed, wait to be tried again, and none has a result yet.

        What crashes the first crashes the next: no more are begun until one of them has ended.
        """
        trials = self.ledger.trials.values()
        results = (Stage.FINISHED, Stage.DIVERGED)
        own = [t for t in trials if t.by == "run"]
        crashed = any(t.stage is Stage.WAITING and t.crashes for t in own)
        return crashed and not any(t.stage in results for t in own)

    def finish(self) -> str | None:
        """Why the study is over, put on record; None while anything of it is under way."""
        if any(trial.by == "run" for trial in self.ledger.open()):
            return None
        reason = "stop rule" if self._answered() else exhausted(self.study, self.ledger)
        self.study.journal.update(
            lambda ledger: [] if ledger.ended == reason else [make(Kind.ENDED, reason=reason)]
        )
        return reason

    def _answered(self) -> bool:
        """The stop rule, judged again only when a run has ended."""
        n_settled = sum(not trial.open for trial in self.ledger.trials.values())
        if self._judged[0] != n_settled:
            self._judged = n_settled, self.stop(self.ledger)
        return self._judged[1]

    def _n_busy(self, ledger: Ledger) -> int:
        """Slots taken: a trial that waits, to be tried again or for its trunk, leaves its slot."""
        mine = (trial for trial in ledger.open() if trial.by == "run")
        tolerance = self.study.spec.results.tolerance
        return sum(t.stage is not Stage.WAITING and ready(ledger, t, tolerance) for t in mine)

    def _record(self, events: list[Event]) -> list[Event]:
        """Append events of trials that are still open; a person may have closed one meanwhile."""
        if not events:
            return []
        return self.study.journal.update(
            lambda ledger: [e for e in events if ledger.trials[e["trial"]].open]
        )


def drive(driver: Driver, *, sleep: Callable[[float], None] = time.sleep) -> Iterator[list[Event]]:
    """The events of every round in which something happened, until the study is over.

    Pauses grow while nothing happens, up to the study's ``runner.poll``. A wait that is long for
    want of room on the disk ends with an error that says so.
    """
    longest = driver.study.spec.runner.poll
    pause, quiet = FIRST_PAUSE, 0.0
    while True:
        events = driver.step()
        if events:
            pause, quiet = FIRST_PAUSE, 0.0
            yield events
        elif driver.finish() is not None:
            return
        else:
            sleep(pause)
            quiet += pause
            pause = min(pause * 1.5, longest)
            if quiet >= QUIET:
                # A run that cannot write its last word looks like one that goes on.
                check_disk_space(driver.study.layout.folder)
                quiet = 0.0


def _due(trial: Trial) -> bool:
    """Whether the next attempt may begin; if the clock went back, it need not wait it out."""
    begun = time_of({"time": trial.time})
    if begun is None:
        return True
    since = (datetime.now(UTC) - begun).total_seconds()
    return since >= trial.wait or since < 0
