"""What public studies are like: a prior for the next one. Made by a script; do not edit.

    python benchmarks/learn_prior.py --out learning.json --write src/lawsmith/surface/public.py

From 14 studies, named below.
Centres (medians of positive numbers) and SDs (of the logs of those) over studies, wider where few
studies tell of a number: `benchmarks/population.py`. Shares are those at 1e20 FLOPs. FAMILY is how
much studies of one family share (corpora of Gadre and of Kempner): the correlation of shares of the
loss, and of all other numbers.
"""

from __future__ import annotations

from lawsmith.surface.prior import Number, Prior

FAMILY = {"shares": 0.65, "others": 0.60}

PUBLIC = Prior(
    {
        "E": Number(0.6843, 0.196),  # 10
        "E_C": Number(0.5836, 0.187),  # 11
        "E_1": Number(0.6084, 0.188),  # 14
        "term_N": Number(0.2381, 0.347),  # 10
        "term_D": Number(0.2336, 0.302),  # 10
        "term_C": Number(0.4431, 0.292),  # 11
        "term_1": Number(0.406, 0.33),  # 14
        "exponent_N": Number(0.3279, 0.203),  # 10
        "exponent_D": Number(0.2871, 0.22),  # 10
        "exponent_C": Number(0.1109, 0.195),  # 11
        "exponent_1": Number(0.2888, 0.321),  # 13
        "joint": Number(0.5282, 0.22),  # 10
        "curve": Number(0.02854, 0.418),  # 10
        "ratio": Number(0, 1.5, log=False),  # 10
        "ratio_drift": Number(0.03304, 0.0597, log=False),  # 10
        "curve_drift": Number(-0.08029, 0.0567, log=False),  # 10
        "early": Number(0.001054, 0.991),  # 14
        "early_rate": Number(0.5417, 0.194),  # 14
        "bowl.height": Number(0.007728, 0.812),  # 7
        "bowl.centre": Number(0.2839, 0.466, log=False),  # 7
        "bowl.drift_N": Number(-0.2667, 0.307, log=False),  # 6
        "bowl.drift_D": Number(0.2029, 0.4, log=False),  # 3
        "bowl.drift_C": Number(0.05545, 0.4, log=False),  # 1
        "bowl.fade_N": Number(0.06537, 0.0952, log=False),  # 6
        "bowl.fade_D": Number(-0.1381, 0.125, log=False),  # 3
        "bowl.fade_C": Number(-0.1035, 0.15, log=False),  # 1
        "effect": Number(0, 0.05, log=False),  # 1
        "scale_length": Number(2.457, 0.574),  # 14
        "hp_length": Number(1.524, 0.402),  # 7
        "bowl_misfit": Number(0.2323, 0.55),  # 7
        "residual": Number(0.009885, 0.696),  # 14
        "residual_slope": Number(0.161, 0.0492, log=False),  # 14
        "noise": Number(0.001908, 1),  # 14
        "noise_slope": Number(0.102, 0.12, log=False),  # 13
        "lr.height": Number(0.009261, 0.995),  # 4
        "lr.centre": Number(-0.0598, 0.21, log=False),  # 4
        "lr.drift_N": Number(-0.5803, 0.212, log=False),  # 3
        "lr.drift_D": Number(-0.03497, 0.239, log=False),  # 3
        "lr.fade_N": Number(0.08041, 0.106, log=False),  # 3
        "lr.fade_D": Number(-0.1097, 0.12, log=False),  # 3
        "batch.height": Number(0.009968, 0.735),  # 4
        "batch.centre": Number(0.1725, 0.218, log=False),  # 4
        "batch.drift_N": Number(-0.1327, 0.222, log=False),  # 3
        "batch.drift_D": Number(0.472, 0.274, log=False),  # 3
        "batch.fade_N": Number(0.05302, 0.127, log=False),  # 3
        "batch.fade_D": Number(-0.169, 0.119, log=False),  # 3
        "batch.drift_C": Number(0.2983, 0.4, log=False),  # 1
        "batch.fade_C": Number(-0.07228, 0.15, log=False),  # 1
        "lr.drift_C": Number(-0.1736, 0.4, log=False),  # 1
        "lr.fade_C": Number(-0.1386, 0.15, log=False),  # 1
    },
    public=(
        "oellm-english",
        "steplaw",
        "porian-hp",
        "chinchilla",
        "gadre",
        "kempner",
        "gemstones",
        "marin",
        "farseer",
        "moe",
        "data_constrained",
        "tinylm",
        "parallel",
        "sparsity",
    ),
)
