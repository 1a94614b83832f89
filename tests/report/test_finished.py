"""A replay read back from its files: the same steps; a changed table or another file is refused."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from lawsmith.datasets import ReadOptions
from lawsmith.errors import LawsmithError
from lawsmith.replay import step_values
from lawsmith.report import read_replay
from lawsmith.report.finished import observed_study


def test_the_steps_are_what_was_written(replayed, folder):
    told = json.loads((folder / "trace.json").read_text())
    for step, wanted in zip(replayed.trace.steps, told["trace"], strict=True):
        found = step_values(step)
        assert found["candidate"] == wanted["candidate"]
        assert found["cost"] == pytest.approx(wanted["cost"])
        assert found["config"] == wanted["config"]
        assert found["loss"] == pytest.approx(wanted["loss"], nan_ok=True)
        window = np.nan if wanted["window"] is None else wanted["window"]
        assert found["window"] == pytest.approx(window, nan_ok=True)


def test_the_study_of_what_was_observed_has_those_runs_only(replayed):
    study = observed_study(replayed)
    task = replayed.trace.task
    assert len(study.grid) == len(task.pool)
    assert len(study.runs) == len(replayed.trace.steps)
    known = np.isfinite(study.runs.config_loss(len(study.grid)))
    assert known.sum() <= len(replayed.trace.steps)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"trace": []}', '{"trace": 3, "settings": {}}', "null", "7"]
)
def test_another_file_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "trace.json"
    path.write_text(text)
    with pytest.raises(LawsmithError, match=r"trace\.json: got .*, want what lawsmith replay"):
        read_replay(path, ReadOptions())


def test_a_table_that_changed_since_is_refused(tmp_path, folder):
    copy = tmp_path / "replay"
    shutil.copytree(folder, copy)
    told = json.loads((copy / "trace.json").read_text())
    told["pool"]["total_compute"] *= 1.01
    (copy / "trace.json").write_text(json.dumps(told))
    with pytest.raises(LawsmithError, match="as it was replayed"):
        read_replay(copy / "trace.json", ReadOptions())


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(LawsmithError, match="No such file"):
        read_replay(tmp_path / "trace.json", ReadOptions())
