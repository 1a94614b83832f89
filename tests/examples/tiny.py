"""What the tests of tinylm share: a corpus of a random walk, and plans that train in a blink."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from data import Corpus, load_corpus
from tinylm import Size
from trunk import Plan, Row, Trunk

VOCABULARY = 64
CONTEXT = 32


def write_corpus(folder: Path, n_train: int = 60_000) -> Path:
    """A corpus on disk; each token is 0, 1 or 2 above the last, so the best loss is ln 3."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.integers(0, 3, n_train + 16 * CONTEXT + 1)) % VOCABULARY
    folder.mkdir(parents=True, exist_ok=True)
    pieces = {"train": walk[:n_train], "heldout": walk[n_train:]}
    for name, tokens in pieces.items():
        np.save(folder / f"{name}.npy", tokens.astype(np.uint16))
    meta = {
        "vocabulary": VOCABULARY,
        "tokens": {name: len(tokens) for name, tokens in pieces.items()},
        "sha256": {name: f"of {name}" for name in pieces},
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def small_corpus(folder: Path) -> Corpus:
    return load_corpus(write_corpus(folder), torch.device("cpu"))


def small_size(depth: int = 1) -> Size:
    return Size(16, depth, VOCABULARY, CONTEXT)


def small_plan(
    *, batch: int = 4, lrs: tuple[float, ...] = (0.003, 0.03), budgets: tuple[int, ...] = (4096,)
) -> Plan:
    return Plan(small_size(), batch, 0, lrs, budgets)


def rows_of(trunk: Trunk) -> list[Row]:
    """All rows of a trunk, trained to its end."""
    return [row for rows in trunk.run() if rows is not None for row in rows]
