"""Bring the numbers of docs/tinylm-wsd.md up to the bundled tables (seconds).

python examples/tinylm/bundle.py --grid wsd && python docs/tinylm_wsd.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from tinylm import power, rows, with_blocks
from tinylm_numbers import rms

from lawsmith.datasets import entry, locate, read_frame
from lawsmith.datasets.fetch import locate_file
from lawsmith.formats import count, flops

PAGE = Path(__file__).parent / "tinylm-wsd.md"


def bundled() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs, each with its gain in log loss and its distance from the best rate, and the curves.

    A step is a factor of two of the learning rate, from the best of the same N and D.
    """
    known = entry("tinylm-wsd")
    source = known.variant("").curves
    assert source is not None
    curves = read_frame(locate_file(known, source, None))
    runs = read_frame(*locate(known))
    by_run = {run: part for run, part in curves.groupby("run")}
    on_trunk = [
        np.interp(np.log(at), np.log(by_run[run]["D"]), np.log(by_run[run]["loss"]))
        for run, at in zip(runs["parent"], runs["branch_at"], strict=True)
    ]
    means = runs.groupby(["N", "D", "lr"], as_index=False)["loss"].mean()
    best = means.loc[means.groupby(["N", "D"])["loss"].idxmin()].set_index(["N", "D"])["lr"]
    steps = np.log2(runs["lr"] / runs.join(best.rename("best"), on=["N", "D"])["best"]).round()
    return runs.assign(gain=np.array(on_trunk) - np.log(runs["loss"]), steps=steps), curves


def grid(runs: pd.DataFrame, curves: pd.DataFrame) -> str:
    decays = 6.0 * float((runs["N"] * (runs["D"] - runs["branch_at"])).sum())
    last = runs.sort_values("branch_at").groupby("parent").last()
    paid = decays + 6.0 * float((last["N"] * last["branch_at"]).sum())
    return (
        f"{len(runs)} runs (decays) of {runs['parent'].nunique()} trunks, {len(curves):,} losses "
        f"along them. Each run by itself would cost 6ND, {flops(float(runs['C'].sum()))} FLOPs "
        f"together; trunks and decays took {flops(paid)}. Losses from {runs['loss'].min():.3f} to "
        f"{runs['loss'].max():.3f}; {int(runs['loss'].isna().sum()) or 'no run'} diverged."
    )


def best(runs: pd.DataFrame, curves: pd.DataFrame) -> str:
    means = runs.groupby(["N", "D", "lr"], as_index=False)["loss"].mean()
    found = means.loc[means.groupby(["N", "D"])["loss"].idxmin()]
    losses, rates = (found.pivot(index="N", columns="D", values=c) for c in ("loss", "lr"))
    body = [
        [count(N), *(f"{losses.loc[N, D]:.3f} at {power(rates.loc[N, D])}" for D in losses.columns)]
        for N in losses.index
    ]
    return rows(["N \\ D", *map(power, losses.columns)], body)


def gains(runs: pd.DataFrame, curves: pd.DataFrame) -> str:
    """By distance from the best rate, and D."""
    steps = runs[runs["steps"].abs() <= 2]
    table = 100.0 * steps.pivot_table(index="steps", columns="D", values="gain", aggfunc="median")
    named = ("4 times less", "2 times less", "the best", "2 times more", "4 times more")
    body = [
        [name, *(f"{v:.1f} %" for v in row)]
        for name, row in zip(named, table.to_numpy(), strict=True)
    ]
    return rows(["learning rate \\ D", *map(power, table.columns)], body)


def noise(runs: pd.DataFrame, curves: pd.DataFrame) -> str:
    """Between the two seeds, of one run, by D."""
    pairs = runs[runs["steps"].abs() <= 1].pivot_table(
        index=["N", "D", "lr"], columns="seed", values=["loss", "gain"]
    )
    pairs = pairs.dropna()
    parts = {
        "loss": np.log(pairs["loss"][1] / pairs["loss"][0]) / np.sqrt(2),
        "gain": (pairs["gain"][1] - pairs["gain"][0]) / np.sqrt(2),
    }
    body = []
    for D, at in pairs.groupby("D"):
        cells = (parts[name].loc[at.index] for name in ("loss", "gain"))
        shown = [f"{100 * v.abs().median() / 0.6745:.1f} %, {100 * rms(v):.1f} %" for v in cells]
        body.append([power(D), str(len(at)), *shown])
    return rows(["D", "pairs", "SD of log loss: by the median, rms", "SD of the gain"], body)


BLOCKS: dict[str, Callable[[pd.DataFrame, pd.DataFrame], str]] = {
    "grid": grid,
    "best": best,
    "gains": gains,
    "noise": noise,
}


def made(text: str) -> str:
    """The page with its numbers as the tables have them."""
    tables = bundled()
    return with_blocks(text, {name: block(*tables) for name, block in BLOCKS.items()})


if __name__ == "__main__":
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    page.write_text(made(page.read_text(encoding="utf-8")), encoding="utf-8")
