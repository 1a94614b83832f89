"""Small tables of a known law: with and without hyperparameters, with one scale, with few runs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from lawsmith.datasets import ReadOptions, Study, study_from_frame

TRUTH = {"E": 1.69, "A": 406.4, "alpha": 0.34, "B": 410.7, "beta": 0.28}
BEST_LR = 2e-3
LARGEST = 6 * 6.4e8 * 6.4e10  # FLOPs of the largest run of `sweep`


def law(N, D):
    """Chinchilla's law."""
    return TRUTH["E"] + TRUTH["A"] * N ** -TRUTH["alpha"] + TRUTH["B"] * D ** -TRUTH["beta"]


def best_loss(C: float) -> float:
    """The least loss of the law at a compute, by a fine search."""
    N = np.exp(np.linspace(14.0, 32.0, 6000))
    return float(law(N, C / (6 * N)).min())


def sweep(n_d: int = 4, *, noise: float = 0.001, seed: int = 0) -> pd.DataFrame:
    """4 N × ``n_d`` D × 5 learning rates around a best one that falls with N."""
    rng = np.random.default_rng(seed)
    sizes, tokens = 1e7 * 4.0 ** np.arange(4), np.geomspace(1e9, 6.4e10, n_d)
    rates = BEST_LR * 2.0 ** np.arange(-2, 3)
    table = pd.DataFrame(list(product(sizes, tokens, rates)), columns=["N", "D", "lr"])
    off = np.log(table.lr / (BEST_LR * (table.N / 1e8) ** -0.1))
    scatter = noise * rng.standard_normal(len(table))
    return table.assign(loss=law(table.N, table.D) * np.exp(0.02 * off**2 + scatter))


def few(n: int, *, seed: int = 0, noise: float = 0.003) -> pd.DataFrame:
    """``n`` runs anywhere, without hyperparameters."""
    rng = np.random.default_rng(seed)
    N = np.exp(rng.uniform(np.log(1e7), np.log(1e9), n))
    D = N * np.exp(rng.uniform(1.5, 5.0, n))
    return pd.DataFrame({"N": N, "D": D, "loss": law(N, D) * np.exp(noise * rng.normal(size=n))})


def kinds() -> dict[str, pd.DataFrame]:
    """Tables of every kind that a study may be, none of more than 100 runs."""
    plain = few(40, seed=1)
    C = 6 * plain.N * plain.D
    tried = sweep(3)
    worse = {"adamw": 1.0, "sgd": 1.03}
    optimizer = np.where(np.arange(len(tried)) % 2 == 0, "adamw", "sgd")
    ratio = few(14, seed=3).assign(D=lambda t: 20 * t.N)
    return {
        "N and D": plain,
        "compute alone": pd.DataFrame({"C": C, "loss": plain.loss}),
        "N alone": pd.DataFrame({"N": plain.N, "loss": law(plain.N, 1e12)}),
        "D alone": pd.DataFrame({"D": plain.D, "loss": law(1e12, plain.D)}),
        "hyperparameter": tried,
        "category": tried.assign(
            optimizer=optimizer, loss=tried.loss * [worse[name] for name in optimizer]
        ),
        "one D for each N": ratio.assign(loss=law(ratio.N, ratio.D)),
        "without noise": few(30, seed=4, noise=0.0),
        "much noise": few(30, seed=5, noise=0.05),
        **{f"{n} runs": few(n, seed=n) for n in (4, 5, 6, 8, 12)},
    }


def study(table: pd.DataFrame, name: str = "made") -> Study:
    """A table as a study."""
    named = {"optimizer": "optimizer"} if "optimizer" in table else {}
    return study_from_frame(table, ReadOptions(columns=named), name=name)
