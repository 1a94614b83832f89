"""Runs of a project on a W&B server, with W&B's library (pip install 'lawsmith[wandb]')."""

from __future__ import annotations

from itertools import islice
from typing import Any

from lawsmith.datasets.sources.tracked import (
    MOST_RUNS,
    History,
    TrackedRun,
    add_moment,
    needed,
    visible,
)
from lawsmith.errors import LawsmithError
from lawsmith.numbers import as_float

TIMEOUT = 60


def read_runs(project: str, *, histories: bool) -> list[TrackedRun]:
    """The runs of ENTITY/PROJECT; histories only where they are needed: each is a question."""
    try:
        import wandb
    except ImportError:
        raise needed("wandb", f"wandb:{project}") from None
    try:
        found = wandb.Api(timeout=TIMEOUT).runs(project, per_page=500)
        return [_run(run, histories=histories) for run in islice(found, MOST_RUNS)]
    except Exception as error:  # of the network, the key, the project: W&B names no common one
        got = " ".join(str(error).split())[:160] or type(error).__name__
        want = "a project that can be read, wandb:ENTITY/PROJECT"
        hint = "log in with wandb login, or export the runs as CSV on their page"
        raise LawsmithError(f"wandb:{project}", got=got, want=want, hint=hint) from None


def _run(run: Any, *, histories: bool) -> TrackedRun:
    summary = getattr(run.summary, "_json_dict", run.summary)
    settings, results = visible(dict(run.config)), visible(dict(summary))
    history: History = {}
    for row in run.scan_history() if histories else ():
        step = as_float(row.get("_step"))
        if step is not None:
            add_moment(history, step, row)
    return TrackedRun(str(run.name or run.id), str(run.state), settings, results, history)
