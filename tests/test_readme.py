"""The README's Python runs as printed, and its commands are ones the tool has."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import lawsmith

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """runs.csv in the working folder, and its columns."""
    rng = np.random.default_rng(0)
    N, D, lr = (
        v.ravel()
        for v in np.meshgrid(np.geomspace(1e8, 3e9, 5), np.geomspace(2e9, 2e11, 6), [1e-4, 1e-3])
    )
    loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28 + 0.01 * (lr < 5e-4)
    loss *= np.exp(0.001 * rng.standard_normal(loss.size))
    rows = np.stack([N, D, lr, loss], axis=1)
    np.savetxt(tmp_path / "runs.csv", rows, delimiter=",", header="N,D,lr,loss", comments="")
    monkeypatch.chdir(tmp_path)
    return {"N": N, "D": D, "loss": loss, "epochs": np.ones_like(N)}


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_of_python_in_the_readme_runs(number: int, table: dict[str, np.ndarray]) -> None:
    code = compile(BLOCKS[number], f"README block {number}", "exec")
    names = dict(table)
    exec(code, names)
    if "analysis" in names:
        assert names["analysis"].fit.status == "converged"
    if "fit" in names:
        assert names["fit"].params["E"] == pytest.approx(1.7, rel=0.1)


def test_there_are_blocks_to_run() -> None:
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize("name", lawsmith.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(lawsmith, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fit_lawz'"):
        lawsmith.fit_lawz  # noqa: B018
