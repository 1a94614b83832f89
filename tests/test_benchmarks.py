"""The benchmark scripts still run: a few simulations, one classical start."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_benchmark_finds_what_it_imports(script, monkeypatch, name: str) -> None:
    pytest.importorskip("lawsmith_paper")
    monkeypatch.syspath_prepend(str(FOLDER))
    assert script(name).__doc__


@pytest.mark.parametrize("law", ["LC", "chinchilla"])
@pytest.mark.parametrize("design", ["none", "bowl", "flat"])
def test_a_condition_simulates_and_renders(script, law: str, design: str) -> None:
    coverage = script("coverage")
    condition = coverage.Condition(law, 9, 0.001, design)
    part = coverage.simulate((condition, 0, 3))
    assert {"lawsmith", "least squares, t"} <= set(part)
    rows = coverage.summarise(condition, [part])
    assert rows[0]["simulations"] == 3
    assert 0.0 < rows[0]["half_width_x100"] < 0.2
    assert f"| {law} | 9 | 0.1 % | lawsmith |" in coverage.render(rows)


def test_a_simulation_depends_on_its_seed_alone(script) -> None:
    coverage = script("coverage")
    condition = coverage.Condition("LC", 9, 0.005, "flat")
    first, again, other = (coverage.simulate((condition, seed, 2)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_worlds_truth_is_the_law_it_says(script) -> None:
    coverage = script("coverage")
    world = coverage.make_world(coverage.Condition("chinchilla", 16, 0.001, "bowl"))
    best = np.full(16, np.inf)
    np.minimum.at(best, world.cells, world.mean)
    points = world.x[:, ::35]
    np.testing.assert_allclose(best, world.law.form.value(world.phi[None], points[:, None])[0])


def test_a_classical_start_finds_no_better_minimum_than_ours(script) -> None:
    from lawsmith.laws.catalogue import CHINCHILLA
    from lawsmith.laws.fit import fit_law
    from tests.laws.test_fit import SURFACES, noisy

    fitter = script("fitter")
    inputs, loss = noisy(CHINCHILLA, SURFACES[1], 0.01, seed=0)
    fit = fit_law(CHINCHILLA, inputs, loss)
    value, _ = fitter.classical_fit(fit.x, np.log(loss), (0.5, 0.5, 0.5, 5.0, 5.0))
    assert value >= fit.value * (1 - 1e-9)
    assert value == pytest.approx(fit.value, rel=0.05)


def test_tasks_are_judged_as_by_hand(script) -> None:
    tasks = script("tasks")
    rows = [
        tasks.record("a", 0, 0.5, 0.52, 0.4, 0.6),
        tasks.record("a", 1, 0.7, 0.64, 0.6, 0.68),  # two points above its interval
        tasks.record("b", 0, 0.3, 0.28, 0.2, 0.4),
        tasks.record("b", 1, 0.3, 0.32, 0.2, 0.4),
        tasks.record("average", 0, 0.4, 0.41, 0.3, 0.5),
        tasks.record("average", 1, 0.5, 0.44, 0.4, 0.46),
    ]
    found = tasks.judge(rows)
    assert (found["tasks"], found["targets"], found["inside"]) == (2, 2, 0.75)
    assert found["error"] == pytest.approx(3.0)
    assert found["half"] == pytest.approx(8.5)
    assert found["score"] == pytest.approx(17.0 + 40.0 * 2.0 / 4.0)
    assert found["average_error"] == pytest.approx(1.0)  # 0 and 2 points
    assert found["own_error"] == pytest.approx(3.5)
    assert found["average_inside"] == [1, 2]


def test_the_point_fit_of_a_sigmoid_finds_it_again(script) -> None:
    tasks = script("tasks")
    L = np.linspace(2.0, 6.0, 40)
    theta, sd = tasks.best_curve("sigmoid", L, tasks.sigmoid(L, 0.25, 0.7, 3.0, 3.2))
    assert theta == pytest.approx([0.25, 0.7, 3.0, 3.2], rel=1e-3)
    assert sd < 1e-6
