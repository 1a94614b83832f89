"""Laws: a form with its gradient, and parameters in natural and in log units.

Notation and shapes
    p parameters, q inputs, n points, B independent problems solved side by side.
    phi   (B, p)     working parameters: logs of the positive ones, the others as they are
    x     (q, B, n)  logs of the inputs (B may be 1: the same points for every problem)
    f     (B, n)     log of the predicted loss
    jac   (B, p, n)  gradient of f with respect to phi
    curv  (B, p, p)  sum over points of w · Hessian of f, for weights w (B, n), given jac
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.laws.objective import HUBER, Objective


@dataclass(frozen=True)
class Param:
    """One parameter of a law: its name, whether it is positive (then fitted as a log), its bounds.

    Bounds are in natural units; the lower bound of a positive parameter stands for zero. A positive
    parameter in which the loss is linear, and which may be zero (E), is ``additive``: the optimiser
    steps in its natural units, where zero is near, and not in its log.
    """

    name: str
    positive: bool = False
    additive: bool = False
    lower: float = -np.inf
    upper: float = np.inf

    def to_phi(self, value: float) -> float:
        return float(np.log(value)) if self.positive else float(value)

    def to_natural(self, phi: FloatArray | float) -> Any:
        return np.exp(phi) if self.positive else phi


def coefficient(name: str, *, lower: float = 1e-6, upper: float = 1e30) -> Param:
    """A positive factor (A, B, …) of a law made with `define`; its log is fitted.

    name           of the parameter
    lower, upper   its bounds

    >>> coefficient("A", lower=1, upper=1e5).positive
    True
    """
    return Param(name, positive=True, lower=lower, upper=upper)


def asymptote(name: str = "E", *, lower: float = 1e-6, upper: float = 1e30) -> Param:
    """A positive term that may vanish, such as the irreducible loss E.

    name           of the parameter
    lower, upper   its bounds

    >>> asymptote("E", lower=0.1, upper=5).name
    'E'
    """
    return Param(name, positive=True, additive=True, lower=lower, upper=upper)


def exponent(name: str, lower: float = 1e-3, upper: float = 3.0) -> Param:
    """An exponent of a law made with `define`, fitted as it is.

    name           of the parameter
    lower, upper   its bounds

    >>> exponent("alpha").upper
    3.0
    """
    return Param(name, lower=lower, upper=upper)


STEP = 1e-5  # of central differences of phi, which is of order 1


class Form(Protocol):
    """The formula of a law (see the module's notation); only `value_and_jac` is required."""

    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]: ...

    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        return self.value_and_jac(phi, x)[0]

    def curvature(
        self, phi: FloatArray, x: FloatArray, w: FloatArray, jac: FloatArray
    ) -> FloatArray:
        """By central differences of the gradient.

        The gradient is exact, so the error is O(STEP²), which does not matter for a Newton step.
        """
        p = phi.shape[1]
        curv = np.empty((phi.shape[0], p, p))
        for k, h in enumerate(STEP * np.eye(p)):
            _, up = self.value_and_jac(phi + h, x)
            _, down = self.value_and_jac(phi - h, x)
            curv[:, k, :] = np.einsum("bpn,bn->bp", up - down, w) / (2 * STEP)
        return np.asarray((curv + curv.transpose(0, 2, 1)) / 2)


class LogPoints(NamedTuple):
    """Points for finding starts: log inputs x (q, 1, n), log losses y (n,), weights w (n,)."""

    x: FloatArray
    y: FloatArray
    w: FloatArray


Starts = Callable[[LogPoints, Mapping[int, float]], FloatArray]


@dataclass(frozen=True, repr=False)
class Law:
    """A scaling law: predicted loss as a function of named inputs, with named parameters.

    inputs     names of what the loss depends on: C, N, D, …
    params     one Param each
    objective  of the fits that the law's authors publish; the default of fits
    starts     ``starts(points, fixed)`` proposes parameters (S, p) to start a fit from; it may
               ignore ``fixed`` (phi by position), because the fit sets these to their values

    >>> law = get_law("LC")
    >>> law.inputs, law.names
    (('C',), ('E', 'A', 'alpha'))
    >>> law.predict({"E": 1.7, "A": 1000.0, "alpha": -0.15}, {"C": [1e20, 1e22]}).round(2).tolist()
    [2.7, 2.2]
    """

    name: str
    formula: str
    inputs: tuple[str, ...]
    params: tuple[Param, ...]
    form: Form = field(repr=False)
    starts: Starts | None = field(default=None, repr=False)
    objective: Objective = HUBER

    def __repr__(self) -> str:
        return f"Law {self.name}: {self.formula}"

    @property
    def n_params(self) -> int:
        return len(self.params)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.params)

    def position(self, name: str) -> int:
        if name not in self.names:
            raise unknown(f"parameter of {self.name}", name, self.names)
        return self.names.index(name)

    def free(self, fixed: Container[str]) -> BoolArray:
        """(p,) the parameters that are not fixed."""
        return np.array([name not in fixed for name in self.names])

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of phi, (p,) each."""
        lower = np.array([p.to_phi(p.lower) for p in self.params])
        upper = np.array([p.to_phi(p.upper) for p in self.params])
        return lower, upper

    def phi(self, params: Mapping[str, float]) -> FloatArray:
        """Natural parameters by name → phi (p,)."""
        for name in params:
            self.position(name)
        missing = [name for name in self.names if name not in params]
        if missing:
            raise LawsmithError(f"parameters of {self.name}", got=list(params), want=str(missing))
        for p in self.params:
            if p.positive and not params[p.name] > 0:
                raise LawsmithError(f"{self.name}.{p.name}", got=params[p.name], want="above 0")
        return np.array([p.to_phi(params[p.name]) for p in self.params])

    @saturating
    def natural(self, phi: FloatArray) -> dict[str, float]:
        """Phi (p,) → natural parameters by name."""
        return {p.name: float(p.to_natural(phi[i])) for i, p in enumerate(self.params)}

    def log_inputs(self, inputs: Mapping[str, Any]) -> FloatArray:
        """Named inputs (arrays or numbers) → x (q, 1, n)."""
        missing = [name for name in self.inputs if name not in inputs]
        if missing:
            raise LawsmithError(
                f"inputs of {self.name}", got=", ".join(inputs) or "none", want=", ".join(missing)
            )
        columns = [np.atleast_1d(np.asarray(inputs[name], dtype=float)) for name in self.inputs]
        if any(not np.all(c > 0) or not np.all(np.isfinite(c)) for c in columns):
            raise LawsmithError(f"inputs of {self.name}", got="a value ≤ 0", want="all above 0")
        return np.asarray(np.log(np.stack(np.broadcast_arrays(*columns)))[:, None, :])

    def inputs_at(self, grid: Grid, rows: IntArray) -> dict[str, FloatArray]:
        """The inputs by name at rows of a grid."""
        return {name: grid.numbers(name)[rows] for name in self.inputs}

    def logs(self, phi: FloatArray) -> dict[str, float]:
        """Phi (p,) → logs of the positive parameters by name."""
        return {p.name: float(v) for p, v in zip(self.params, phi, strict=True) if p.positive}

    def predict(self, params: Mapping[str, float], inputs: Mapping[str, Any]) -> FloatArray:
        """Predicted loss at the named inputs, for natural parameters."""
        return self.loss_at(self.phi(params), inputs)

    @saturating
    def loss_at(self, phi: FloatArray, inputs: Mapping[str, Any]) -> FloatArray:
        """Predicted loss (n,) at the named inputs, for phi (p,)."""
        return np.asarray(np.exp(self.form.value(phi[None], self.log_inputs(inputs))[0]))


@dataclass(frozen=True)
class _FormulaForm(Form):
    """A user's formula ``predict(inputs, **params) -> loss``, differentiated by complex step.

    The complex step (imaginary part of f(φ + ih)/h) is exact to rounding for formulae of numpy's
    analytic functions. It fails for abs, maximum and comparisons, which `define` refuses.
    """

    predict: Callable[..., Any]
    inputs: tuple[str, ...]
    params: tuple[Param, ...]

    def _log_loss(self, phi: Any, x: FloatArray) -> Any:
        columns = {name: np.exp(x[i]) for i, name in enumerate(self.inputs)}
        values = {
            p.name: (np.exp(phi[:, i]) if p.positive else phi[:, i])[:, None]
            for i, p in enumerate(self.params)
        }
        return np.log(self.predict(columns, **values))

    @saturating
    def value(self, phi: FloatArray, x: FloatArray) -> FloatArray:
        return np.asarray(np.real(self._log_loss(phi, x)), dtype=float)

    @saturating
    def value_and_jac(self, phi: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        f = self.value(phi, x)
        jac = np.empty((f.shape[0], phi.shape[1], f.shape[1]))
        for k in range(phi.shape[1]):
            nudged = phi.astype(complex)
            nudged[:, k] += 1e-30j
            jac[:, k] = np.imag(self._log_loss(nudged, x)) / 1e-30
        return f, jac


def define(
    name: str,
    predict: Callable[..., Any],
    *,
    inputs: Sequence[str],
    params: Sequence[Param],
    formula: str = "",
) -> Law:
    """A law of your own: ``predict(inputs, **params)`` returns the loss.

    predict   called with the inputs (name → array), and with the parameters as arrays that
              broadcast against them
    inputs    names of what the loss depends on
    params    made with `asymptote`, `coefficient` and `exponent`; each needs finite bounds, because
              fits start from points spread over them
    formula   for titles

    >>> import numpy as np
    >>> law = define(
    ...     "saturating", lambda x, E, A, alpha: E + A / (1 + x["D"]) ** alpha,
    ...     inputs=["D"], params=[coefficient("E", lower=0.1, upper=10),
    ...                           coefficient("A", lower=1, upper=1e4), exponent("alpha")])
    >>> round(float(law.predict({"E": 2.0, "A": 100.0, "alpha": 0.5}, {"D": 1e4 - 1})[0]), 6)
    3.0
    """
    form = _FormulaForm(predict, tuple(inputs), tuple(params))
    law = Law(name, formula or name, tuple(inputs), tuple(params), form)
    _check_differentiable(law)
    return law


def _check_differentiable(law: Law) -> None:
    """Refuse a formula whose complex step does not agree with plain differences."""
    lower, upper = law.bounds()
    bounded = np.isfinite(lower) & np.isfinite(upper)
    if not bounded.all():
        name = law.names[int(np.argmin(bounded))]
        raise LawsmithError(f"{law.name}.{name}", got="an open bound", want="finite bounds")
    phi = ((lower + upper) / 2)[None] + 0.01
    x = np.log(np.array([1e3, 1e6]))[None, None].repeat(len(law.inputs), axis=0)
    f, jac = law.form.value_and_jac(phi, x)
    if not np.all(np.isfinite(f)):
        return  # the loss may be undefined in the middle of the bounds
    for k, h in enumerate(STEP * np.eye(law.n_params)):
        plain = (law.form.value(phi + h, x) - law.form.value(phi - h, x)) / (2 * STEP)
        if not np.allclose(jac[:, k], plain, rtol=1e-3, atol=1e-6):
            raise LawsmithError(
                f"law {law.name}",
                got=f"a gradient in {law.names[k]} that plain differences contradict",
                want="a formula of smooth numpy functions",
                hint="abs, maximum, where and comparisons cannot be differentiated here",
            )
