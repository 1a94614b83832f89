"""The corpus: text of the Linux kernel from Debian's package, packed small, then made into tokens.

Two steps, so that only the packed text (about 55 MB) need travel to the machine that trains:

    pack    archive ─▶ text-0.xz … text-3.xz, vocabulary.json     (minutes)
    encode  packed  ─▶ train.npy, heldout.npy, meta.json          (seconds on many cores)

Kept are C sources, headers, assembler and documentation of every top folder but drivers, without
files over 400 kB. Documents are shuffled with a fixed seed when they are encoded, each followed by
one end token. The first 2^20 tokens (and one more, the last target) are held out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import multiprocessing
import os
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from errors import TinylmError, run_command

SUFFIXES = (".c", ".h", ".S", ".rst", ".txt")
LEFT_OUT = "drivers"
LARGEST_FILE = 400_000
VOCABULARY = 1024
HELD_OUT = 2**20
PARTS = 4
SAMPLE_EVERY = 12  # the vocabulary is trained on every twelfth document: 25 MB are enough
SHUFFLE_SEED = 61
BETWEEN = "\0"  # no source file has one
END = "<|end|>"


def wanted(path: str, size: int) -> bool:
    """Whether a file of the archive, named with its leading folder, belongs to the corpus."""
    parts = PurePosixPath(path).parts[1:]
    return (
        len(parts) > 1
        and parts[0] != LEFT_OUT
        and parts[-1].endswith(SUFFIXES)
        and 0 < size <= LARGEST_FILE
    )


def documents(archive: Path) -> Iterator[str]:
    """The corpus' documents in the archive's order; files that are not UTF-8 are left out."""
    if not archive.is_file():
        raise TinylmError(f"no archive at {archive}; see README.md for the package to install")
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is None or not wanted(member.name, member.size):
                continue
            try:
                text = file.read().decode()
            except UnicodeDecodeError:
                continue
            if BETWEEN not in text:
                yield text


def train_vocabulary(texts: Sequence[str], size: int) -> Any:
    """A byte-level byte-pair vocabulary of ``size`` tokens; token 0 ends a document."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _compress(text: str) -> bytes:
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


def pack(archive: Path, folder: Path, *, vocabulary: int = VOCABULARY) -> None:
    """Write the packed text and the vocabulary of an archive into ``folder``."""
    texts = list(documents(archive))
    if not texts:
        raise TinylmError(f"{archive}: no C source or documentation in it")
    folder.mkdir(parents=True, exist_ok=True)
    train_vocabulary(texts[::SAMPLE_EVERY], vocabulary).save(str(folder / "vocabulary.json"))
    each = -(-len(texts) // PARTS)
    parts = [BETWEEN.join(texts[i * each : (i + 1) * each]) for i in range(PARTS)]
    with multiprocessing.Pool(min(PARTS, os.cpu_count() or 1)) as pool:
        for i, packed in enumerate(pool.imap(_compress, parts)):
            (folder / f"text-{i}.xz").write_bytes(packed)


def _unpack(path: Path) -> list[str]:
    text = lzma.decompress(path.read_bytes()).decode()
    return text.split(BETWEEN) if text else []


def _encode(job: tuple[str, list[str]]) -> list[np.ndarray]:
    """The tokens of some documents, uint16, an end token after each."""
    from tokenizers import Tokenizer

    vocabulary, texts = job
    tokenizer = Tokenizer.from_file(vocabulary)
    end = tokenizer.token_to_id(END)
    return [np.array([*tokenizer.encode(text).ids, end], dtype=np.uint16) for text in texts]


def encode(packed: Path, out: Path, *, held_out: int = HELD_OUT) -> dict[str, Any]:
    """Make the tokens of a packed corpus: train.npy, heldout.npy, and meta.json, which it returns.

    The order of documents is a function of SHUFFLE_SEED alone, whatever the number of processes.
    """
    parts = sorted(packed.glob("text-*.xz"))
    vocabulary = packed / "vocabulary.json"
    if not parts or not vocabulary.is_file():
        raise TinylmError(f"no packed corpus in {packed}; make it with `corpus.py pack`")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one process per core instead of threads
    with multiprocessing.Pool(os.cpu_count()) as pool:
        texts = [text for part in pool.map(_unpack, parts) for text in part]
        order = np.random.default_rng(SHUFFLE_SEED).permutation(len(texts))
        jobs = [
            (str(vocabulary), [texts[i] for i in order[at : at + 200]])
            for at in range(0, len(texts), 200)
        ]
        tokens = np.concatenate([t for part in pool.imap(_encode, jobs) for t in part])
    if len(tokens) < 2 * held_out + 2:
        raise TinylmError(f"{packed}: {len(tokens)} tokens are too few to hold out {held_out}")
    size = len(json.loads(vocabulary.read_text())["model"]["vocab"])
    n_bytes = sum(len(text.encode()) for text in texts)
    return _write(tokens, out, held_out, {"vocabulary": size, "bytes": n_bytes})


def _write(tokens: np.ndarray, out: Path, held_out: int, facts: dict[str, Any]) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    pieces = {"heldout": tokens[: held_out + 1], "train": tokens[held_out + 1 :]}
    for name, piece in pieces.items():
        np.save(out / f"{name}.npy", piece)
    meta = {
        **facts,
        "tokens": {name: len(piece) for name, piece in pieces.items()},
        "sha256": {name: hashlib.sha256(p.tobytes()).hexdigest() for name, p in pieces.items()},
    }
    (out / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")
    return meta


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    for name, source in (("pack", "the package's tar.xz"), ("encode", "folder of the packed text")):
        step = steps.add_parser(name)
        step.add_argument("source", type=Path, help=source)
        step.add_argument("out", type=Path, help="folder to write into")
    args = parser.parse_args()
    if args.step == "pack":
        pack(args.source, args.out)
        size = sum(path.stat().st_size for path in args.out.iterdir())
        print(f"packed into {size / 1e6:.1f} MB at {args.out}", file=sys.stderr)
    else:
        print(json.dumps(encode(args.source, args.out), indent=1))


if __name__ == "__main__":
    run_command(_main)
