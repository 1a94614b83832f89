"""What the paper says that ours stands beside: its tables transcribed, its findings in short.

"Amortizing Scaling Law Construction Costs", tables 1 (extrapolation) and 5 (coefficients), the
speed-ups of section 4, what its text says of each figure. Its coefficients are logs: E is ln E and
A is ln A, C in FLOPs. Its counts of the studies are in the catalogue (`Entry.paper`).
"""

from __future__ import annotations

from typing import NamedTuple


class MeanSD(NamedTuple):
    """Mean and standard deviation over ten seeds; sd None where there is one value."""

    mean: float
    sd: float | None = None


# budget → target compute → % difference in predicted loss, Window + fantasized, LCB
EXTRAPOLATION: dict[float, dict[str, MeanSD]] = {
    0.01: {"1e25": MeanSD(1.09, 1.84), "1e27": MeanSD(1.37, 2.35), "1e29": MeanSD(1.56, 2.67)},
    0.05: {"1e25": MeanSD(0.22, 0.34), "1e27": MeanSD(0.29, 0.41), "1e29": MeanSD(0.36, 0.45)},
    0.10: {"1e25": MeanSD(0.04, 0.04), "1e27": MeanSD(0.05, 0.04), "1e29": MeanSD(0.06, 0.10)},
}

# budget → parameter → incumbent, Window + fantasized, LCB
COEFFICIENTS: dict[float, dict[str, MeanSD]] = {
    0.01: {
        "log_E": MeanSD(0.4655, 0.0309),
        "log_A": MeanSD(6.833, 0.332),
        "alpha": MeanSD(-0.1559, 0.0087),
    },
    0.05: {
        "log_E": MeanSD(0.4536, 0.0054),
        "log_A": MeanSD(6.686, 0.024),
        "alpha": MeanSD(-0.1521, 0.0007),
    },
    0.10: {
        "log_E": MeanSD(0.4502, 0.0014),
        "log_A": MeanSD(6.674, 0.006),
        "alpha": MeanSD(-0.1517, 0.0001),
    },
    0.25: {
        "log_E": MeanSD(0.4502, 0.0014),
        "log_A": MeanSD(6.674, 0.006),
        "alpha": MeanSD(-0.1517, 0.0001),
    },
    0.50: {
        "log_E": MeanSD(0.4502, 0.0014),
        "log_A": MeanSD(6.674, 0.006),
        "alpha": MeanSD(-0.1517, 0.0001),
    },
    1.00: {"log_E": MeanSD(0.4499), "log_A": MeanSD(6.679), "alpha": MeanSD(-0.1518)},
}

# (method, method) → how many times less the first spends
SPEEDUPS = {
    ("Window + fantasized", "Full + fantasized"): 10.0,
    ("Window + fantasized", "Full + observed"): 100.0,
}

PITCH_POINTS = 14  # on the frontier of its first figure, whose study it does not name

# What its text says of a figure, by the figure's name; a study's twin has the study's.
FINDINGS = {
    "datasets-porian-hp": "the window improves the recovery",
    "datasets-steplaw": "the envelope is recovered particularly poorly, which it suspects is the "
    "doing of many poor hyperparameters",
    "datasets-warmstart": "the window improves the recovery",
    "datasets-oellm-multilingual": "the window improves the recovery",
    "surrogates-none": "random search gains by the window and reaches comparable coefficients, "
    "but misses most of the envelope",
    "surrogates-xgboost": "the window improves on the whole pool, and the envelope is recovered "
    "faster than by random search",
    "surrogates-tabpfn": "the window improves on the whole pool, and the envelope is recovered "
    "faster than by random search",
    "kernels": "the linear kernel often has the least regrets but is typically worse otherwise; "
    "the grouped one does not do well on any metric",
    "acquisitions": "LCB does slightly better than EI and PI",
    "lnd-oellm-english": "the window substantially speeds up the recovery of α, β and E, and "
    "fantasies help the envelope early",
    "lnd-porian-hp": "the improvement by the window is among the clearest",
    "lnd-steplaw": "little separates the methods, and little of the envelope is found before the "
    "grid is nearly exhausted",
    "lnd-warmstart": "the improvement by the window is among the clearest",
    "lnd-oellm-multilingual": "the improvement by the window is among the clearest",
}
