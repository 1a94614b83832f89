"""tinylm, the bundled study: its table, what the catalogue does with it, and its data card."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import count_study, entry, fetch, load, locate, present
from lawsmith.datasets.catalogue import FOLDER
from lawsmith.errors import LawsmithError

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tinylm"
RESULTS = EXAMPLE / "results" / "dense.jsonl"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch) -> None:
    """A fresh machine: no tables, no cache (own_cache), no network."""
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)

    def offline(*_, **__):
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr("urllib.request.urlopen", offline)


def bundle(*args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE / "bundle.py"), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def results() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


def test_the_table_in_the_package_is_what_the_script_makes_of_the_results(tmp_path) -> None:
    done = bundle("--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("tinylm.csv", "tinylm.json"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    assert (tmp_path / "tinylm.csv").stat().st_size < 500_000


def test_the_order_and_repeats_of_the_results_do_not_change_the_table(tmp_path) -> None:
    lines = RESULTS.read_text(encoding="utf-8").splitlines()[:60]
    first, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text("\n".join(lines) + "\n")
    cut = lines[0][: len(lines[0]) // 2]
    stale = json.dumps({**json.loads(lines[3]), "loss": 9.0})
    other.write_text("\n".join([stale, cut, *reversed(lines)]) + "\n")
    for path in (first, other):
        assert bundle("--results", path, "--out", path.with_suffix("")).returncode == 0
    tables = [(path.with_suffix("") / "tinylm.csv").read_bytes() for path in (first, other)]
    assert tables[0] == tables[1]
    assert tables[0].count(b"\n") == 61


def test_a_run_without_a_loss_is_kept_with_an_empty_cell(tmp_path) -> None:
    row = {**results()[0], "loss": None, "curve": [6.1, None]}
    (tmp_path / "one.jsonl").write_text(json.dumps(row) + "\n")
    assert bundle("--results", tmp_path / "one.jsonl", "--out", tmp_path).returncode == 0
    with (tmp_path / "tinylm.csv").open() as file:
        (found,) = csv.DictReader(file)
    assert (found["loss"], found["curve"]) == ("", "6.1 -")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "No such file"),
        ({}, "no rows"),
        ({"C": 1}, "line 1 has a C that is not 6·N·D"),
        ({"seed": None, "drop": "seed"}, "line 1 has no seed"),
    ],
)
def test_bad_results_are_one_line(tmp_path, change, words) -> None:
    path = tmp_path / "bad.jsonl"
    if change == {}:
        path.touch()
    elif change is not None:
        row = {**results()[0], **change}
        row.pop(row.pop("drop", ""), None)
        path.write_text(json.dumps(row) + "\n")
    done = bundle("--results", path, "--out", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr


def test_every_run_of_the_results_is_in_the_study_with_its_loss() -> None:
    study, rows = load("tinylm"), results()
    assert len(study.runs) == len(rows)
    assert study.runs.loss.sum() == pytest.approx(sum(row["loss"] for row in rows), abs=1e-3)
    assert {axis.name for axis in study.grid.axes} == {"N", "D", "lr", "batch"}
    np.testing.assert_array_equal(study.grid.C, 6 * study.grid.N * study.grid.D)
    found = count_study(study)
    assert (found.N, found.D, found.lr, found.batch) == (6, 7, 8, 5)
    assert found.configurations == len({(r["N"], r["D"], r["lr"], r["batch"]) for r in rows})


def test_seeds_of_one_configuration_are_replicates() -> None:
    study = load("tinylm")
    seeds = pd.DataFrame(results()).groupby(["N", "D", "lr", "batch"])["seed"].nunique()
    assert sorted(map(len, study.log.replicates)) == sorted(seeds[seeds > 1])
    assert any("these runs differ in seed" in note for note in study.notes)


def test_parameters_and_exact_flops_follow_from_the_shape() -> None:
    (path,) = locate(entry("tinylm"))
    table = pd.read_csv(path)
    width, depth = table["width"], table["depth"]
    assert (table["N"] == 12 * depth * width**2 + 1024 * width).all()
    # Causal attention: each of two products sees half of 513 positions on average, thrice.
    attention = 6 * depth * width * 513
    assert (table["flops_exact"] == (6 * table["N"] + attention) * table["D"]).all()
    ratio = table["flops_exact"] / table["C"]
    assert (round(ratio.min(), 2), round(ratio.max(), 2)) == (1.16, 1.47)


def test_a_loss_above_that_of_a_uniform_guess_would_count_as_diverged() -> None:
    options = entry("tinylm").variant("").options
    assert options.diverged_above == pytest.approx(math.log(1024))


def test_it_is_at_hand_without_a_network_whatever_lies_in_the_data_folder(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "tinylm.csv").write_text("N,D,loss\n1,1,1\n")
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    assert present(entry("tinylm"))
    assert len(load("tinylm").runs) == entry("tinylm").n_rows


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_damaged_installation_is_told_by_its_path(tmp_path, monkeypatch, damage) -> None:
    if damage == "changed":
        data = (FOLDER / "tinylm.csv").read_bytes()
        (tmp_path / "tinylm.csv").write_bytes(data.replace(b"104448", b"104449", 1))
    monkeypatch.setattr(fetch, "FOLDER", tmp_path)
    with pytest.raises(LawsmithError) as caught:
        load("tinylm")
    assert str(caught.value).startswith(f"{tmp_path / 'tinylm.csv'}: got ")
    assert ("install lawsmith again" in str(caught.value)) == (damage == "missing")


def card():
    """The script that makes the card, and its numbers."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        spec = importlib.util.spec_from_file_location("tinylm_card", ROOT / "docs" / "tinylm.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def test_the_data_card_has_the_counts_and_the_noise_of_the_bundled_table() -> None:
    module, text = card(), (ROOT / "docs" / "tinylm.md").read_text(encoding="utf-8")
    dense = module.Dense.bundled()
    blocks = {name: block(dense) for name, block in module.COUNTED.items()}
    assert module.with_blocks(text, blocks) == text, "run python docs/tinylm.py"
    for name in module.FITTED:
        assert f"<!-- made: {name} -->\n\n|" in text


def test_every_planned_run_is_there() -> None:
    lrs = {48: 8, 64: 8, 96: 7, 128: 7, 192: 7, 256: 7}
    whole = sum(7 * 5 * n for n in lrs.values()) - 3 * 7
    seeds = sum(2 * 5 * lrs[width] for width in (48, 96, 128))
    dense = card().Dense.bundled()
    assert len(dense.configurations) == whole
    assert len(dense.runs) == whole + seeds


def test_loss_falls_with_tokens_and_optima_are_mostly_inside() -> None:
    dense = card().Dense.bundled()
    assert (np.diff(dense.by_cell("loss").to_numpy(), axis=1) < 0).all()
    assert (dense.best["lr_min"] | dense.best["lr_max"]).mean() < 0.1
    assert dense.isoflop().minima["bracketed"].sum() >= 3
