"""Look at a study before it spends anything: what its file means, and what to expect of it.

`check` shows candidates, what the budget buys, and warnings. `plan` simulates the study on surfaces
drawn from a prior over its own grid.

The prior is wide: Chinchilla's law with its parameters drawn anew, a bowl for every numeric axis
with its optimum somewhere inside the axis and drifting with scale, an excess for every category,
and runs that scatter by a few tenths of a per cent.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from lawsmith.curves.gain import GAIN
from lawsmith.datasets.synthetic import Bowl, SyntheticSurface
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.journal import Event, Journal, Kind, Ledger, Trial, make
from lawsmith.policies.base import InitialDesign
from lawsmith.runners import Runner, make_runner
from lawsmith.study.answer import answer_of, stop_rule, targets_of
from lawsmith.study.asking import propose
from lawsmith.study.history import row_of_trunk
from lawsmith.study.jobs import values_of
from lawsmith.study.live import LiveStudy
from lawsmith.study.trunks import branch_point

SCRIPT_BYTES = 1_000_000  # larger files are no scripts


@runtime_checkable
class Previews(Protocol):
    """A runner that can say what it would start."""

    def preview(self, values: Mapping[str, float | int | str]) -> list[str]:
        """The command of a run with these values."""
        ...


@dataclass(frozen=True, eq=False)
class Checkup:
    """What a study file amounts to; computes are FLOPs.

    total      of every candidate, trunks shared where the study says so
    apart      the same without sharing
    n_cheap    how many runs the budget buys, cheapest first
    command    of the first candidate, where the runner can tell
    """

    study: LiveStudy
    least: float
    largest: float
    total: float
    apart: float
    n_cheap: int
    n_largest: int
    initial: float
    command: tuple[str, ...]
    warnings: tuple[str, ...]


def check(study: LiveStudy) -> Checkup:
    """Look a study over; a fault in the command is an error, something odd a warning."""
    C = study.grid.C
    stop_rule(study)
    place = study.spec.runner
    runner = None
    if place.model_fields_set:
        runner = make_runner(place.kind, place.options, study.layout.folder)
    rows = np.flatnonzero(InitialDesign(1).preferred(study.grid))
    n_init = min(study.method.n_first, len(C))
    found = Checkup(
        study=study,
        least=float(C.min()),
        largest=float(C.max()),
        total=study.pricing.total(study.grid, range(len(C))),
        apart=float(C.sum()),
        n_cheap=int(np.searchsorted(np.cumsum(np.sort(C)), study.budget * (1 + 1e-9), "right")),
        n_largest=int(study.budget * (1 + 1e-9) // C.max()),
        initial=float(np.sort(C)[:n_init].sum() if n_init > len(rows) else n_init * C[rows].mean()),
        command=_preview(study, runner),
        warnings=(),
    )
    return replace(found, warnings=tuple(_warnings(found)))


def _preview(study: LiveStudy, runner: Runner | None) -> tuple[str, ...]:
    """The command of the first candidate; every model's is tried, as arguments may differ."""
    if not isinstance(runner, Previews):
        return ()
    commands: dict[str, list[str]] = {}
    for config in study.candidates.configs:
        model = str(config["model"])
        if model in commands:
            continue
        values = values_of(study, Trial("t0001", config, 0.0, "run"))
        try:
            preview = {**values, "name": "preview", "seed": study.spec.seed}
            commands[model] = runner.preview(preview)
        except LawsmithError as error:
            raise LawsmithError(f"{study.layout.file.name}: model {model}: {error}") from None
    return tuple(next(iter(commands.values())))


def _warnings(found: Checkup) -> list[str]:
    study, spec = found.study, found.study.spec
    out: list[str] = []
    if found.n_cheap == 0:
        out.append("the budget does not buy a single run")
    elif found.initial > study.budget:
        out.append("the budget does not buy the initial runs of the policy: lower policy.n_init")
    if study.budget >= found.total:
        out.append("the budget buys every candidate: there is nothing to choose")
    if not spec.law.targets:
        out.append("no target: law.targets says at which compute the loss is to be predicted")
    if set(study.law.inputs) == {"N", "D"} and _fixed_ratio(study):
        out.append(f"tokens per parameter are fixed, so {study.law.name} cannot be identified")
    if found.command and spec.runner.kind == "local":
        out += _unused(study, found.command) + _not_found(found.command, study.layout.folder)
    return out


def _fixed_ratio(study: LiveStudy) -> bool:
    ratio = study.grid.D / study.grid.N
    return float(ratio.max() / ratio.min()) < 1.01


def _unused(study: LiveStudy, command: Sequence[str]) -> list[str]:
    """Axes that the command does not name, unless a file in it names $LAWSMITH_CONFIG."""
    text = str(study.spec.runner.options.get("command"))
    unused = [name for name in study.spec.axes if f"{{{name}}}" not in text]
    if not unused or any(_reads_config(study.layout.folder / word) for word in command):
        return []
    names = ", ".join(unused)
    return [f"the command does not use {names}: does the trainer read $LAWSMITH_CONFIG?"]


def _reads_config(file: Path) -> bool:
    try:
        script = file.is_file() and file.stat().st_size < SCRIPT_BYTES
        return script and b"LAWSMITH_CONFIG" in file.read_bytes()
    except (OSError, ValueError):  # no path at all, most likely
        return False


def _not_found(command: Sequence[str], folder: Path) -> list[str]:
    if shutil.which(command[0]) is None:
        return [f"{command[0]} is not found on this machine"]
    missing = [arg for arg in command[1:] if arg.startswith(str(folder)) and not Path(arg).exists()]
    return [f"{path} does not exist" for path in missing]


SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)  # of the budget, after which a draw is answered


@dataclass(frozen=True)
class Point:
    """What one draw knew after a share of the budget.

    half_width   of the interval of the best loss at each target, relative to it; NaN without one
    """

    draw: int
    share: float
    spend: float
    n_runs: int
    half_width: tuple[float, ...]


def plan(study: LiveStudy, *, draws: int) -> Iterator[Point]:
    """Points of every draw in turn, in the order of spend."""
    for draw in range(draws):
        rng = np.random.default_rng([study.spec.seed, draw, 7])
        surface = draw_surface(study.grid, rng)
        losses = surface.sample(study.grid.columns, rng)
        yield from _played(study, losses, draw)


def draw_surface(grid: Grid, rng: np.random.Generator) -> SyntheticSurface:
    """A surface of the prior over the axes of a grid."""
    bowls: dict[str, Bowl] = {}
    levels: dict[str, dict[Any, float]] = {}
    for axis in grid.axes:
        values = grid.columns[axis.name]
        if axis.name in ("N", "D"):
            continue
        if axis.kind == "log":
            bowls[axis.name] = _bowl(grid, axis.name, rng)
        else:
            excess = rng.exponential(0.01, size=len(np.unique(values)))
            names = np.unique(values).tolist()
            levels[axis.name] = dict(zip(names, (excess - excess.min()).tolist(), strict=True))
    return SyntheticSurface(
        E=float(rng.uniform(1.5, 1.9)),
        A=float(406.4 * np.exp(rng.normal(0.0, 0.3))),
        alpha=float(rng.normal(0.34, 0.02)),
        B=float(410.7 * np.exp(rng.normal(0.0, 0.3))),
        beta=float(rng.normal(0.28, 0.02)),
        bowls=bowls,
        levels=levels,
        noise=float(rng.uniform(0.001, 0.004)),
    )


def _bowl(grid: Grid, name: str, rng: np.random.Generator) -> Bowl:
    """A bowl whose optimum lies in the middle half of the axis at the middle of the ladder."""
    low, high = np.log(grid.numbers(name).min()), np.log(grid.numbers(name).max())
    middle_N, middle_D = (np.exp(np.log(grid.numbers(x)).mean()) for x in ("N", "D"))
    drift_N, drift_D = rng.normal(-0.2, 0.1), rng.normal(0.1, 0.1)
    at = rng.uniform(0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high)
    # Bowl counts its drift from 1e9 parameters and 1e10 tokens.
    centre = at - drift_N * np.log(middle_N / 1e9) - drift_D * np.log(middle_D / 1e10)
    curvature = float(np.exp(rng.normal(np.log(0.012), 0.5)))
    return Bowl(float(np.exp(centre)), float(drift_N), float(drift_D), curvature)


def _played(study: LiveStudy, losses: Any, draw: int) -> Iterator[Point]:
    """One draw: ask, look the loss up, and answer at the shares of the budget."""
    # A surrogate remembers the runs it saw last: each draw has its own.
    own = replace(study, journal=Journal(study.layout.journal, Ledger()))
    ledger = own.journal.ledger
    shares = list(SHARES)
    while shares:
        found = propose(own, ledger, own.spec.runner.slots)
        for event in found:
            ledger.add(event)
        for event in found:
            for result in _results(own, losses, ledger.trials[event["trial"]]):
                ledger.add(result)
        share = ledger.spend / own.budget
        passed = [s for s in shares if share >= s - 1e-9]
        if passed or not found:
            yield _point(own, ledger, draw, share)
        shares = [s for s in shares if s not in passed] if found else []


def _results(study: LiveStudy, losses: Any, trial: Trial) -> Iterator[Event]:
    """The loss of a run at its end and, of a trunk, at every point where a branch may leave it.

    A trunk lies above the loss of its decays by what one is expected to take off.
    """
    candidates, decay = study.candidates, study.spec.trunks.decay
    if trial.kind != "trunk":
        loss = float(losses[candidates.row_of(trial.config)])
        yield make(Kind.FINISHED, trial.name, loss=loss)
        return
    above = float(np.exp(GAIN))
    for D in np.unique(study.grid.D).tolist():
        row = candidates.row_of({**trial.config, "D": D})
        at = branch_point(D, decay)
        if row is not None and trial.start < at <= trial.D:
            yield make(Kind.REPORTED, trial.name, tokens=at, loss=above * float(losses[row]))
    loss = above * float(losses[row_of_trunk(trial, candidates, decay)])
    yield make(Kind.FINISHED, trial.name, loss=loss)


def _point(study: LiveStudy, ledger: Ledger, draw: int, share: float) -> Point:
    found = answer_of(study, ledger).answer
    widths = tuple(f.half_width for f in (found.forecasts if found else ()))
    unknown = (float("nan"),) * len(targets_of(study))
    return Point(draw, share, ledger.spend, len(ledger.trials), widths or unknown)
