"""Tokens in a fixed order: sequence k of a run depends on the seed and k alone.

The training tokens are cut into windows of ``context`` tokens, and a run reads windows in an order
drawn from its seed: step k of a run with B sequences reads windows k·B to (k+1)·B of that order.
So learning rate, size and batch do not change what is read, runs of one seed share their data, and
no token is read twice, because a budget larger than all windows is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from errors import TinylmError


@dataclass(frozen=True)
class Corpus:
    """Training and held-out tokens, int16, on the device that trains."""

    train: torch.Tensor
    heldout: torch.Tensor
    vocabulary: int
    checksum: str

    @property
    def device(self) -> torch.device:
        return self.train.device


def load_corpus(folder: Path, device: torch.device) -> Corpus:
    """The corpus that corpus.py wrote into ``folder``."""
    if not (folder / "meta.json").is_file():
        raise TinylmError(f"no corpus in {folder}; make it with corpus.py (see README.md)")
    meta = json.loads((folder / "meta.json").read_text())
    pieces = {}
    for name, length in meta["tokens"].items():
        tokens = np.load(folder / f"{name}.npy")
        if len(tokens) != length:
            raise TinylmError(f"{folder}/{name}.npy: got {len(tokens)} tokens, want {length}")
        pieces[name] = torch.from_numpy(tokens.astype(np.int16)).to(device)
    return Corpus(pieces["train"], pieces["heldout"], meta["vocabulary"], meta["sha256"]["train"])


def pick_device(name: str) -> torch.device:
    """'cpu', 'cuda', or 'auto' for a GPU where there is one."""
    if name == "cuda" and not torch.cuda.is_available():
        raise TinylmError("--device cuda: no GPU here; use --device cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def window_order(corpus: Corpus, context: int, seed: int) -> torch.Tensor:
    """The order (windows,) in which a run of this seed reads the training windows."""
    n_windows = (len(corpus.train) - 1) // context
    order = np.random.default_rng([seed, 1]).permutation(n_windows)
    return torch.from_numpy(order).to(corpus.device)


def read_windows(tokens: torch.Tensor, windows: torch.Tensor, context: int) -> torch.Tensor:
    """The windows' tokens (B, context + 1), int64: inputs and, one further on, targets."""
    within = torch.arange(context + 1, device=tokens.device)
    return tokens[windows[:, None] * context + within].long()
