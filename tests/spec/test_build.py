"""Candidates: their order, compute, constraints, and finding a row by its configuration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.spec import build_candidates, parse_spec
from tests.study.studies import N_CANDIDATES, study_text


def candidates(*changes: tuple[str, str]):
    return build_candidates(parse_spec(study_text(*changes).encode()))


def test_candidates_are_models_by_tokens_by_axes_in_the_order_of_the_file():
    found = candidates(('constraints = ["tokens_per_param >= 5"]', ""))
    want = [
        {"model": model, "N": N, "D": D, "lr": lr, "opt": opt}
        for (model, N), D, lr, opt in product(
            [("xs", 1e7), ("s", 4e7)], [1e8, 4e8, 1.6e9], [1e-3, 4e-3], ["adamw", "muon"]
        )
    ]
    assert list(found.configs) == want
    assert found.n_dense == 24


def test_constraints_thin_the_candidates():
    found = candidates()
    assert len(found.grid) == N_CANDIDATES
    assert (found.grid.D / found.grid.N >= 5).all()


def test_compute_is_6nd_or_a_formula_of_the_models_arguments():
    plain = candidates()
    np.testing.assert_allclose(plain.grid.C, 6 * plain.grid.N * plain.grid.D)
    own = candidates(('name = "small"', 'name = "small"\ncompute = "6*N*D + layers*1e15"'))
    layers = np.where(own.grid.N == 1e7, 4, 8)
    np.testing.assert_allclose(own.grid.C, 6 * own.grid.N * own.grid.D + layers * 1e15)


def test_a_row_is_found_by_its_configuration_whatever_kind_its_numbers_are():
    found = candidates()
    for row, config in enumerate(found.configs):
        assert found.row_of(config) == row
    first = dict(found.configs[0])
    assert found.row_of({**first, "N": int(first["N"])}) == 0
    assert found.row_of({**first, "N": 5.0}) is None
    assert found.row_of({"model": "xs"}) is None
    assert found.row_of({**first, "N": [1]}) is None
    assert found.row_of({"rate" if name == "lr" else name: v for name, v in first.items()}) is None
    constrained = {"model": "s", "N": 4e7, "D": 1e8, "lr": 1e-3, "opt": "adamw"}
    assert found.row_of(constrained) is None


def test_values_have_the_arguments_of_the_model_and_its_compute():
    found = candidates()
    values = found.values(N_CANDIDATES - 1)
    assert values["layers"] == 8
    assert values["C"] == found.grid.C[-1]
    assert {"model", "N", "D", "lr", "opt"} <= set(values)


def test_models_of_one_size_are_told_apart_by_name():
    found = candidates(("N = 4e7", "N = 1e7"))
    assert [axis.name for axis in found.grid.axes] == ["N", "D", "model", "lr", "opt"]
    assert len(found.grid) == 24


def test_tokens_per_parameter_follow_each_model():
    found = candidates(("values = [1e8, 4e8, 1.6e9]", "per_param = [10, 20]"))
    assert set(found.grid.D[found.grid.N == 1e7]) == {1e8, 2e8}
    assert set(found.grid.D[found.grid.N == 4e7]) == {4e8, 8e8}


def test_too_many_candidates_are_refused_before_they_are_made():
    with pytest.raises(LawsmithError, match="want at most 1,000,000"):
        candidates(("lr = [1e-3, 4e-3]", "lr = {from=1e-4,to=1,n=2000}\na = {from=1,to=9,n=2000}"))


def test_gpu_hours_are_flops_through_a_measured_throughput():
    text = study_text(("flops = 1e30", "gpu_hours = 2\n[throughput]\nflops_per_second = 1e14"))
    assert parse_spec(text.encode()).budget_flops == pytest.approx(2 * 3600 * 1e14)


ARCH = "arch = { layers = %d, width = 64, heads = 4, vocab = 1000, context = 256, tied = true }"


def with_arch(*changes: tuple[str, str]):
    first = ("N = 1e7\nlayers = 4", ARCH % 4)
    second = ("N = 4e7\nlayers = 8", ARCH % 8)
    return candidates(first, second, *changes)


def test_n_and_compute_are_counted_from_the_architecture():
    found = with_arch(('name = "small"', 'name = "small"\ncompute = "counted"'))
    # 12 · layers · width² and the norms' scales, the embedding once.
    N = {layers: layers * (12 * 64**2 + 2 * 64) + 64 + 1000 * 64 for layers in (4, 8)}
    layers = np.array([found.values(row)["layers"] for row in range(len(found.grid))])
    np.testing.assert_array_equal(found.grid.N, [N[n] for n in layers.tolist()])
    matrices = 12 * 64**2 * layers + 1000 * 64
    a_token = 6 * matrices + 12 * layers * 64 * (256 + 1) / 2
    np.testing.assert_allclose(found.grid.C, a_token * found.grid.D, rtol=1e-12)
    assert found.values(0)["tied"] == "true"


def test_compute_counted_wants_an_architecture():
    change = ('name = "small"', 'name = "small"\ncompute = "counted"')
    with pytest.raises(LawsmithError, match=r"model xs\.arch: got nothing"):
        candidates(change)


def test_a_slip_in_an_architecture_is_told_by_its_key():
    with pytest.raises(LawsmithError, match=r"model\[1\]\.arch\.heads: got 0"):
        with_arch(("heads = 4", "heads = 0"))
    with pytest.raises(LawsmithError, match=r"model\[1\]\.arch: got 'head', want one of"):
        with_arch(("heads = 4", "head = 4"))
