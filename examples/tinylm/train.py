"""Train one model and write its result: the command of a trial.

The result is a JSON object, printed and, where the variable LAWSMITH_RESULT names a file, written
there: under a temporary name first, then renamed, so that a reader never sees half of it. A run
that diverged has the loss it ended with, or null where that is no number, and "diverged": true.

Where the variable LAWSMITH_CONFIG names a file, its kind says what is trained: a whole run, a trunk
or a branch (segment.py). LAWSMITH_PROGRESS names the file for losses on the way and checkpoints.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

try:
    import torch
except ModuleNotFoundError:
    sys.exit('tinylm: torch is not installed here; pip install "lawsmith[lm]" brings it')
from data import Corpus, load_corpus, pick_device
from ensemble import Ensemble
from errors import TinylmError, run_command
from segment import Segment, Tell, finish, progress, read_segment, segment_steps
from tinylm import Size
from trunk import Plan, Row, Trunk


@dataclass(frozen=True)
class Task:
    """What a trial trains, and on what."""

    plan: Plan
    segment: Segment
    corpus: Corpus

    def trunk(self, spare: Ensemble | None = None) -> Trunk:
        return Trunk(self.plan, self.corpus, spare)


def read_task(args: argparse.Namespace, config: Mapping[str, Any], corpus: Corpus) -> Task:
    """The task of a command line and of lawsmith's config of the trial."""
    if args.heldout is not None:
        if not args.context <= args.heldout < len(corpus.heldout):
            most = len(corpus.heldout) - 1
            raise TinylmError(f"--heldout {args.heldout}: want {args.context} to {most}")
        corpus = replace(corpus, heldout=corpus.heldout[: args.heldout + 1])
    size = Size(args.width, args.depth, corpus.vocabulary, args.context)
    segment = read_segment(config, args.tokens)
    a_step = 1 if segment.kind == "run" else max(1, args.batch * args.context)
    budget = round(args.tokens / a_step) * a_step
    return Task(Plan(size, args.batch, args.seed, (args.lr,), (budget,)), segment, corpus)


def task_steps(trunk: Trunk, segment: Segment, tell: Tell) -> Generator[None, None, Row]:
    """Train what the segment says, yielding while work is queued; the result."""
    if segment.kind == "run":
        return (yield from _whole_run(trunk))
    loss = yield from segment_steps(trunk, segment, tell)
    diverged = not loss <= math.log(trunk.plan.size.vocabulary)
    finite = math.isfinite(loss)
    return {"loss": loss if finite else None, "diverged": diverged, "D": trunk.plan.budgets[0]}


def _whole_run(trunk: Trunk) -> Generator[None, None, Row]:
    """The one run of a plan with one learning rate and one budget."""
    for rows in trunk.run():
        if rows is None:
            yield
        else:
            (row,) = rows
    del row["trunk_wall_s"]
    return row | {"heldout": trunk.ensemble.n_eval * trunk.plan.size.context}


def write_result(row: Row, path: Path) -> None:
    """Write the result as one JSON file that appears whole or not at all."""
    temporary = path.with_name(f"{path.name}.part")
    temporary.write_text(json.dumps(row) + "\n")
    temporary.replace(path)


def read_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--batch", type=int, required=True, help="sequences in a step")
    parser.add_argument("--tokens", type=int, required=True, help="tokens to train on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--context", type=int, default=512, help="tokens in a sequence")
    parser.add_argument("--heldout", type=int, help="evaluate on so many tokens; all without it")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("TINYLM_CORPUS", "corpus"))
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    return parser.parse_args(words)


def _main() -> None:
    args = read_arguments()
    told, config = (os.environ.get(f"LAWSMITH_{name}") for name in ("PROGRESS", "CONFIG"))
    known = json.loads(Path(config).read_text()) if config else {}
    task = read_task(args, known, load_corpus(Path(args.corpus), pick_device(args.device)))
    tell = progress(Path(told or os.devnull))
    started = time.monotonic()
    try:
        row = finish(task_steps(task.trunk(), task.segment, tell))
    except torch.cuda.OutOfMemoryError:
        raise TinylmError(f"{task.plan.name}: out of GPU memory; use a smaller batch") from None
    if task.segment.kind == "run":
        row["wall_s"] = round(time.monotonic() - started, 2)
    print(json.dumps(row))
    result = os.environ.get("LAWSMITH_RESULT")
    if result:
        write_result(row, Path(result))
    if row["diverged"]:
        print("tinylm: this run diverged", file=sys.stderr)


if __name__ == "__main__":
    run_command(_main)
