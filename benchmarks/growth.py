"""How time and memory grow: live studies of up to 12,500 runs, tables of up to 10^6, replays.

    python benchmarks/growth.py FOLDER                     all of it
    python benchmarks/growth.py FOLDER --only status fit   some

Writes studies (of 100,000 candidates), tables and a journal of 50,000 events into FOLDER, runs each
command as a process of its own, and prints the rows of docs/benchmarks.md: processor seconds, wall
seconds and peak memory at every size, and the exponent of the processor time between the last two
sizes. A command is stopped after --limit seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lawsmith.journal import Kind, make
from lawsmith.journal.events import VERSION, write_line
from lawsmith.spec import Candidates, build_candidates, parse_spec

TRIALS = (100, 1_000, 12_500)
ROWS = (10_000, 100_000, 1_000_000)
CANDIDATES = (2_000, 20_000)
EVENTS_PER_TRIAL = 4


@dataclass(frozen=True)
class Cost:
    """What one process took; ``cpu`` is NaN where it was stopped."""

    cpu: float
    wall: float
    megabytes: float


def measured(command: Sequence[str], *, limit: float, folder: Path) -> Cost:
    """Run a command in ``folder`` and measure it, all its children with it."""
    # Modules compiled before, as those of an installed package are.
    known = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begun = time.monotonic()
    with (folder / "out.txt").open("wb") as out, (folder / "err.txt").open("wb") as err:
        child = subprocess.Popen(command, cwd=folder, env=known, stdout=out, stderr=err)
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begun > limit:
                child.kill()
                pid, status, used = os.wait4(child.pid, 0)
                return Cost(math.nan, limit, used.ru_maxrss / 1024)
            time.sleep(0.02)
    child.returncode = status  # reaped here, not by Popen
    if os.waitstatus_to_exitcode(status) != 0:
        text = (folder / "err.txt").read_text(encoding="utf-8", errors="replace")[-500:]
        raise SystemExit(f"{' '.join(command)}: {text}")
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - begun, used.ru_maxrss / 1024)


# ── what is measured on ─────────────────────────────────────────────────────────────────────────


def study_text(n_models: int, n_tokens: int, n_lr: int, n_wd: int) -> str:
    """A study file of n_models × n_tokens × n_lr × n_wd candidates."""
    sizes = np.geomspace(1e7, 1e10, n_models)
    models = "".join(f'[[model]]\nname = "m{i}"\nN = {N:.6g}\n' for i, N in enumerate(sizes))
    return (
        f'name = "growth"\n{models}[tokens]\nfrom = 1e9\nto = 1e12\nn = {n_tokens}\n[axes]\n'
        f"lr = {{ from = 1e-4, to = 1e-2, n = {n_lr} }}\n"
        f"wd = {{ from = 0.01, to = 0.3, n = {n_wd} }}\n"
        "[budget]\nflops = 1e30\n[law]\ntargets = [1e25]\n"
    )


def loss_of(N: np.ndarray, D: np.ndarray, lr: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    bowl = 1.0 + 0.02 * np.log(lr / 2e-3) ** 2
    noise = np.exp(rng.normal(0.0, 0.003, len(N)))
    return np.asarray((1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28) * bowl * noise)


def journal_lines(candidates: Candidates, n_trials: int) -> list[bytes]:
    """A journal of finished trials, spread over the ladder, cheapest first."""
    grid, rng = candidates.grid, np.random.default_rng(0)
    spread = np.linspace(0, len(grid) - 1, n_trials).astype(int)
    rows = np.argsort(grid.C, kind="stable")[spread]
    losses = loss_of(grid.N[rows], grid.D[rows], grid.numbers("lr")[rows], rng)
    told = [make(Kind.CREATED, version=VERSION, study="growth", id="abc", seed=0, spec="x")]
    for i, (row, loss) in enumerate(zip(rows.tolist(), losses.tolist(), strict=True), start=1):
        name = f"t{i:04d}"
        config, cost = dict(candidates.configs[row]), float(grid.C[row])
        told.append(make(Kind.ASKED, name, by="run", config=config, cost=cost))
        told.append(make(Kind.SUBMITTED, name, attempt=1, handle="local"))
        told.append(make(Kind.RUNNING, name, attempt=1))
        told.append(make(Kind.FINISHED, name, loss=loss))
    return [write_line(event) for event in told]


def write_studies(folder: Path) -> dict[int, Path]:
    """A study for every number of trials, all on the same 100,000 candidates."""
    text = study_text(20, 50, 10, 10)
    candidates = build_candidates(parse_spec(text.encode()))
    found = {}
    for n in TRIALS:
        own = folder / f"study-{n}"
        own.mkdir(parents=True, exist_ok=True)
        (own / "study.toml").write_text(text, encoding="utf-8")
        (own / "journal.jsonl").write_bytes(b"".join(journal_lines(candidates, n)))
        found[n] = own
    return found


def write_tables(folder: Path, sizes: Sequence[int]) -> dict[int, Path]:
    """Tables of runs, each of a configuration of its own."""
    rng = np.random.default_rng(1)
    found = {}
    for n in sizes:
        own = folder / f"table-{n}"
        own.mkdir(parents=True, exist_ok=True)
        N = 10.0 ** rng.uniform(7, 10, n).round(1 if n < 50_000 else 2)
        D = 10.0 ** rng.uniform(9, 12, n).round(1 if n < 50_000 else 2)
        lr = 10.0 ** rng.uniform(-4, -2, n).round(2)
        columns = np.stack([N, D, lr, loss_of(N, D, lr, rng)], axis=1)
        np.savetxt(own / "t.csv", columns, "%.6g", ",", header="N,D,lr,loss", comments="")
        found[n] = own
    return found


# ── the commands ────────────────────────────────────────────────────────────────────────────────

PYTHON = (sys.executable, "-m", "lawsmith")
FOLD = "from lawsmith.study import open_study; s = open_study('study.toml'); s.history(s.read())"
# All that a page has to show when it is opened, and then what it works out once.
PAGE = """
from pathlib import Path
from lawsmith.report.findings import Memory, find_all
from lawsmith.report.cards import CARDS, cards_of
from lawsmith.report.live_source import live_source
from lawsmith.report.source import Record
from lawsmith.study import open_study
study = open_study(Path("study.toml"))
ledger = study.read()
found = find_all(study, ledger, Memory())
for name in CARDS:
    cards_of(live_source(study, ledger, found, Record()), [name])
"""
STUDIES: dict[str, tuple[str, ...]] = {
    "fold": (sys.executable, "-c", FOLD),
    "status": (*PYTHON, "status"),
    "ask": (*PYTHON, "ask"),
    "export": (*PYTHON, "export", "--out", "runs.csv"),
    "report": (*PYTHON, "report", "study.toml"),
    "serve": (sys.executable, "-c", PAGE),
}
TABLES: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "fit": ((*PYTHON, "fit", "t.csv", "--target", "1e25"), ROWS),
    "replay": ((*PYTHON, "replay", "t.csv", "--iterations", "20", "--n-init", "10"), CANDIDATES),
}


def grown(costs: dict[int, Cost]) -> float:
    """The exponent of processor time between the last two sizes."""
    (a, first), (b, last) = list(costs.items())[-2:]
    return math.log(last.cpu / first.cpu) / math.log(b / a)


def row(name: str, costs: dict[int, Cost]) -> str:
    """A row of the table in docs/benchmarks.md."""
    cells = []
    for n, cost in costs.items():
        seconds = (
            f"> {cost.wall:.0f}" if math.isnan(cost.cpu) else f"{cost.cpu:.1f} ({cost.wall:.1f})"
        )
        cells.append(f"{n:,}: {seconds} s, {cost.megabytes:,.0f} MB")
    exponent = grown(costs)
    told = "–" if math.isnan(exponent) else f"{exponent:.2f}"
    return f"| {name} | {' · '.join(cells)} | {told} |"


def measure(
    name: str, command: Sequence[str], places: dict[int, Path], limit: float
) -> dict[int, Cost]:
    costs = {}
    # The first study twice, because modules are compiled the first time.
    for n, folder in (*list(places.items())[:1], *places.items()):
        journal = folder / "journal.jsonl"
        before = journal.read_bytes() if journal.exists() else None
        costs[n] = measured(command, limit=limit, folder=folder)
        if before is not None:
            journal.write_bytes(before)  # ask adds to it
    print(row(name, costs), flush=True)
    return costs


def main(args: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=[*STUDIES, *TABLES], default=None)
    parser.add_argument("--limit", type=float, default=180.0, help="seconds for one command")
    parser.add_argument("--json", type=Path, help="write every number there")
    told = parser.parse_args(args)
    folder = told.folder.resolve()
    wanted = told.only or [*STUDIES, *TABLES]
    found: dict[str, dict[int, Cost]] = {}
    studies = write_studies(folder) if set(wanted) & set(STUDIES) else {}
    for name in (name for name in STUDIES if name in wanted):
        found[name] = measure(name, STUDIES[name], studies, told.limit)
    for name in (name for name in TABLES if name in wanted):
        command, sizes = TABLES[name]
        tables = write_tables(folder, sizes)
        found[name] = measure(name, command, tables, told.limit)
    if told.json:
        plain = {n: {k: vars(c) for k, c in costs.items()} for n, costs in found.items()}
        told.json.write_text(json.dumps(plain, indent=1), encoding="utf-8")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(sys.argv[1:])
