"""Synthetic twins of the five studies of the paper on amortising scaling laws, by name.

A twin has the counts of the paper's two dataset tables (runs, N, D, settings, ranges of N and D),
runs planned around hyperparameter optima that drift with N and D, and a law of its own, chosen so
that losses are like the real ones. No run of a real study is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.datasets.synthetic import Bowl, Columns, Design, SyntheticSurface, make_study, spaced
from lawsmith.errors import unknown
from lawsmith_paper.studies.sweeps import Sweep, crossed, joined


@dataclass(frozen=True)
class Preset:
    """A synthetic study but for its seed; ``note`` says whose shape it has."""

    surface: SyntheticSurface
    design: Design
    note: str


def preset_study(name: str, options: ReadOptions | None = None, *, seed: int = 0) -> Study:
    """The synthetic study ``name`` of `PRESETS`; ``options`` narrow it as they do a table."""
    if name not in PRESETS:
        raise unknown("synthetic study", name, PRESETS)
    preset = PRESETS[name]
    study = make_study(preset.surface, preset.design, name=name, seed=seed, options=options)
    return replace(study, notes=(study.notes[0], preset.note, *study.notes[1:]))


def _doubling(low: float, n: int) -> tuple[float, ...]:
    return tuple(low * 2.0**k for k in range(n))


_OELLM_D = spaced((6e9, 300e9, 9))
_ENGLISH_N = spaced((47.6e6, 1.71e9, 6))
# All but the three shortest runs of the largest model: 51 of 54 pairs.
_ENGLISH_CELLS = [
    *product(_ENGLISH_N[:-1], _OELLM_D),
    *product(_ENGLISH_N[-1:], _OELLM_D[3:]),
]
# E, A, α, B, β are those of a fit to the published table, rounded.
_ENGLISH = SyntheticSurface(
    *(1.489, 149.6, 0.2812, 160.6, 0.2593),
    bowls={
        "lr": Bowl(5.5e-4, drift_N=-0.5, drift_D=0.1, curvature=0.008, diverges_at=3.6),
        "gbsz": Bowl(80.0, drift_D=0.48, curvature=0.0045),
    },
    noise=0.001,
)
_ENGLISH_SWEEP = Sweep(
    crossed(_ENGLISH_CELLS, {"lr": _doubling(2.5e-4, 5), "gbsz": _doubling(16, 8)}),
    _ENGLISH.bowls,
    n_settings=36,
    n_configurations=942,
    thinning=0.05,
)

_MULTILINGUAL = SyntheticSurface(
    *(1.62, 170.0, 0.287, 190.0, 0.264),
    bowls={
        "lr": Bowl(6e-4, drift_N=-0.6, drift_D=0.1, curvature=0.009, diverges_at=3.0),
        "gbsz": Bowl(60.0, drift_D=0.8, curvature=0.005),
    },
    noise=0.0015,
)
_MULTILINGUAL_SWEEP = Sweep(
    crossed(
        list(product(spaced((206e6, 1.26e9, 4)), _OELLM_D)),
        {"lr": _doubling(2.5e-4, 5), "gbsz": _doubling(16, 8)},
    ),
    _MULTILINGUAL.bowls,
    n_settings=30,
    n_configurations=332,
    thinning=0.31,
)

# Tokens in billions by parameters: about 19, 53 and 93 tokens a parameter, and long runs.
_STEPLAW_CELLS = [
    (N, D * 1e9)
    for N, budgets in {
        215e6: (4, 11.4, 20, 100),
        268e6: (5, 14.2, 25, 80),
        429e6: (8, 22.7, 40, 50),
        537e6: (10, 28.5, 50),
        1.07e9: (20, 57),
    }.items()
    for D in budgets
]
_STEPLAW = SyntheticSurface(
    *(1.42, 111.0, 0.268, 163.0, 0.255),
    bowls={
        "lr": Bowl(1.1e-3, drift_N=-0.71, drift_D=0.31, curvature=0.008, diverges_at=4.0),
        "bs": Bowl(135.0, drift_D=0.57, curvature=0.0065),
    },
    noise=0.0006,
    diverged_loss=6.6,
    diverged_spread=0.08,
)
_STEPLAW_SWEEP = Sweep(
    crossed(
        _STEPLAW_CELLS,
        {
            "lr": [float(f"{2**-12 * 2 ** (k / 2):.3g}") for k in range(14)],
            "bs": (16, 24, 32, 48, 72, 112, 168, 256, 384, 576, 864, 1344, 2048),
        },
    ),
    _STEPLAW.bowls,
    n_settings=175,
    n_configurations=1911,
    thinning=0.13,
)

_PORIAN_LR = _doubling(7.5e-4, 7)
# Larger models were run with larger batches: 39 pairs (N, batch).
_PORIAN_BATCHES = [
    (N, b)
    for N, lowest, n in zip(
        spaced((5.16e6, 221e6, 7)), (8, 8, 8, 8, 8, 8, 16), (5, 5, 5, 5, 6, 7, 6), strict=True
    )
    for b in _doubling(lowest, n)
]


def _porian_candidates() -> Columns:
    """20 tokens a parameter, stopping ten steps of 2048-token sequences late: a D for each pair."""
    rows = [(N, 20 * N + 10 * 2048 * b, b, lr) for N, b in _PORIAN_BATCHES for lr in _PORIAN_LR]
    return dict(zip(("N", "D", "bs", "lr"), np.array(rows).T, strict=True))


_PORIAN = SyntheticSurface(
    *(2.67, 330.0, 0.338, 310.0, 0.335),
    bowls={
        "bs": Bowl(420.0, drift_D=0.6, curvature=0.004),
        "lr": Bowl(1.2e-3, drift_N=-0.7, drift_D=0.15, curvature=0.006),
    },
    levels={"beta2": {0.95: 0.006, 0.99: 0.0, 0.999: 0.004}},
    noise=0.003,
)
_PORIAN_SWEEP = Sweep(
    _porian_candidates(),
    _PORIAN.bowls,
    n_settings=46,
    n_configurations=237,
    further=lambda N, D: {"beta2": np.array([0.95, 0.99, 0.999])},
    n_runs=566,
)

_WARMSTART_N = spaced((32.3e6, 1.218e9, 6))
_WARMSTART_CELLS = [(N, float(f"{r * N:.3g}")) for N in _WARMSTART_N[:-1] for r in (1, 5, 20, 40)]
_WARMSTART_CELLS += [(_WARMSTART_N[-1], D) for D in (1.22e9, 1e10)]
_FLAGSHIP_D = 60.9e9  # one run, a quarter of the study's compute


def _warmstart_choices(N: float, D: float) -> Columns:
    """A base of a quarter or a sixteenth of the model, as deep, or shallower in proportion."""
    choices = [
        (float(f"{N / n:.3g}"), method, shrink, float(f"{n**-power:.2g}"))
        for n, power, method, shrink in product(
            (4, 16), (1 / 2, 1 / 3), ("zero-pad", "copy", "stack"), (0.3, 0.0, 0.6)
        )
    ]
    # The flagship was trained once, with the first and best choice.
    chosen = choices[:1] if D == _FLAGSHIP_D else choices
    names = ("base_N", "method", "shrink", "width_ratio")
    return {name: np.array([choice[i] for choice in chosen]) for i, name in enumerate(names)}


_WARMSTART_SEARCHED = {
    "lr": Bowl(4.5e-3, drift_D=0.07, curvature=0.012),
    "batch": Bowl(480.0, drift_D=0.5, curvature=0.005),
}
_WARMSTART = SyntheticSurface(
    *(1.85, 260.0, 0.315, 330.0, 0.282),
    bowls={
        **_WARMSTART_SEARCHED,
        "base_N": Bowl(1.6e8, drift_N=1.0, curvature=0.003),
        "width_ratio": Bowl(0.45, curvature=0.008),
    },
    levels={
        "method": {"copy": 0.004, "stack": 0.012, "zero-pad": 0.0},
        "shrink": {0.0: 0.006, 0.3: 0.0, 0.6: 0.003},
    },
    noise=0.002,
)
_WARMSTART_SWEEP = Sweep(
    joined(
        crossed(_WARMSTART_CELLS, {"lr": (2e-3, 4e-3, 8e-3), "batch": _doubling(16, 7)}),
        crossed([(_WARMSTART_N[-1], _FLAGSHIP_D)], {"lr": (4e-3,), "batch": (1024,)}),
    ),
    _WARMSTART_SEARCHED,
    n_settings=14,
    n_configurations=44,
    further=_warmstart_choices,
    n_runs=150,
)


def _twin(study: str, surface: SyntheticSurface, design: Design) -> Preset:
    return Preset(surface, design, f"shaped like {study}: its counts, none of its losses")


PRESETS: Mapping[str, Preset] = {
    "synthetic-oellm-english": _twin("oellm-english", _ENGLISH, _ENGLISH_SWEEP),
    "synthetic-steplaw": _twin("steplaw", _STEPLAW, _STEPLAW_SWEEP),
    "synthetic-porian-hp": _twin("porian-hp", _PORIAN, _PORIAN_SWEEP),
    "synthetic-warmstart": _twin("warmstart", _WARMSTART, _WARMSTART_SWEEP),
    "synthetic-oellm-multilingual": _twin("oellm-multilingual", _MULTILINGUAL, _MULTILINGUAL_SWEEP),
}
