"""A driver killed with SIGKILL again and again: every run once, the budget kept, the same study."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "chaos.py"


def torment(folder: Path, *options: str) -> dict[str, Any]:
    """What `benchmarks/chaos.py` reports."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *options],
        check=True,
        stdout=subprocess.PIPE,
        timeout=300,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_with_one_slot_a_tormented_study_equals_an_undisturbed_one(tmp_path: Path):
    calm = torment(tmp_path / "calm", "--slots", "1", "--kills", "0")
    # Runs of 0.08 s outlast the drivers' 3 s on any machine.
    wild = torment(
        *(tmp_path / "wild", "--slots", "1", "--kills", "25"),
        *("--longest", "0.25", "--seconds", "0.08"),
    )
    assert (calm["killed"], wild["killed"]) == (0, 25)
    assert len(calm["trials"]) == 60
    assert wild["trials"] == calm["trials"]  # configurations, losses and states, in order
    assert (wild["spend"], wild["ended"]) == (calm["spend"], calm["ended"])
    assert_each_once(wild)


@pytest.mark.parametrize("slots", [4])
def test_with_many_slots_every_run_is_made_once(tmp_path: Path, slots: int):
    wild = torment(
        *(tmp_path, "--slots", str(slots), "--kills", "25"),
        *("--longest", "0.12", "--seconds", "0.25", "--plain"),
    )
    assert wild["killed"] == 25
    assert len(wild["trials"]) == 60
    assert_each_once(wild)


def test_a_tormented_study_keeps_its_budget(tmp_path: Path):
    wild = torment(
        tmp_path, "--slots", "3", "--kills", "10", "--longest", "0.12", "--plain", "--share", "0.2"
    )
    assert wild["ended"] == "budget"
    assert wild["spend"] <= wild["budget"]
    assert_each_once(wild)


def assert_each_once(wild: dict[str, Any]) -> None:
    """The trainer itself kept count, apart from the journal."""
    assert set(wild["ran"].values()) == {1}
    assert len(wild["ran"]) == len(wild["trials"])
    assert {stage for _, _, stage in wild["trials"]} == {"finished"}
    assert wild["attempts"] == 1


def test_a_tormented_study_of_trunks_loses_nothing_and_its_ledger_is_exact(tmp_path: Path):
    wild = torment(
        *(tmp_path, "--trunks", "--slots", "2", "--kills", "16", "--share", "0.6"),
        *("--longest", "0.4", "--seconds", "0.05"),
    )
    assert wild["killed"]["trainers"] >= 4
    assert {stage for *_, stage in wild["trials"]} == {"finished"}
    assert {kind for kind, *_ in wild["trials"]} == {"trunk", "branch"}
    assert wild["spend"] == pytest.approx(wild["trained"], rel=1e-12)
    # Trained again is only what a killed trainer had trained since its last checkpoint.
    assert (wild["astray"], wild["together"]) == (0, 0)
    again = wild["attempts"] - len(wild["trials"])
    assert again <= wild["killed"]["trainers"]
    assert again > 0 or wild["twice"] == 0.0
