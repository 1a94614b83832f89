"""Numbers of the paper that ours stand beside: its tables, transcribed.

"Amortizing Scaling Law Construction Costs", tables 1 (extrapolation) and 5 (coefficients), the
speed-ups of section 4. Its coefficients are logs: E is ln E and A is ln A, C in FLOPs.
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
