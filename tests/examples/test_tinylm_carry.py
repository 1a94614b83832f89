"""Carrying a corpus: what a grid reads comes through, the rest does not travel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

import carry  # noqa: E402
from data import load_corpus  # noqa: E402
from errors import TinylmError  # noqa: E402
from trunk import Trunk  # noqa: E402

from tests.examples.tiny import CONTEXT, rows_of, small_plan, write_corpus  # noqa: E402


def test_runs_of_the_plans_are_the_same_on_what_was_carried(tmp_path: Path):
    plans = [small_plan(budgets=(4096,)), replace(small_plan(budgets=(2048,)), seed=3)]
    folder = write_corpus(tmp_path / "corpus")
    carry.pack(folder, tmp_path / "packed", plans)
    carry.unpack(tmp_path / "packed", tmp_path / "there")
    here, there = (
        load_corpus(tmp_path / name, torch.device("cpu")) for name in ("corpus", "there")
    )
    assert torch.equal(here.heldout, there.heldout)
    same = (here.train == there.train).float().mean()
    assert (4096 + 2048 - CONTEXT) / len(here.train) < same < 0.2
    for plan in plans:
        rows = [rows_of(Trunk(plan, corpus)) for corpus in (here, there)]
        assert [row["loss"] for row in rows[0]] == [row["loss"] for row in rows[1]]
    longer = small_plan(budgets=(8192,))
    rows = [rows_of(Trunk(longer, corpus)) for corpus in (here, there)]
    assert [row["loss"] for row in rows[0]] != [row["loss"] for row in rows[1]]


def test_a_folder_without_packed_tokens_is_refused(tmp_path: Path):
    with pytest.raises(TinylmError, match="no packed tokens"):
        carry.unpack(tmp_path, tmp_path / "out")
