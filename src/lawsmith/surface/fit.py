"""Fitting a surface: which rows are used, which members are fitted, and their weights.

Rows are thinned where there are many. A member needs a few hundred, and rows far above the bottom
of their bowl carry little information. Thinning uses the trend's prediction and never a run's own
loss, so it does not select lucky runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lawsmith.arrays import AnyArray, BoolArray, FloatArray, IntArray, cell_ids
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surface.axes import with_tried
from lawsmith.surface.data import Inferred, Observed, observe, with_rows
from lawsmith.surface.fit_member import first_theta, fit_member
from lawsmith.surface.frame import Frame, frame_of
from lawsmith.surface.member import Member
from lawsmith.surface.mixture import EFFECTIVE_ROWS
from lawsmith.surface.prior import BROAD, PUBLIC, Prior, local
from lawsmith.surface.process import kernel_of
from lawsmith.surface.surface import Surface
from lawsmith.surface.trend import TREND_FORMS, trend
from lawsmith.threads import one_thread

# Numbers of rows; few for speed, since a fit takes their cube. Kept of the upper window and below
# it, used by the first rounds of a fit, and by the trend that rows are chosen by (their square).
UPPER_ROWS, LOWER_ROWS = 200, 130
FEW_ROWS = 140
FIRST_ROWS = 5_000
# Forms and windows were chosen on the hold-outs of public studies that docs/truth.md lists.
FORMS = ("early+joined", "early+iso")
LINE_FORMS = ("early+power",)  # for one scale axis
WINDOW = 10.0  # the factor of C below the top that the upper window reaches
LEAST_UPPER = 20  # rows in that window, half of them runs: about twice the numbers of a law
TOP = np.log(4.0)  # members are weighed by the runs within this factor of the largest C
# Probability that a study is unlike those that a prior was learnt from: two in 28, by the rule of
# succession, after 26 of which one was (language models of proteins).
UNLIKE = 2.0 / 28.0
NEGLIGIBLE = 0.01  # of the largest weight: members with less are dropped, for speed


def fit(
    scales: Mapping[str, AnyArray],
    loss: FloatArray,
    *,
    hp: Mapping[str, AnyArray] | None = None,
    kinds: Mapping[str, str] | None = None,
    diverged: BoolArray | None = None,
    prior: Prior = PUBLIC,
    inferred: Inferred | None = None,
) -> Surface:
    """The surface of a table of runs; columns as in `lawsmith.surface.data.observe`.

    inferred   further rows, whose losses are inferred from something else
    """
    data = observe(scales, loss, hp=hp, kinds=kinds, diverged=diverged, inferred=inferred)
    return fit_observed(data, prior)


def fit_surface(
    grid: Grid, runs: Runs, prior: Prior = PUBLIC, *, inferred: Inferred | None = None
) -> Surface:
    """The surface of the finished runs of a study on a grid.

    The rows of the grid without a run count too: they show how far hyperparameters range.

    inferred   further rows; its ``of_runs`` is in the order of all ``runs``
    """
    frame = frame_on(grid, runs, inferred)
    return fit_observed(observed_on(grid, runs, frame, inferred), prior)


def observed_on(grid: Grid, runs: Runs, frame: Frame, inferred: Inferred | None = None) -> Observed:
    """The finished runs of a study on a grid, as rows to fit; ``inferred`` as in `fit_surface`."""
    done = runs.finished
    scales, hp, kinds = columns_of(grid, runs.index[done])
    if inferred is not None:
        inferred = replace(inferred, of_runs=inferred.of_runs[done])
    return observe(
        scales,
        runs.loss[done],
        hp=hp,
        kinds=kinds,
        diverged=runs.state[done] == State.DIVERGED.value,
        frame=frame,
        inferred=inferred,
    )


def columns_of(
    grid: Grid, rows: IntArray | slice = slice(None)
) -> tuple[dict[str, AnyArray], dict[str, AnyArray], dict[str, str]]:
    """Scales, hyperparameters and kinds of rows of a grid, as `observe` takes them."""
    names = [name for name in ("N", "D") if name in grid.names]
    scales: dict[str, AnyArray] = {name: grid.numbers(name)[rows] for name in names}
    axes = [axis for axis in grid.axes if axis.name not in ("N", "D", "C")]
    hp = {axis.name: grid.columns[axis.name][rows] for axis in axes}
    return {**scales, "C": grid.C[rows]}, hp, {axis.name: axis.kind for axis in axes}


def frame_on(grid: Grid, runs: Runs, inferred: Inferred | None = None) -> Frame:
    """The frame of all candidates of a grid and of inferred rows, centred at the finished runs.

    Losses are predicted at values that no run has had yet, so the runs alone must not decide what
    varies. Without a finished run all candidates count.
    """
    scales, hp, kinds = columns_of(grid)
    rows = runs.of(State.DONE).index
    centred = rows if len(rows) else np.arange(len(grid))
    frame = frame_of(*with_rows(inferred, scales, hp), centred, kinds)
    tried = runs.index[runs.finished]
    if not len(tried):
        return frame
    return replace(frame, axes=tuple(with_tried(axis, hp[axis.name][tried]) for axis in frame.axes))


def prior_surface(data: Observed, level: float, prior: Prior = PUBLIC) -> Surface:
    """The surface before any run: members of the prior, which know only the level of the loss."""
    prior = local(prior, data.frame)
    members, kernel = [], kernel_of(data.frame, prior)
    for form in _forms_of(data):
        shape = trend(form, data.frame, level, prior)
        at = (shape.mean, shape.mean, kernel.mean, np.ones(len(data)))
        members.append(Member(f"{form}/prior", shape, kernel, data, *at))
    weight = np.full(len(members), 1.0 / len(members))
    return Surface(data.frame, tuple(members), weight)


def _forms_of(data: Observed) -> tuple[str, ...]:
    return FORMS if data.frame.s == 2 else LINE_FORMS


@one_thread()
def fit_observed(data: Observed, prior: Prior = PUBLIC) -> Surface:
    """Fit all members and weigh them."""
    frame, level, forms = data.frame, level_of(data), _forms_of(data)
    first = trend(forms[0], frame, level, local(prior, frame))
    theta = first_theta(first, _spread(data, FIRST_ROWS))

    def excess(rows: Observed) -> FloatArray:
        return first.value_and_jac(theta, rows.points)[0] - first.law(theta, rows.points.S)

    data = data.take(keep(data, excess(data)))
    tasks, windows = [], _windows(data)
    for name, mask in windows.items():
        rows = data.take(mask)
        few = rows.take(thin(rows, excess(rows), FEW_ROWS))
        # Small runs bend two joined terms more than they bend a parabola at each compute.
        usable = forms[-1:] if name == "all" and len(windows) > 1 else forms
        tasks += [(form, f"{form}/{name}", rows, few) for form in usable]

    def fit_with(prior: Prior) -> list[Member]:
        prior = local(prior, frame)
        kernel, trends = kernel_of(frame, prior), {f: trend(f, frame, level, prior) for f in forms}
        return [fit_member(name, trends[f], kernel, rows, few) for f, name, rows, few in tasks]

    members = fit_with(prior)
    if not prior.learnt:
        return Surface(frame, tuple(members), weights(members))
    beside = fit_with(BROAD)
    weight = weights([*members, *beside]) * shares(members, beside)
    counts = weight > NEGLIGIBLE * weight.max()
    kept = tuple(m for m, ok in zip([*members, *beside], counts, strict=True) if ok)
    return Surface(frame, kept, weight[counts] / weight[counts].sum())


def _spread(data: Observed, most: int) -> Observed:
    """At most ``most`` rows, evenly spread in the order of `observe`: by scale, then by λ."""
    step = -(-len(data) // most)
    return data if step <= 1 else data.take(np.arange(0, len(data), step))


def shares(members: list[Member], beside: list[Member]) -> FloatArray:
    """(2m,) weights, by evidence, of members with a learnt prior and of those with the broad one.

    A learnt prior is narrower, so it explains a study that is like the earlier ones better. The
    broad prior explains a study that is unlike them better.
    """
    gain = np.array([m.log_evidence - b.log_evidence for m, b in zip(members, beside, strict=True)])
    broad = 1.0 / (1.0 + np.exp(np.clip(gain, -500.0, 500.0)) * (1.0 - UNLIKE) / UNLIKE)
    return np.concatenate([1.0 - broad, broad])


def _windows(data: Observed) -> dict[str, BoolArray]:
    """Which rows are in each window; all of the data first.

    With fewer sizes in a window than a law has numbers, the fit would repeat the prior. Half of the
    rows that a window needs may be inferred, but a member that rests on hardly any run would take
    nearly all the weight.
    """
    windows, upper = {"all": np.ones(len(data), dtype=np.bool_)}, _upper(data)
    n, n_runs = upper.sum(), (upper & (data.first >= 0)).sum()
    n_sizes = len(np.unique(data.points.S[upper].round(6), axis=0))
    enough = n_sizes >= max(len(TREND_FORMS[form].numbers) for form in _forms_of(data))
    if enough and n_runs >= LEAST_UPPER / 2 and LEAST_UPPER <= n < 0.9 * len(data):
        windows[f"{WINDOW:g}"] = upper
    return windows


def _upper(data: Observed) -> BoolArray:
    """Rows that cost more than 1/WINDOW of the largest run.

    Inferred rows may cost far more than the largest run. They do not move the window, because it
    would then lose the runs.
    """
    largest = data.points.c[data.first >= 0].max()
    return np.asarray(data.points.c > largest - np.log(WINDOW))


def level_of(data: Observed) -> float:
    """A loss near the best at the reference: priors are relative to it."""
    top = data.points.c >= np.quantile(data.points.c, 0.67)
    return float(np.exp(np.quantile(data.y[top], 0.2)))


def keep(data: Observed, excess: FloatArray) -> IntArray:
    """Rows to fit, thinned separately in the upper window and below it.

    If one part has fewer rows than its share, the other gets the rest.
    """
    in_window = _upper(data)
    upper, lower = np.flatnonzero(in_window), np.flatnonzero(~in_window)
    total = UPPER_ROWS + LOWER_ROWS
    n_upper = min(len(upper), max(UPPER_ROWS, total - len(lower)))
    parts = [(upper, n_upper), (lower, total - n_upper)]
    return np.sort(np.concatenate([i[thin(data.take(i), excess[i], most)] for i, most in parts]))


def thin(data: Observed, excess: FloatArray, most: int) -> IntArray:
    """Rows to keep, at most ``most``: the best λ of each cell, then the second best, and so on.

    excess   (k,) how far a row lies above the bottom of its bowls, by the trend
    """
    k = len(data)
    if k <= most:
        return np.arange(k)
    step, keys = 0.0, data.points.S
    while True:
        where = cell_ids([*keys.T], k)
        if where.max() + 1 <= most // 2 or step > 4.0:
            break
        step = 0.05 if step == 0.0 else 1.5 * step
        keys = np.floor(data.points.S / step)
    order = np.lexsort((-data.points.c, excess, where))
    starts = np.searchsorted(where[order], np.arange(where.max() + 1))
    rank = np.empty(k, dtype=np.int64)
    rank[order] = np.arange(k) - starts[where[order]]
    return np.sort(np.lexsort((-data.points.c, rank))[:most])


def weights(members: list[Member]) -> FloatArray:
    """Weights of members, by how well each predicts the top of the data from the rows below it.

    Rows at the top are not independent, so they count as EFFECTIVE_ROWS at most.
    """
    scores = np.array([_top_score(member) for member in members])
    scores -= scores.max()
    weight = np.exp(scores)
    return np.asarray(weight / weight.sum())


def _top_score(member: Member) -> float:
    c, plain = member.data.points.c, member.data.extra == 0.0
    top = plain & (c > -TOP)
    if top.sum() < 3 or (~top).sum() < 5:
        return 0.0
    rows, given = np.flatnonzero(top), np.flatnonzero(~top)
    score = member.log_predictive(rows, given)
    return score * min(1.0, EFFECTIVE_ROWS / len(rows))
