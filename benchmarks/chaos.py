"""A study whose driver is killed again and again, or whose disk fills up: every run once.

    python benchmarks/chaos.py FOLDER --kills 200 --slots 4
    python benchmarks/chaos.py FOLDER --trunks --kills 100     trunks and branches, trainers too
    python benchmarks/chaos.py FOLDER --fills 50               root, for a disk of its own in memory

Writes a study of 60 short runs into FOLDER, drives it with drivers that are killed at random
moments, lets a last one finish, and prints one JSON object: what ran how often, and the record.
With --trunks the runs are trunks and decays, half of the kills are of trainers, and the object has
what was trained by the trainers' own lines, apart from the journal.
With --fills the disk is filled up at random moments instead, each time until the driver ends, and
the object says how long each driver took to say so.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lawsmith.journal import driver_lock, driver_of
from lawsmith.runners import make_runner
from lawsmith.study import open_study
from lawsmith.study.loop import Driver, drive

STUDY = """
name = "chaos"
[[model]]
name = "a"
N = 1e7
[[model]]
name = "b"
N = 3e7
[[model]]
name = "c"
N = 1e8
[tokens]
values = [1e9, 2e9, 4e9, 8e9, 1.6e10]
[axes]
lr = [1e-3, 2e-3, 4e-3, 8e-3]
[budget]
flops = {budget}
[policy]
surrogate = "{surrogate}"
name = "{policy}"
[runner]
slots = {slots}
poll = 0.02
command = ["/bin/sh", "{{study}}/train.sh", "{{N}}", "{{D}}", "{{lr}}"]
"""
# The loss is any number that depends on the run alone; awk knows powers.
TRAIN = """
echo "$LAWSMITH_TRIAL" >> "$LAWSMITH_STUDY/ran.txt"
sleep {seconds}
awk -v n="$1" -v d="$2" -v lr="$3" 'BEGIN {
  x = log(lr / 0.003)
  printf "{\\"loss\\": %.12g}", (1.69 + 406.4 * n ^ -0.34 + 410.7 * d ^ -0.28) * (1 + 0.02 * x * x)
}' > "$LAWSMITH_RESULT.new"
mv "$LAWSMITH_RESULT.new" "$LAWSMITH_RESULT"
"""
ALL = 1.0416e20  # FLOPs of the 60 candidates together
TRAINER = Path(__file__).with_name("toy_trainer.py")
TRUNKS = """
name = "chaos"
[[model]]
name = "a"
N = 1e7
[[model]]
name = "b"
N = 3e7
[tokens]
values = [2e8, 4e8, 8e8, 1.6e9]
[axes]
lr = [1e-3, 2e-3, 4e-3]
[trunks]
use = true
[policy]
stop = false
[budget]
flops = {budget}
[runner]
slots = {slots}
poll = 0.02
command = ["{{python}}", "-I", "-S", "{trainer}", "--chunk", "4e7", "--pause", "{seconds}"]
[failures]
backoff = 0
retries = 100
"""
ALL_TRUNKS = 6.1e17  # FLOPs of its 24 candidates together


def prepare(folder: Path, *, slots: int, share: float, plain: bool, seconds: float) -> Path:
    """The study file, in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ("full", "gp") if plain else ("frontier", "surface")
    file = folder / "study.toml"
    text = STUDY.format(budget=share * ALL, slots=slots, policy=words[0], surrogate=words[1])
    file.write_text(text)
    (folder / "train.sh").write_text(TRAIN.replace("{seconds}", f"{seconds:g}"))
    return file


def prepare_trunks(folder: Path, *, slots: int, share: float, seconds: float) -> Path:
    """The study file of trunks, in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file, budget = folder / "study.toml", share * ALL_TRUNKS
    told = {"slots": slots, "trainer": TRAINER, "seconds": f"{seconds:g}"}
    file.write_text(TRUNKS.format(budget=budget, **told))
    return file


def wait_and_kill(driver: int, folder: Path, rng: random.Random) -> bool:
    """Kill a trainer as soon as one runs; False where the driver ends, or none comes for long."""
    for _ in range(1000):
        if kill_trainer(folder, rng):
            return True
        if os.waitid(os.P_PID, driver, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False
        time.sleep(0.01)
    return False


def kill_trainer(folder: Path, rng: random.Random) -> bool:
    """Kill one of the trainers that run, if there is one: the process and nothing around it."""
    found = []
    for path in sorted(folder.glob("trials/*/*/pid.json")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            pid = int(json.loads(path.read_text())["command"])
            # Ids are used again: only a process that runs in this very folder is the trainer.
            if os.readlink(f"/proc/{pid}/cwd") == str(path.parent):
                found.append(pid)
    if not found:
        return False
    with contextlib.suppress(OSError):
        os.kill(rng.choice(found), signal.SIGKILL)
        return True
    return False


def drive_once(file: Path) -> None:
    """What `lawsmith run` does, without a word."""
    study = open_study(file)
    told = study.spec.runner
    with driver_lock(study.layout.lock):
        study.begin()
        runner = make_runner(told.kind, told.options, study.layout.folder)
        for _ in drive(Driver(study, runner)):
            pass


def fork_driver(file: Path) -> int:
    """The process id of a driver; forked, since an import takes longer than most of them live."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            drive_once(file)
            code = 0
        finally:
            os._exit(code)
    return child


def torment(
    file: Path, *, kills: int, longest: float, seed: int, trainers: bool = False
) -> tuple[int, int]:
    """Kill drivers after up to ``longest`` seconds each, and trainers by turns where told.

    (drivers, trainers) killed before a driver came to the end.
    """
    rng = random.Random(seed)
    n_drivers, n_trainers = 0, 0
    while True:
        child = fork_driver(file)
        while n_drivers + n_trainers < kills:
            time.sleep(rng.uniform(0.0, longest))
            if trainers and n_trainers <= n_drivers and wait_and_kill(child, file.parent, rng):
                n_trainers += 1
                continue
            os.kill(child, signal.SIGKILL)
            break
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            n_drivers += 1
        elif os.waitstatus_to_exitcode(status) == 0:
            return n_drivers, n_trainers
        else:
            raise SystemExit(f"a driver failed with status {status}")


def fill_up(disk: Path) -> Path:
    """A file that takes all the room there is."""
    path = disk / "full"
    with path.open("wb", buffering=0) as file:
        for size in (2**16, 2**12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return path


def choke(file: Path, *, fills: int, longest: float, seed: int) -> list[dict[str, Any]]:
    """Fill the disk under each driver, and make room again once it ended.

    What each did: seconds until it ended, its exit code and what it said.
    """
    rng = random.Random(seed)
    found: list[dict[str, Any]] = []
    command = [sys.executable, "-m", "lawsmith", "run", str(file), "--quiet"]
    while len(found) < fills:
        driver = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        while driver.poll() is None and driver_of(file.parent / "driver.lock") is None:
            time.sleep(0.02)  # while it is imported
        time.sleep(rng.uniform(0.0, longest))
        full, begun = fill_up(file.parent), time.monotonic()
        try:
            _, told = driver.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            driver.kill()
            _, told = driver.communicate()
        seconds = time.monotonic() - begun
        found.append({"seconds": seconds, "code": driver.returncode, "told": told[-300:]})
        full.unlink()
        if driver.returncode == 0:
            break  # the study came to its end
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)
    return found


@contextlib.contextmanager
def disk_at(folder: Path, megabytes: int) -> Iterator[None]:
    """A small disk in memory, mounted at ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m,nr_inodes=20k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def record(file: Path) -> dict[str, Any]:
    """What the journal and the runs themselves say in the end."""
    study = open_study(file)
    ledger = study.read()
    ran = Counter((file.parent / "ran.txt").read_text().split())
    return {
        "trials": [[dict(t.config), t.loss, t.stage.value] for t in ledger.trials.values()],
        "spend": ledger.spend,
        "budget": study.budget,
        "ended": ledger.ended,
        "ran": dict(ran),
        "attempts": max(trial.attempt for trial in ledger.trials.values()),
    }


def record_trunks(file: Path) -> dict[str, Any]:
    """What the journal says in the end, and what the trainers' own lines do.

    trained    FLOPs of every chunk that a trainer told of, each as often as it was trained
    twice      FLOPs that were trained again, because a trainer died after its last checkpoint
    astray     attempts that did not go on from the last checkpoint there was
    together   attempts of one trial that trained at the same time
    """
    study = open_study(file)
    ledger = study.read()
    trained, once, astray, together = 0.0, 0.0, 0, 0
    for trial in ledger.trials.values():
        flops = 6.0 * float(trial.config["N"])
        last, until, chunks = trial.start, 0.0, Counter[tuple[float, float]]()
        for attempt in range(1, trial.attempt + 1):
            at = last
            for told in progress_lines(study.layout.attempt(trial.name, attempt)):
                together += told["time"] < until
                until = told["time"]
                if "resumed" in told:
                    at = told["resumed"]
                    astray += at != max(last, told.get("saved", last))
                if "tokens" in told:
                    chunks[at, told["tokens"]] += 1
                    at = told["tokens"]
                last = max(last, told.get("saved", last))
        trained += flops * sum((b - a) * n for (a, b), n in chunks.items())
        once += flops * sum(b - a for a, b in chunks)
    trials = [
        [t.kind, t.parent, t.branch_at, dict(t.config), t.loss, t.stage.value]
        for t in ledger.trials.values()
    ]
    return {
        "trials": trials,
        "spend": ledger.spend,
        "budget": study.budget,
        "ended": ledger.ended,
        "trained": trained,
        "twice": trained - once,
        "astray": astray,
        "together": together,
        "attempts": sum(trial.attempt for trial in ledger.trials.values()),
    }


def progress_lines(folder: Path) -> list[dict[str, Any]]:
    path = folder / "progress.jsonl"
    return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []


def main(args: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--fills", type=int, default=0, help="times the disk fills up")
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--share", type=float, default=1.0, help="of all candidates' compute")
    parser.add_argument("--longest", type=float, default=0.3, help="seconds a driver may live")
    parser.add_argument("--seconds", type=float, default=0.01, help="that a run takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--plain", action="store_true", help="policy full with the GP, which is quick"
    )
    parser.add_argument("--trunks", action="store_true", help="trunks and branches")
    told = parser.parse_args(args)
    if told.trunks:
        run_trunks(told)
    elif told.fills:
        with disk_at(told.folder, megabytes=16):
            run(told)
    else:
        run(told)


def run(told: argparse.Namespace) -> None:
    file = prepare(
        told.folder,
        slots=told.slots,
        share=told.share,
        plain=told.plain,
        seconds=told.seconds,
    )
    begun = time.monotonic()
    if told.fills:
        drivers = choke(file, fills=told.fills, longest=told.longest, seed=told.seed)
        print(json.dumps({"drivers": drivers, **record(file)}))
        return
    n_killed, _ = torment(file, kills=told.kills, longest=told.longest, seed=told.seed)
    seconds = time.monotonic() - begun
    print(json.dumps({"killed": n_killed, "seconds": seconds, **record(file)}))


def run_trunks(told: argparse.Namespace) -> None:
    words = {"slots": told.slots, "share": told.share, "seconds": told.seconds}
    file = prepare_trunks(told.folder, **words)
    begun = time.monotonic()
    drivers, trainers = torment(
        file, kills=told.kills, longest=told.longest, seed=told.seed, trainers=True
    )
    killed = {"drivers": drivers, "trainers": trainers, "seconds": time.monotonic() - begun}
    print(json.dumps({"killed": killed, **record_trunks(file)}))


if __name__ == "__main__":
    main(sys.argv[1:])
