"""Which rows of a table are results: a run that crashed, was killed or still runs is not one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import BoolArray
from lawsmith.datasets import words

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("state", "status", "run_state", "run_status", "job_state", "reported_as")
FINISHED = ("finished", "complete", "completed", "success", "succeeded", "done", "ok")
DIVERGED = ("diverged", "nan")
UNFINISHED = (
    *("running", "crashed", "failed", "fail", "killed", "preempted", "preempting", "scheduled"),
    *("pending", "queued", "waiting", "pruned", "error", "cancelled", "canceled", "timeout"),
    *("aborted", "stopped", "interrupted", "corrupted", "evaluating", "submitted", "unfinished"),
    *("out_of_memory", "oom", "node_fail", "crash", "unknown", "deleted"),
)


def state_column(frame: pd.DataFrame) -> str | None:
    """The column that says how runs ended: called so, and most of its words are known."""
    for name in map(str, frame.columns):
        if words.is_one_of(name, COLUMNS):
            said = set(_words(frame, name)) - {""}
            known = said & {*FINISHED, *DIVERGED, *UNFINISHED}
            if known and 2 * len(known) >= len(said):
                return name
    return None


def finished(frame: pd.DataFrame, column: str) -> tuple[BoolArray, BoolArray, dict[str, int]]:
    """(rows that are results, rows that diverged, how many of each other state are left out)."""
    said = _words(frame, column)
    diverged = np.array([word in DIVERGED for word in said], dtype=np.bool_)
    kept = diverged | np.array([word in FINISHED for word in said], dtype=np.bool_)
    others = Counter(
        word or "of no state" for word, keep in zip(said, kept, strict=True) if not keep
    )
    return kept, diverged, dict(others.most_common())


def _words(frame: pd.DataFrame, column: str) -> Sequence[str]:
    """The states in plain form: 'TrialState.COMPLETE' is complete."""
    gone = frame[column].isna().tolist()
    cells = zip(frame[column].tolist(), gone, strict=True)
    return ["" if no else words.plain(str(cell).rsplit(".", 1)[-1].lower()) for cell, no in cells]
