"""The answer of a study: the predicted loss at each target, its intervals, and the best N, D and λ.

`answer.text` makes text, tables and plain values of these records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from lawsmith.answer import text
from lawsmith.answer.related import OtherLosses
from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.curves import Along, CurveFinding
from lawsmith.digest import Digest, short, warning_codes
from lawsmith.errors import LawsmithError
from lawsmith.formats import count, flops, number
from lawsmith.grid import HeldOut
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.surface import Estimate, Lesson, Surface

if TYPE_CHECKING:
    from lawsmith.answer.text import Json
    from lawsmith.datasets.records import Frame, Study


@dataclass(frozen=True)
class Target:
    """Where to predict the loss: at a compute, or at an N and a D, with or without hyperparameters
    or further inputs (unique tokens, experts) of the run.

    A study without compute has targets of N or D alone, whose C is NaN. Functions that take a
    target also take its text: '1e24', 'N=7B,D=140B,lr=3e-4'.

    C, N, D   compute in FLOPs, parameters, training tokens
    hp        hyperparameters by name

    >>> Target(1e24).label, Target(5.88e21, N=7e9, D=140e9).label
    ('1e24 FLOPs', 'N = 7B, D = 140B')
    """

    C: float
    N: float | None = None
    D: float | None = None
    hp: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def sized(self) -> bool:
        """Whether it gives N or D, and not only a compute."""
        return self.N is not None or self.D is not None

    @property
    def label(self) -> str:
        sizes = {"N": self.N, "D": self.D}
        parts = [f"{name} = {count(value)}" for name, value in sizes.items() if value is not None]
        parts = parts or [f"{flops(self.C)} FLOPs"]
        parts += [f"{k} = {v if isinstance(v, str) else number(v)}" for k, v in self.hp.items()]
        return ", ".join(parts)

    @property
    def sizes(self) -> dict[str, float]:
        """C, N and D by name, those that are known."""
        sizes = {"C": self.C, "N": self.N, "D": self.D}
        return {name: v for name, v in sizes.items() if v is not None and math.isfinite(v)}

    def scales(self, names: Sequence[str]) -> dict[str, float]:
        """The scales of those names; an error if it does not give one of them."""
        sizes = self.sizes
        if not set(names) <= set(sizes):
            want = f"{', '.join(names)}, the scales of this study"
            raise LawsmithError("target", got=self.label, want=want)
        return {name: sizes[name] for name in names}

    @property
    def plain(self) -> float | dict[str, float | str]:
        """As plain values: the compute, or what it gives by name; `target_of` reads them back."""
        return {**self.sizes, **self.hp} if self.sized or self.hp else self.C


def target_of(plain: float | str | Mapping[str, float | str]) -> Target:
    """The target with these plain values (`Target.plain`)."""
    if not isinstance(plain, Mapping):
        return Target(float(plain))
    sizes = {k: float(plain[k]) for k in ("N", "D") if k in plain}
    hp = {k: v for k, v in plain.items() if k not in ("C", "N", "D")}
    return Target(float(plain.get("C", np.nan)), **sizes, hp=hp)


@dataclass(frozen=True, repr=False)
class Forecast(Estimate):
    """The predicted loss of the best run at a target: one for each target of an `Answer`.

    loss               the noise-free loss: as likely higher as lower
    low, high          its interval
    run_low, run_high  interval of the loss of one further run, tuned as well
    decades            of compute beyond the largest run, below 0 inside the data
    scales             N, D and D/N of the best run; single values if the target gives them
    hp, levels         its hyperparameters: numbers with intervals, and categories; those of the
                       target if it gives them
    at_edge            names of those whose best value is at the end of the values tried
    source             the run whose curve the loss is predicted from; '' for the surface

    >>> small = load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> forecast = fit(small, targets=1e16).forecasts[0]
    >>> forecast
    Forecast: 1... [..., 1...] at 1e16 FLOPs
    >>> forecast.scales["N"].low < forecast.scales["N"].centre < forecast.scales["N"].high
    True
    """

    target: Target = field(kw_only=True)
    source: str = ""

    @property
    def compute(self) -> float:
        return self.target.C

    def __repr__(self) -> str:
        loss, ends = text.loss_cells(self)
        return f"Forecast: {loss} {ends} at {self.target.label}"

    @property
    def half_width(self) -> float:
        """Half-width of the interval of the loss, relative to the loss."""
        return 0.5 * (self.high - self.low) / self.loss


@dataclass(frozen=True, eq=False)
class HeldOutRuns:
    """The best held-out runs, and what is predicted for them from the others.

    rows             of the study's grid, each the best of its compute (of its N and D, for tasks)
    measured         (h,) the loss or accuracy of the run
    predicted, low, high   (h,) prediction and interval of one further run there
    """

    rows: IntArray
    C: FloatArray
    measured: FloatArray
    predicted: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def inside(self) -> BoolArray:
        return (self.low <= self.measured) & (self.measured <= self.high)

    @property
    def median_error(self) -> float:
        """Median of the relative error of the prediction."""
        return float(np.median(np.abs(self.predicted / self.measured - 1.0)))

    @property
    def mean_error(self) -> float:
        """Mean of the absolute error of the prediction."""
        return float(np.mean(np.abs(self.predicted - self.measured)))

    @property
    def mse(self) -> float:
        return float(np.mean((self.predicted - self.measured) ** 2))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.mse))

    @property
    def rms_error(self) -> float:
        """Root mean square of the relative error."""
        return float(np.sqrt(np.mean((self.predicted / self.measured - 1.0) ** 2)))


@dataclass(frozen=True, eq=False)
class Origin:
    """What an answer was made from: a study, which runs were held out, and curves of the runs."""

    study: Study
    hold_out: HeldOut | None = None
    along: Along | None = None


class Wording(Protocol):
    """A module that makes text and plain values (``--json``) of an answer."""

    def headline(self, answer: Any, forecast: Any, /) -> str: ...
    def listing(self, answer: Any, /) -> Digest: ...
    def payload(self, answer: Any, /) -> Json: ...
    def forecast_row(self, forecast: Any, /) -> Json: ...


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnyAnswer:
    """What answers for a loss and for a task have in common.

    forecasts  one for each target, in their order
    n_runs     number of finished runs used; ``n_diverged`` of them diverged
    largest    compute of the largest of them
    held_out   the best held-out runs, with their predictions
    verdict    one line: how far to trust it, and why
    """

    study: str
    level: float
    n_runs: int
    n_diverged: int = 0
    largest: float
    forecasts: tuple[Any, ...]
    held_out: HeldOutRuns | None
    warnings: tuple[Diagnostic, ...]
    verdict: str
    _words: ClassVar[Wording]

    @property
    def about(self) -> str:
        """What it predicts, for its title; '' for the loss of the study."""
        return ""

    def __repr__(self) -> str:
        headlines = [self._words.headline(self, forecast) for forecast in self.forecasts]
        warned = warning_codes([warning.code for warning in self.warnings])
        title = f"Answer of {self.study}{self.about}, from {text.rests_on(self)}"
        return short(title, [line for line in (*headlines, self.verdict, *warned) if line])

    def summary(self) -> str:
        """The answer as text, as the terminal shows it."""
        return self._words.listing(self).text()

    def to_frame(self) -> Frame:
        """One row per target: what is predicted there, with its intervals."""
        from lawsmith.datasets.records import frame_of

        return frame_of(self._words.forecast_row(forecast) for forecast in self.forecasts)

    def to_dict(self) -> Json:
        """The answer as plain values, as ``--json`` prints it."""
        return self._words.payload(self)

    def _repr_html_(self) -> str:
        return self._words.listing(self).html()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answer(AnyAnswer):
    """What the runs of a study predict: the result of `fit`.

    forecasts  one for each target, in their order

    n_runs     number of finished runs used; ``n_diverged`` of them diverged
    largest    compute of the largest of them
    left_out   rows of the study's grid whose runs were held out
    verdict    one line: how far to trust it, and why
    public, learnt_from   studies its prior was learnt from: public ones, and earlier ones named
    curves     what it used of losses along runs; None if none were given
    others     what it used of other losses of its runs; None if none were given
    origin     the study it was made from; None if it was made from a grid and runs

    >>> small = load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> found = fit(small, targets=[1e16, 1e17])
    >>> found.at(1e17).loss < found.at(1e16).loss
    True
    >>> print(found.summary())
    Answer, from 42 runs, up to 1.69e15 FLOPs
    ...
    >>> found.to_frame()["target"].tolist()
    ['1e16 FLOPs', '1e17 FLOPs']
    """

    forecasts: tuple[Forecast, ...]
    left_out: IntArray
    surface: Surface
    public: tuple[str, ...] = ()
    learnt_from: tuple[Lesson, ...] = ()
    curves: CurveFinding | None = None
    others: OtherLosses | None = None
    origin: Origin | None = None
    _words: ClassVar[Wording] = text

    def at(self, compute: float) -> Forecast:
        """The forecast at that compute, which must be one of the targets."""
        for forecast in self.forecasts:
            bare = not forecast.target.sized and not forecast.target.hp
            if bare and np.isclose(forecast.compute, compute, rtol=1e-9):
                return forecast
        known = ", ".join(f.target.label for f in self.forecasts) or "no target"
        raise LawsmithError("target", got=f"{compute:g}", want=known)
