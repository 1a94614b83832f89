"""N counted in another way: the same runs, another grid, and an answer that says how far it is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lawsmith.analysis import answer_study, moved, other_n, recounted
from lawsmith.cli import main
from lawsmith.datasets import ReadOptions, load
from lawsmith.errors import LawsmithError

WIDTHS = np.array([256.0, 512.0, 1024.0, 2048.0])
VOCAB = 32_000


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Losses follow the body alone; embeddings are most of the small models."""
    rng = np.random.default_rng(0)
    width, D = (v.ravel() for v in np.meshgrid(WIDTHS, np.geomspace(1e9, 3e10, 5)))
    N = 12 * 8 * width**2
    loss = (1.7 + 400 * N**-0.34 + 410 * D**-0.28) * np.exp(0.001 * rng.standard_normal(len(N)))
    path = tmp_path_factory.mktemp("tables") / "runs.csv"
    rows = np.stack([N, D, width, loss], axis=1)
    np.savetxt(path, rows, delimiter=",", header="N,D,width,loss", comments="")
    return path


def test_the_other_n_makes_another_grid_with_the_same_runs(table) -> None:
    study = load(str(table), ReadOptions(metrics=("width",)))
    N = other_n(study, f"N + {VOCAB} * width")
    other = recounted(study, N)
    rows = other.runs.index
    width = study.metrics["width"]
    np.testing.assert_allclose(other.grid.N[rows], 96 * width**2 + VOCAB * width)
    np.testing.assert_allclose(other.grid.C[rows], 6 * N * other.grid.D[rows])
    np.testing.assert_array_equal(other.runs.loss, study.runs.loss)
    same = recounted(study, other_n(study, "N"))
    np.testing.assert_array_equal(same.grid.C, study.grid.C)
    first, again = answer_study(study, [1e22]), answer_study(same, [1e22])
    assert moved("N", first, again)[0].loss == 0.0


def test_an_expression_that_is_no_size_is_refused(table) -> None:
    study = load(str(table))
    with pytest.raises(LawsmithError, match="--other-n"):
        other_n(study, "N - 1e12")
    with pytest.raises(LawsmithError, match="--other-n"):
        other_n(study, "N > 3")


def test_the_command_says_how_far_the_answer_moves(table, capsys) -> None:
    command = ["fit", str(table), "--target", "1e22", "--other-n", f"N + {VOCAB} * width"]
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (one,) = told["other_n"]
    assert one["expression"] == f"N + {VOCAB} * width"
    assert one["answer"]["compute"] == told["answers"][0]["compute"] == 1e22
    ratio = one["answer"]["loss"] / told["answers"][0]["loss"]
    assert one["loss_moves_by"] == pytest.approx(ratio - 1)
    assert main(command) == 0
    assert "If N is counted as" in capsys.readouterr().out
