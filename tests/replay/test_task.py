"""Tasks: the split, the reference fits against published numbers, targets, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.datasets import demo_study, study_from_frame
from lawsmith.datasets.records import ReadOptions
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import Window
from lawsmith.replay import prepare
from lawsmith.runs import Runs

pd = pytest.importorskip("pandas")


def test_oellm_english_reference_is_the_papers_full_budget_row(published):
    task = prepare(published("oellm-english"), get_law("LC"))
    fit = task.reference.validation
    assert (len(task.pool), fit.n_points) == (879, 21)
    assert task.total_compute == pytest.approx(1.828e23, rel=1e-3)
    assert fit.log_params["E"] == pytest.approx(0.4498, abs=1e-4)
    assert fit.log_params["A"] == pytest.approx(6.6776, abs=1e-3)
    assert fit.params["alpha"] == pytest.approx(-0.1518, abs=1e-4)
    whole = task.reference.everything
    assert whole.n_points == 23
    assert whole.params["alpha"] == pytest.approx(-0.1565, abs=1e-4)


def test_one_of_three_held_out_points_is_dominated_and_carries_the_references_error(published):
    task = prepare(published("oellm-english"), get_law("LC"))
    assert task.held_out.beyond.tolist().count(False) == 1
    error = (task.reference.validation.predict(task.held_out.inputs) - task.held_out.loss) ** 2
    assert error[~task.held_out.beyond].sum() / error.sum() == pytest.approx(0.97, abs=0.01)
    assert task.reference.held_out_mse == pytest.approx(error.mean())
    assert task.reference.held_out_mse_beyond == pytest.approx(error[task.held_out.beyond].mean())


@pytest.mark.parametrize(
    ("study", "n_pool", "n_points", "alpha"),
    [("steplaw", 1864, 11, -0.1103), ("porian-hp", 201, 6, -0.1683)],
)
def test_other_studies_references_are_golden(published, study, n_pool, n_points, alpha):
    task = prepare(published(study), get_law("LC"))
    assert (len(task.pool), task.reference.validation.n_points) == (n_pool, n_points)
    assert task.reference.validation.params["alpha"] == pytest.approx(alpha, abs=1e-4)


def test_a_law_of_n_and_d_holds_out_the_largest_n(published):
    task = prepare(published("oellm-english"), get_law("chinchilla"))
    assert str(task.hold_out) == "largest-N"
    assert task.pool.N.max() < 1.7e9
    params = task.reference.validation.params
    assert params["E"] == pytest.approx(1.48865, abs=1e-4)
    assert params["alpha"] == pytest.approx(0.281241, abs=1e-5)
    rmse = np.sqrt(task.reference.held_out_mse)
    assert rmse == pytest.approx(0.0155, abs=1e-4)


def test_targets_of_a_law_of_n_and_d_lie_on_their_compute():
    task = prepare(demo_study(), get_law("chinchilla"), targets=(1e24,))
    at = task.targets["1e24"]
    assert 6 * at["N"] * at["D"] == pytest.approx(1e24)
    near = task.reference.validation.predict({"N": at["N"] * 1.1, "D": at["D"] / 1.1})[0]
    assert task.reference.losses["1e24"] <= near


def test_a_replicated_configuration_is_one_candidate_of_mean_loss():
    study = demo_study()
    assert len(study.runs) == 924
    task = prepare(study, get_law("LC"), hold_out=HeldOut.by_compute(0.5))
    assert len(np.unique(task.rows)) == len(task.rows) == len(task.pool)
    again = np.flatnonzero(study.runs.replicate_counts(len(study.grid))[task.rows] > 1)[0]
    runs = study.runs.loss[study.runs.index == task.rows[again]]
    assert task.loss[again] == pytest.approx(runs.mean())


def frame(loss, lr=(1e-3, 3e-3)):
    rows = [(N, D, x) for N in (1e7, 1e8, 1e9) for D in (1e9, 1e10, 1e11) for x in lr]
    table = pd.DataFrame(rows, columns=["N", "D", "lr"])
    return table.assign(loss=loss(table))


def study_of(loss, **options):
    return study_from_frame(frame(loss), ReadOptions(**options), name="made")


def test_a_constant_loss_has_no_frontier_to_fit():
    with pytest.raises(LawsmithError, match="one level of C"):
        prepare(study_of(lambda t: np.full(len(t), 3.0)), get_law("LC"))


def test_a_study_whose_runs_all_diverged_is_refused():
    with pytest.raises(LawsmithError, match=r"got no finished run"):
        prepare(study_of(lambda t: np.full(len(t), np.nan)), get_law("LC"))


def test_a_study_with_one_compute_level_is_refused():
    table = frame(lambda t: 2.0 + 0.01 * np.arange(len(t)))
    one = table[(table.N == 1e8) & (table.D == 1e9)]
    study = study_from_frame(one, ReadOptions(), name="made")
    with pytest.raises(LawsmithError, match=r"made: got one level of compute \(6e17 FLOPs\)"):
        prepare(study, get_law("LC"))


def test_an_extrapolation_target_must_be_a_compute():
    with pytest.raises(LawsmithError, match="targets"):
        prepare(demo_study(), get_law("LC"), targets=(-1.0,))


@pytest.mark.parametrize("name", ["C", "N", "D"])
def test_a_task_may_be_sliced_by_compute_size_or_tokens(name):
    study = demo_study()
    task = prepare(study, get_law("chinchilla"), slice_by=name)
    values = getattr(task.pool, name)
    np.testing.assert_array_equal(task.pool.slicer, values)
    first = Window(None).candidates(task.pool, Runs.empty(), np.ones(len(task.pool), dtype=bool))
    assert set(values[first]) == {values.min()}
    plain = prepare(study, get_law("chinchilla"))
    assert plain.pool.slice_by == "C"
    assert task.reference.validation.params == plain.reference.validation.params
    assert task.total_compute == plain.total_compute
    assert study.grid.slice_by == "C"


def test_a_study_is_sliced_by_a_column_that_it_has():
    table = frame(lambda t: 2.0 + 400 * t.N**-0.34 + 410 * t.D**-0.28)
    only = table.assign(C=6 * table.N * table.D).drop(columns=["N", "D"])
    study = study_from_frame(only.drop_duplicates(["C", "lr"]), ReadOptions(), name="made")
    with pytest.raises(LawsmithError):
        prepare(study, get_law("LC"), slice_by="N")
