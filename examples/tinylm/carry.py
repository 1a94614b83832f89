"""The part of an encoded corpus that a grid reads, packed small enough to send to another machine.

    python carry.py pack corpus packed --grid wsd      # some minutes
    python carry.py unpack packed corpus               # seconds; there, without any tokenizer

A run reads windows of the training tokens in an order that its seed fixes, so a grid of known seeds
and budgets reads known windows. The others are left out, and are zeros when they are unpacked. A
budget or a seed beyond the grid's would read them: `unpack` therefore belongs to its grid alone.
"""

from __future__ import annotations

import argparse
import json
import lzma
import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from data import load_corpus, window_order
from errors import TinylmError, run_command
from plans import GRIDS
from trunk import Plan

PARTS = 4
# Tokens are pairs of bytes; windows that belong together may lie far apart.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**26, "lc": 3, "lp": 1, "pb": 1}]


def read_windows_of(plans: Sequence[Plan], corpus_folder: Path) -> np.ndarray:
    """Which windows (windows,) of the training tokens some run of the plans reads."""
    corpus = load_corpus(corpus_folder, torch.device("cpu"))
    (context,) = {plan.size.context for plan in plans}
    read = np.zeros((len(corpus.train) - 1) // context, dtype=np.bool_)
    for seed in {plan.seed for plan in plans}:
        longest = max(max(plan.budgets) for plan in plans if plan.seed == seed)
        read[window_order(corpus, context, seed)[: longest // context].numpy()] = True
    return read


def kept_tokens(read: np.ndarray, context: int, n_tokens: int) -> np.ndarray:
    """Which tokens (n_tokens,) those windows have, the last target of each among them."""
    kept = np.zeros(n_tokens, dtype=np.bool_)
    inside = np.repeat(read, context)
    kept[: len(inside)] = inside
    kept[np.flatnonzero(read) * context + context] = True
    return kept


def _compress(tokens: np.ndarray) -> bytes:
    return lzma.compress(tokens.tobytes(), filters=FILTERS)


def pack(corpus: Path, packed: Path, plans: Sequence[Plan]) -> None:
    """Write what the plans read of ``corpus`` into ``packed``."""
    context = plans[0].size.context
    read = read_windows_of(plans, corpus)
    train, heldout = (np.load(corpus / f"{name}.npy") for name in ("train", "heldout"))
    meta = json.loads((corpus / "meta.json").read_text())
    packed.mkdir(parents=True, exist_ok=True)
    tokens = train[kept_tokens(read, context, len(train))]
    pieces = [*np.array_split(tokens, PARTS), heldout]
    with multiprocessing.Pool(min(PARTS, os.cpu_count() or 1)) as pool:
        for i, piece in enumerate(pool.imap(_compress, pieces)):
            (packed / f"tokens-{i:02d}.xz").write_bytes(piece)
    np.save(packed / "windows.npy", np.packbits(read))
    (packed / "meta.json").write_text(json.dumps(meta | {"context": context}, indent=1) + "\n")


def _tokens(path: Path) -> np.ndarray:
    return np.frombuffer(lzma.decompress(path.read_bytes()), dtype=np.uint16)


def unpack(packed: Path, corpus: Path) -> None:
    """Write the corpus that ``pack`` took from, zeros where no run of the plans reads."""
    if not (packed / "windows.npy").is_file():
        raise TinylmError(f"no packed tokens in {packed}; make them with `carry.py pack`")
    meta = json.loads((packed / "meta.json").read_text())
    n_tokens, context = meta["tokens"]["train"], meta["context"]
    with multiprocessing.Pool(min(PARTS, os.cpu_count() or 1)) as pool:
        *pieces, heldout = pool.map(_tokens, sorted(packed.glob("tokens-*.xz")))
    n_windows = (n_tokens - 1) // context
    read = np.unpackbits(np.load(packed / "windows.npy"), count=n_windows).astype(np.bool_)
    train = np.zeros(n_tokens, dtype=np.uint16)
    train[kept_tokens(read, context, n_tokens)] = np.concatenate(pieces)
    corpus.mkdir(parents=True, exist_ok=True)
    for name, tokens in (("train", train), ("heldout", heldout)):
        np.save(corpus / f"{name}.npy", tokens)
    (corpus / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("pack", "unpack"))
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--grid", choices=GRIDS, default="wsd", help="what will be trained")
    parser.add_argument("--seeds", type=int, nargs="+", help="of the grid; all without it")
    args = parser.parse_args()
    if args.step == "pack":
        plans = [p for p in GRIDS[args.grid]() if not args.seeds or p.seed in args.seeds]
        if not plans:
            raise TinylmError(f"--seeds: the grid {args.grid} has none of them")
        pack(args.source, args.out, plans)
    else:
        unpack(args.source, args.out)


if __name__ == "__main__":
    run_command(_main)
