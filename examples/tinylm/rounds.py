"""Train what `lawsmith ask` asked for: files of proposals in, files of results out.

    lawsmith ask study.toml -n 8 --json > rounds/01.asked.json    # where lawsmith is
    python rounds.py rounds --corpus corpus                       # where the GPU is
    lawsmith tell study.toml rounds/01.told.json                  # where lawsmith is

Proposals of one size, batch and budget train together as an ensemble. Each ensemble has a seed of
its own, drawn from the names of its file and of its first trial, so no run repeats another's
beginning. Rows are appended to rounds/rows.jsonl as they come; a round that was stopped goes on
when the command is started again. With --watch it stays and takes new files as they appear, until
there is a file called `stop`.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from data import Corpus, load_corpus, pick_device
from errors import TinylmError, run_command
from grid import Collection, Results, read_rows, say
from tinylm import Size
from train import write_result
from trunk import Plan, Row, check_corpus

ASKED, TOLD, ROWS, STOP = ".asked.json", ".told.json", "rows.jsonl", "stop"
LOOK_SECONDS = 0.3  # between two looks for new files
NEEDED = ("width", "depth", "batch", "D", "lr")

Run = dict[str, Any]


class Round:
    """One file of proposals: its plans, and what to tell once they are all trained."""

    def __init__(self, path: Path, corpus: Corpus, context: int) -> None:
        self.path = path
        self.told = path.with_name(path.name.removesuffix(ASKED) + TOLD)
        self.members: list[tuple[Plan, list[Run]]] = []
        for (width, depth, batch, tokens), runs in _together(read_asked(path)).items():
            size = Size(width, depth, corpus.vocabulary, context)
            seed = zlib.crc32(f"{self.path.name}/{runs[0]['trial']}".encode())
            lrs = tuple(sorted({float(run["config"]["lr"]) for run in runs}))
            plan = Plan(size, batch, seed, lrs, (tokens,))
            check_corpus(plan, corpus)
            self.members.append((plan, runs))

    @property
    def plans(self) -> list[Plan]:
        return [plan for plan, _ in self.members]

    def tell(self, rows: Sequence[Row]) -> bool:
        """Write the results if all of them are there."""
        by_run = {(row["seed"], row["lr"], row["D"]): row for row in rows}
        told = []
        for plan, runs in self.members:
            for run in runs:
                key = (plan.seed, float(run["config"]["lr"]), plan.budgets[0])
                if key not in by_run:
                    return False
                told.append(_result(run["trial"], by_run[key]))
        write_result(sorted(told, key=lambda result: result["trial"]), self.told)
        return True


def read_asked(path: Path) -> list[Run]:
    """The runs of a file that `lawsmith ask --json` wrote."""
    try:
        runs = json.loads(path.read_text())
        missing = sorted({key for run in runs for key in NEEDED if key not in run["config"]})
        trials = [run["trial"] for run in runs]
    except (ValueError, TypeError, KeyError) as error:
        raise TinylmError(f"{path}: not a file of `lawsmith ask --json` ({error!r})") from None
    if missing:
        raise TinylmError(f"{path}: a config has no {', '.join(missing)}; give models width, depth")
    if not trials or len(set(trials)) < len(trials):
        raise TinylmError(f"{path}: want at least one run, and each trial once")
    return runs


def _together(runs: Sequence[Run]) -> dict[tuple[int, int, int, int], list[Run]]:
    """Runs that can train as one ensemble."""
    groups: dict[tuple[int, int, int, int], list[Run]] = {}
    for run in runs:
        config = run["config"]
        key = tuple(int(config[name]) for name in ("width", "depth", "batch", "D"))
        groups.setdefault(key, []).append(run)
    return groups


def _result(trial: str, row: Row) -> Row:
    kept = ("loss", "diverged", "N", "D", "lr", "batch", "seed", "flops_exact", "trunk_wall_s")
    return {"trial": trial} | {key: row[key] for key in kept}


class Rounds:
    """A folder of rounds: what is open, and what can be told."""

    def __init__(self, folder: Path, corpus: Corpus, *, context: int, watch: bool) -> None:
        self.folder, self.corpus, self.context, self.watch = folder, corpus, context, watch
        self.open: list[Round] = []
        self.seen: set[Path] = set()
        self.looked = 0.0
        self.told = 0

    def new_plans(self) -> list[Plan] | None:
        """Plans of files that are new; None when no more will come. Tells what is complete."""
        if time.monotonic() < self.looked + LOOK_SECONDS:
            return []
        self.looked = time.monotonic()
        self.tell()
        found = []
        for path in sorted(self.folder.glob(f"*{ASKED}")):
            if path not in self.seen:
                self.seen.add(path)
                found += self._begin(path)
        stays = self.watch and not (self.folder / STOP).exists()
        return found if found or stays else None

    def _begin(self, path: Path) -> list[Plan]:
        try:
            round_ = Round(path, self.corpus, self.context)
        except TinylmError as error:
            if not self.watch:
                raise
            say(f"passed over: {error}")  # other rounds are under way, which it must not stop
            return []
        if round_.told.exists():
            return []
        self.open.append(round_)
        return round_.plans

    def tell(self) -> None:
        """Write the results of every round that is complete."""
        rows = read_rows(self.folder / ROWS) if self.open else []
        for round_ in list(self.open):
            if round_.tell(rows):
                self.open.remove(round_)
                self.told += 1
                say(f"{round_.told.name} written")


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help=f"with files NAME{ASKED}")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--context", type=int, default=512, help="tokens in a sequence")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=6, help="ensembles side by side")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--watch", action="store_true", help="stay for further files")
    args = parser.parse_args()
    if args.at_once < 1 or args.minutes <= 0:
        raise TinylmError("want --at-once of at least 1 and --minutes above 0")
    if not args.folder.is_dir():
        raise TinylmError(f"{args.folder}: no such folder")
    corpus = load_corpus(args.corpus, pick_device(args.device))
    rounds = Rounds(args.folder, corpus, context=args.context, watch=args.watch)
    results = Results(args.folder / ROWS)
    collection = Collection(corpus, results, args.folder / "checkpoints", more=rounds.new_plans)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, collection.stop)
    complete = collection.run([], at_once=args.at_once, seconds=60 * args.minutes)
    rounds.tell()
    say(f"{rounds.told} told" if complete else "stopped before the end; run again to go on")


if __name__ == "__main__":
    run_command(_main)
