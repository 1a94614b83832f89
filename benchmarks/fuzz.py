"""Mutated tables, study files, journals, results and traces, through the command line.

    python benchmarks/fuzz.py --n 20000 --seed 7 --jobs 2 --keep findings/

Every input is a command and its files, made from (seed, number) alone. It must end with exit code
0 or 2 within 30 processor seconds, without a traceback or a warning on stderr, and without nan or
inf where a person reads a number. Prints one JSON object; findings are kept as files that --again
plays once more.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

LIMIT = 30  # processor seconds for one input
WAIT = 150  # seconds for one input, on a machine that others use too
VERBOSE = bool(os.environ.get("FUZZ_VERBOSE"))  # show tracebacks
Files = dict[str, bytes]


@dataclass(frozen=True)
class Input:
    """A command and the files it finds in its folder."""

    args: tuple[str, ...]
    files: Files

    def to_json(self) -> dict[str, Any]:
        files = {name: data.decode("latin-1") for name, data in self.files.items()}
        return {"args": list(self.args), "files": files}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Input:
        files = {name: text.encode("latin-1") for name, text in told["files"].items()}
        return cls(tuple(told["args"]), files)


@dataclass(frozen=True)
class Outcome:
    """What became of an input; ``problem`` is '' where it ended as it should."""

    code: int
    problem: str
    seconds: float


# ── what is mutated ─────────────────────────────────────────────────────────────────────────────

WORDS = [
    *(b"nan", b"inf", b"-1", b"0", b"1e309", b"9" * 400, b"9" * 5000, b"true", b"null", b"[]"),
    *(b"\0", b"\xff", b"\n", b"\r\n", b'"', b"'", b"=", b",", b"]", b"}", b"[", b"{", b"..", b"/"),
    *(b"t0001", b"t9999", b"../../etc", b"finished", b"asked", b"N", b"D", b"C", b"\xe2\x80\xae"),
    *(b"1e400", b"-0.0", b"1_0", b"0x1F", b"1979-05-27", b"2**63", b"18446744073709551616"),
    *(b'"\\ud800"', b"\\ud800", b"1e-300", b"1e280", b"5e-324", b"1.7e308", b"{}", b'""', b";"),
]
CELLS = [
    *("nan", "inf", "-inf", "", "0", "-1", "1e-300", "1e-320", "1e280", "1e308", "1e400", "1e45"),
    *("1e-12", "1e-9", "1e9", "abc", "70M", "True", "9" * 400, "1e18", "1", "2.5", "1e-5", "=1+1"),
]
FACTORS = (1e-300, 1e-20, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6, 1e9, 1e15, 1e20, 1e280)
EXPRESSIONS = [
    *("N > 1e8", "loss < 3", "lr == 0.001", "D / N > 20", "opt == 'adamw'", "N ** 900 > 1", "1"),
    *("N / 0 > 1", "N > " + "9" * 400, "not", "col('x') < 1", "N in [1e8, 1e9]", "C > 0", "lr"),
    *("N > 1e400", "-N < 0", "opt in ['adamw']", "N == N", "N != N", "loss > 1e308 * 10"),
]
COMPUTES = ["1e21", "1e25", "0", "-1", "1e300", "1e44", "1e-11", "nan", "inf", "7B", "1e", "6e20"]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """``data`` with a few bytes, words or lines changed, doubled, moved or lost."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(8):
            case 0:
                text[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                text[at:at] = rng.choice(WORDS)
            case 2:
                del text[at : at + rng.randrange(1, 30)]
            case 3:
                text[at : at + rng.randrange(1, 12)] = rng.choice(WORDS)
            case 4 if rng.random() < 0.3:
                del text[at:]
            case 5:
                text[at:at] = text[at : at + rng.randrange(1, 200)]
            case 6:
                lines = text.split(b"\n")
                rng.shuffle(lines)
                text = bytearray(b"\n".join(lines))
            case _:
                lines = text.split(b"\n")
                line = rng.randrange(len(lines))
                lines[line:line] = [lines[rng.randrange(len(lines))]]
                text = bytearray(b"\n".join(lines))
    return bytes(text)


def numbers_mutated(rng: random.Random, data: bytes) -> bytes:
    """``data`` with a few of its numbers replaced by others."""
    found = list(re.finditer(rb"(?<![A-Za-z_0-9])-?\d+(\.\d*)?([eE][-+]?\d+)?", data))
    chosen = rng.sample(found, min(len(found), rng.choice((1, 1, 2, 5))))
    for match in sorted(chosen, key=lambda m: -m.start()):
        word = rng.choice(CELLS) if rng.random() < 0.7 else rng.choice(("null", "[]", '"x"', "{}"))
        data = data[: match.start()] + word.encode() + data[match.end() :]
    return data


def bytes_of(rng: random.Random, data: bytes) -> bytes:
    """``data``, or a mutation of its bytes or of its numbers."""
    match rng.randrange(8):
        case 0:
            return data
        case 1 | 2 | 3:
            return numbers_mutated(rng, data)
        case _:
            return mutated(rng, data)


# ── tables, and the commands that read them ─────────────────────────────────────────────────────


def table(rng: random.Random, least: int = 1) -> list[dict[str, Any]]:
    """Runs of a law with a bowl and noise, few enough to be fitted at once.

    least   sizes and token counts at least
    """
    n_sizes, n_tokens = rng.randrange(least, 6), rng.randrange(least, 5)
    noise = rng.choice((0.0, 0.003, 0.003, 0.5))
    lrs = rng.choice(([1e-3], [5e-4, 2e-3], [5e-4, 1e-3, 2e-3]))
    opts = rng.choice(([], ["adamw"], ["adamw", "muon"]))
    rows = []
    for i in range(n_sizes):
        for j in range(n_tokens):
            for lr in lrs:
                N, D = 1e7 * 4.0**i, 2e8 * 5.0**j
                loss = 1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28 + 0.02 * (lr / 1e-3 - 1) ** 2
                row = {"N": N, "D": D, "lr": lr, "loss": loss * math.exp(rng.gauss(0, noise))}
                rows.append({**row, "opt": rng.choice(opts)} if opts else row)
    return rows


def bent(rng: random.Random, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The table with columns or cells that no training run has, or that do not vary."""
    rows = [dict(row) for row in rows]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        name = rng.choice(list(rows[0]))
        match rng.randrange(8):
            case 0:
                for row in rows:
                    row[name] = rows[0][name]
            case 1 if isinstance(rows[0][name], float):
                factor = rng.choice(FACTORS)
                for row in rows:
                    row[name] = number(row[name]) * factor
            case 2:
                for row in rng.sample(rows, min(len(rows), rng.choice((1, 2, len(rows))))):
                    row[name] = rng.choice(CELLS)
            case 3:
                rows += rng.choices(rows, k=rng.choice((1, 3)))
            case 4:
                rows = rng.sample(rows, rng.randrange(1, len(rows) + 1))
            case 5 if "N" in rows[0] and "D" in rows[0]:
                for row in rows:
                    row["C"] = rng.choice((6.0, 2.0, 1e-30)) * number(row["N"]) * number(row["D"])
            case 6 if len(rows[0]) > 2:
                for row in rows:
                    row.pop(name, None)
            case _:
                for row in rows:
                    row["loss"] = rng.choice((rows[0].get("loss", 1.0), 2.5, 1e-9, 1e9))
        if not rows[0]:
            break
    return rows


def strange(rng: random.Random, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The table with numbers that a run can just have: it is fitted, and must come to an end."""
    rows = [dict(row) for row in rows]
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(("N", "D", "lr", "loss"))
        extremes = {"loss": (1e-9, 1e-6, 1e3, 1e9), "lr": (0.0, -1.0, 1e-45, 1e45)}
        values = extremes.get(name, (1e-12, 1.0, 1e20, 1e45))
        match rng.randrange(4):
            case 0:
                factor = rng.choice((1e-5, 1e-3, 0.1, 10.0, 1e3, 1e5))
                for row in rows:
                    row[name] *= factor
            case 1:
                for row in rng.sample(rows, rng.choice((1, 2, len(rows)))):
                    row[name] = rng.choice(values)
            case 2:
                for row in rows:
                    row[name] = rows[0][name]
            case _:
                for row in rows:
                    row[name] = 10.0 ** rng.uniform(-8, 8)
    return rows


def number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 1.0


def csv_of(rows: list[dict[str, Any]]) -> bytes:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    return "\n".join(",".join(line) for line in lines).encode() + b"\n"


def json_lines_of(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def table_file(rng: random.Random) -> tuple[str, Files]:
    """A table as a file: bent, its bytes mutated, or both."""
    fitting = rng.random() < 0.45
    rows = strange(rng, table(rng, 3)) if fitting else bent(rng, table(rng))
    name, data = rng.choice((("t.csv", csv_of(rows)), ("t.jsonl", json_lines_of(rows))))
    if not fitting and rng.random() < 0.4:
        data = bytes_of(rng, data)
    return name, {name: data}


def reading_options(rng: random.Random) -> list[str]:
    options: list[str] = []
    if rng.random() < 0.3:
        return options
    if rng.random() < 0.15:
        options += ["--where", rng.choice(EXPRESSIONS)]
    if rng.random() < 0.1:
        options += [
            "--hold-out",
            rng.choice(("0.5", "largest-N", "50%", "1e400", "2", "largest-x")),
        ]
    if rng.random() < 0.15:
        options += ["--diverged-above", rng.choice(("10", "0", "1e300", "nan", "2.5"))]
    if rng.random() < 0.1:
        options += ["--skip-bad-rows"]
    if rng.random() < 0.25:
        options += ["--target", rng.choice(COMPUTES)]
    if rng.random() < 0.1:
        options += ["--at", f"N={rng.choice(COMPUTES)},D={rng.choice(COMPUTES)}"]
    if rng.random() < 0.05:
        options += ["--columns", rng.choice(("N=D", "loss=lr", "C=N", "N=x", "lr=opt", "D"))]
    return options


def fit_input(rng: random.Random) -> Input:
    name, files = table_file(rng)
    options = reading_options(rng)
    if rng.random() < 0.4:
        laws = ("LC", "chinchilla", "LN", "LD", "kaplan", "skaling", "gadre", "x")
        options += ["--law", rng.choice(laws)]
    if rng.random() < 0.1:
        options += ["--fix", f"E={rng.choice(CELLS)}"]
    if rng.random() < 0.1:
        options += ["--level", rng.choice(("0.5", "0", "1", "0.999999999999", "1e-300"))]
    if rng.random() < 0.3:
        options += ["--json"]
    return Input(("fit", name, *options), files)


def replay_input(rng: random.Random) -> Input:
    name, files = table_file(rng)
    budgets = ("5%", "3 runs", "1e18", "nan", "0", "1e400", "100%", "-1")
    options = [*reading_options(rng), "--iterations", rng.choice((*"3456" * 4, "9" * 30))]
    options += ["--n-init", rng.choice(("1", "2", "3"))]
    options += ["--surrogate", "gp"] if rng.random() < 0.3 else []
    options += ["--budget", rng.choice(budgets)] if rng.random() < 0.1 else []
    options += ["--json"] if rng.random() < 0.3 else []
    return Input(("replay", name, *options), files)


def report_input(rng: random.Random) -> Input:
    name, files = table_file(rng)
    return Input(("report", name, *reading_options(rng)), files)


# ── live studies ────────────────────────────────────────────────────────────────────────────────

STUDY = b"""name = "small"
seed = 3
constraints = ["tokens_per_param >= 5"]
compute = "6ND"
[[model]]
name = "xs"
N = 1e7
layers = 4
[[model]]
name = "s"
N = 4e7
layers = 8
[tokens]
values = [1e8, 4e8, 1.6e9]
[axes]
lr = { from = 1e-3, to = 4e-3, n = 2 }
opt = ["adamw", "=muon"]
[budget]
flops = 1e30
[law]
targets = [1e21]
stop_when = "loss@1e21 within 1%"
[policy]
name = "full"
n_init = 2
[runner]
kind = "local"
slots = 2
poll = "50s"
timeout = "2h"
command = ["/bin/sh", "-c", "echo {N} {lr}"]
[results]
diverged_above = 10.0
[failures]
backoff = 0
"""


# The same with runs that branch from trunks, which leave checkpoints and pass decays on the way.
TRUNKS = STUDY.replace(b'[policy]\nname = "full"\nn_init = 2\n', b"[trunks]\nuse = true\n")


def config(model: str, N: float, D: float, lr: float, opt: str) -> dict[str, Any]:
    return {"model": model, "N": N, "D": D, "lr": lr, "opt": opt}


def journal_events(rng: random.Random, *, trunks: bool) -> list[dict[str, Any]]:
    """A study half way: trials of every stage, some of them trunks and their branches."""
    told: list[dict[str, Any]] = [
        {"event": "created", "version": 1, "study": "small", "id": "abc", "seed": 3, "spec": "x"}
    ]
    runs = [
        (model, N, D, lr, opt)
        for model, N in (("xs", 1e7), ("s", 4e7))
        for D in (4e8, 1.6e9)
        for lr in (1e-3, 4e-3)
        for opt in ("adamw", "=muon")
    ]
    for i, run in enumerate(rng.sample(runs, rng.randrange(2, 12)), start=1):
        name = f"t{i:04d}"
        cost = 6.0 * run[1] * run[2]
        by = rng.choice(("run", "hand"))
        told.append(
            {"event": "asked", "trial": name, "by": by, "config": config(*run), "cost": cost}
        )
        if trunks and i > 1 and rng.random() < 0.5:
            told[-1] |= {"kind": "branch", "parent": "t0001", "branch_at": 3.2e8}
        elif trunks:
            told[-1] |= {"kind": "trunk", "parent": None, "save_at": [3.2e8, 1.28e9]}
        if i <= 2 and rng.random() < 0.7:
            told[-1]["by"] = "hand"
            continue  # still to be told
        told.append({"event": "submitted", "trial": name, "attempt": 1, "handle": "local"})
        told.append({"event": "reported", "trial": name, "tokens": 1e7, "loss": 4.0})
        if trunks:
            told.append({"event": "saved", "trial": name, "tokens": 3.2e8})
            told.append({"event": "passed", "trial": name, "tokens": 4e8, "loss": 3.5})
        loss = 1.69 + 406.4 * run[1] ** -0.34 + 410.7 * run[2] ** -0.28 + rng.gauss(0, 0.01)
        ends = [{"event": "finished", "trial": name, "loss": loss}] * 6
        ends += [{"event": "diverged", "trial": name, "loss": None}]
        ends += [{"event": "failed", "trial": name, "reason": "crash"}]
        ends += [{"event": "retried", "trial": name, "attempt": 1, "reason": "crash", "wait": 1.0}]
        told.append(rng.choice(ends) | ({"trained": 1e8} if trunks else {}))
    told.append({"event": "excluded", "where": "lr > 0.02", "reason": "by hand"})
    told.append({"event": "excluded", "match": {"model": "m"}, "reason": "out_of_memory"})
    old = config("xs", 1e7, 1e8, 1e-3, "adamw")
    told.append({"event": "imported", "trial": "i0001", "config": old, "loss": 4.0, "key": "k"})
    return [{**event, "time": "2026-01-01T00:00:00.000Z"} for event in told]


def study_files(rng: random.Random) -> Files:
    trunks = rng.random() < 0.4
    events = json_lines_of(journal_events(rng, trunks=trunks))
    return {"study.toml": TRUNKS if trunks else STUDY, "journal.jsonl": events}


def check_input(rng: random.Random) -> Input:
    text = bytes_of(rng, rng.choice((STUDY, TRUNKS)))
    return Input(("check", "study.toml"), {"study.toml": text})


def journal_input(rng: random.Random) -> Input:
    files = study_files(rng)
    files["journal.jsonl"] = bytes_of(rng, files["journal.jsonl"])
    if rng.random() < 0.2:
        files["study.toml"] = bytes_of(rng, files["study.toml"])
    command = rng.choice(
        (("status", "study.toml", "--json"), ("status", "study.toml"), ("export",))
    )
    return Input(command, files)


def live_report_input(rng: random.Random) -> Input:
    files = study_files(rng)
    files["journal.jsonl"] = bytes_of(rng, files["journal.jsonl"])
    return Input(("report", "study.toml"), files)


def tell_input(rng: random.Random) -> Input:
    rows: list[dict[str, Any]] = [
        {"trial": "t0001", "loss": 2.5, "N": 1e7},
        {"trial": "t0002", "loss": "nan", "tokens": 5e7},
        *rng.choice(([], [{"trial": "t0001", "saved": 1.28e9}])),
    ]
    seeds = [json.dumps(rows).encode(), json_lines_of(rows), csv_of(rows)]
    name = rng.choice(("r.json", "r.jsonl", "r.csv", "r.tsv"))
    files = {**study_files(rng), name: bytes_of(rng, rng.choice(seeds))}
    if rng.random() < 0.2:
        words = ("tell", "--trial", "t0001", "--loss", rng.choice(CELLS))
        more = ("--tokens", rng.choice(CELLS)) if rng.random() < 0.5 else ()
        return Input((*words, *more), files)
    return Input(("tell", "study.toml", name), files)


def import_input(rng: random.Random) -> Input:
    rows = [
        {**config("xs", 1e7, 4e8, 1e-3, "adamw"), "loss": 3.1, "State": "finished"},
        {**config("s", 4e7, 1.6e9, 4e-3, "'=muon"), "loss": 2.9, "State": "finished"},
        {**config("s", 4e7, 4e8, 4e-3, "adamw"), "loss": "nan", "State": "crashed"},
    ]
    if rng.random() < 0.3:
        rows = [{"config": str(row), "summary": json.dumps({"loss": row["loss"]})} for row in rows]
        data, name = json_lines_of(rows), "p.jsonl"
    else:
        bent_rows = bent(rng, rows)
        data, name = rng.choice(
            ((csv_of(bent_rows), "p.csv"), (json_lines_of(bent_rows), "p.jsonl"))
        )
    files = {**study_files(rng), name: bytes_of(rng, data)}
    where = ["--where", rng.choice(EXPRESSIONS)] if rng.random() < 0.2 else []
    return Input(("import", "study.toml", name, *where), files)


_TRACES: dict[int, Files] = {}


def trace_input(rng: random.Random) -> Input:
    """A replay's trace.json, mutated; there are three of them, made once."""
    which = rng.randrange(3)
    if which not in _TRACES:
        _TRACES[which] = _trace(which)
    files = dict(_TRACES[which])
    files["out/trace.json"] = bytes_of(rng, files["out/trace.json"])
    return Input(("report", "out"), files)


def _trace(which: int) -> Files:
    rows = [row for k in range(8) for row in table(random.Random(1000 * which + k))]
    data = csv_of([{k: v for k, v in row.items() if k != "opt"} for row in rows])
    args = ("replay", "t.csv", "--iterations", "6", "--n-init", "3", "--out", "out")
    with folder_of(Input(args, {"t.csv": data})) as folder:
        call(args)
        return {"t.csv": data, "out/trace.json": (folder / "out" / "trace.json").read_bytes()}


# How often each is drawn: commands that draw and fit are slow, readers are quick.
KINDS: dict[str, tuple[Callable[[random.Random], Input], int]] = {
    "fit": (fit_input, 18),
    "replay": (replay_input, 4),
    "report a table": (report_input, 2),
    "report a study": (live_report_input, 1),
    "report a trace": (trace_input, 2),
    "check": (check_input, 28),
    "tell": (tell_input, 20),
    "import": (import_input, 15),
    "journal": (journal_input, 10),
}


def make_input(seed: int, n: int) -> tuple[str, Input]:
    """The kind and the input number ``n`` of a seed."""
    rng = random.Random(f"{seed} {n}")
    weights = [weight for _, weight in KINDS.values()]
    kind = rng.choices(list(KINDS), weights)[0]
    return kind, KINDS[kind][0](rng)


# ── running one ─────────────────────────────────────────────────────────────────────────────────


class TooSlow(BaseException):
    """An input took longer than LIMIT; no ``except Exception`` may swallow it."""


@contextlib.contextmanager
def folder_of(made: Input) -> Iterator[Path]:
    """A new working folder with the input's files."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        for path, data in made.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def call(args: tuple[str, ...]) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of the command line, warnings shown as a user sees them."""
    from lawsmith.cli import main

    out, err = io.StringIO(), io.StringIO()

    def shown(message: Any, category: Any, file: str, line: int, *_: Any) -> None:
        err.write(warnings.formatwarning(message, category, file, line))

    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        warnings.showwarning = shown  # also where a test runner collects them
        code = main(list(args))
    return code, out.getvalue(), err.getvalue()


def play(made: Input) -> Outcome:
    """Run an input and judge how it ended."""

    def late(*_: object) -> None:
        raise TooSlow

    begun = time.process_time()
    kinds = {
        signal.SIGPROF: (signal.ITIMER_PROF, LIMIT),
        signal.SIGALRM: (signal.ITIMER_REAL, WAIT),
    }
    before = {number: signal.signal(number, late) for number in kinds}
    for timer, seconds in kinds.values():
        signal.setitimer(timer, seconds)
    try:
        with folder_of(made) as folder:
            code, out, err = call(made.args)
            problem = judged(made, code, out, err, folder)
    except TooSlow:
        code, problem = -1, f"slow: more than {LIMIT} s"
    except BaseException as error:
        code, problem = -1, f"traceback: {where_of(error)}"
        if VERBOSE:
            traceback.print_exception(error)
    finally:
        for number, (timer, _) in kinds.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
    return Outcome(code, problem, time.process_time() - begun)


def where_of(error: BaseException) -> str:
    """The exception and the innermost line of lawsmith that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "lawsmith" in frame.filename] or frames
    last = ours[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno} {str(error)[:100]}"


# 'got inf' quotes a cell of the input, and so do these.
_QUOTED = re.compile(r"(?:got|in) '[^']*'|taken_as_axis: \S+ \([^()]*\)")
_NO_NUMBER = re.compile(
    r"(?<![\w./'\"-])(?<!got )[-+]?(nan|inf|infinity)(?![\w./'\"])", re.IGNORECASE
)


def judged(made: Input, code: int, out: str, err: str, folder: Path) -> str:
    """What is wrong with how a command ended; '' if nothing is."""
    if code not in (0, 2):
        return f"exit code {code}: {err[-200:]}"
    if "Warning" in err or "Traceback" in err:
        line = next(line for line in err.splitlines() if "Warning" in line or "Traceback" in line)
        return "warning: " + re.sub(r"^.*/lawsmith/", "", line)[:200]
    if code == 2:
        lines = [line for line in err.splitlines() if line.startswith("error: ")]
        return "" if lines else f"exit code 2 without an error line: {err[-200:]!r}"
    return numbers_judged(made, out, folder)


def numbers_judged(made: Input, out: str, folder: Path) -> str:
    """nan or inf where a person, or a program that reads JSON, expects a number."""
    if "--json" in made.args:
        try:
            json.loads(out, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))
        except ValueError as error:
            return f"output that is no strict JSON: {str(error)[:80]}"
        return ""
    text = out if made.args[0] != "export" else ""
    if made.args[0] == "report":
        page = (folder / "report.html").read_text(encoding="utf-8")
        page = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
        text += unescape(re.sub(r"<[^>]*>", " ", page))
    text = _QUOTED.sub("", " ".join(text.split()))
    found = _NO_NUMBER.search(text)
    return f"printed: {text[max(0, found.start() - 60) : found.end() + 20]!r}" if found else ""


# ── many of them ────────────────────────────────────────────────────────────────────────────────


def play_number(seed: int, n: int) -> tuple[int, str, Outcome]:
    kind, made = make_input(seed, n)
    return n, kind, play(made)


def play_all(seed: int, numbers: range, jobs: int) -> Iterator[tuple[int, str, Outcome]]:
    """Outcomes in the order of their numbers."""
    if jobs == 1:
        yield from (play_number(seed, n) for n in numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(play_number, seed), numbers, chunksize=20)


def keep(folder: Path, seed: int, n: int, problem: str) -> None:
    """An input with a problem, as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"problem": problem, **make_input(seed, n)[1].to_json()}
    (folder / f"{seed}-{n}.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


def survey(seed: int, numbers: range, jobs: int, folder: Path | None) -> dict[str, Any]:
    """All outcomes counted, by kind of input and by problem."""
    table: dict[str, Counter[str]] = {}
    problems: Counter[str] = Counter()
    slowest = 0.0
    for n, kind, found in play_all(seed, numbers, jobs):
        row = table.setdefault(kind, Counter())
        row.update({"inputs": 1, "answered": found.code == 0, "refused": found.code == 2})
        slowest = max(slowest, found.seconds)
        if found.problem:
            row["problems"] += 1
            problems[re.sub(r"\d{2,}", "…", found.problem)[:160]] += 1
            if folder is not None:
                keep(folder, seed, n, found.problem)
    kinds = {kind: dict(row) for kind, row in sorted(table.items())}
    return {"seed": seed, "n": len(numbers), "slowest": round(slowest, 2), "kinds": kinds} | {
        "problems": dict(problems.most_common())
    }


def main(args: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="folder for inputs with a problem")
    parser.add_argument("--again", type=Path, nargs="*", help="play these files, or folders, again")
    told = parser.parse_args(args)
    if told.again:
        files = [f for path in told.again for f in ([path] if path.is_file() else path.iterdir())]
        for file in sorted(files):
            outcome = play(Input.from_json(json.loads(file.read_text(encoding="utf-8"))))
            print(
                f"{file.name}: {outcome.code} {outcome.seconds:.1f} s {outcome.problem or 'fine'}"
            )
        return
    begun = time.monotonic()
    numbers = range(told.first, told.first + told.n)
    found = survey(told.seed, numbers, told.jobs, told.keep)
    print(json.dumps({"seconds": round(time.monotonic() - begun), **found}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
