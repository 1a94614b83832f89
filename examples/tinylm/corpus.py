"""The corpus: text made into tokens, of which some are held out.

The text of the Linux kernel, from Debian's package, takes two steps, so that only the packed text
(about 50 MB) need travel to the machine that trains. A folder of sources, small enough to train on
where it lies, takes one:

    pack    archive ─▶ text-0.xz … text-3.xz, vocabulary.json              (minutes)
    encode  packed  ─▶ train.npy, heldout.npy, meta.json                   (seconds on many cores)
    make    folder  ─▶ train.npy, heldout.npy, meta.json, vocabulary.json  (seconds)

sources.py says which files are documents. They are shuffled with a fixed seed when they are
encoded, each followed by one end token. The first tokens (2^20 of the kernel, 2^16 of a folder, and
one more, the last target) are held out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import multiprocessing
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from errors import TinylmError, run_command
from sources import BETWEEN, archive_documents, folder_documents, standard_library

VOCABULARY = 1024
HELD_OUT = 2**20
FOLDER_VOCABULARY = 512
FOLDER_HELD_OUT = 2**16
PARTS = 4
SAMPLE_EVERY = 12  # the vocabulary is trained on every twelfth document: 25 MB are enough
SHUFFLE_SEED = 61
DOCUMENTS_AT_ONCE = 100
END = "<|end|>"


def train_vocabulary(texts: Sequence[str], size: int) -> Any:
    """A byte-level byte-pair vocabulary of ``size`` tokens; token 0 ends a document."""
    _need_tokenizers()
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


def _need_tokenizers() -> None:
    if find_spec("tokenizers") is None:
        raise TinylmError('tokenizers is not installed here; pip install "lawsmith[lm]" brings it')


def _compress(text: str) -> bytes:
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


def pack(archive: Path, folder: Path, *, vocabulary: int = VOCABULARY) -> None:
    """Write the packed text and the vocabulary of an archive into ``folder``."""
    texts = list(archive_documents(archive))
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
    """Make the tokens of a packed corpus; returns what meta.json says of them."""
    parts = sorted(packed.glob("text-*.xz"))
    vocabulary = packed / "vocabulary.json"
    if not parts or not vocabulary.is_file():
        raise TinylmError(f"no packed corpus in {packed}; make it with `corpus.py pack`")
    with multiprocessing.Pool(min(PARTS, os.cpu_count() or 1)) as pool:
        texts = [text for part in pool.map(_unpack, parts) for text in part]
    return _tokenise(texts, vocabulary, out, held_out)


def make(
    folder: Path,
    out: Path,
    *,
    suffixes: Sequence[str] = (".py",),
    vocabulary: int = FOLDER_VOCABULARY,
    held_out: int = FOLDER_HELD_OUT,
) -> dict[str, Any]:
    """Make vocabulary and tokens of a folder's documents; returns what meta.json says of them."""
    texts = list(folder_documents(folder, suffixes))
    if not texts:
        raise TinylmError(f"{folder}: no {' or '.join(suffixes)} file in it")
    out.mkdir(parents=True, exist_ok=True)
    train_vocabulary(texts, vocabulary).save(str(out / "vocabulary.json"))
    return _tokenise(texts, out / "vocabulary.json", out, held_out)


def _tokenise(texts: Sequence[str], vocabulary: Path, out: Path, held_out: int) -> dict[str, Any]:
    """Shuffle, encode and write documents.

    Their order is a function of SHUFFLE_SEED alone, whatever the number of processes.
    """
    _need_tokenizers()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one process per core instead of threads
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(texts))
    jobs = [
        (str(vocabulary), [texts[i] for i in order[at : at + DOCUMENTS_AT_ONCE]])
        for at in range(0, len(texts), DOCUMENTS_AT_ONCE)
    ]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        tokens = np.concatenate([t for part in pool.imap(_encode, jobs) for t in part])
    if len(tokens) < 2 * held_out + 2:
        raise TinylmError(f"{len(tokens)} tokens are too few to hold out {held_out}")
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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    sources = {
        "pack": "the package's tar.xz",
        "encode": "folder of the packed text",
        "make": "a folder of sources, or stdlib: those of this Python's own library",
    }
    for name, source in sources.items():
        step = steps.add_parser(name)
        step.add_argument("source", type=Path, help=source)
        step.add_argument("out", type=Path, help="folder to write into")
    step.add_argument("--suffix", nargs="+", default=[".py"], help="files that are documents")
    return parser.parse_args()


def _main() -> None:
    args = _arguments()
    if args.step == "pack":
        pack(args.source, args.out)
        size = sum(path.stat().st_size for path in args.out.iterdir())
        print(f"packed into {size / 1e6:.1f} MB at {args.out}", file=sys.stderr)
    elif args.step == "encode":
        print(json.dumps(encode(args.source, args.out), indent=1))
    else:
        folder = standard_library() if str(args.source) == "stdlib" else args.source
        meta = make(folder, args.out, suffixes=args.suffix)
        tokens = f"{meta['tokens']['train'] / 1e6:.1f} million tokens"
        print(f"{tokens} of {folder} at {args.out}", file=sys.stderr)


if __name__ == "__main__":
    run_command(_main)
