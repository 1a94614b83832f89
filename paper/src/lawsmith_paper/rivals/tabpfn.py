"""TabPFN's regressor on the grid: the mean and deviation of its predictive distribution.

Notation and shapes
    X      (m, d) the unit cube, `Grid.unit`, categorical axes one-hot
    z      (k,) targets standardised here, so that the 32-bit second moments lose no digits
    SD     of a further run at that row, noise included: TabPFN has no surface without noise

Weights are the user's: a file given by path, or TabPFN's own cache. That is $TABPFN_MODEL_CACHE_DIR
if set, else tabpfn/ in the platform's cache folder ($XDG_CACHE_HOME or ~/.cache on Linux);
$TABPFN_MODEL_VERSION says which version is meant. TabPFN would download absent weights after asking
for a licence in a browser; here they are looked for first, and their absence is an error.

There are no joint draws, and every observed row counts once, however many replicates it has. Where
the targets are constant (or one) there is nothing to learn a distribution from: the deviation is 0.
The network runs on all of torch's threads, on which its last digits may depend.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray, Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior, observations
from lawsmith.surrogates.gp.kernel import check_names
from lawsmith_paper.rivals.extras import needs_extra
from lawsmith_paper.rivals.targets import standardised


class Regressor(Protocol):
    """What is used of ``tabpfn.TabPFNRegressor``."""

    def fit(self, X: FloatArray, y: FloatArray) -> Any: ...

    def predict(self, X: FloatArray, *, output_type: str) -> Any: ...


@dataclass(frozen=True)
class TabPFNSurrogate:
    """``tabpfn.TabPFNRegressor`` with weights from ``model_path`` or from the user's cache."""

    model_path: str | None = None
    scale: str = "loss"
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_names(scale=self.scale)

    @property
    def name(self) -> str:
        return "tabpfn"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """Mean and SD of the next run at each row; pending runs are fitted as a second context."""
        seen = observations(grid, runs, self.scale)
        regressor = new_regressor(self.model_path, seed=self.seed, device=self.device)
        order = np.argsort(seen.rows)  # so that the order of runs is of no account
        rows, y = seen.rows[order], standardised(seen.y[order])
        X = grid.unit()
        mean, sd = _predict(regressor, X[rows], y.z, X)
        if len(seen.pending):
            context = np.concatenate([rows, seen.pending])
            z = np.concatenate([y.z, mean[seen.pending]])
            # A fantasy teaches nothing: the mean stays, and no deviation can grow by it.
            sd = np.minimum(sd, _predict(regressor, X[context], z, X)[1])
        return Posterior(y.mean + y.sd * mean, y.sd * sd, self.scale, float(seen.y.min()))


def _predict(
    regressor: Regressor, X: FloatArray, z: FloatArray, candidates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(mean, SD) at ``candidates`` (m, d), each (m,), after the observations ``X``, ``z``."""
    if np.ptp(z) == 0.0:
        # TabPFN refuses a single row, and answers a constant with a spread of its own making.
        return np.full(len(candidates), z[0]), np.zeros(len(candidates))
    regressor.fit(X, z)
    answer = regressor.predict(candidates, output_type="full")
    variance = _array(answer["criterion"].variance(answer["logits"]))
    return _array(answer["mean"]), np.sqrt(np.maximum(variance, 0.0))


def _array(values: Any) -> FloatArray:
    """float64 from an array, or from a tensor wherever it lives."""
    host: npt.ArrayLike = values.detach().cpu() if hasattr(values, "detach") else values
    return np.asarray(host, dtype=np.float64)


def new_regressor(model_path: str | None, *, seed: int, device: str) -> Regressor:
    """TabPFN's regressor, its weights known to be on this machine."""
    with needs_extra("tabpfn"):
        from tabpfn import TabPFNRegressor
    regressor: Regressor = TabPFNRegressor(
        model_path=str(weights(model_path)),
        device=device,
        random_state=seed,
        ignore_pretraining_limits=True,  # its limit for CPUs is below a large study's runs
    )
    return regressor


def weights(model_path: str | None) -> Path:
    """The file of the weights, where TabPFN itself would look; an error if it is not there."""
    with needs_extra("tabpfn"):
        from tabpfn.model_loading import resolve_model_path, resolve_model_version
    version = resolve_model_version(model_path).value
    paths, *_ = resolve_model_path(model_path, "regressor", version)
    path = Path(paths[0])
    if not path.is_file():
        want = "TabPFN's weights there"
        hint = "get them by its own instructions, or give the path of a file you have"
        raise LawsmithError("surrogate tabpfn", got=f"no file {path}", want=want, hint=hint)
    return path


def weights_at_hand(model_path: str | None = None) -> bool:
    """Whether the package and the weights are on this machine."""
    try:
        weights(model_path)
    except LawsmithError:
        return False
    return True
