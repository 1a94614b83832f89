"""Curves joined to the runs of a study: which run is a branch of which trunk.

The column 'parent' names the trunk of each run; without this column it is the trunk of the same N.
A run with the name of a trunk is the decay of that trunk if it has more tokens than the trunk.
Otherwise it is the trunk itself, and so no finished run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.curves import Along
from lawsmith.curves.trunks import USUAL_SHARE
from lawsmith.datasets import cells
from lawsmith.datasets.curve_tables import Curves
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import percent, plural
from lawsmith.trajectory import Curve

SAME = 1e-6  # relative tolerance of equal N or equal tokens
RATES = ("lr", "learning_rate", "peak_lr", "max_lr")


def with_curves(study: Study, table: Curves) -> tuple[Study, Along]:
    """The study without the rows that are trunks, and the curves of its runs."""
    if not {"N", "D"} <= set(study.grid.names):
        got = f"{study.name} with columns {', '.join(study.grid.names)}"
        raise LawsmithError("--curves", got=got, want="a table of runs with N and D")
    index = {curve.run: i for i, curve in enumerate(table.curves)}
    names = study.run_names or ("",) * len(study.runs)
    own = np.array([index.get(name, -1) for name in names], dtype=np.int64)
    parent, missing = _named_parents(study, table.curves)
    D = study.grid.D[study.runs.index]
    reached = np.array([c.reached for c in table.curves])
    trunk = np.array([c.kind == "trunk" for c in table.curves], dtype=np.bool_)
    is_trunk = (own >= 0) & trunk[own] & (parent < 0)
    decayed = is_trunk & (reached[own] * (1.0 + SAME) < D)
    parent = np.where(decayed, own, parent)
    at = _branch_points(study, parent)
    at = np.where(decayed & np.isnan(at), reached[own], at)
    curves = _completed(study, table.curves, own, parent)
    notes = [*table.notes, *missing]
    if study.branches is None or not study.branches.parent:
        # A run with a curve of its own, a trunk's or a scheduled run's, is no branch.
        parent = _by_size(study, curves, parent, own < 0)
    curves, more = _without_twins(curves, parent)
    dropped = is_trunk & ~decayed
    if dropped.any():
        what = plural(int(dropped.sum()), "row")
        notes.append(f"{what} of the table are trunks of the curves: they count as trunks only")
    notes += more
    if not any(np.isfinite(curve.N) for curve in curves):
        notes.append("no curve is used: N is not known of any (a column N, or runs that name them)")
    if (parent >= 0).any() and not np.isfinite(at[parent >= 0]).any():
        taken = f"the last {percent(USUAL_SHARE, 2)} of a run is taken to be its decay"
        notes.append(f"no run says where it left its trunk (a column branch_at): {taken}")
    along = Along(tuple(curves), parent, at, own, tuple(notes))
    return _without(study, dropped), along.of(~dropped)


def _named_parents(study: Study, curves: Sequence[Curve]) -> tuple[IntArray, list[str]]:
    """(k,) the trunk that each run names, -1 for none; a note on names that are no trunk's."""
    index = {c.run: i for i, c in enumerate(curves) if c.kind == "trunk"}
    if study.branches is None or not study.branches.parent:
        return np.full(len(study.runs), -1, dtype=np.int64), []
    names = study.branches.parent
    found = np.array([index.get(name, -1) for name in names], dtype=np.int64)
    unknown = sorted({name for name, i in zip(names, found, strict=True) if name and i < 0})
    if not unknown:
        return found, []
    listed = ", ".join(unknown[:3]) + (" and others" if len(unknown) > 3 else "")
    return found, [f"{plural(len(unknown), 'parent')} without a trunk in the curves: {listed}"]


def _branch_points(study: Study, parent: IntArray) -> FloatArray:
    """(k,) tokens at the branch points; an error if one is not before the end of its run."""
    if study.branches is None:
        return np.full(len(study.runs), np.nan)
    cells.raise_first(study.branches.faults, source=study.name)
    at, D = study.branches.at, study.grid.D[study.runs.index]
    wrong = np.flatnonzero((parent >= 0) & (at > D * (1.0 + SAME)))
    if len(wrong):
        i = int(wrong[0])
        name = study.run_names[i] if study.run_names else f"{i + 1}"
        got = f"{at[i]:g}, after its end at {D[i]:g}"
        want = "tokens of the trunk before the decay"
        raise LawsmithError(f"{study.name}: run {name}, column branch_at", got=got, want=want)
    return at


def _completed(
    study: Study, curves: Sequence[Curve], own: IntArray, parent: IntArray
) -> list[Curve]:
    """Curves with the N and the hyperparameters that the table of runs has for them."""
    grid, completed = study.grid, []
    for i, curve in enumerate(curves):
        rows = study.runs.index[(own == i) | (parent == i)]
        N, hp = curve.N, dict(curve.hp)
        if not np.isfinite(N) and len(rows):
            N = float(np.median(grid.N[rows]))
        for name, values in grid.hp.items():
            seen = np.unique(values[rows])
            if len(seen) == 1:
                hp[name] = seen[0].item()
            elif name in RATES and np.isfinite(curve.rate):
                hp.setdefault(name, curve.rate)
        completed.append(replace(curve, N=N, hp=hp))
    return completed


def _by_size(study: Study, curves: Sequence[Curve], parent: IntArray, free: BoolArray) -> IntArray:
    """(k,) ``parent``, and for free runs the longest trunk of the same N and λ."""
    found = parent.copy()
    rows = study.runs.index
    N, hp = study.grid.N[rows], {name: v[rows] for name, v in study.grid.hp.items()}
    order = sorted(range(len(curves)), key=lambda i: curves[i].reached)
    for i in order:
        c = curves[i]
        if c.kind != "trunk" or not np.isfinite(c.N):
            continue
        same = np.abs(np.log(N / c.N)) < SAME
        for name, values in hp.items():
            if name in c.hp:
                same &= values == c.hp[name]
        found[same & free] = i
    return found


def _without_twins(curves: list[Curve], parent: IntArray) -> tuple[list[Curve], list[str]]:
    """Of several trunks of the same N and λ, keep those that runs branch from, or similar ones.

    Such trunks differ in something that is no column of the runs (a rate, a seed). The others lose
    their N, so that nothing is inferred from them.
    """
    parents = set(parent[parent >= 0].tolist())
    rates = [curves[i].rate for i in parents if np.isfinite(curves[i].rate)]
    usual = max(set(rates), key=rates.count) if rates else np.nan
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, c in enumerate(curves):
        if c.kind == "trunk" and np.isfinite(c.N):
            groups.setdefault((round(np.log(c.N), 6), *sorted(c.hp.items())), []).append(i)
    out, n = list(curves), 0
    for members in (group for group in groups.values() if len(group) > 1):
        kept = [i for i in members if i in parents]
        kept = kept or [i for i in members if np.isclose(curves[i].rate, usual)]
        kept = kept or [max(members, key=lambda i: curves[i].reached)]
        for i in set(members) - set(kept):
            out[i], n = replace(out[i], N=np.nan), n + 1
    note = f"{plural(n, 'trunk')} set aside: another of the same N is the one that runs branch from"
    return out, [note] if n else []


def _without(study: Study, dropped: BoolArray) -> Study:
    if not dropped.any():
        return study
    return replace(
        study,
        runs=study.runs.take(~dropped),
        run_names=tuple(np.array(study.run_names)[~dropped]) if study.run_names else (),
        branches=None,  # `Along` has them now
    )
