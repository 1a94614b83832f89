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
from dataclasses import replace
from pathlib import Path

try:
    import torch
except ModuleNotFoundError:
    sys.exit('tinylm: torch is not installed here; pip install "lawsmith[lm]" brings it')
from data import Corpus, load_corpus, pick_device
from errors import TinylmError, run_command
from segment import Segment, progress, read_segment, train_segment
from tinylm import Size
from trunk import Plan, Row, Trunk


def train(plan: Plan, corpus: Corpus) -> Row:
    """The one run of a plan with one learning rate and one budget."""
    started = time.monotonic()
    trunk = Trunk(plan, corpus)
    for rows in trunk.run():
        if rows is not None:
            (row,) = rows
    del row["trunk_wall_s"]
    evaluated = trunk.ensemble.n_eval * plan.size.context
    return row | {"heldout": evaluated, "wall_s": round(time.monotonic() - started, 2)}


def train_part(plan: Plan, corpus: Corpus, segment: Segment) -> Row:
    """A trunk or a branch, to the one budget of the plan."""
    told = os.environ.get("LAWSMITH_PROGRESS")
    loss = train_segment(Trunk(plan, corpus), segment, progress(Path(told or os.devnull)))
    finite = math.isfinite(loss)
    diverged = not loss <= math.log(plan.size.vocabulary)
    return {"loss": loss if finite else None, "diverged": diverged, "D": plan.budgets[0]}


def _segment(tokens: int) -> Segment:
    told = os.environ.get("LAWSMITH_CONFIG")
    return read_segment(json.loads(Path(told).read_text()) if told else {}, tokens)


def write_result(row: Row, path: Path) -> None:
    """Write the result as one JSON file that appears whole or not at all."""
    temporary = path.with_name(f"{path.name}.part")
    temporary.write_text(json.dumps(row) + "\n")
    temporary.replace(path)


def _arguments() -> argparse.Namespace:
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
    return parser.parse_args()


def _main() -> None:
    args = _arguments()
    corpus = load_corpus(Path(args.corpus), pick_device(args.device))
    if args.heldout is not None:
        if not args.context <= args.heldout < len(corpus.heldout):
            most = len(corpus.heldout) - 1
            raise TinylmError(f"--heldout {args.heldout}: want {args.context} to {most}")
        corpus = replace(corpus, heldout=corpus.heldout[: args.heldout + 1])
    size = Size(args.width, args.depth, corpus.vocabulary, args.context)
    segment = _segment(args.tokens)
    whole = segment.kind == "run"
    a_step = 1 if whole else max(1, args.batch * args.context)
    budget = round(args.tokens / a_step) * a_step
    plan = Plan(size, args.batch, args.seed, (args.lr,), (budget,))
    try:
        row = train(plan, corpus) if whole else train_part(plan, corpus, segment)
    except torch.cuda.OutOfMemoryError:
        raise TinylmError(f"{plan.name}: out of GPU memory; use a smaller batch") from None
    print(json.dumps(row))
    told = os.environ.get("LAWSMITH_RESULT")
    if told:
        write_result(row, Path(told))
    if row["diverged"]:
        print("tinylm: this run diverged", file=sys.stderr)


if __name__ == "__main__":
    run_command(_main)
