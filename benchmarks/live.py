"""Speed and endurance of live studies, beside what is promised: `python benchmarks/live.py`.

throughput   1,000 no-op runs through the local runner, 8 slots, the policy full
ask          a warm ask at 1,000 candidates; `lawsmith ask` from a new process
status       `lawsmith status` on a journal of 10,000 events
chaos        60 runs whose driver is killed 200 times
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lawsmith.journal import Kind, driver_lock, make
from lawsmith.runners import make_runner
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.asking import propose
from lawsmith.study.loop import Driver, drive

STUDY = """
name = "speed"
seed = 1
[[model]]
name = "a"
N = 1e7
[[model]]
name = "b"
N = 3e7
[[model]]
name = "c"
N = 1e8
[[model]]
name = "d"
N = 3e8
[tokens]
from = 1e9
to = 1e11
n = 10
[axes]
lr = {{ from = 1e-4, to = 1e-2, n = 5 }}
batch = [32, 64, 128, 256, 512]
[budget]
flops = 1e30
[law]
targets = [1e23]
[policy]
name = "{policy}"
surrogate = "{surrogate}"
[runner]
slots = 8
poll = 0.05
command = ["/bin/cp", "{{study}}/result.json", "result.json"]
"""


def make_study(folder: Path, *, policy: str = "frontier", surrogate: str = "surface") -> LiveStudy:
    """A study of 1,000 candidates whose trainer copies a file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDY.format(policy=policy, surrogate=surrogate))
    (folder / "result.json").write_text('{"loss": 3.0}')
    return open_study(folder / "study.toml")


def throughput(folder: Path) -> float:
    """Runs a second."""
    study = make_study(folder, policy="full", surrogate="gp")
    told = study.spec.runner
    begun = time.monotonic()
    with driver_lock(study.layout.lock):
        study.begin()
        runner = make_runner(told.kind, told.options, study.layout.folder)
        for _ in drive(Driver(study, runner)):
            pass
    seconds = time.monotonic() - begun
    done = sum(t.stage.value == "finished" for t in study.read().trials.values())
    assert done == len(study.grid) == 1000, done
    return done / seconds


def loss_of(study: LiveStudy, row: int, rng: np.random.Generator) -> float:
    """A law, a bowl and a little noise."""
    grid = study.grid
    off = np.log(grid.numbers("lr")[row] / (2e-3 * (grid.N[row] / 1e8) ** -0.3))
    law = 1.69 + 406.4 * grid.N[row] ** -0.34 + 410.7 * grid.D[row] ** -0.28
    return float(law * np.exp(0.02 * off**2 + 0.002 * rng.standard_normal()))


def play(study: LiveStudy, n_runs: int) -> list[float]:
    """Ask and tell ``n_runs`` times in this process; seconds of each ask."""
    rng = np.random.default_rng(0)
    study.begin()
    times = []
    for _ in range(n_runs):
        ledger = study.journal.ledger
        begun = time.monotonic()
        (event,) = propose(study, ledger, 1, by="hand")
        times.append(time.monotonic() - begun)
        row = study.candidates.row_of(event["config"])
        assert row is not None
        told = make(Kind.FINISHED, event["trial"], loss=loss_of(study, row, rng))
        study.journal.update(lambda _, new=(event, told): new)
    return times


def command(*args: str) -> str:
    """Seconds of a command line in a new process, the best of three, and those of the processor.

    On a busy machine the second number is the one to look at.
    """
    best = (float("inf"), 0.0)
    for _ in range(3):
        begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "lawsmith", *args], check=True, stdout=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, (time.monotonic() - begun, busy))
    return f"{best[0]:8.3f} s ({best[1]:.2f} s of processor)"


def fill(study: LiveStudy, n_events: int) -> None:
    """A journal of ``n_events``, 20 a run: every run reports on the way."""
    rng = np.random.default_rng(1)
    rows = rng.permutation(len(study.grid)).tolist()[: n_events // 20]
    study.begin()
    events = []
    for i, row in enumerate(rows, start=1):
        name = f"t{i:04d}"
        config = dict(study.candidates.configs[row])
        cost = float(study.grid.C[row])
        events += [
            make(Kind.ASKED, name, by="run", config=config, cost=cost),
            make(Kind.SUBMITTED, name, attempt=1, handle="local"),
            make(Kind.RUNNING, name, attempt=1),
        ]
        for part in range(1, 17):
            tokens = part / 20 * float(study.grid.D[row])
            events.append(make(Kind.REPORTED, name, tokens=tokens, loss=5.0 - 0.1 * part))
        events.append(make(Kind.FINISHED, name, loss=loss_of(study, row, rng)))
    study.journal.update(lambda _: events)


def main(args: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    told = parser.parse_args(args)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"throughput        {throughput(folder / 'runs'):8.1f} runs/s   (want over 20)")
        study = make_study(folder / "ask")
        times = play(study, 200)
        warm = np.array(times[20:])
        print(
            f"warm ask          {np.median(warm):8.3f} s median, {warm.max():.3f} s at most, "
            "20 to 200 runs, 1,000 candidates   (want under 0.5)"
        )
        file = str(folder / "ask" / "study.toml")
        print(f"lawsmith ask      {command('ask', file)} after 200 runs   (want under 2)")
        full = make_study(folder / "status")
        fill(full, 10_000)
        n_lines = sum(1 for _ in (folder / "status" / "journal.jsonl").open())
        file = str(folder / "status" / "study.toml")
        print(f"lawsmith status   {command('status', file)}, {n_lines} events (want under 2)")
        chaos = Path(__file__).with_name("chaos.py")
        words = [sys.executable, str(chaos), str(folder / "chaos"), "--longest", "0.04"]
        words += ["--kills", str(told.kills), "--slots", "2", "--plain"]
        done = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
        once = set(done["ran"].values()) == {1} and len(done["ran"]) == len(done["trials"])
        print(
            f"chaos             {done['killed']:8d} kills, {len(done['trials'])} runs in "
            f"{done['seconds']:.0f} s, each once: {once}"
        )
        if not once:
            raise SystemExit(1)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main(sys.argv[1:])
