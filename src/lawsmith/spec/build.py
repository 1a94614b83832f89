"""The candidates of a study: models × tokens × axes in a fixed order, thinned by constraints.

Notation and shapes
    m        candidates that meet the constraints, in the order of the file
    config   what makes a candidate: model, N, D and the axes, as the file writes them
    values   what a command may use of it: the config, the model's arguments and the compute C
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np

from lawsmith.arrays import check_numbers
from lawsmith.counting import count
from lawsmith.errors import LawsmithError
from lawsmith.expressions import evaluate, mask
from lawsmith.grid import AnyArray, AxisKind, BoolArray, FloatArray, Grid
from lawsmith.numbers import as_float
from lawsmith.plausible import SCALE
from lawsmith.spec.models import StudySpec

Value = float | int | str
Config = Mapping[str, Value]
MAX_CANDIDATES = 1_000_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """The grid of a study and, of each row, its configuration as the file writes it.

    n_dense  how many there were before the constraints
    """

    grid: Grid
    configs: tuple[Config, ...]
    args: Mapping[str, Mapping[str, Value]]
    n_dense: int
    _rows: dict[tuple[Value, ...], int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # By columns, which all configurations share: one by one takes many times as long.
        names = sorted(self.configs[0])
        columns = [_each(_value, [config[name] for config in self.configs]) for name in names]
        self._rows.update(zip(zip(*columns, strict=True), range(len(self.configs)), strict=True))

    def row_of(self, config: Config) -> int | None:
        """The row of a configuration, None where the study has no such candidate."""
        try:
            return self._rows.get(_key(config))
        except (KeyError, TypeError, OverflowError):
            return None

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
    configs = list(_configs(spec))
    columns = _columns(spec, configs)
    for name in ("N", "D"):
        check_numbers(name, columns[name], positive=True)
    C = _compute(spec, columns)
    known = {**columns, "C": C, "tokens_per_param": columns["D"] / columns["N"]}
    kept = np.flatnonzero(_allowed(spec, known))
    if not len(kept):
        got = f"{len(spec.constraints)} that leave none of {n_dense} candidates"
        raise LawsmithError("constraints", got=got, want="at least one candidate")
    grid = _grid(spec, {name: values[kept] for name, values in columns.items()}, C[kept])
    return Candidates(
        grid=grid,
        configs=tuple(configs[row] for row in kept.tolist()),
        args={model.name: model.args for model in spec.model},
        n_dense=n_dense,
    )


def _configs(spec: StudySpec) -> list[dict[str, Value]]:
    found: list[dict[str, Value]] = []
    axes = [axis.values for axis in spec.axes.values()]
    for model in spec.model:
        for tokens in spec.tokens.values:
            assert not isinstance(tokens, str)
            D = round(tokens * model.N) if spec.tokens.per_param else tokens
            base: dict[str, Value] = {"model": model.name, "N": model.N, "D": D}
            found += [
                {**base, **dict(zip(spec.axes, point, strict=True))} for point in product(*axes)
            ]
    return found


def _columns(spec: StudySpec, configs: Sequence[Config]) -> dict[str, AnyArray]:
    """(m,) columns of the configs, and of the arguments that every model has."""
    names = ["model", "N", "D", *spec.axes]
    columns = {name: _column([config[name] for config in configs]) for name in names}
    first = spec.model[0].args
    for name in first:
        by_model = {m.name: m.args[name] for m in spec.model if name in m.args}
        kinds = {isinstance(value, str) for value in by_model.values()}
        if len(by_model) == len(spec.model) and len(kinds) == 1:
            columns[name] = _column([by_model[str(config["model"])] for config in configs])
    return columns


def _column(values: Sequence[Value]) -> AnyArray:
    if str in set(map(type, values)):
        return np.array([str(value) for value in values], dtype=np.str_)
    return np.array(_each(as_float, values), dtype=np.float64)


def _each(function: Callable[[Value], Any], values: Sequence[Value]) -> list[Any]:
    """The function of every value; columns repeat few of them, so it is worked out once for each.

    1 and 1.0 are one value, which none of the functions tells apart.
    """
    known = {value: function(value) for value in set(values)}
    return [known[value] for value in values]


def _compute(spec: StudySpec, columns: Mapping[str, AnyArray]) -> FloatArray:
    if spec.compute.strip() == "counted":
        return _counted(spec, columns)
    text = "6*N*D" if spec.compute.strip() == "6ND" else spec.compute
    try:
        C = evaluate(text, columns)
    except LawsmithError as error:
        raise LawsmithError(f"compute: {error}") from None
    if C.dtype != np.float64 or not SCALE.hold(C).all():
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


def _key(config: Config) -> tuple[Value, ...]:
    """What two configurations must share to be one: 1 and 1.0 are the same number."""
    return tuple(_value(value) for _, value in sorted(config.items()))


def _value(value: Value) -> Value:
    return value if isinstance(value, str) else float(value)
