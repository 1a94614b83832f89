"""Which trunks the bundled grids are made of.

dense   `tinylm`: every size with every budget, learning rate and batch
wsd     `tinylm-wsd`: trunks of one batch that are evaluated on the way; learning rates around the
        best of each size, one size more, and another seed
live    what the live studies of trunks may train: the sizes of the dense grid, with further seeds
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tinylm import Size
from trunk import Plan

SIZES = ((48, 2), (64, 3), (96, 3), (128, 4), (192, 4), (256, 5))
BUDGETS = tuple(2**k for k in range(20, 27))
BATCHES = (8, 4, 16, 2, 32)
LRS = tuple(2.0**k for k in (-11.5, -10.5, -9.5, -8.5, -7.5, -6.5, -5.5))
SMALL_LRS = (*LRS, 2.0**-4.5)  # the two smallest sizes want more than the others
SEED_CELLS = (((48, 2), 8), ((96, 3), 8), ((128, 4), 8))
SEED_BUDGETS = tuple(2**k for k in range(20, 25))

WSD_BATCH = 16
WSD_BUDGETS = tuple(2**k for k in range(21, 27))
WSD_MARKS = tuple(round(2 ** (18 + k / 3)) for k in range(24))
# The highest of each size's learning rates as an exponent of 2; six of them, by factors of 2.
WSD_TOP = {
    (48, 2): -4.5,
    (64, 3): -4.5,
    (96, 3): -5.5,
    (128, 4): -5.5,
    (192, 4): -6.5,
    (256, 5): -6.5,
}
WSD_LARGE, WSD_LARGE_LRS = (384, 6), tuple(2.0**k for k in (-10.5, -9.5, -8.5, -7.5))
LIVE_SEEDS = (3, 4, 5, 6, 7)


def dense_plans() -> list[Plan]:
    """All trunks, the most telling first: middle batches of every size, then the outer ones."""
    plans = []
    for batch in BATCHES[:-1]:
        plans += [_dense_plan(shape, batch) for shape in reversed(SIZES)]
    for seed in (1, 2):
        plans += [
            replace(_dense_plan(*cell), seed=seed, budgets=SEED_BUDGETS) for cell in SEED_CELLS
        ]
    return plans + [_dense_plan(shape, BATCHES[-1]) for shape in reversed(SIZES)]


def _dense_plan(shape: tuple[int, int], batch: int) -> Plan:
    """The trunk of a size and batch.

    The largest sizes leave out the longest budget at the least batch: 131,072 steps each, far from
    the batches that are best there.
    """
    small = shape in SIZES[:2]
    budgets = BUDGETS[:-1] if batch == 2 and shape in SIZES[3:] else BUDGETS
    return Plan(Size(*shape), batch, 0, SMALL_LRS if small else LRS, budgets)


def wsd_plans() -> list[Plan]:
    """All trunks, the most telling first: every size, then a larger one, then another seed."""
    plans = [_wsd_plan(shape) for shape in reversed(WSD_TOP)]
    large = Size(*WSD_LARGE)
    plans.append(Plan(large, WSD_BATCH, 0, WSD_LARGE_LRS, WSD_BUDGETS, WSD_MARKS))
    return plans + [replace(plan, seed=1, budgets=WSD_BUDGETS[:-1]) for plan in plans[:-1]]


def _wsd_plan(shape: tuple[int, int]) -> Plan:
    lrs = tuple(2.0 ** (WSD_TOP[shape] - k) for k in reversed(range(6)))
    return Plan(Size(*shape), WSD_BATCH, 0, lrs, WSD_BUDGETS, WSD_MARKS)


def live_plans() -> list[Plan]:
    """The trunks of tinylm-wsd's smaller sizes up to 2^25 tokens, one seed after the other."""
    plans = [replace(_wsd_plan(shape), budgets=WSD_BUDGETS[:-1]) for shape in reversed(WSD_TOP)]
    return [replace(plan, seed=seed) for seed in LIVE_SEEDS for plan in plans]


GRIDS: Mapping[str, Callable[[], list[Plan]]] = {
    "dense": dense_plans,
    "wsd": wsd_plans,
    "live": live_plans,
}
