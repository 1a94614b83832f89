"""A grid: a list of whole trunks, several at a time on one GPU, resumable after any stop.

Rows are appended to a JSON-lines file as each budget of a trunk ends. Started again, the command
skips what the file has; a trunk stopped by the time limit goes on from its checkpoint where that is
still there, and from its beginning where it is not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from data import Corpus, load_corpus, pick_device
from ensemble import Ensemble
from errors import TinylmError, run_command
from plans import GRIDS
from tinylm import Size
from trunk import Plan, Row, Trunk

LEAST_SECONDS = 30.0  # a trunk is not begun with less time left
IDLE_SECONDS = 0.1  # between two questions for more plans when there is nothing to train


def read_rows(path: Path) -> list[Row]:
    """The rows of a results file, the last of each run; a line cut short by a kill is left out."""
    if not path.exists():
        return []
    rows: dict[tuple[Any, ...], Row] = {}
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        key = (row["width"], row["depth"], row["batch"], row["seed"], row["D"], row["lr"])
        rows[key] = row
    return list(rows.values())


def finished_runs(plan: Plan, rows: Sequence[Row]) -> set[tuple[int, float]]:
    """The (budget, learning rate) of a plan that have a row."""
    wanted = (plan.size.width, plan.size.depth, plan.batch, plan.seed, plan.size.context)
    names = ("width", "depth", "batch", "seed", "context")
    have = {(r["D"], r["lr"]) for r in rows if tuple(r[name] for name in names) == wanted}
    return {(budget, lr) for budget in plan.budgets for lr in plan.lrs} & have


def finished_budgets(plan: Plan, rows: Sequence[Row]) -> list[int]:
    """The budgets of a plan for which every learning rate has a row."""
    done = finished_runs(plan, rows)
    return [budget for budget in plan.budgets if all((budget, lr) in done for lr in plan.lrs)]


def without_finished(plan: Plan, rows: Sequence[Row]) -> Plan | None:
    """The plan with only those learning rates that lack a row; None when it is finished."""
    done = finished_runs(plan, rows)
    lrs = tuple(lr for lr in plan.lrs if any((budget, lr) not in done for budget in plan.budgets))
    return replace(plan, lrs=lrs) if lrs else None


class Results:
    """The results file, only ever appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
        if not whole:
            self._append("\n")  # a line cut short stays alone on its line, and is not read

    def add(self, rows: Sequence[Row]) -> None:
        self._append("".join(json.dumps(row) + "\n" for row in rows))

    def _append(self, text: str) -> None:
        with self.path.open("a") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


class Collection:
    """Trains a list of plans, some side by side, until all are done or time is up.

    more   asked all the while for plans that have come up since; None says that none will
    """

    def __init__(
        self,
        corpus: Corpus,
        results: Results,
        checkpoints: Path,
        more: Callable[[], Sequence[Plan] | None] = lambda: None,
    ) -> None:
        self.corpus, self.results, self.checkpoints = corpus, results, checkpoints
        self.more = more
        self.spares: dict[tuple[Size, int, int], list[Ensemble]] = {}
        self.stopping = False  # set by a signal, heeded between two steps
        checkpoints.mkdir(parents=True, exist_ok=True)

    def run(self, plans: Sequence[Plan], *, at_once: int, seconds: float) -> bool:
        """Collect, ``at_once`` trunks side by side; True when every plan is finished.

        However it ends, short of a kill, unfinished trunks leave a checkpoint: at the time limit,
        after ``stop``, or when the next trunk cannot begin.
        """
        deadline = time.monotonic() + seconds
        waiting = self._unfinished(plans)
        running: list[tuple[Trunk, Iterator[list[Row] | None]]] = []
        try:
            while time.monotonic() < deadline and not self.stopping:
                further = self.more()
                waiting += self._unfinished(further or ())
                if not waiting and not running:
                    if further is None:
                        return True
                    time.sleep(IDLE_SECONDS)
                while waiting and len(running) < at_once and self._may_begin(deadline, running):
                    running.append(self._begin(*waiting.pop(0)))
                running = [pair for pair in running if self._turn(*pair)]
        finally:
            for trunk, _ in running:
                trunk.checkpoint(self._checkpoint_of(trunk.plan))
        return not (waiting or running) and self.more() is None

    def _unfinished(self, plans: Sequence[Plan]) -> list[tuple[Plan, list[int]]]:
        """Plans of what is left to train, and the budgets they need not branch at."""
        rows = read_rows(self.results.path) if plans else []
        left = [plan for plan in (without_finished(plan, rows) for plan in plans) if plan]
        return [(plan, finished_budgets(plan, rows)) for plan in left]

    def stop(self, *_: object) -> None:
        """Let ``run`` end soon; fit to be a signal's handler."""
        self.stopping = True

    @staticmethod
    def _may_begin(deadline: float, running: Sequence[Any]) -> bool:
        return not running or time.monotonic() + LEAST_SECONDS < deadline

    def _checkpoint_of(self, plan: Plan) -> Path:
        return self.checkpoints / f"{plan.name}.pt"

    def _begin(self, plan: Plan, done: list[int]) -> tuple[Trunk, Iterator[list[Row] | None]]:
        trunk = self._trunk(plan)
        path = self._checkpoint_of(plan)
        if path.exists():
            trunk.resume(path)
            next_branch = min(plan.branch(b) for b in set(plan.budgets) - set(done))
            if trunk.at > next_branch:  # rows were lost: the trunk must pass there again
                trunk = Trunk(plan, self.corpus, trunk.ensemble)
        say(f"{plan.name}: begun at step {trunk.at}")
        return trunk, trunk.run(done)

    def _trunk(self, plan: Plan) -> Trunk:
        """A trunk at its beginning, on an ensemble that is there already where one has its shape:
        to capture a new one takes longer than many a run."""
        try:
            spares = self.spares.get(plan.shape)
            return Trunk(plan, self.corpus, spares.pop() if spares else None)
        except torch.cuda.OutOfMemoryError:
            if not self.spares:
                raise TinylmError(
                    f"{plan.name}: out of GPU memory; use a lower --at-once"
                ) from None
        self.spares.clear()
        torch.cuda.empty_cache()
        return self._trunk(plan)

    def _turn(self, trunk: Trunk, work: Iterator[list[Row] | None]) -> bool:
        """Let a trunk queue some work; False once it has ended."""
        for rows in work:
            if rows is None:
                return True
            self.results.add(rows)
            best = min((row["loss"] for row in rows if row["loss"] is not None), default=math.nan)
            after = rows[0]["trunk_wall_s"]
            say(f"{trunk.plan.name}: {rows[0]['D']} tokens, best {best:.4f}, after {after} s")
        self._checkpoint_of(trunk.plan).unlink(missing_ok=True)
        self.spares.setdefault(trunk.plan.shape, []).append(trunk.ensemble)
        return False


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder for stopped trunks")
    parser.add_argument("--grid", choices=GRIDS, default="dense")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--only", default="", help="trunks whose name has this expression")
    parser.add_argument("--list", action="store_true", help="print the trunks and stop")
    args = parser.parse_args()
    plans = [plan for plan in GRIDS[args.grid]() if re.search(args.only, plan.name)]
    if args.list:
        rows = read_rows(args.results)
        for plan in plans:
            runs = f"{len(finished_runs(plan, rows))} of {plan.n_runs} runs"
            print(f"{plan.name}: {runs}")
        return
    if args.at_once < 1 or args.minutes <= 0:
        raise TinylmError("want --at-once of at least 1 and --minutes above 0")
    corpus = load_corpus(args.corpus, pick_device(args.device))
    plans = [replace(p, size=replace(p.size, vocabulary=corpus.vocabulary)) for p in plans]
    collection = Collection(corpus, Results(args.results), args.checkpoints)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, collection.stop)
    complete = collection.run(plans, at_once=args.at_once, seconds=60 * args.minutes)
    say("all is done" if complete else "stopped before the end; run again to go on")


if __name__ == "__main__":
    run_command(_main)
