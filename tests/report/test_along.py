"""The card of losses along runs, of a live study with trunks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lawsmith.charts.trunks import trunks_data
from lawsmith.journal import Kind, make
from lawsmith.report import Memory, Record, find_all, live_source
from lawsmith.report.cards.figures import along
from lawsmith.report.parts import Listing
from lawsmith.report.source import Source
from lawsmith.study import LiveStudy
from tests.study.trunk_studies import DECAY, trunk_study

from .sources import with_found

GAIN = 0.05
ENDS = (2e8, 4e8, 8e8)


def trunk_loss(N: float, D: float, lr: float) -> float:
    return 1.5 + 60.0 * N**-0.3 + 900.0 * D**-0.4 + 0.02 * np.log(lr / 2e-3) ** 2


def events(study: LiveStudy) -> list[dict]:
    """Five trunks with all their decays, and a sixth that was stopped half-way."""
    found, n = [], 0
    for model, N in (("a", 1e7), ("b", 3e7)):
        for lr in (1e-3, 2e-3, 4e-3):
            n, config = n + 1, {"model": model, "N": N, "lr": lr}
            name, stopped = f"t{n:04d}", (model, lr) == ("b", 4e-3)
            last = (1.0 - DECAY) * ENDS[-1]
            asked = {"config": config | {"D": last}, "cost": 6 * N * last, "by": "hand"}
            saves = [(1.0 - DECAY) * D for D in ENDS]
            found.append(make(Kind.ASKED, name, **asked, kind="trunk", save_at=saves))
            found.append(make(Kind.SUBMITTED, name, attempt=1, handle="by hand"))
            for D in np.geomspace(2e7, last, 12)[: 9 if stopped else 12]:
                loss = trunk_loss(N, D, lr)
                found.append(make(Kind.REPORTED, name, tokens=float(D), loss=loss))
            if stopped:
                found.append(make(Kind.CANCELLING, name, reason="stopped"))
                found.append(make(Kind.CANCELLED, name, trained=float(D)))
                continue
            found.append(make(Kind.FINISHED, name, loss=trunk_loss(N, last, lr), trained=last))
            for D in ENDS:
                n, at = n + 1, (1.0 - DECAY) * D
                lineage = {"kind": "branch", "parent": name, "branch_at": at}
                asked = {"config": config | {"D": D}, "cost": 6 * N * (D - at), "by": "hand"}
                found.append(make(Kind.ASKED, f"t{n:04d}", **asked, **lineage))
                loss = trunk_loss(N, at, lr) * np.exp(-GAIN)
                found.append(make(Kind.FINISHED, f"t{n:04d}", loss=float(loss)))
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Source:
    folder: Path = tmp_path_factory.mktemp("along")
    study = trunk_study(folder, ("flops = 4e17", "flops = 1e18"))
    study.begin()
    study.journal.update(lambda _: events(study))
    ledger = study.read()
    found = find_all(study, ledger, Memory(), n_next=0, keep_going=lambda: False)
    return live_source(study, ledger, found, Record())


def test_trunks_of_a_live_study_are_drawn_with_their_branches_and_ends(source: Source):
    assert source.findings.curved is not None
    data = trunks_data(source.findings.curved)
    assert data.lines["run"].nunique() == 6
    first, last = data.branches.iloc[::2], data.branches.iloc[1::2]
    assert len(last) == 5 * len(ENDS)
    assert first["D"].to_numpy() == pytest.approx((1.0 - DECAY) * last["D"].to_numpy())
    fall = np.log(first["loss"].to_numpy() / last["loss"].to_numpy())
    assert fall == pytest.approx(np.full(len(fall), GAIN), abs=2e-3)
    assert set(data.ends["run"]) == set(data.lines["run"])


def test_the_card_says_what_stopping_saved(source: Source):
    card = along(source)
    assert card is not None
    assert source.live is not None
    (trial,) = source.live.stopped
    planned = (1.0 - DECAY) * ENDS[-1]
    trained = np.geomspace(2e7, planned, 12)[8]
    saved = 6 * 3e7 * (planned - trained)
    assert trial.cost - trial.spend == pytest.approx(saved)
    said = f"1 trunk stopped before the end: {saved:.3g} FLOPs saved, {saved / 1e18:.2%} of"
    assert said.replace("e+", "e") in card.lead
    (table,) = [p for p in card.parts if isinstance(p, Listing) and p.name == "stopped"]
    assert table.rows[0][0] == trial.name


def test_the_card_needs_neither_a_live_study_nor_a_stopped_run(source: Source):
    card = along(replace(source, live=None))
    assert card is not None
    assert "stopped" not in card.lead
    assert along(with_found(source, curved=None)) is None
