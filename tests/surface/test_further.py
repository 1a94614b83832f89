"""Further scale axes: against laws they were drawn from, and tables without any as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import ReadOptions, load
from lawsmith.grid import Grid
from lawsmith.laws.catalogue import get_law
from lawsmith.runs import Runs
from lawsmith.surface import Surface, fit, fit_surface
from lawsmith.surface.data import observe
from lawsmith.surface.trend import shift_of, trend
from tests.laws.test_forms import EXAMPLES

NOISE = 0.002


def drawn(law: str, more: dict[str, np.ndarray], n: int, seed: int) -> tuple[dict, np.ndarray]:
    """Columns of n runs and their losses: N and D at random, noise of a run on each."""
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(7, 9, n), 10 ** rng.uniform(9, 10.7, n)
    columns = {"N": N, "D": D, **more}
    clean = get_law(law).predict(EXAMPLES[law], columns)
    return columns, clean * np.exp(NOISE * rng.standard_normal(n))


@pytest.fixture(scope="module")
def mixture() -> tuple[dict, np.ndarray]:
    experts = 2.0 ** np.random.default_rng(0).integers(0, 7, 70)
    return drawn("moe", {"experts": experts}, 70, seed=1)


def surface_of(columns: dict, loss: np.ndarray, further: str, *, C: np.ndarray) -> Surface:
    scales = {"N": columns["N"], "D": columns["D"], "C": C}
    return fit(scales, loss, hp={further: columns[further]})


def test_experts_that_cost_nothing_are_best_at_the_end_of_what_was_tried(mixture) -> None:
    columns, loss = mixture
    surface = surface_of(columns, loss, "experts", C=6 * columns["N"] * columns["D"])
    (axis,) = surface.frame.further
    assert axis.kind == "experts"
    assert axis.price == 0.0
    true = get_law("moe").predict(EXAMPLES["moe"], {"N": 3e9, "D": 1e11, "experts": 64.0})[0]
    best = surface.at(N=3e9, D=1e11)
    assert best.loss == pytest.approx(true, rel=0.02)
    assert best.low < true < best.high
    assert best.hp["experts"].centre == pytest.approx(64.0)
    assert "experts" in best.at_edge
    dense = get_law("moe").predict(EXAMPLES["moe"], {"N": 3e9, "D": 1e11, "experts": 1.0})[0]
    assert surface.at(N=3e9, D=1e11, hp={"experts": 1.0}).loss == pytest.approx(dense, rel=0.02)


def test_an_answer_may_use_experts_that_are_candidates_and_not_yet_tried(mixture) -> None:
    """Runs of at most 8 experts, candidates of up to 64: the truth is that of 64."""
    columns, loss = mixture
    grid = Grid.from_columns(columns)
    made = np.flatnonzero(columns["experts"] <= 8.0)
    surface = fit_surface(grid, Runs.from_losses(made, loss[made]))
    true = get_law("moe").predict(EXAMPLES["moe"], {"N": 3e9, "D": 1e11, "experts": 64.0})[0]
    best = surface.at(N=3e9, D=1e11)
    assert best.low < true < best.high
    assert best.hp["experts"].centre == pytest.approx(64.0)
    assert "experts" in best.at_edge
    only = fit_surface(grid.subset(made), Runs.from_losses(np.arange(len(made)), loss[made]))
    assert only.at(N=3e9, D=1e11).hp["experts"].centre == pytest.approx(8.0)


def test_experts_that_are_paid_for_are_weighed_against_parameters(mixture) -> None:
    """At a cost of 6·N·D·X^0.5, X^γ is worth less than N^α: a dense model is best."""
    columns, loss = mixture
    C = 6 * columns["N"] * columns["D"] * np.sqrt(columns["experts"])
    surface = surface_of(columns, loss, "experts", C=C)
    assert surface.frame.further[0].price == pytest.approx(0.5)
    best = surface.best(1e21)
    law, params = get_law("moe"), EXAMPLES["moe"]
    N = np.geomspace(1e8, 1e11, 4001)
    tried = 2.0 ** np.arange(7)
    least = [
        law.predict(params, {"N": N, "D": 1e21 / (6 * N * X**0.5), "experts": X}).min()
        for X in tried
    ]
    assert best.low < min(least) < best.high
    experts = best.hp["experts"]
    assert experts.near_low * 0.99 <= tried[int(np.argmin(least))] <= experts.near_high * 1.01
    assert best.at_edge == ()  # no model has fewer experts than one
    cost = 6 * best.scales["N"].centre * best.scales["D"].centre
    assert cost * best.hp["experts"].centre ** 0.5 == pytest.approx(1e21, rel=1e-6)
    assert surface.mixture_best(1e21).quantile(0.5, run=False) == pytest.approx(
        np.log(best.loss), abs=0.003
    )


def test_repeated_tokens_are_worth_less_and_unique_ones_are_free() -> None:
    rng = np.random.default_rng(5)
    epochs = 2.0 ** rng.integers(0, 7, 80)
    columns, _ = drawn("chinchilla", {}, 80, seed=6)
    columns["unique_tokens"] = columns["D"] / epochs
    law, params = get_law("repeated"), EXAMPLES["repeated"]
    loss = law.predict(params, columns) * np.exp(NOISE * rng.standard_normal(80))
    C = 6 * columns["N"] * columns["D"]
    surface = surface_of(columns, loss, "unique_tokens", C=C)
    assert surface.frame.further[0].kind == "unique_tokens"
    for unique in (1e10, 1e11):
        at = {"N": 3e9, "D": 1e11, "unique_tokens": unique}
        true = law.predict(params, at)[0]
        found = surface.at(N=3e9, D=1e11, hp={"unique_tokens": unique}, level=0.99)
        assert found.low < true < found.high
        assert found.loss == pytest.approx(true, rel=0.015)
    fresh = surface.at(N=3e9, D=1e11)
    assert fresh.loss == pytest.approx(surface.at(N=3e9, D=1e11, hp={"unique_tokens": 1e11}).loss)
    by_epochs = fit({"N": columns["N"], "D": columns["D"], "C": C}, loss, hp={"epochs": epochs})
    same = by_epochs.at(N=3e9, D=1e11, hp={"epochs": 10.0})
    assert same.loss == pytest.approx(
        surface.at(N=3e9, D=1e11, hp={"unique_tokens": 1e10}).loss, rel=1e-6
    )


@pytest.mark.parametrize("kind", ["experts", "unique_tokens"])
def test_the_trends_derivatives_by_further_parameters_are_those_of_differences(kind: str) -> None:
    rng = np.random.default_rng(2)
    experts = kind == "experts"
    N, D = 10 ** rng.uniform(7, 9, 30), 10 ** rng.uniform(9, 11, 30)
    value = 2.0 ** rng.integers(0, 6, 30) if experts else D / 2.0 ** rng.integers(0, 6, 30)
    hp = {kind: value, "lr": rng.uniform(1, 9, 30)}
    data = observe({"N": N, "D": D}, np.full(30, 3.0), hp=hp)
    points, shape = data.points, trend("early+joined", data.frame, 3.0)
    theta = shape.mean + 0.3 * shape.sd * rng.standard_normal(shape.p)
    _, J = shape.value_and_jac(theta, points)
    for k in range(shape.p):
        step = np.zeros(shape.p)
        step[k] = 1e-5
        up, down = (shape.value_and_jac(theta + s * step, points)[0] for s in (1, -1))
        np.testing.assert_allclose(J[:, k], (up - down) / 2e-5, rtol=1e-4, atol=1e-7)


def test_effective_tokens_are_those_of_the_law() -> None:
    epochs, R = np.array([1.0, 2.0, 11.0, 1e6]), 10.0
    theta, S = np.array([np.log(R)]), np.zeros((4, 2))
    j, shift, _ = shift_of("unique_tokens", theta, -np.log(epochs), S)
    assert j == 1
    unique = 1.0 / epochs
    want = unique * (1 + R * (1 - np.exp(-(epochs - 1) / R)))
    np.testing.assert_allclose(np.exp(shift), want, rtol=1e-9)


def test_a_table_without_such_axes_has_the_surface_that_it_had() -> None:
    """Only the names say what a further scale is: the same column by another name has a bowl."""
    columns, loss = drawn("chinchilla", {}, 40, seed=3)
    width = 2.0 ** np.random.default_rng(4).integers(0, 5, 40)
    scales = {"N": columns["N"], "D": columns["D"]}
    plain = observe(scales, loss, hp={"width": width})
    assert plain.frame.further == ()
    assert [axis.name for axis in plain.frame.numeric] == ["width"]
    assert plain.points.S.shape == (40, 2)
    named = observe(scales, loss, hp={"experts": width})
    assert named.points.S.shape == (40, 3)
    np.testing.assert_array_equal(named.points.S[:, :2], plain.points.S)
    never = observe(scales, loss, hp={"unique_tokens": 2 * columns["D"]})
    assert never.frame.axes == ()  # no token was repeated
    text = observe(scales, loss, hp={"experts": np.where(width > 4, "many", "few")})
    assert text.frame.further == ()


def test_experts_that_follow_n_are_a_recipe_and_left_out() -> None:
    columns, loss = drawn("chinchilla", {}, 40, seed=3)
    scales = {"N": columns["N"], "D": columns["D"]}
    found = observe(scales, loss, hp={"experts": (columns["N"] / 1e6) ** 0.5})
    assert found.frame.axes == ()


def test_a_vocabulary_is_an_axis_that_held_out_runs_are_predicted_better_by(
    data_dir: Path, tmp_path: Path
) -> None:
    """ScaleBench's table; its losses are relative to a unigram model, so 7 is added to them."""
    parts = [data_dir / "scalebench" / f"vocab_{part}.parquet" for part in ("train", "test")]
    if not all(part.exists() for part in parts):
        pytest.skip("LAWSMITH_DATA has no table of vocabularies")
    roles = {"non_vocab_parameters": "N", "num_characters": "D", "unigram_normalized_loss": "loss"}
    table = pd.concat(map(pd.read_parquet, parts), ignore_index=True).rename(columns=roles)
    table = table.drop(columns="group").sort_values("D")
    checkpoint = table.groupby(["N", "vocab_size"]).cumcount()
    table = table.assign(loss=table["loss"] + 7.0)[checkpoint % 10 == 9]
    table.to_csv(tmp_path / "vocab.csv", index=False)
    errors = {}
    for ignored in ((), ("vocab_size",)):
        study = load(tmp_path / "vocab.csv", ReadOptions(ignore=ignored))
        grid, loss = study.grid, study.runs.config_loss(len(study.grid))
        large = grid.C.max() <= 8 * grid.C
        below = np.flatnonzero(~large)
        surface = fit_surface(grid.subset(below), study.runs.select(below))
        assert tuple(grid.hp) == (() if ignored else ("vocab_size",))
        off = []
        for row in np.flatnonzero(large)[::3].tolist():
            given = {name: float(grid.numbers(name)[row]) for name in grid.hp}
            found = surface.at(N=float(grid.N[row]), D=float(grid.D[row]), **given)
            off.append(abs(np.log(found.loss / loss[row])))
        errors[ignored] = np.median(off)
    assert errors[()] < 0.035  # 3.2 %, and 4.9 % without the vocabulary
    assert errors[()] < 0.8 * errors["vocab_size",]
