"""Comparing methods: ranks within a study and seed, paired tests over seeds, Holm's correction.

Notation and shapes
    values   (methods, seeds) a metric, the smaller the better; NaN where there was no law
    ranks    (methods, seeds) 1 for the best of a seed, ties share the mean of their places

A method without a law is worse than every method with one; several such are equal.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.stats import rankdata, wilcoxon

from lawsmith.grid import FloatArray

EXACT = 12  # seeds up to which all 2^n assignments of signs are counted


def ranks(values: FloatArray) -> FloatArray:
    """(methods, seeds) places of the methods in each seed."""
    filled = np.where(np.isfinite(values), values, np.inf)
    return np.asarray(rankdata(filled, method="average", axis=0), dtype=np.float64)


def paired_p(ours: FloatArray, theirs: FloatArray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test over seeds (n,); 1 where nothing differs.

    Only signs and the order of differences count, so that "no law" may be any number that makes
    its difference the largest.
    """
    finite = np.concatenate([ours[np.isfinite(ours)], theirs[np.isfinite(theirs)]])
    worst = 2.0 * float(np.abs(finite).max(initial=0.0)) + 1.0
    gap = np.where(np.isfinite(ours), ours, worst) - np.where(np.isfinite(theirs), theirs, worst)
    return signed_rank_p(gap[gap != 0.0])


def signed_rank_p(gap: FloatArray) -> float:
    """Two-sided p of Wilcoxon's test of differences (n,), none of them 0; exact also with ties.

    Up to `EXACT` differences every assignment of signs is counted, as scipy does for ties, which
    takes it a thousand times as long; beyond, the test is scipy's.
    """
    if not len(gap):
        return 1.0
    if len(gap) > EXACT:
        return float(wilcoxon(gap).pvalue)
    places = rankdata(np.abs(gap))
    sums = np.abs(_signs(len(gap)) @ places)
    observed = abs(float(np.sign(gap) @ places))
    return float(np.mean(sums >= observed - 1e-9))


@lru_cache(maxsize=EXACT)
def _signs(n: int) -> FloatArray:
    """(2^n, n) every assignment of signs."""
    bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def rank_gap(ours: FloatArray, theirs: FloatArray) -> float:
    """The difference of mean ranks over seeds: below 0 where ours is the better."""
    both = ranks(np.stack([ours, theirs]))
    return float((both[0] - both[1]).mean())


def holm(p: FloatArray) -> FloatArray:
    """(n,) p values of n tests, adjusted for their number by Holm's step-down procedure.

    The k-th smallest is multiplied by the number of tests not yet passed, n − k + 1; none becomes
    smaller than the one before it, nor larger than 1.
    """
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    stepped = np.maximum.accumulate(np.asarray(p)[order] * factors)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
