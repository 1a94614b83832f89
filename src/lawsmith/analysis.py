"""From a study to a law one can decide from: split, Π, fit, uncertainty, predictions, warnings.

    analysis = analyse(load("oellm-english"), FitOptions(law=get_law("LC")))

Everything the command line, the charts and the report show of a fit is a field of Analysis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import count, flops
from lawsmith.frontier import floor, frontier, frontier_batch
from lawsmith.grid import BoolArray, FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.allocation import allocation, can_allocate
from lawsmith.laws.catalogue import HYPERPARAMETER, LAWS
from lawsmith.laws.diagnostics import Diagnostic, Influence
from lawsmith.laws.fit import LawFit, Prior, fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.noise import smooth_surface
from lawsmith.laws.objective import Objective
from lawsmith.laws.selection import deselect
from lawsmith.laws.uncertainty import LAW_OF_FRONTIER, Interval, Uncertainty, law_uncertainty

UNIT_COST = 1.0  # what every run of a table without compute costs
ISOFLOP_TOLERANCE = 0.05  # computes within 5 % count as one isoFLOP level


@dataclass(frozen=True)
class Target:
    """Where a prediction is wanted: a compute, or an N and a D (which make one)."""

    C: float
    N: float | None = None
    D: float | None = None

    @property
    def label(self) -> str:
        if self.N is None or self.D is None:
            return f"{flops(self.C)} FLOPs"
        return f"N = {count(self.N)}, D = {count(self.D)}"


@dataclass(frozen=True)
class FitOptions:
    """What to fit and how; targets may be empty."""

    law: Law
    hold_out: HeldOut | None = None
    targets: tuple[Target, ...] = ()
    objective: Objective | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    priors: Mapping[str, Prior] = field(default_factory=dict)
    level: float = 0.95
    force: bool = False  # fit a design from which the law cannot be identified
    seed: int = 0


@dataclass(frozen=True)
class Prediction:
    """The loss at a target: as fitted, with the law's interval and that of a further best run."""

    target: Target
    inputs: Mapping[str, float]  # where the law was evaluated; N and D may be its own optimum
    loss: float
    interval: Interval | None
    run_interval: Interval | None
    decades: float  # beyond the largest compute (or input) in the data, below 0 inside it
    allocation: Mapping[str, Interval] | None  # N, D, D/N at this compute, laws of N and D only


@dataclass(frozen=True)
class HeldOutScore:
    """How the law does on the held-out frontier."""

    rows: IntArray  # grid rows of Π(held-out)
    loss: FloatArray
    predicted: FloatArray

    @property
    def mse(self) -> float:
        return float(np.mean((self.predicted - self.loss) ** 2))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.mse))

    @property
    def relative_rmse(self) -> float:
        return float(np.sqrt(np.mean((self.predicted / self.loss - 1) ** 2)))


@dataclass(frozen=True)
class HyperparameterLaw:
    """λ*(N, D) = c·N^a·D^b through the best value of one axis in each (N, D) cell."""

    axis: str
    fit: LawFit
    uncertainty: Uncertainty | None
    rows: IntArray  # grid rows of the cells' best configurations


@dataclass(frozen=True)
class Analysis:
    """A study, its law, and all that is known of how far to trust it. Rows are of study.grid."""

    study: Study
    options: FitOptions
    pool: IntArray
    held_out: IntArray
    loss: FloatArray  # (m,) per configuration, NaN where there is no done run
    frontier: IntArray
    fit: LawFit
    uncertainty: Uncertainty | None
    predictions: tuple[Prediction, ...]
    score: HeldOutScore | None
    influence: Influence | None
    hyperparameters: tuple[HyperparameterLaw, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def law(self) -> Law:
        return self.options.law


def analyse(study: Study, options: FitOptions) -> Analysis:
    """Fit ``options.law`` to the frontier of the study's pool and say what can be said of it."""
    grid, law = study.grid, options.law
    loss = study.runs.config_loss(len(grid))
    pool, held = _split(grid, options.hold_out)
    rows = pool[frontier(grid.subset(pool), loss[pool], law.inputs)]
    _check_design(study, law, rows, force=options.force)
    fit = fit_law(
        law,
        _inputs(grid, law, rows),
        loss[rows],
        objective=options.objective,
        fixed=options.fixed,
        priors=options.priors,
    )
    uncertainty = _uncertainty(study, pool, loss, fit, options)
    found = _influence(grid, pool, loss, rows, fit, uncertainty, options)
    analysis = Analysis(
        study=study,
        options=options,
        pool=pool,
        held_out=held,
        loss=loss,
        frontier=rows,
        fit=fit,
        uncertainty=uncertainty,
        predictions=tuple(
            _predict(t, fit, uncertainty, _largest(grid, pool, loss), options.level)
            for t in options.targets
        ),
        score=held_out_score(grid, held, loss, fit) if len(held) else None,
        influence=found,
        hyperparameters=hyperparameter_laws(grid, pool, loss),
        warnings=(),
    )
    return replace(analysis, warnings=tuple(_warnings(analysis)))


def _split(grid: Grid, hold_out: HeldOut | None) -> tuple[IntArray, IntArray]:
    if hold_out is None:
        return np.arange(len(grid)), np.arange(0)
    return grid.split(hold_out)


def _inputs(grid: Grid, law: Law, rows: IntArray) -> dict[str, FloatArray]:
    return {name: grid.numbers(name)[rows] for name in law.inputs}


def _largest(grid: Grid, pool: IntArray, loss: FloatArray) -> float:
    """The largest compute that has a finished run in the pool."""
    return float(grid.C[pool][np.isfinite(loss[pool])].max())


def _check_design(study: Study, law: Law, rows: IntArray, *, force: bool) -> None:
    grid = study.grid
    if len(rows) == 0:
        raise LawsmithError(study.name, got="no finished run", want="runs with a finite loss")
    for name in law.inputs:
        values = np.unique(grid.numbers(name)[rows])
        if len(values) == 1 and len(law.inputs) == 1:
            n_pool = np.isfinite(study.runs.config_loss(len(grid))).sum()
            raise LawsmithError(
                f"{law.name} on {study.name}",
                got=f"one level of {name} ({values[0]:.4g}) among {n_pool} finished",
                want="several levels",
            )
    if set(law.inputs) == {"N", "D"} and not force:
        problem = checks.collinear_design(grid.N[rows], grid.D[rows])
        if problem is not None:
            raise LawsmithError(
                f"{law.name} on {study.name}: {problem.message}",
                hint="collinear_design; fit LC instead, or --force to fit all the same",
            )


def _uncertainty(
    study: Study, pool: IntArray, loss: FloatArray, fit: LawFit, options: FitOptions
) -> Uncertainty | None:
    """Student's t on least squares; freed of selection where there was any and it can be told."""
    plain = law_uncertainty(fit)
    known = pool[np.isfinite(loss[pool])]
    if plain is None or len(known) == fit.n_points:
        return plain
    plain = replace(plain, estimand=LAW_OF_FRONTIER)
    if options.priors:
        return plain
    grid = study.grid.subset(known)
    scale: list[str] = [name for name in ("N", "D") if name in grid.names] or ["C"]
    unit = study.grid.unit()[known]
    surface = smooth_surface(
        np.log(loss[known]),
        _axes_block(study.grid, unit, [a.name for a in grid.axes if a.name not in scale]),
        _log_block(grid, scale),
        grid.cells(scale),
        floor=lambda mean: floor(grid, mean, fit.law.inputs),
    )
    if surface is None:
        return plain
    sd, dof = study.runs.replicate_sd()
    if dof >= 10:  # replicates show the noise itself, whatever the surface's shape
        surface = replace(surface, noise_sd=min(sd, surface.noise_sd), dof=dof)
    freed = deselect(
        fit.law,
        fit.law.log_inputs(_inputs(grid, fit.law, np.arange(len(known))))[:, 0, :],
        loss[known],
        surface,
        lambda rows: partial(_on_frontier, grid.subset(rows), fit.law.inputs),
        start=plain.phi,
        rng=np.random.default_rng(options.seed),
        fixed={**fit.fixed, **{name: plain.natural(name) for name in plain.at_bounds}},
    )
    if freed is None:
        return plain
    return replace(
        plain,
        phi=freed.phi,
        cov=freed.cov,
        dof=freed.dof,
        residual_sd=freed.residual_sd,
        method="least squares on log loss, selection undone, Student's t",
        shift=freed.shift,
        noise_sd=freed.noise_sd,
        misfit=freed.misfit,
    )


def _on_frontier(grid: Grid, inputs: tuple[str, ...], losses: FloatArray) -> BoolArray:
    return frontier_batch(grid, losses, inputs)


def _axes_block(grid: Grid, unit: FloatArray, names: list[str]) -> FloatArray:
    """The unit cube's columns of those axes that vary, (m, k)."""
    columns, at = [], 0
    for axis in grid.axes:
        width = len(np.unique(grid.column(axis.name))) if axis.kind == "categorical" else 1
        if axis.name in names:
            columns += [unit[:, j] for j in range(at, at + width) if np.ptp(unit[:, j]) > 0]
        at += width
    return np.stack(columns, axis=1) if columns else np.empty((len(unit), 0))


def _log_block(grid: Grid, names: list[str]) -> FloatArray:
    """Logs of those columns, each scaled to the unit interval, (m, l)."""
    logs = np.log(np.stack([grid.numbers(name) for name in names], axis=1))
    spread = np.ptp(logs, axis=0)
    return np.asarray((logs - logs.min(axis=0)) / np.where(spread > 0, spread, 1.0))


def _predict(
    target: Target, fit: LawFit, uncertainty: Uncertainty | None, largest: float, level: float
) -> Prediction:
    shares = None
    if can_allocate(fit.law) and uncertainty is not None:
        whole = allocation(uncertainty, np.array([target.C]), level)
        shares = {name: Interval(*(float(v[0]) for v in i)) for name, i in whole.items()}
    inputs = _target_inputs(target, fit, shares)
    interval = run_interval = None
    if uncertainty is not None:
        interval = _first(uncertainty.loss(inputs, level))
        run_interval = _first(uncertainty.run(inputs, level))
    return Prediction(
        target=target,
        inputs=inputs,
        loss=float(fit.predict(inputs)[0]),
        interval=interval,
        run_interval=run_interval,
        decades=_decades(target, inputs, fit, largest),
        allocation=shares,
    )


def _decades(target: Target, inputs: Mapping[str, float], fit: LawFit, largest: float) -> float:
    """How far beyond the data a target lies: in compute, or in the law's inputs without one."""
    if largest != UNIT_COST:
        return float(np.log10(target.C / largest))
    beyond = [np.log(inputs[name]) - fit.x[i].max() for i, name in enumerate(fit.law.inputs)]
    return float(max(beyond) / np.log(10))


def _first(interval: Interval) -> Interval:
    return Interval(*(float(v[0]) for v in interval))


def _target_inputs(
    target: Target, fit: LawFit, shares: Mapping[str, Interval] | None
) -> dict[str, float]:
    """The law's inputs at the target; N and D at a bare compute are its compute-optimal ones."""
    if can_allocate(fit.law) and target.N is None:
        from lawsmith.laws.allocation import log_optimal_n

        n = float(np.exp(log_optimal_n(fit.law, fit.phi[None], np.array([target.C]))[0, 0]))
        return {"N": n, "D": target.C / (6 * n)}
    at = {"C": target.C, "N": target.N, "D": target.D}
    missing = [name for name in fit.law.inputs if at.get(name) is None]
    if missing:
        raise LawsmithError(
            "--target",
            got=target.label,
            want=f"{', '.join(fit.law.inputs)} for {fit.law.name}",
            hint="give a pair such as 7e9,1.4e11" if missing != ["C"] else None,
        )
    return {name: float(at[name] or 0.0) for name in fit.law.inputs}


def held_out_score(grid: Grid, held: IntArray, loss: FloatArray, fit: LawFit) -> HeldOutScore:
    """The law's predictions on Π(held-out)."""
    rows = held[frontier(grid.subset(held), loss[held], fit.law.inputs)]
    if len(rows) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    return HeldOutScore(rows, loss[rows], fit.predict(_inputs(grid, fit.law, rows)))


def _influence(
    grid: Grid,
    pool: IntArray,
    loss: FloatArray,
    rows: IntArray,
    fit: LawFit,
    uncertainty: Uncertainty | None,
    options: FitOptions,
) -> Influence | None:
    """Leave-one-out at the first target, or one decade above the data."""
    if uncertainty is None or len(rows) - 1 <= int(fit.free.sum()) or fit.n_points > 400:
        return None
    return checks.influence(fit, influence_target(grid, pool, loss, fit, options)[1], uncertainty)


def influence_target(
    grid: Grid, pool: IntArray, loss: FloatArray, fit: LawFit, options: FitOptions
) -> tuple[str, dict[str, float]]:
    """Where influence is judged: label and the law's inputs."""
    if options.targets:
        target = options.targets[0]
        return target.label, _target_inputs(target, fit, None)
    C = 10 * _largest(grid, pool, loss)
    if fit.law.inputs == ("C",) or can_allocate(fit.law):
        target = Target(C)
        return target.label, _target_inputs(target, fit, None)
    top = {name: 10 * float(np.exp(fit.x[i].max())) for i, name in enumerate(fit.law.inputs)}
    return ", ".join(f"{k} = {count(v)}" for k, v in top.items()), top


def hyperparameter_laws(
    grid: Grid, pool: IntArray, loss: FloatArray
) -> tuple[HyperparameterLaw, ...]:
    """λ*(N, D) for every positive numeric axis that is tuned in enough (N, D) cells."""
    if not {"N", "D"} <= set(grid.names):
        return ()
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    n_runs = int(np.isfinite(loss[pool]).sum())
    if len(rows) < 6 or n_runs < 3 * len(rows):
        return ()
    tied = checks.collinear_design(grid.N[rows], grid.D[rows]) is not None
    fixed = {"b": 0.0} if tied else {}
    laws = []
    for axis in grid.axes:
        if axis.name in ("N", "D") or axis.kind != "log":
            continue
        values = grid.numbers(axis.name)[rows]
        if len(np.unique(values)) < 2:
            continue
        inputs = _inputs(grid, HYPERPARAMETER, rows)
        fit = fit_law(HYPERPARAMETER, inputs, values, fixed=fixed)
        laws.append(HyperparameterLaw(axis.name, fit, law_uncertainty(fit), rows))
    return tuple(laws)


def _warnings(a: Analysis) -> list[Diagnostic]:
    grid, fit, rows = a.study.grid, a.fit, a.frontier
    n_runs = int(np.isfinite(a.loss[a.pool]).sum())
    n_levels = len(np.unique(grid.cells(list(fit.law.inputs))[rows]))
    found: list[Diagnostic | None] = [
        checks.at_bound(fit),
        checks.ill_conditioned(fit),
        checks.too_few_levels(fit, n_levels),
    ]
    if set(fit.law.inputs) == {"N", "D"}:
        found.append(checks.collinear_design(grid.N[rows], grid.D[rows]))
    if a.influence is not None:
        label, _ = influence_target(grid, a.pool, a.loss, fit, a.options)
        found.append(checks.influential_point(a.influence, grid.C[rows], label))
    found.append(checks.lack_of_fit(fit, a.uncertainty))
    found += [checks.extrapolation_decades(p.target.label, p.decades) for p in a.predictions]
    found.append(checks.frontier_optimism(a.uncertainty, n_runs, fit.n_points))
    if {"N", "D"} <= set(grid.names):
        found.append(_unbracketed(grid, a.pool, a.loss))
    return [d for d in found if d is not None]


def isoflop_cells(grid: Grid, pool: IntArray, loss: FloatArray) -> tuple[IntArray, IntArray]:
    """Best row of each (N, D) cell, and its isoFLOP level (computes within 5 % are one level)."""
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    coarse = replace(grid.subset(rows), slice_by="C", tolerance=ISOFLOP_TOLERANCE)
    return rows, coarse.level_of


def _unbracketed(grid: Grid, pool: IntArray, loss: FloatArray) -> Diagnostic | None:
    rows, level_of = isoflop_cells(grid, pool, loss)
    return checks.isoflop_unbracketed(grid.N[rows], grid.C[rows], loss[rows], level_of)


@dataclass(frozen=True)
class Comparison:
    """One law's fit on the pool and its error on the common held-out frontier; or why not."""

    law: Law
    fit: LawFit | None
    score: HeldOutScore | None
    reason: str = ""


def compare_laws(
    study: Study, options: FitOptions, laws: tuple[Law, ...] = tuple(LAWS.values())
) -> tuple[Comparison, ...]:
    """Fit every law to the pool and judge all on the held-out compute–loss frontier, best first."""
    hold_out = options.hold_out or HeldOut.by_compute(0.5)
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    pool, held = grid.split(hold_out)
    judged = held[frontier(grid.subset(held), loss[held], ("C",))]
    if len(judged) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    found = []
    for law in laws:
        try:
            rows = pool[frontier(grid.subset(pool), loss[pool], law.inputs)]
            _check_design(study, law, rows, force=options.force)
            fit = fit_law(
                law,
                _inputs(grid, law, rows),
                loss[rows],
                objective=options.objective,
                fixed={k: v for k, v in options.fixed.items() if k in law.names},
                priors={k: v for k, v in options.priors.items() if k in law.names},
            )
            predicted = fit.predict(_inputs(grid, law, judged))
        except LawsmithError as error:
            found.append(Comparison(law, None, None, str(error)))
            continue
        found.append(Comparison(law, fit, HeldOutScore(judged, loss[judged], predicted)))
    return tuple(sorted(found, key=lambda c: c.score.rmse if c.score else np.inf))
