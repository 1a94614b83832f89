"""10,000 mutated study files, journals and results: a clear error or a reading, no traceback."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from lawsmith.cli.start import template
from lawsmith.errors import LawsmithError
from lawsmith.journal import Journal, Kind, make
from lawsmith.journal.events import VERSION
from lawsmith.runners.results import ResultKind, read_progress, read_result
from lawsmith.spec import Candidates, build_candidates, parse_spec
from lawsmith.spec.models import ResultsSpec
from lawsmith.study.history import history_of
from lawsmith.study.telling import read_results
from tests.study.studies import study_text

WORDS = [
    *(b"nan", b"inf", b"-1", b"0", b"1e309", b"9" * 400, b"true", b"null", b"[]", b"{}", b'""'),
    *(b"\0", b"\xff", b"\n", b"\r\n", b'"', b"'", b"=", b",", b"]", b"}", b"[", b"{", b"..", b"/"),
    *(b"t0001", b"t9999", b"../../etc", b"finished", b"asked", b"N", b"D", b"C", b"\xe2\x80\xae"),
    *(b"1e400", b"-0.0", b"1_0", b"0x1F", b"1979-05-27", b"2**63", b"18446744073709551616"),
]


def mutated(rng: random.Random, seeds: list[bytes]) -> bytes:
    """A seed with a few bytes, words or lines changed, doubled, moved or lost."""
    text = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
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
            case 4:
                del text[at:]
            case 5:
                part = text[at : at + rng.randrange(1, 200)]
                text[at:at] = part
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


def survive(read: Callable[[bytes], object], seeds: list[bytes], n: int, seed: int) -> int:
    """How many of ``n`` mutations could be read; anything but our own error fails the test."""
    rng = random.Random(seed)
    n_read = 0
    for _ in range(n):
        text = mutated(rng, seeds)
        try:
            read(text)
            n_read += 1
        except LawsmithError:
            continue
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error} for {text!r}")
    return n_read


def test_a_mutated_study_file_is_read_or_refused():
    def read(text: bytes) -> Candidates:
        found = build_candidates(parse_spec(text))
        assert len(found.grid) == len(found.configs)
        return found

    seeds = [study_text().encode(), template("study.toml").encode()]
    assert 100 < survive(read, seeds, 3000, 1) < 2900


def journal_text(candidates: Candidates) -> bytes:
    config = dict(candidates.configs[0])
    told = [
        make(Kind.CREATED, version=VERSION, study="small", id="abc", seed=3, spec="x"),
        make(Kind.ASKED, "t0001", by="run", config=config, cost=6e15),
        make(Kind.SUBMITTED, "t0001", attempt=1, handle="local"),
        make(Kind.RUNNING, "t0001", attempt=1),
        make(Kind.REPORTED, "t0001", tokens=1e7, loss=4.0),
        make(Kind.RETRIED, "t0001", attempt=1, reason="crash", wait=1.0),
        make(Kind.FINISHED, "t0001", loss=3.0),
        make(Kind.ASKED, "t0002", by="hand", config=dict(candidates.configs[1]), cost=6e15),
        make(Kind.DIVERGED, "t0002", loss=None),
        make(Kind.EXCLUDED, where="lr > 0.002", reason="by hand"),
        make(Kind.EXCLUDED, match={"model": "s"}, reason="out_of_memory"),
        make(Kind.IMPORTED, "i0001", config=config, loss=2.0, key="k", source="old.csv"),
        make(Kind.ENDED, reason="budget"),
    ]
    return b"".join(json.dumps(event).encode() + b"\n" for event in told)


def test_a_mutated_journal_is_read_or_refused(tmp_path: Path):
    spec = parse_spec(study_text().encode())
    candidates = build_candidates(spec)
    path = tmp_path / "journal.jsonl"

    def read(text: bytes) -> None:
        path.write_bytes(text)
        ledger = Journal(path).refresh()
        history = history_of(ledger, candidates, spec)
        assert ledger.spend >= 0
        assert len(history.runs) + history.unmatched == len(ledger.trials)

    assert 100 < survive(read, [journal_text(candidates)], 3500, 2) < 3400


RESULTS = [
    b'{"loss": 2.5, "N": 1e7, "D": 1e8, "lr": 0.001, "model": "xs"}',
    b'{"loss": 2.5, "intermediate": [{"tokens": 1e7, "loss": 4.0}]}',
    b'{"loss": NaN, "diverged": true}',
    b"step,loss,N\n1,4.0,1e7\n2,3.25,1e7\n",
    b"step 1 loss: 4.0\nstep 2 loss: 3.25\n",
    b'{"tokens": 1e7, "loss": 4.0}\n{"tokens": 2e7, "loss": 3.0}\n',
]


def test_a_mutated_result_is_read_or_told_as_none(tmp_path: Path):
    specs = [
        ResultsSpec(diverged_above=10.0),
        ResultsSpec(kind="regex", pattern=r"loss: (\S*)", file="result.json"),
        ResultsSpec(kind="csv", file="result.json"),
    ]
    config = {"model": "xs", "N": 1e7, "D": 1e8, "lr": 1e-3, "trial": "t0001"}

    def read(text: bytes) -> None:
        for name in ("result.json", "progress.jsonl"):
            (tmp_path / name).write_bytes(text)
        for spec in specs:
            result = read_result(tmp_path, spec, config, completed=True)
            if result.kind is ResultKind.LOSS:
                assert result.loss is not None
                assert 0 < result.loss <= (spec.diverged_above or 1e300)
        read_progress(tmp_path, 0)

    assert survive(read, RESULTS, 2500, 3) == 2500


def test_a_mutated_file_of_results_is_read_or_refused(tmp_path: Path):
    seeds = [
        b'[{"trial": "t0001", "loss": 2.5}, {"trial": "t0002", "loss": null}]',
        b'{"trial": "t0001", "loss": 2.5}\n{"trial": "t0002", "loss": "nan", "tokens": 5}\n',
        b"trial,loss,N\nt0001,2.5,1e7\nt0002,nan,1e7\n",
    ]

    def read(text: bytes) -> None:
        for name in ("told.json", "told.csv"):
            (tmp_path / name).write_bytes(text)
            read_results(tmp_path / name)

    survive(read, seeds, 1000, 4)
