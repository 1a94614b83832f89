"""Results: JSON, logs and CSVs read; divergence, contradiction and rubbish told apart."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from lawsmith.runners.results import (
    Progress,
    ResultKind,
    contradiction,
    log_tail,
    read_progress,
    read_result,
    tokens_trained,
)
from lawsmith.spec.models import ResultsSpec

CONFIG = {"model": "xs", "N": 1e7, "D": 1e8, "lr": 1e-3, "trial": "t0001"}
JSON = ResultsSpec(diverged_above=10.0)
LOG = ResultsSpec(kind="regex", pattern=r"val loss: (\S+)")
CSV = ResultsSpec(kind="csv", file="out/metrics.csv", column="val")


def read(folder: Path, text: str, spec: ResultsSpec = JSON, *, completed: bool = True):
    name = {"json": "result.json", "regex": "log.txt", "csv": "out/metrics.csv"}[spec.kind]
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return read_result(folder, spec, CONFIG, completed=completed)


@pytest.mark.parametrize(
    ("text", "found", "loss"),
    [
        ('{"loss": 2.5}', ResultKind.LOSS, 2.5),
        ('{"loss": "2.5"}', ResultKind.LOSS, 2.5),
        ('{"loss": 2.5, "N": 1.004e7, "D": 1e8, "lr": 0.001, "other": []}', ResultKind.LOSS, 2.5),
        ('{"loss": NaN}', ResultKind.DIVERGED, None),
        ('{"loss": null}', ResultKind.DIVERGED, None),
        ('{"loss": "inf"}', ResultKind.DIVERGED, None),
        ('{"loss": -Infinity}', ResultKind.DIVERGED, None),
        ('{"loss": 11.0}', ResultKind.DIVERGED, 11.0),
        ('{"diverged": true}', ResultKind.DIVERGED, None),
        ('{"loss": 2.5, "N": 2e7}', ResultKind.CONTRADICTION, 2.5),
        ('{"loss": 2.5, "lr": 0.0011}', ResultKind.CONTRADICTION, 2.5),
        ('{"loss": 2.5, "model": "s"}', ResultKind.CONTRADICTION, 2.5),
        ('{"loss": 2.5, "trial": "t0002"}', ResultKind.CONTRADICTION, 2.5),
        ('{"loss": 0.0}', ResultKind.CONTRADICTION, 0.0),
        ('{"loss": -1}', ResultKind.CONTRADICTION, -1.0),
        ('{"los": 2.5}', ResultKind.UNREADABLE, None),
        ('{"loss": [1]}', ResultKind.UNREADABLE, None),
        ('{"loss": true}', ResultKind.UNREADABLE, None),
        ("[2.5]", ResultKind.UNREADABLE, None),
        ("", ResultKind.UNREADABLE, None),
        ('{"loss": 2.', ResultKind.UNREADABLE, None),
        ("[" * 100_000, ResultKind.UNREADABLE, None),
        ('{"loss": ' + "9" * 5000 + "}", ResultKind.UNREADABLE, None),
    ],
)
def test_a_result_file_is_judged(tmp_path: Path, text: str, found: ResultKind, loss: float | None):
    result = read(tmp_path, text)
    assert (result.kind, result.loss) == (found, loss)


def test_a_result_in_place_counts_even_if_the_job_then_failed(tmp_path: Path):
    assert read(tmp_path, '{"loss": 2.5}', completed=False).kind is ResultKind.LOSS


def test_no_result_is_nothing(tmp_path: Path):
    assert read_result(tmp_path, JSON, CONFIG, completed=True).kind is ResultKind.NOTHING


def test_a_result_may_tell_losses_on_the_way(tmp_path: Path):
    told = [{"tokens": 1e7, "loss": 4.0}, {"tokens": "x"}, 5, {"tokens": 2e7, "loss": 3.0}]
    result = read(tmp_path, json.dumps({"loss": 2.5, "intermediate": told}))
    assert result.loss == 2.5
    assert result.reports == ((1e7, 4.0), (2e7, 3.0))


def test_the_last_match_in_a_log_is_the_loss(tmp_path: Path):
    log = "val loss: 3.5\nstep 2\nval loss: 3.25 (best)\nbye\n"
    assert read(tmp_path, log, LOG).loss == 3.25
    assert read(tmp_path, "val loss: nan\n", LOG).kind is ResultKind.DIVERGED
    assert read(tmp_path, "val loss: oops\n", LOG).kind is ResultKind.UNREADABLE
    assert read(tmp_path, "nothing\n", LOG).kind is ResultKind.UNREADABLE


def test_the_last_row_of_a_csv_is_the_loss(tmp_path: Path):
    assert read(tmp_path, "step,val\n1,4.0\n2,3.25\n\n", CSV).loss == 3.25
    assert read(tmp_path, "step,val,N\n2,3.25,5e7\n", CSV).kind is ResultKind.CONTRADICTION
    assert read(tmp_path, "step,val\n1,nan\n", CSV).kind is ResultKind.DIVERGED
    assert read(tmp_path, "step,loss\n1,3\n", CSV).kind is ResultKind.UNREADABLE
    assert read(tmp_path, "step,val\n", CSV).kind is ResultKind.UNREADABLE
    assert read(tmp_path, "step,val\n1,x\n", CSV).kind is ResultKind.UNREADABLE


def test_the_log_of_a_run_that_failed_holds_only_losses_on_the_way(tmp_path: Path):
    log = "val loss: 3.5\nTraceback\n"
    assert read(tmp_path, log, LOG, completed=False).kind is ResultKind.NOTHING


def test_bytes_that_are_no_text_are_unreadable(tmp_path: Path):
    (tmp_path / "result.json").write_bytes(b"\xff\xfe{")
    assert read_result(tmp_path, JSON, CONFIG, completed=True).kind is ResultKind.UNREADABLE


def test_a_result_that_is_a_folder_is_nothing(tmp_path: Path):
    (tmp_path / "result.json").mkdir()
    assert read_result(tmp_path, JSON, CONFIG, completed=True).kind is ResultKind.NOTHING


def test_n_and_d_may_be_rounded_and_others_not():
    assert contradiction({"D": 1.009e8, "lr": 1e-3 * (1 + 1e-9)}, CONFIG, 0.01) is None
    assert "D is" in (contradiction({"D": 1.02e8}, CONFIG, 0.01) or "")
    assert contradiction({"N": None}, CONFIG, 0.01) is None


def test_progress_is_read_on_from_where_it_was(tmp_path: Path):
    path = tmp_path / "progress.jsonl"
    path.write_text('{"tokens": 1, "loss": 5}\nrubbish\n[]\n{"tokens": 2, "loss": 4}\n{"tokens": 3')
    reports, offset = read_progress(tmp_path, 0)
    assert reports == [Progress(1.0, 5.0), Progress(2.0, 4.0)]
    with path.open("a") as file:
        file.write(', "loss": 3}\n{"tokens": 4, "loss": NaN}\n')
    reports, offset = read_progress(tmp_path, offset)
    assert reports == [Progress(3.0, 3.0), Progress(4.0)]
    assert read_progress(tmp_path, offset) == ([], offset)


def test_a_line_of_progress_may_tell_of_checkpoints_and_ends_of_decays(tmp_path: Path):
    lines = ['{"tokens": 4, "loss": 3, "saved": 4}', '{"tokens": 5, "loss": 2, "final": true}']
    lines += ['{"resumed": 0}', '{"final": true, "tokens": 6}', '{"saved": -1}']
    (tmp_path / "progress.jsonl").write_text("\n".join(lines) + "\n")
    assert read_progress(tmp_path)[0] == [
        Progress(4.0, 3.0, saved=4.0),
        Progress(5.0, 2.0, final=True),
        Progress(resumed=0.0),
        Progress(6.0),
    ]


@pytest.mark.parametrize(
    ("steps", "begun", "want"),
    [
        ([], 0.0, None),
        ([Progress(resumed=0.0)], 0.0, None),
        ([Progress(10.0), Progress(20.0)], 0.0, 20.0),
        ([Progress(90.0), Progress(100.0)], 80.0, 20.0),
        # Started again within the attempt: from the beginning, from its last checkpoint, as told.
        ([Progress(10.0), Progress(20.0), Progress(5.0), Progress(30.0)], 0.0, 50.0),
        (
            [Progress(10.0), Progress(saved=10.0), Progress(20.0), Progress(15.0), Progress(30.0)],
            0.0,
            40.0,
        ),
        ([Progress(10.0), Progress(20.0), Progress(resumed=18.0), Progress(30.0)], 0.0, 32.0),
        ([Progress(saved=40.0)], 0.0, 40.0),
    ],
)
def test_what_an_attempt_trained_counts_what_it_trained_again(steps, begun, want):
    assert tokens_trained(steps, begun) == want


def test_the_tail_of_a_log_has_nothing_a_terminal_obeys(tmp_path: Path):
    (tmp_path / "log.txt").write_text("a\n\x1b[31mred\x1b[0m\x07\n" + "x" * 5000 + "\n")
    tail = log_tail(tmp_path)
    assert "\x1b" not in tail
    assert "[31mred" in tail
    assert max(map(len, tail.splitlines())) <= 300
    assert log_tail(tmp_path / "no") == ""


def test_a_loss_is_finite_or_none(tmp_path: Path):
    for text in ('{"loss": 1e999}', '{"loss": 1e305}'):
        result = read(tmp_path, text)
        assert result.kind is ResultKind.DIVERGED
        assert result.loss is None or math.isfinite(result.loss)
