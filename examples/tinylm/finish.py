"""Train the trunks that live studies stopped to their ends, and compare these with the predictions.

    python finish.py live/wsd-trunks-* --results results/finished.jsonl --corpus corpus   # train
    python finish.py live/wsd-trunks-* --results results/finished.jsonl                   # compare

A study stops a trunk if the decay planned from it is predicted to end above the frontier. Its real
loss is then unknown. Here each stopped trunk is trained with the seed, learning rate and batch of
its study, and decays at the planned end. Extensions do not change the constant rate, so the whole
way is one trunk. It is evaluated where it was stopped too, to compare that with the journal.

The comparison prints one JSON object for each stop, and a summary on stderr. Training that is
started again skips what `--results` has.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from data import load_corpus, pick_device
from errors import run_command
from grid import Collection, Results, read_rows, say
from plans import WSD_BATCH
from server import compile_ahead
from tinylm import Size
from trunk import DECAY_SHARE, Plan, Row

NEAR = 0.003  # in log loss: a run this close to the frontier counts as on it
LATE = 0.7  # share of its way from which a stop counts as late
BOUND = 2.78  # 95 % of a t distribution with 4 degrees of freedom, the usual number here

Event = Mapping[str, Any]
Run = tuple[int, int, float]  # (N, D, learning rate)


@dataclass(frozen=True)
class Stop:
    """A trunk that was stopped.

    D                  where its decay was to end
    at, loss_at        its last loss on the way: tokens, loss
    end, sd, envelope  predicted loss at D, the scale of its t distribution, the frontier of then
    """

    study: str
    trial: str
    width: int
    depth: int
    N: int
    lr: float
    seed: int
    D: int
    at: int
    loss_at: float
    end: float
    sd: float
    envelope: float


def read_journal(study: Path) -> list[Event]:
    lines = (study / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_stops(study: Path) -> Iterator[Stop]:
    """The trunks that a study stopped, also those that ended before the stop reached them."""
    spec = tomllib.loads((study / "study.toml").read_text(encoding="utf-8"))
    models = {model["name"]: model for model in spec["model"]}
    configs: dict[str, Mapping[str, Any]] = {}
    last: dict[str, tuple[int, float]] = {}
    for event in read_journal(study):
        trial = event.get("trial", "")
        if event["event"] == "asked":
            configs[trial] = event["config"]
        elif event["event"] == "reported":
            last[trial] = round(event["tokens"]), event["loss"]
        elif event["event"] == "cancelling" and event.get("reason") == "stopped":
            config, told = configs[trial], event["values"]
            model, end = models[config["model"]], config["D"] / (1.0 - DECAY_SHARE)
            yield Stop(
                study.name,
                trial,
                model["width"],
                model["depth"],
                model["N"],
                config["lr"],
                spec["seed"],
                min(spec["tokens"]["values"], key=lambda D: abs(D - end)),
                *last[trial],
                told["expected end"],
                told["SD"],
                told["envelope"],
            )


def read_ends(study: Path) -> dict[Run, float]:
    """The final losses of a study's runs."""
    runs: dict[str, Run] = {}
    found = {}
    for event in read_journal(study):
        trial = event.get("trial", "")
        if event["event"] == "asked" and event.get("kind") != "trunk":
            config = event["config"]
            runs[trial] = round(config["N"]), round(config["D"]), config["lr"]
        elif event["event"] == "finished" and trial in runs:
            found[runs[trial]] = float(event["loss"])
    return found


def plans_of(stops: Sequence[Stop], vocabulary: int) -> list[Plan]:
    """One trunk for each size, rate and seed with a stop; those that train longest come first."""
    trunks: dict[tuple[Size, int, float], list[Stop]] = {}
    for stop in stops:
        size = Size(stop.width, stop.depth, vocabulary)
        trunks.setdefault((size, stop.seed, stop.lr), []).append(stop)
    plans = [
        Plan(
            size,
            WSD_BATCH,
            seed,
            (lr,),
            tuple(sorted({stop.D for stop in own})),
            tuple(sorted({stop.at for stop in own})),
        )
        for (size, seed, lr), own in trunks.items()
    ]
    return sorted(plans, key=lambda plan: -plan.size.params * max(plan.budgets))


def train(stops: Sequence[Stop], args: argparse.Namespace) -> None:
    device = pick_device(args.device)
    shapes = {f"{stop.width}x{stop.depth}x{WSD_BATCH}" for stop in stops}
    if device.type == "cuda":
        compile_ahead(sorted(shapes), args.corpus, device)
    corpus = load_corpus(args.corpus, device)
    plans = plans_of(stops, corpus.vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        collection = Collection(corpus, Results(args.results), Path(folder))
        whole = collection.run(plans, at_once=args.at_once, seconds=60 * args.minutes)
    say("all is done" if whole else "out of time; run again to go on")


def compare(stop: Stop, row: Row, others: Mapping[Run, float]) -> dict[str, Any]:
    """What a stopped trunk came to, beside what was predicted and what else the study found.

    share     of the trunk that was trained when it was stopped
    z         of the real end, in units of the scale of its prediction
    frontier  the least final loss that the study found with other settings at no more compute
    """
    run, C = (stop.N, stop.D, stop.lr), stop.N * stop.D
    frontier = min(loss for r, loss in others.items() if r != run and r[0] * r[1] <= C)
    loss = math.inf if row["loss"] is None else row["loss"]
    return {
        **asdict(stop),
        "share": stop.at / (stop.D * (1.0 - DECAY_SHARE)),
        "loss_at_again": dict(row["along"])[stop.at],
        "loss": row["loss"],
        "z": math.log(loss / stop.end) * stop.end / stop.sd,
        "frontier": frontier,
        "above_frontier": math.log(loss / frontier),
        "above_envelope": math.log(loss / stop.envelope),
    }


def summarise(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How the ends lie about their predictions, the frontier at the end and that of then."""
    again = [abs(math.log(one["loss_at_again"] / one["loss_at"])) for one in found]
    within = ", ".join(f"{sum(v < x for v in again)} within {x:.1%}" for x in (0.001, 0.01))
    yield f"{len(found)} stops; losses there against the journal's: {within}, all {max(again):.1%}"
    for when, late in (("before", False), ("after", True)):
        z = [one["z"] for one in found if (one["share"] >= LATE) == late] or [math.nan]
        yield (
            f"stopped {when} {LATE:.0%} of the way: {len(z)}, {sum(abs(v) < BOUND for v in z)} "
            f"inside the interval; z {min(z):+.1f} to {max(z):+.1f}, median "
            f"{statistics.median(z):+.1f}"
        )
    for name in ("frontier", "envelope"):
        above = [one[f"above_{name}"] for one in found]
        below, on = (sum(v < limit for v in above) for limit in (-NEAR, NEAR))
        low, middle, high = map(math.expm1, (min(above), statistics.median(above), max(above)))
        yield (
            f"above the {name}: {low:+.1%} to {high:+.1%}, median {middle:+.1%}; "
            f"{below} below it, {on - below} on it"
        )


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path, nargs="+", help="folder of a study and its journal")
    parser.add_argument("--results", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument("--corpus", type=Path, help="train; without it, compare")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--at-once", type=int, default=10, help="trunks side by side")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    args = parser.parse_args()
    stops = {study: list(read_stops(study)) for study in args.study}
    if args.corpus:
        train([stop for own in stops.values() for stop in own], args)
        return
    rows = {(r["seed"], r["N"], r["D"], r["lr"]): r for r in read_rows(args.results)}
    found = []
    for study, own in stops.items():
        ends = read_ends(study)
        for stop in own:
            row = rows.get((stop.seed, stop.N, stop.D, stop.lr))
            if row is None:
                print(f"{stop.study} {stop.trial}: not trained to its end", file=sys.stderr)
                continue
            found.append(compare(stop, row, ends))
            print(json.dumps(found[-1]))
    if found:
        print(*summarise(found), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    run_command(_main)
