"""A member's closed-form posterior beside a long Markov chain over all of its parameters.

    python benchmarks/surface_mcmc.py chinchilla kempner-fineweb_100b

A member linearises its trend and fixes lengthscales and noise at their most probable values. The
chain (affine-invariant stretch moves, Goodman and Weare 2010) does neither. Printed: mean and SD of
log loss, in per cent about the member's mean, at the held-out frontier cells.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from holdout import split, tables

from lawsmith.surface import fit_surface
from lawsmith.surface.fit_member import log_likelihood_of_replicates
from lawsmith.surface.member import Member
from lawsmith.surface.process import cholesky, row_noise, solve

WALKERS = 48


class Chain:
    """The exact posterior of (z, eta) of a member, weights of rows as fitted."""

    def __init__(self, member: Member) -> None:
        self.m = member
        self.p = member.trend.p
        self.e = member.rows.e

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """theta, eta, lower factor of the covariance about the trend, and y minus the trend."""
        m = self.m
        theta, eta = m.trend.mean + m.trend.sd * x[: self.p], x[self.p :]
        points = m.data.points
        K = m.kernel.cross(eta, points, points, self.e, self.e)
        K[np.diag_indices_from(K)] += row_noise(m.kernel, eta, m.data, m.w) + m.data.extra
        return theta, eta, cholesky(K), m.data.y - m.trend.value_and_jac(theta, points)[0]

    def log_density(self, x: np.ndarray) -> float:
        m = self.m
        low, high = np.array(m.kernel.bounds()).T
        eta = x[self.p :]
        if (np.abs(x[: self.p]) > 6).any() or (eta < low).any() or (eta > high).any():
            return -np.inf
        _, _, L, r = self.parts(x)
        white = np.linalg.solve(L, r)
        z = (eta - m.kernel.mean) / m.kernel.sd
        prior = -0.5 * float(x[: self.p] @ x[: self.p] + z @ z)
        density = -0.5 * float(white @ white) - float(np.log(np.diag(L)).sum())
        return density + prior + log_likelihood_of_replicates(m.kernel, m.data, eta)[0]

    def predict(self, x: np.ndarray, at) -> tuple[np.ndarray, np.ndarray]:
        m = self.m
        theta, eta, L, r = self.parts(x)
        e = m.linearised(at).e
        cross = m.kernel.cross(eta, at, m.data.points, e, self.e)
        mean = m.trend.value_and_jac(theta, at)[0] + cross @ solve(L, r)
        V = np.linalg.solve(L, cross.T)
        prior = np.diag(m.kernel.cross(eta, at, at, e, e))
        return mean, np.maximum(prior - (V**2).sum(axis=0), 0.0)


def sample(chain: Chain, steps: int, rng: np.random.Generator) -> np.ndarray:
    """(draws, p + l) after the first half is dropped."""
    m = chain.m
    start = np.concatenate([(m.theta - m.trend.mean) / m.trend.sd, m.eta])
    low, high = np.array(m.kernel.bounds()).T
    X = start + 0.05 * rng.standard_normal((WALKERS, len(start)))
    X[:, chain.p :] = np.clip(X[:, chain.p :], low + 1e-6, high - 1e-6)
    value = np.array([chain.log_density(x) for x in X])
    kept, accepted = [], 0
    half = WALKERS // 2
    for step in range(steps):
        for first in (True, False):
            own = np.arange(half) + (0 if first else half)
            others = np.arange(half) + (half if first else 0)
            for i in own:
                other = X[rng.choice(others)]
                z = (1.0 + rng.random()) ** 2 / 2.0  # stretch with a = 2
                trial = other + z * (X[i] - other)
                after = chain.log_density(trial)
                if np.log(rng.random()) < (len(start) - 1) * np.log(z) + after - value[i]:
                    X[i], value[i] = trial, after
                    accepted += 1
        if step >= steps // 2 and step % 10 == 0:
            kept.append(X.copy())
    print(f"  accepted {accepted / (steps * WALKERS):.0%}")
    return np.concatenate(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--cut", type=float, default=3.0)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--members", nargs="*", default=["early+joined/10", "early+iso/10"])
    options = parser.parse_args()
    for name in options.tables:
        study = tables()[name].load()
        parts = split(study, options.cut)
        assert parts is not None
        surface = fit_surface(parts.pool.grid, parts.pool.runs)
        cells = parts.cells[parts.frontier][:4]
        scales = {k: study.grid.numbers(k)[cells] for k in surface.scale_names}
        for member in surface.members:
            if member.name not in options.members:
                continue
            begin = time.perf_counter()
            at = surface.best_hp(member, scales, {})
            mean, cov = member.mean_and_cov(at)
            chain = Chain(member)
            draws = sample(chain, options.steps, np.random.default_rng(0))
            found = [chain.predict(x, at) for x in draws]
            means, variances = (np.array(v) for v in zip(*found, strict=True))
            sd = np.sqrt(variances.mean(axis=0) + means.var(axis=0))
            off = 100 * (means.mean(axis=0) - mean)
            print(
                f"{name} {member.name}, {len(member.data)} rows, "
                f"{time.perf_counter() - begin:.0f} s"
            )
            print("  chain's mean − member's, %:", np.round(off, 2))
            print("  SD of the member, %:       ", np.round(100 * np.sqrt(np.diag(cov)), 2))
            print("  SD of the chain, %:        ", np.round(100 * sd, 2), flush=True)


if __name__ == "__main__":
    main()
