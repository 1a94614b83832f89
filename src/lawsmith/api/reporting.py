"""Write a result as a report: one page that opens offline."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.analysis import Analysis, FitOptions
from lawsmith.answer import Answer
from lawsmith.api import functions, reading
from lawsmith.api.reading import in_python
from lawsmith.cli.report import record, replay_record, table_settings
from lawsmith.datasets import Study
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import LC
from lawsmith.laws.law import Law
from lawsmith.replay import Replayed
from lawsmith.report import Record, Source, replay_source, table_source
from lawsmith.report import write_report as write_source
from lawsmith.report.source import study_files

if TYPE_CHECKING:
    from lawsmith.api.reading import Source as Runs


@in_python
def write_report(found: Answer | Analysis | Replayed | Runs, path: str | PathLike[str]) -> Path:
    """Write a report: the answer, the charts, every run and all warnings on one offline page.

    found   what `fit`, `analyse` or `replay_study` returned; or runs, as `fit` takes them
    path    the page to write, such as 'report.html'

    >>> import lawsmith
    >>> small = lawsmith.load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> found = lawsmith.fit(small, targets=1e16)
    >>> lawsmith.write_report(found, "report.html").name
    'report.html'
    """
    if isinstance(found, Replayed):
        return write_source(replay_source(found, replay_record(found.trace, ())), Path(path))
    if isinstance(found, Analysis):
        options, study = found.options, found.study
        source = table_source(study, options, options.targets, _record(study, options))
        return write_source(source, Path(path))
    answer = found if isinstance(found, Answer) else functions.fit(found)
    return write_source(_of_answer(answer), Path(path))


def _of_answer(found: Answer) -> Source:
    """The source of a page of this answer, with the usual law of its study."""
    origin = found.origin
    if origin is None:
        want = "an answer that knows its runs, as lawsmith.fit returns it"
        raise LawsmithError("report", got="an answer of a grid and runs alone", want=want)
    targets = tuple(forecast.target for forecast in found.forecasts)
    options = FitOptions(
        law=_law(origin.study),
        hold_out=origin.hold_out,
        targets=tuple(target for target in targets if not target.hp),
        level=found.level,
    )
    record = _record(origin.study, options)
    return table_source(origin.study, options, targets, record, origin.along, found)


def _law(study: Study) -> Law:
    """The study's usual law; LC where it has none, which the page then says cannot be fitted."""
    try:
        return reading.as_law(None, study)
    except LawsmithError:
        return LC


def _record(study: Study, options: FitOptions) -> Record:
    settings = {"study": study.title, **table_settings(study, options)}
    return record((), settings, study_files(study.name))
