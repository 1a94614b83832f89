"""Trunks in a live study: a longer run of the same model and settings pays its extension."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lawsmith.costs import SeparateRuns, Trunks
from lawsmith.study.asking import propose
from lawsmith.study.planning import check
from tests.study.studies import N_CANDIDATES, small_study
from tests.study.test_asking import ask, tell_all

TRUNK = ("[law]", "[cost]\ntrunk = true\ndecay = 0.25\n\n[law]")


def test_all_runs_together_cost_their_longest_trunks_and_every_decay(tmp_path: Path):
    study = small_study(tmp_path, TRUNK)
    assert study.pricing == Trunks(0.25)
    while ask(study, 3):
        tell_all(study)
    ledger = study.journal.ledger
    assert len(ledger.trials) == N_CANDIDATES
    # Four settings a model; the trunk of each is three quarters of its longest run.
    longest = study.grid.C[study.grid.D == 1.6e9]
    want = 0.75 * longest.sum() + 0.25 * study.grid.C.sum()
    assert ledger.spend == pytest.approx(want)
    assert check(study).total == pytest.approx(want)
    assert check(study).apart == pytest.approx(study.grid.C.sum())


def test_the_first_run_of_a_trunk_pays_in_full_and_a_second_less(tmp_path: Path):
    study = small_study(tmp_path, TRUNK)
    first = 0
    prices = study.pricing.added(study.grid, [])
    np.testing.assert_allclose(prices, study.grid.C)
    config = dict(study.candidates.configs[first])
    longer = study.candidates.row_of({**config, "D": 4e8})
    assert longer is not None
    after = study.pricing.added(study.grid, [first])
    assert after[longer] == pytest.approx(study.grid.C[longer] * (0.75 * (1 - 1 / 4) + 0.25))
    others = np.setdiff1d(np.arange(N_CANDIDATES), [first, longer, *same_trunk(study, first)])
    np.testing.assert_allclose(after[others], study.grid.C[others])


def same_trunk(study, row: int) -> list[int]:
    config = dict(study.candidates.configs[row])
    found = (study.candidates.row_of({**config, "D": D}) for D in (1e8, 4e8, 1.6e9))
    return [r for r in found if r is not None]


def test_a_budget_goes_further_with_trunks(tmp_path: Path):
    budget = ("flops = 1e30", "flops = 1e18")
    counts = []
    for folder, changes in (("apart", ()), ("trunks", (TRUNK,))):
        study = small_study(tmp_path / folder, budget, *changes)
        while ask(study, 1):
            tell_all(study)
        assert study.journal.ledger.spend <= 1e18 * (1 + 1e-9)
        counts.append(len(study.journal.ledger.trials))
    assert counts[1] > counts[0]


def test_imported_runs_leave_no_trunk(tmp_path: Path):
    from lawsmith.journal import Kind, make

    study = small_study(tmp_path, TRUNK)
    study.begin()
    config = dict(study.candidates.configs[0])
    study.journal.update(lambda _: [make(Kind.IMPORTED, "i0001", config=config, loss=3.0, key="k")])
    found = propose(study, study.journal.ledger, N_CANDIDATES)
    compute = [study.grid.C[study.candidates.row_of(one["config"])] for one in found]
    assert all(one["cost"] <= C for one, C in zip(found, compute, strict=True))
    assert found[0]["cost"] == pytest.approx(compute[0])


def test_without_trunks_every_run_pays_its_compute(tmp_path: Path):
    study = small_study(tmp_path)
    assert study.pricing == SeparateRuns()
    np.testing.assert_array_equal(study.pricing.added(study.grid, [0, 1]), study.grid.C)
