"""Synthetic twins: the paper's counts exactly, a truth that is the truth, and the stated quirks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lawsmith.datasets import ReadOptions, Study, count_study
from lawsmith.datasets.catalogue import differences
from lawsmith.datasets.synthetic import SyntheticSurface, make_frame, make_study
from lawsmith.errors import LawsmithError
from lawsmith.frontier import cell_minima, pareto
from lawsmith.grid import HeldOut
from lawsmith_paper.studies import CATALOGUE, entry, load
from lawsmith_paper.studies.presets import PRESETS, preset_study

REAL = ("oellm-english", "steplaw", "porian-hp", "warmstart", "oellm-multilingual")
BATCH = {"oellm-english": "gbsz", "steplaw": "bs", "porian-hp": "bs", "warmstart": "batch"}
BATCH["oellm-multilingual"] = "gbsz"
COUNTS = ("runs", "N", "D", "ND", "lr", "batch", "lr_batch", "ND_lr_batch")
SHARE_DIVERGED = {"oellm-english": (0.02, 0.05), "oellm-multilingual": (0.01, 0.03)}


@cache
def of(name: str, seed: int = 0) -> Study:
    return preset_study(name, seed=seed)


def twin(real: str, seed: int = 0) -> Study:
    return of(f"synthetic-{real}", seed)


def expected_log_loss(surface: SyntheticSurface, study: Study) -> np.ndarray:
    """The formula of the documentation, row by row, written a second time."""
    found = []
    for i in range(len(study.grid)):
        row = {name: values[i].item() for name, values in study.grid.columns.items()}
        law = (
            surface.E
            + surface.A * row["N"] ** -surface.alpha
            + surface.B * row["D"] ** -surface.beta
        )
        excess = 0.0
        for axis, bowl in surface.bowls.items():
            best = (
                bowl.centre * (row["N"] / 1e9) ** bowl.drift_N * (row["D"] / 1e10) ** bowl.drift_D
            )
            excess += bowl.curvature * np.log(row[axis] / best) ** 2
        excess += sum(effects[row[axis]] for axis, effects in surface.levels.items())
        found.append(np.log(law) + excess)
    return np.array(found)


def test_every_synthetic_study_of_the_catalogue_has_a_preset() -> None:
    twins = {f"synthetic-{real}" for real in REAL}
    assert twins == set(PRESETS)
    known = {name for name, known in CATALOGUE.items() if known.synthetic}
    assert known == twins | {"synthetic-demo"}  # lawsmith's own


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("real", REAL)
def test_a_twin_has_the_papers_counts_whatever_its_seed(real, seed) -> None:
    found, paper = count_study(twin(real, seed)), entry(real).paper
    for name in COUNTS:
        assert getattr(found, name) == getattr(paper, name), name
    # Printed to two or three digits.
    assert found.N_range == pytest.approx(paper.N_range, rel=0.01)
    assert found.D_range == pytest.approx(paper.D_range, rel=0.01)


def test_the_counts_the_catalogue_lists_are_those_a_load_finds() -> None:
    for name in PRESETS:
        found = count_study(load(name))
        assert differences(found, entry(name).variants[""].expected) == []


@pytest.mark.parametrize(
    ("real", "C_total", "rel"),
    [
        ("oellm-english", 2.458e23, 0.02),  # of the published table; the paper's is a slip
        ("steplaw", 1.45e23, 0.005),
        ("warmstart", 1.66e21, 0.015),
        ("oellm-multilingual", 6.57e22, 0.015),
    ],
)
def test_total_compute_is_near_the_real_studys(real, C_total, rel) -> None:
    assert twin(real).grid.C.sum() == pytest.approx(C_total, rel=rel)


def test_total_compute_of_the_porian_twin_is_near_when_beta2_is_not_counted() -> None:
    grid = twin("porian-hp").grid
    first = np.unique(grid.cells(("N", "D", "lr", "bs")), return_index=True)[1]
    assert grid.C[first].sum() == pytest.approx(2.88e20, rel=0.06)


@pytest.mark.parametrize("name", PRESETS)
def test_a_seed_is_a_study(name) -> None:
    one, same, other = of(name, 0), load(name), of(name, 1)
    assert np.array_equal(one.runs.loss, same.runs.loss, equal_nan=True)
    for column, values in one.grid.columns.items():
        assert np.array_equal(values, same.grid.columns[column])
    assert not np.array_equal(one.runs.loss, other.runs.loss, equal_nan=True)


@pytest.mark.parametrize("name", PRESETS)
def test_a_synthetic_study_is_labelled_so_everywhere(name) -> None:
    study = of(name, 3)
    assert study.synthetic
    assert "synthetic" in study.name
    assert study.title == f"{name}: a synthetic study with a known law (seed 3)"
    assert study.notes[0] == "synthetic: drawn from a known law, no model was trained"
    assert study.notes[1] == PRESETS[name].note
    assert "synthetic" in entry(name).title


@pytest.mark.parametrize("real", REAL)
def test_a_twin_is_held_out_and_windowed_like_the_real_study(real) -> None:
    known, like = entry(f"synthetic-{real}"), entry(real)
    assert (known.hold_out, known.reach, known.paper) == (like.hold_out, like.reach, like.paper)
    assert known.default_law == twin(real).default_law == "LC"
    assert set(twin(real).grid.hp) == {
        "beta2" if axis == "beta2_inferred" else axis
        for axis in list(like.variants.values())[-1].options.columns.values()
    } - {"N", "D", "C", "loss", "smooth loss"}


@pytest.mark.parametrize("real", REAL)
def test_the_truth_is_law_bowls_and_levels(real) -> None:
    preset = PRESETS[f"synthetic-{real}"]
    quiet = make_study(replace(preset.surface, noise=0.0), preset.design, name="quiet")
    truth, m = quiet.truth, len(quiet.grid)
    assert truth is not None
    want = np.exp(expected_log_loss(preset.surface, quiet))
    known = np.isfinite(truth.loss)
    np.testing.assert_allclose(truth.loss[known], want[known], rtol=1e-12)
    np.testing.assert_allclose(quiet.runs.config_loss(m)[known], want[known], rtol=1e-12)
    assert np.array_equal(truth.frontier, pareto(quiet.grid.C, truth.loss))
    assert truth.params["chinchilla"]["alpha"] == preset.surface.alpha


@pytest.mark.parametrize("real", REAL)
def test_runs_scatter_about_the_truth_by_the_stated_noise(real) -> None:
    study = twin(real)
    assert study.truth is not None
    residual = np.log(study.runs.config_loss(len(study.grid)) / study.truth.loss)
    spread = np.nanstd(residual)
    assert spread == pytest.approx(study.truth.surface.noise, rel=0.2)


@pytest.mark.parametrize("real", REAL)
def test_the_best_setting_is_inside_the_grid_for_most_cells(real) -> None:
    study = twin(real)
    grid = study.grid
    best = cell_minima(grid.cells(("N", "D")), study.truth.loss)
    inside = np.ones(len(best), dtype=bool)
    for axis in ("lr", BATCH[real]):
        values = grid.numbers(axis)
        inside &= (values[best] > values.min()) & (values[best] < values.max())
    assert inside.mean() > 0.75


@pytest.mark.parametrize("real", REAL)
def test_the_settings_run_in_a_cell_are_those_near_its_optimum(real) -> None:
    study = twin(real)
    grid, bowls, axes = study.grid, study.truth.surface.bowls, ("lr", BATCH[real])
    lr, batch = (grid.numbers(axis) for axis in axes)
    settings = {*zip(lr, batch, strict=True)}
    nearer = []
    for N, D in {*zip(grid.N, grid.D, strict=True)}:
        cell = (grid.N == N) & (grid.D == D)
        run = {*zip(lr[cell], batch[cell], strict=True)}

        def distance(setting: tuple[float, float], N: float = N, D: float = D) -> float:
            offsets = (bowls[a].offset(v, N, D) for a, v in zip(axes, setting, strict=True))
            return float(np.hypot(*offsets))

        # The Porian twin has one batch size in a cell, by plan and not by distance.
        others = {(lr, b) for lr, b in settings - run if b in {b for _, b in run}}
        if others:
            nearer.append(np.mean([*map(distance, run)]) < np.mean([*map(distance, others)]))
    assert len(nearer) > 10
    assert np.mean(nearer) > 0.9


@pytest.mark.parametrize("real", SHARE_DIVERGED)
def test_learning_rates_far_too_high_diverge_without_a_loss(real) -> None:
    study = twin(real)
    low, high = SHARE_DIVERGED[real]
    assert low < study.runs.counts()["diverged"] / len(study.runs) < high
    grid, bowl = study.grid, study.truth.surface.bowls["lr"]
    lost = np.isnan(study.runs.config_loss(len(grid)))
    factor = np.exp(bowl.offset(grid.numbers("lr"), grid.N, grid.D))
    assert np.array_equal(lost, factor > bowl.diverges_at)


def test_the_steplaw_twin_has_many_huge_losses_and_no_missing_one() -> None:
    study = twin("steplaw")
    loss = study.runs.loss
    assert study.runs.counts()["diverged"] == 0
    huge = loss[loss > 6.0]
    assert 0.08 < len(huge) / len(loss) < 0.14
    assert huge.min() >= 6.6
    assert 9.0 < huge.max() < 13.0
    assert np.median(huge) == pytest.approx(7.0, abs=0.15)
    assert np.sort(loss)[-len(huge) - 1] < 3.2


@pytest.mark.parametrize("real", ["porian-hp", "warmstart"])
def test_the_other_twins_have_no_diverged_run(real) -> None:
    assert np.isfinite(twin(real).truth.loss).all()


def test_the_porian_twin_has_collinear_sizes_and_three_values_of_beta2() -> None:
    grid = twin("porian-hp").grid
    assert ((grid.D / grid.N >= 20.0) & (grid.D / grid.N < 20.6)).all()
    assert np.corrcoef(np.log(grid.N), np.log(grid.D))[0, 1] > 0.9999
    assert sorted(set(grid.column("beta2"))) == [0.95, 0.99, 0.999]
    # As in the real one a D belongs to one N and one batch size.
    assert len(np.unique(grid.cells(("N", "bs")))) == 39


def test_the_warmstart_twin_has_one_run_far_above_the_rest() -> None:
    study = twin("warmstart")
    C = np.sort(study.grid.C)
    assert C[-1] > 5 * C[-2]
    assert C[-1] > 500 * np.median(C)
    assert C[-1] / C.sum() == pytest.approx(0.27, abs=0.01)
    loss = study.runs.config_loss(len(C))
    alone = study.grid.split(HeldOut.by_compute(0.5))[1]
    held = study.grid.split(HeldOut.by_compute(0.9))[1]
    assert len(alone) == 1
    assert len(pareto(study.grid.C[held], loss[held])) > 1


def test_the_warmstart_twin_has_its_four_further_axes() -> None:
    grid = twin("warmstart").grid
    kinds = {axis.name: axis.kind for axis in grid.axes}
    assert (kinds["method"], kinds["shrink"], kinds["base_N"]) == ("categorical", "linear", "log")
    assert set(grid.column("method")) == {"zero-pad", "copy", "stack"}
    assert (grid.numbers("base_N") < grid.N).all()
    assert len(grid) == 150


def test_a_users_warmstart_table_of_the_papers_size_is_not_called_different(
    tmp_path, monkeypatch
) -> None:
    """150 runs are 44 (N, D, lr, batch) and 150 configurations: no contradiction."""
    preset = PRESETS["synthetic-warmstart"]
    (tmp_path / "warmstart").mkdir()
    frame = make_frame(preset.surface, preset.design, seed=0)
    frame.to_parquet(tmp_path / "warmstart" / "warmstart.parquet")
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    study = load("warmstart")
    assert study.notes == ("unlike in the paper: 1.64e21 FLOPs in total, not 1.66e21",)
    assert not study.synthetic


def test_heavy_tails_are_one_field_away() -> None:
    preset = PRESETS["synthetic-oellm-multilingual"]
    heavy = make_study(replace(preset.surface, tail_df=2.0), preset.design, name="heavy")
    residual = np.log(heavy.runs.config_loss(len(heavy.grid)) / heavy.truth.loss)
    assert np.nanmax(np.abs(residual)) > 8 * preset.surface.noise


def test_options_narrow_a_twin_and_its_truth() -> None:
    part = load("synthetic-porian-hp", ReadOptions(where="beta2 == 0.99"))
    assert set(part.grid.column("beta2")) == {0.99}
    assert part.truth is not None
    assert len(part.truth.loss) == len(part.grid) < 237


def test_an_effect_is_added_by_level_and_an_unknown_level_is_named() -> None:
    surface = SyntheticSurface(
        levels={"method": {"a": 0.0, "b": 0.25}, "beta2": {0.9: 0.5, 0.99: 0.0}}
    )
    columns = {"N": np.full(3, 1e8), "D": np.full(3, 1e9)}
    plain = SyntheticSurface().mean_log_loss(columns)
    columns |= {"method": np.array(["b", "a", "b"]), "beta2": np.array([0.99, 0.9, 0.9])}
    np.testing.assert_allclose(surface.mean_log_loss(columns) - plain, [0.25, 0.5, 0.75])
    with pytest.raises(LawsmithError, match="level of method: got 'c', want one of a, b"):
        surface.mean_log_loss({**columns, "method": np.array(["a", "b", "c"])})


def test_a_wrong_name_gets_a_suggestion() -> None:
    with pytest.raises(LawsmithError, match=r"did you mean synthetic-steplaw\?"):
        preset_study("synthetic-stplaw")
    with pytest.raises(LawsmithError, match=r"did you mean synthetic-steplaw\?"):
        load("synthetic-stplaw")
