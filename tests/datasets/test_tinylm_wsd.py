"""tinylm-wsd, the bundled study of trunks: its tables, its curves, its data card."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lawsmith.analysis import answer_study, with_curves
from lawsmith.datasets import ReadOptions, load
from lawsmith.datasets.catalogue import FOLDER

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tinylm"


def command(script: Path, *args: object) -> None:
    subprocess.run([sys.executable, str(script), *map(str, args)], check=True, capture_output=True)


def results() -> list[dict]:
    lines = (EXAMPLE / "results" / "wsd.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_tables_in_the_package_are_what_the_script_makes_of_the_results(tmp_path) -> None:
    command(EXAMPLE / "bundle.py", "--grid", "wsd", "--out", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"tinylm-wsd.csv", "tinylm-wsd-curves.csv", "tinylm-wsd.json"}
    for name in names:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_the_data_card_has_the_numbers_of_the_tables(tmp_path) -> None:
    page = ROOT / "docs" / "tinylm-wsd.md"
    shutil.copy(page, tmp_path / "page.md")
    command(ROOT / "docs" / "tinylm_wsd.py", tmp_path / "page.md")
    made = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert made == page.read_text(encoding="utf-8"), "run python docs/tinylm_wsd.py"


def test_every_run_is_a_branch_of_a_trunk_whose_loss_there_is_known() -> None:
    study = load("tinylm-wsd")
    assert study.curves is not None
    joined, along = with_curves(study, study.curves)
    rows = results()
    assert len(joined.runs) == len(rows) == 420
    assert (along.parent >= 0).all()
    for k, parent in enumerate(along.parent.tolist()):
        curve = along.curves[parent]
        assert along.at[k] in curve.D
        assert curve.kind == "trunk"
        assert curve.hp["lr"] == pytest.approx(curve.rate)
        assert joined.grid.N[joined.runs.index[k]] == curve.N


def test_the_variant_without_curves_has_the_same_runs() -> None:
    with_them, without = load("tinylm-wsd"), load("tinylm-wsd:finals")
    assert without.curves is None
    np.testing.assert_array_equal(with_them.runs.loss, without.runs.loss)


def test_an_answer_uses_the_curves_that_a_study_comes_with() -> None:
    some = ReadOptions(where="N < 3e5 and D > 4e6")
    found = [answer_study(load(name, some)).curves for name in ("tinylm-wsd", "tinylm-wsd:finals")]
    assert found[0] is not None
    assert found[0].n_branches > 50
    assert found[1] is None


def test_a_decay_lowers_the_loss_and_runs_agree_with_those_of_tinylm() -> None:
    frame = pd.read_csv(FOLDER / "tinylm-wsd.csv")
    on_trunk = {
        (row["width"], row["lr"], row["seed"], D): x for row in results() for D, x in row["along"]
    }
    keys = zip(frame["width"], frame["lr"], frame["seed"], frame["branch_at"], strict=True)
    assert (np.array([on_trunk[key] for key in keys]) > frame["loss"]).all()
    # The same trainer, corpus, seed and steps some days before: equal but for rounding on a GPU.
    dense = pd.read_csv(FOLDER / "tinylm.csv")
    both = frame.merge(dense, on=["N", "D", "lr", "batch", "seed"])
    assert len(both) > 200
    assert np.log(both["loss_x"] / both["loss_y"]).abs().median() < 5e-4
