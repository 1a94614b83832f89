"""Charts of a fit, of tasks or of a replay into a folder, with a spinner on stderr meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.cli.console import working
from lawsmith.datasets import Study
from lawsmith.errors import LawsmithError
from lawsmith.replay import Replayed
from lawsmith.tasks import TaskAnswer

if TYPE_CHECKING:
    from lawsmith.charts import Unavailable, Written
    from lawsmith.cli.fit_run import Fitted


@dataclass(frozen=True)
class Drawn:
    """The files written, and why there is no chart of some names."""

    paths: tuple[Path, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)


def draw_fit(folder: Path, found: Fitted) -> Drawn:
    """Every chart of the answer, of the law and of the curves that the runs allow."""
    from lawsmith.charts import write_all  # here: altair is slow to import
    from lawsmith.charts.answer import answered_by
    from lawsmith.charts.trunks import curved_by

    study, answer, along = found.study, found.answer, found.along
    made = None if answer is None else answered_by(answer, study)
    curved = None if answer is None or along is None else curved_by(answer, study, along)
    return _drawn(folder, lambda: write_all(folder, made, found.analysis, curved=curved))


def draw_tasks(folder: Path, study: Study, answers: Sequence[TaskAnswer]) -> Drawn:
    """Both charts of every task."""
    from lawsmith.charts import write_tasks
    from lawsmith.datasets.records import study_name

    return _drawn(folder, lambda: write_tasks(folder, study_name(study), answers))


def draw_replay(folder: Path, done: Replayed) -> Drawn:
    """Every chart of a replay's answer."""
    from lawsmith.charts import write_all
    from lawsmith.charts.answer import answered_in

    both = done.answers
    made = None if both is None else answered_in(done.trace, done.study, both)
    return _drawn(folder, lambda: write_all(folder, made))


def _drawn(folder: Path, write: Callable[[], Sequence[Written | Unavailable]]) -> Drawn:
    from lawsmith.charts import Unavailable, Written

    try:
        with working(f"Drawing charts into {folder}"):
            results = write()
    except OSError as error:
        got = f"{folder}: {error.strerror or error}"
        raise LawsmithError("charts", got=got, want="a folder that can be written") from None
    return Drawn(
        tuple(path for r in results if isinstance(r, Written) for path in r.paths),
        {r.name: r.reason for r in results if isinstance(r, Unavailable)},
    )
