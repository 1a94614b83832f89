"""Published trunks and schedules: a few of what `benchmarks/curves.py` holds out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lawsmith.analysis import Target, answer_study
from lawsmith.curves.ends import cut, scheduled_ends
from lawsmith.datasets import CurveOptions, curves_from_frame, load, load_curves, study_from_frame


@pytest.fixture
def gemstones(data_dir):
    folder = data_dir / "gemstones"
    if not folder.is_dir():
        pytest.skip("LAWSMITH_DATA has no gemstones")
    return folder


@pytest.mark.parametrize("size", [98710016, 543482880, 1904850944])
def test_cooldowns_of_a_shape_follow_from_its_trunk(gemstones, size):
    runs = pd.read_csv(gemstones / "cooldowns.csv")
    held, rest = runs[runs["N"] == size], runs[runs["N"] != size]
    curves = load_curves(gemstones / "trunks.csv", CurveOptions(kind="trunk"))
    asked = [Target(6.0 * size * D, float(size), float(D)) for D in held["D"]]
    found = answer_study(study_from_frame(rest), asked, curves=curves).forecasts
    loss = held["loss"].to_numpy()
    error = np.log([f.loss for f in found] / loss)
    assert np.median(np.abs(error)) < 0.0025
    assert all(f.run_low <= y <= f.run_high for f, y in zip(found, loss, strict=True))
    assert all(f.half_width < 0.02 for f in found)


def test_both_learning_rates_of_a_trunk_may_be_in_the_table(gemstones):
    """The ablation at half the rate has trunks of the same N; no run was branched from them."""
    study = load(gemstones / "cooldowns.csv")
    curves = load_curves(gemstones / "trunks.csv", CurveOptions(kind="trunk"))
    found = answer_study(study, [Target(6e20, 1013607680.0, 1e11)], curves=curves)
    assert not found.forecasts[0].source.startswith("cooler")
    assert not any(end.run.startswith("cooler") for end in found.curves.ends)


def test_ends_of_schedules_follow_from_two_of_the_same_size(data_dir):
    path = data_dir / "multipower" / "curves.csv"
    if not path.is_file():
        pytest.skip("LAWSMITH_DATA has no multipower")
    whole = curves_from_frame(pd.read_csv(path), CurveOptions(kind="scheduled")).curves
    known = ("cosine_24000", "wsd_20000_24000")
    told = [c if c.run.split("-")[1] in known else cut(c, 0.0) for c in whole]
    ends, _, notes = scheduled_ends(told, 0.95)
    truth = {c.run: c.loss[-1] for c in whole}
    assert notes == ()
    assert len(ends) == 21
    assert np.median([abs(np.log(e.loss / truth[e.run])) for e in ends]) < 0.005
    assert np.mean([e.run_low <= truth[e.run] <= e.run_high for e in ends]) >= 0.9
