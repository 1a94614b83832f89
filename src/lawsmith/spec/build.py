"""The candidates of a study: models × tokens × axes in a fixed order, thinned by constraints.

Notation and shapes
    m        candidates that meet the constraints, in the order of the file
    config   what makes a candidate: model, N, D and the axes, as the file writes them
    values   what a command may use of it: the config, the model's arguments and the compute C
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from lawsmith.arrays import check_numbers
from lawsmith.counting import count
from lawsmith.errors import LawsmithError
from lawsmith.expressions import evaluate, mask
from lawsmith.grid import AnyArray, AxisKind, BoolArray, FloatArray, Grid, IntArray
from lawsmith.numbers import as_float
from lawsmith.plausible import SCALE
from lawsmith.spec.models import StudySpec

Value = float | int | str
Config = Mapping[str, Value]
MAX_CANDIDATES = 1_000_000  # ten times what benchmarks/growth.py measures


class Configs:
    """The configurations of the rows: every base with every point, those of ``kept``.

    Each is made when it is asked for: of 100,000 candidates few ever are.

    bases    model, N and D
    points   values of the axes
    kept     (m,) number of each row among all, points changing fastest
    """

    def __init__(self, bases: Sequence[Config], points: Sequence[Config], kept: IntArray) -> None:
        self.bases, self.points, self.kept = bases, points, kept
        self._base = {_key(one, bases[0]): i for i, one in enumerate(bases)}
        self._point = {_key(one, points[0]): i for i, one in enumerate(points)}
        self._row = np.full(len(bases) * len(points), -1)
        self._row[kept] = np.arange(len(kept))

    def __len__(self) -> int:
        return len(self.kept)

    def __getitem__(self, row: int) -> Config:
        base, point = divmod(int(self.kept[row]), len(self.points))
        return {**self.bases[base], **self.points[point]}

    def __iter__(self) -> Iterator[Config]:
        return (self[row] for row in range(len(self)))

    def row_of(self, config: Config) -> int | None:
        """The row of a configuration, None where there is none."""
        if len(config) != len(self.bases[0]) + len(self.points[0]):
            return None
        try:
            base = self._base[_key(config, self.bases[0])]
            number = base * len(self.points) + self._point[_key(config, self.points[0])]
        except (KeyError, TypeError, OverflowError):
            return None
        row = int(self._row[number])
        return None if row < 0 else row


@dataclass(frozen=True, eq=False)
class Candidates:
    """The grid of a study and, of each row, its configuration as the file writes it."""

    grid: Grid
    configs: Configs
    args: Mapping[str, Mapping[str, Value]]

    @property
    def n_dense(self) -> int:
        """How many there were before the constraints."""
        return len(self.configs.bases) * len(self.configs.points)

    def row_of(self, config: Config) -> int | None:
        """The row of a configuration, None where the study has no such candidate."""
        return self.configs.row_of(config)

    def values(self, row: int) -> dict[str, Value]:
        """What a command may use of a row."""
        config = self.configs[row]
        return {**self.args[str(config["model"])], **config, "C": float(self.grid.C[row])}


def build_candidates(spec: StudySpec) -> Candidates:
    """The candidates of a study file."""
    n_dense = len(spec.model) * len(spec.tokens.values)
    n_dense *= prod(len(axis.values) for axis in spec.axes.values())
    if n_dense > MAX_CANDIDATES:
        want = f"at most {MAX_CANDIDATES:,}"
        raise LawsmithError("candidates", got=f"{n_dense:,} configurations", want=want)
    bases, points = _bases(spec), _points(spec)
    columns = _columns(spec, bases, points)
    for name in ("N", "D"):
        check_numbers(name, columns[name], positive=True)
    C = _compute(spec, columns)
    known = {**columns, "C": C, "tokens_per_param": columns["D"] / columns["N"]}
    kept = np.flatnonzero(_allowed(spec, known))
    if not len(kept):
        got = f"{len(spec.constraints)} that leave none of {n_dense} candidates"
        raise LawsmithError("constraints", got=got, want="at least one candidate")
    grid = _grid(spec, {name: values[kept] for name, values in columns.items()}, C[kept])
    args = {model.name: model.args for model in spec.model}
    return Candidates(grid, Configs(bases, points, kept), args)


def _bases(spec: StudySpec) -> list[Config]:
    found: list[Config] = []
    for model in spec.model:
        for tokens in spec.tokens.values:
            assert not isinstance(tokens, str)
            D = round(tokens * model.N) if spec.tokens.per_param else tokens
            found.append({"model": model.name, "N": model.N, "D": D})
    return found


def _points(spec: StudySpec) -> list[Config]:
    axes = [axis.values for axis in spec.axes.values()]
    return [dict(zip(spec.axes, point, strict=True)) for point in product(*axes)]


def _columns(
    spec: StudySpec, bases: Sequence[Config], points: Sequence[Config]
) -> dict[str, AnyArray]:
    """(m,) columns of the configurations, and of the arguments that every model has."""
    of_bases = {name: _column([base[name] for base in bases]) for name in ("model", "N", "D")}
    for name in spec.model[0].args:
        by_model = {m.name: m.args[name] for m in spec.model if name in m.args}
        kinds = {isinstance(value, str) for value in by_model.values()}
        if len(by_model) == len(spec.model) and len(kinds) == 1:
            of_bases[name] = _column([by_model[str(base["model"])] for base in bases])
    of_points = {name: _column([point[name] for point in points]) for name in spec.axes}
    return {
        **{name: np.repeat(values, len(points)) for name, values in of_bases.items()},
        **{name: np.tile(values, len(bases)) for name, values in of_points.items()},
    }


def _column(values: Sequence[Value]) -> AnyArray:
    if str in set(map(type, values)):
        return np.array([str(value) for value in values], dtype=np.str_)
    return np.array([as_float(value) for value in values], dtype=np.float64)


def _compute(spec: StudySpec, columns: Mapping[str, AnyArray]) -> FloatArray:
    if spec.compute.strip() == "counted":
        return _counted(spec, columns)
    text = "6*N*D" if spec.compute.strip() == "6ND" else spec.compute
    try:
        C = evaluate(text, columns)
    except LawsmithError as error:
        raise LawsmithError(f"compute: {error}") from None
    if C.dtype != np.float64 or not SCALE.contains(C).all():
        want = f"a formula of N, D and the models' arguments that is {SCALE.want} everywhere"
        raise LawsmithError("compute", got=repr(spec.compute), want=want)
    return C


def _counted(spec: StudySpec, columns: Mapping[str, AnyArray]) -> FloatArray:
    """D times the FLOPs a token of each model's architecture."""
    each = {model.name: count(model.arch).training() for model in spec.model if model.arch}
    a_token = np.array([each[str(name)] for name in columns["model"]])
    return np.asarray(a_token * columns["D"])


def _allowed(spec: StudySpec, columns: Mapping[str, AnyArray]) -> BoolArray:
    kept = np.ones(len(columns["N"]), dtype=np.bool_)
    for number, text in enumerate(spec.constraints, start=1):
        try:
            kept &= mask(text, columns)
        except LawsmithError as error:
            raise LawsmithError(f"constraints[{number}]: {error}") from None
    return kept


def _grid(spec: StudySpec, columns: Mapping[str, AnyArray], C: FloatArray) -> Grid:
    """Models differ by N where they can, else by name as well."""
    axes: dict[str, AxisKind] = {"N": "log", "D": "log"}
    if len({model.N for model in spec.model}) < len(spec.model):
        axes["model"] = "categorical"
    axes |= {name: axis.kind for name, axis in spec.axes.items()}
    used: dict[str, Any] = {name: columns[name] for name in ("model", "N", "D", *spec.axes)}
    return Grid.from_columns(used, axes=axes, compute=lambda _: C)


def _key(config: Config, names: Iterable[str]) -> tuple[Value, ...]:
    """What two configurations must share to be one: 1 and 1.0 are the same number."""
    values = [config[name] for name in names]
    return tuple([value if isinstance(value, str) else float(value) for value in values])
