"""One trial of a study with trunks: a run, a trunk, the extension of one, or a branch that decays.

    trunk    0 ─────────▶ D          constant rate; checkpoints at ``save_at`` and at D
    trunk    branch_at ─▶ D          the same, from a checkpoint of its parent: an extension
    branch   branch_at ─╲ D          the rate falls to 0, from a checkpoint of its parent

Tokens that are no whole number of steps are rounded to one. Checkpoints lie in the trial's folder,
which all its attempts share, under the count of tokens at which they were asked for. A trunk that
is started again goes on from its own last one. Losses on the way and checkpoints are told as lines
of a progress file, each appended once what it tells of is there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from errors import TinylmError
from trunk import Trunk

KINDS = ("run", "trunk", "branch")
MARKS_PER_OCTAVE, FIRST_MARK = 3, 2**14  # where a trunk is evaluated on the way

Tell = Callable[[Mapping[str, float]], None]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Segment:
    """What a trial trains; tokens are counted from the start of the trunk.

    end      where it ends
    start    (folder of the parent, tokens of its checkpoint), None for a start from scratch
    save_at  tokens at which a trunk leaves a checkpoint, beside its end
    folder   where it leaves them
    """

    kind: str
    end: int
    start: tuple[Path, int] | None
    save_at: tuple[int, ...]
    folder: Path


def read_segment(config: Mapping[str, Any], tokens: int) -> Segment:
    """The segment to ``tokens`` that lawsmith's config of a trial asks for; usually a run."""
    kind, above, at = (config.get(key) for key in ("kind", "parent_folder", "branch_at"))
    if kind not in (None, *KINDS):
        raise TinylmError(f"kind {kind!r}: want {', '.join(KINDS)}")
    start = None if above is None or at is None else (Path(above), round(at))
    if kind == "branch" and start is None:
        raise TinylmError("a branch without parent_folder and branch_at has no checkpoint to go on")
    points = tuple(round(tokens) for tokens in config.get("save_at") or ())
    return Segment(kind or "run", tokens, start, points, Path(config.get("folder") or "."))


def checkpoint_of(folder: Path, tokens: int) -> Path:
    return folder / f"tokens-{tokens}.pt"


def progress(file: Path) -> Tell:
    """Appends a line of JSON for each thing told."""

    def tell(what: Mapping[str, float]) -> None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(what) + "\n")

    return tell


def train_segment(trunk: Trunk, segment: Segment, tell: Tell) -> float:
    """Train a trunk or a branch to its end; the held-out loss there."""
    return finish(segment_steps(trunk, segment, tell))


def segment_steps(trunk: Trunk, segment: Segment, tell: Tell) -> Generator[None, None, float]:
    """The same, yielding while work is queued, so that several trials can share one GPU."""
    step_tokens = trunk.plan.step_tokens
    begin(trunk, segment, tell)
    total = round(segment.end / step_tokens)
    if segment.kind == "branch":
        yield from trunk.decay(total)
        return (yield from evaluated(trunk))
    saves = {round(tokens / step_tokens): tokens for tokens in (*segment.save_at, segment.end)}
    stops = saves.keys() | marks(trunk, total)
    for step in sorted(step for step in stops if trunk.at < step <= total):
        yield from trunk.advance(step)
        loss = yield from evaluated(trunk)
        if step in saves:
            trunk.checkpoint(checkpoint_of(segment.folder, saves[step]))
            tell({"saved": saves[step]})
        if math.isfinite(loss):
            tell({"tokens": step * step_tokens, "loss": loss})
    return (yield from evaluated(trunk))


def begin(trunk: Trunk, segment: Segment, tell: Tell) -> None:
    """Bring a trunk to where the segment starts, or to the last checkpoint of its own."""
    own = own_checkpoints(segment) if segment.kind == "trunk" else []
    own = [tokens for tokens in own if tokens <= segment.end]
    if own:
        trunk.resume(checkpoint_of(segment.folder, own[-1]))
        tell({"resumed": own[-1]})
    elif segment.start is not None:
        path = checkpoint_of(*segment.start)
        if not path.is_file():
            raise TinylmError(f"no checkpoint {path}: the parent left none at these tokens")
        trunk.resume(path)


def own_checkpoints(segment: Segment) -> list[int]:
    """Tokens of the checkpoints that earlier attempts left, in order."""
    found = (path.stem.removeprefix("tokens-") for path in segment.folder.glob("tokens-*.pt"))
    return sorted(int(tokens) for tokens in found)


def marks(trunk: Trunk, total: int) -> set[int]:
    """Steps up to ``total`` at which a trunk is evaluated, even in the log."""
    octaves = math.log2(max(1.0, total * trunk.plan.step_tokens / FIRST_MARK))
    tokens = (FIRST_MARK * 2 ** (k / MARKS_PER_OCTAVE) for k in range(int(octaves * 3) + 1))
    return {max(1, round(mark / trunk.plan.step_tokens)) for mark in tokens}


def evaluated(trunk: Trunk) -> Generator[None, None, float]:
    yield from trunk.evaluate()
    return trunk.losses()[0]


def finish(steps: Generator[None, None, Result]) -> Result:
    """Go through all the steps; what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
