"""Charts as files: interactive HTML that loads nothing from outside, PNG, SVG, PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import vl_convert

from lawsmith.analysis import Analysis, Comparison
from lawsmith.charts.catalogue import CHARTS, REPLAY_CHARTS, Chart
from lawsmith.charts.draw.compare import TITLE, compare
from lawsmith.charts.draw.parts import NARROW, WIDE
from lawsmith.charts.draw.titles import study_name
from lawsmith.charts.page import page
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.errors import LawsmithError, unknown
from lawsmith.replay.records import Trace

Drawing = tuple[str, Callable[..., Chart]]  # a chart's name, and what draws it at a width
Format = Literal["html", "png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
DEFAULT: tuple[Format, ...] = ("html", "png")


@dataclass(frozen=True)
class Written:
    """A chart that was written, and its files."""

    name: str
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Unavailable:
    """A chart that cannot be made, and why."""

    name: str
    reason: str


def write(
    chart: Chart,
    directory: str | Path,
    name: str,
    *,
    narrow: Chart | None = None,
    formats: Sequence[Format] = DEFAULT,
) -> Written:
    """Write directory/name.html, .png, …; ``narrow`` is the same chart drawn for telephones."""
    folder = _folder(directory)
    # The tests validate every chart; doing so again for each file would take most of the time.
    wide = chart.to_dict(validate=False)
    small = wide if narrow is None else narrow.to_dict(validate=False)
    paths = []
    for suffix in formats:
        if suffix not in FORMATS:
            raise unknown("chart format", suffix, FORMATS)
        path = folder / f"{name}.{suffix}"
        path.write_bytes(_render(suffix, wide, small, name))
        paths.append(path)
    return Written(name, tuple(paths))


def write_all(
    analysis: Analysis,
    directory: str | Path,
    *,
    comparisons: Sequence[Comparison] = (),
    formats: Sequence[Format] = DEFAULT,
) -> list[Written | Unavailable]:
    """Write every chart of an analysis, and of a comparison of laws where there is one."""
    return _write_each(_drawings(analysis, comparisons), directory, formats)


def write_replay(
    trace: Trace, directory: str | Path, *, formats: Sequence[Format] = DEFAULT
) -> list[Written | Unavailable]:
    """Write every chart of a replay."""
    drawings = [(name, partial(draw, trace)) for name, draw in REPLAY_CHARTS.items()]
    return _write_each(drawings, directory, formats)


def _write_each(
    drawings: Iterable[Drawing], directory: str | Path, formats: Sequence[Format]
) -> list[Written | Unavailable]:
    written: list[Written | Unavailable] = []
    for name, draw in drawings:
        try:
            wide, narrow = draw(width=WIDE), draw(width=NARROW)
        except ChartUnavailable as error:
            written.append(Unavailable(name, error.reason))
            continue
        written.append(write(wide, directory, name, narrow=narrow, formats=formats))
    return written


def _drawings(analysis: Analysis, comparisons: Sequence[Comparison]) -> Iterator[Drawing]:
    for name, draw in CHARTS.items():
        yield name, partial(draw, analysis)
    if comparisons:
        heading = f"{TITLE}: {study_name(analysis.study)}"
        yield "compare", partial(compare, comparisons, heading=heading)


def _folder(directory: str | Path) -> Path:
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        got = error.strerror or "an error"
        raise LawsmithError(str(folder), got=got.lower(), want="a folder to write to") from None
    return folder


def _render(suffix: Format, wide: dict[str, Any], narrow: dict[str, Any], name: str) -> bytes:
    match suffix:
        case "html":
            return page(wide, narrow, title=_title(wide, name)).encode()
        case "png":
            return bytes(vl_convert.vegalite_to_png(wide, scale=2))
        case "svg":
            return str(vl_convert.vegalite_to_svg(wide)).encode()
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(wide))


def _title(spec: dict[str, Any], name: str) -> str:
    text = spec.get("title", {}).get("text", name)
    return text if isinstance(text, str) else " ".join(text)
