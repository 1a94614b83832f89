"""Results on disk: what is whole is kept, what is torn or another's is not."""

from __future__ import annotations

import json

import pytest

from lawsmith.errors import LawsmithError
from lawsmith_paper.jobs import Job
from lawsmith_paper.store import Kept, Store


def job(seed=0, data="d"):
    return Job("replay", {"study": "s", "seed": seed}, data)


def write(store, one, n, *, end=True, block=1):
    with store.writer(one, block) as (kept, writer):
        for i in range(len(kept.lines), n):
            writer.line({"i": i})
        if end:
            writer.end({"lines": n, "seconds": 1.0})
    return kept


def test_lines_come_back_and_only_an_end_makes_a_job_finished(tmp_path):
    store = Store(tmp_path)
    assert store.read(job()) == Kept([], None)
    write(store, job(), 3, end=False)
    assert store.read(job()) == Kept([{"i": 0}, {"i": 1}, {"i": 2}], None)
    assert not store.finished(job())
    write(store, job(), 5)
    assert [line["i"] for line in store.read(job()).lines] == [0, 1, 2, 3, 4]
    assert store.finished(job())
    assert not store.finished(job(seed=1))


def test_a_setting_that_json_reads_back_as_another_type_is_the_same_job(tmp_path):
    store = Store(tmp_path)
    told, listed = (Job("replay", {"values": of(["answer"])}, "d") for of in (tuple, list))
    write(store, told, 2)
    assert [line["i"] for line in store.read(told).lines] == [0, 1]
    assert store.read(listed) == store.read(told)


@pytest.mark.parametrize("cut", [1, 3, 9, 12])
def test_a_torn_file_is_cut_back_to_whole_lines_and_goes_on(tmp_path, cut):
    store = Store(tmp_path)
    write(store, job(), 6, end=False)
    path = store.path(job())
    path.write_bytes(path.read_bytes()[:-cut])
    whole = store.read(job()).lines
    assert whole == [{"i": i} for i in range(len(whole))]
    assert len(whole) in (4, 5)
    kept = write(store, job(), 6)
    assert kept.lines == whole
    assert [line["i"] for line in store.read(job()).lines] == list(range(6))


def test_only_whole_blocks_are_gone_on_from(tmp_path):
    store = Store(tmp_path)
    write(store, job(), 7, end=False)
    kept = write(store, job(), 8, block=4)
    assert [line["i"] for line in kept.lines] == [0, 1, 2, 3]
    assert [line["i"] for line in store.read(job()).lines] == list(range(8))


def test_a_file_of_another_job_under_the_same_name_is_not_taken_for_it(tmp_path):
    store = Store(tmp_path)
    write(store, job(), 3)
    lines = store.path(job()).read_text().splitlines()
    header = json.loads(lines[0]) | {"code": "another"}
    store.path(job()).write_text("\n".join([json.dumps(header), *lines[1:]]) + "\n")
    assert store.read(job()) == Kept([], None)


def test_a_key_names_settings_data_and_kind():
    keys = {
        job().key,
        job(seed=1).key,
        job(data="e").key,
        Job("race", {"study": "s", "seed": 0}, "d").key,
    }
    assert len(keys) == 4
    assert job() == Job("replay", {"seed": 0, "study": "s"}, "d", weight=9.0)


def test_a_second_benchmark_in_the_same_folder_is_refused(tmp_path):
    store = Store(tmp_path)
    with (
        store.locked(),
        pytest.raises(LawsmithError, match="another benchmark at work"),
        Store(tmp_path).locked(),
    ):
        pass


def test_a_number_that_is_not_finite_is_never_written(tmp_path):
    store = Store(tmp_path)
    with store.writer(job(), 1) as (_, writer), pytest.raises(ValueError, match="JSON"):
        writer.line({"x": float("nan")})
