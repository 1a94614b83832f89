"""A live study as one JSON object."""

from __future__ import annotations

from typing import Any

from lawsmith import __version__
from lawsmith.cli.payload import NO_ANSWER, plain
from lawsmith.journal import Trial
from lawsmith.study.summary import Summary

Json = dict[str, Any]


def status_payload(s: Summary) -> Json:
    """What `lawsmith status --json` prints."""
    study = s.study
    found: Json = plain(
        {
            "version": __version__,
            "study": study.spec.name,
            "id": s.ledger.id,
            "driver": s.driver,
            "ended": s.ledger.ended,
            "runs": s.counts,
            "budget": {
                "flops": study.budget,
                "committed": s.spend,
                "finished": s.finished,
                "share": s.spend / study.budget,
            },
            "window": {"reached": s.window[0], "largest": s.window[1]},
            "candidates": len(study.grid),
            "excluded": s.n_excluded,
            "strangers": s.strangers,
            "journal_torn": s.torn,
            "best": None if s.best is None else _trial(s.best),
            **(NO_ANSWER if s.known.answer is None else s.known.answer.to_dict()),
            "why_no_answer": s.known.why_not or None,
            "trials": [_trial(trial) for trial in s.ledger.trials.values()],
            "failures": [{**_trial(f.trial), "log": f.log, "tail": f.tail} for f in s.failures],
            "next": [{"config": p.config, "cost": p.cost} for p in s.proposals],
            "why_not_next": s.why_not_next or None,
        }
    )
    return found


def _trial(trial: Trial) -> Json:
    report = trial.report
    return {
        "trial": trial.name,
        "state": trial.stage.value,
        "by": trial.by,
        "config": dict(trial.config),
        "cost": trial.cost,
        "loss": trial.loss,
        "attempt": trial.attempt,
        "reason": trial.reason or None,
        "detail": trial.detail or None,
        "on_the_way": None if report is None else {"tokens": report[0], "loss": report[1]},
    }
