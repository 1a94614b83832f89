"""N counted in another way: the same runs, another grid, and an answer that says how far it is."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from lawsmith.analysis import answer_study, moved, other_n, recounted
from lawsmith.cli.app import app
from lawsmith.datasets import load
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
    from lawsmith.datasets import ReadOptions

    study = load(str(table), ReadOptions(metrics=("width",)))
    N = other_n(study, f"N + {VOCAB} * width")
    other = recounted(study, N)
    rows = other.runs.index
    np.testing.assert_allclose(
        other.grid.N[rows], 96 * study.metrics["width"] ** 2 + VOCAB * study.metrics["width"]
    )
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


def test_the_command_says_how_far_the_answer_moves(table) -> None:
    command = ["fit", str(table), "--target", "1e22", "--other-n", f"N + {VOCAB} * width"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    (one,) = json.loads(done.stdout)["other_n"]
    assert one["expression"] == f"N + {VOCAB} * width"
    # Counted with embeddings, the same FLOPs buy a smaller body.
    assert one["loss_moves_by"] != 0.0
    assert one["answer"]["loss"] > 0.0
    shown = CliRunner().invoke(app, command)
    assert "If N is counted as" in shown.stdout
