"""The corpus of tinylm, made from a small archive and small folders of our own."""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import extra

tokenizers = extra("tokenizers")
torch = extra("torch")

import corpus  # noqa: E402
from data import load_corpus  # noqa: E402
from errors import TinylmError  # noqa: E402
from sources import folder_documents, standard_library  # noqa: E402

KEPT = {f"kernel/part{i}.c": f"int part_{i}(void)\n{{\n\treturn {i * i};\n}}\n" for i in range(40)}
KEPT |= {"Documentation/guide.rst": "A guide, with an umlaut: ü.\n", "arch/x/entry.S": "\tret\n"}
LEFT = {
    "drivers/net/card.c": "int card;\n",
    "kernel/Makefile": "obj-y := a.o\n",
    "kernel/huge.c": "x" * 400_001,
    "kernel/nul.c": "a\0b",
    "kernel/empty.c": "",
    "COPYING.txt": "at the top, in no folder\n",
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    for name, text in (KEPT | LEFT).items():
        path = folder / "linux-source-0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "linux-source-0" / "kernel" / "latin.c").write_bytes(b"caf\xe9")
    with tarfile.open(folder / "source.tar.xz", "w:xz") as tar:
        tar.add(folder / "linux-source-0", "linux-source-0")
    corpus.pack(folder / "source.tar.xz", folder / "packed", vocabulary=280)
    return folder / "packed"


@pytest.fixture(scope="module")
def made(packed: Path) -> Path:
    corpus.encode(packed, packed.parent / "corpus", held_out=128)
    return packed.parent / "corpus"


def test_the_tokens_are_the_wanted_documents_each_once(packed: Path, made: Path):
    tokens = np.concatenate([np.load(made / "heldout.npy"), np.load(made / "train.npy")])
    ends = np.flatnonzero(tokens == 0)
    tokenizer = tokenizers.Tokenizer.from_file(str(packed / "vocabulary.json"))
    texts = [tokenizer.decode(part[part > 0].tolist()) for part in np.split(tokens, ends)]
    assert sorted(text for text in texts if text) == sorted(KEPT.values())
    assert [text for text in texts if text] != sorted(KEPT.values())


def test_encoding_again_gives_the_same_corpus(packed: Path, made: Path, tmp_path: Path):
    corpus.encode(packed, tmp_path, held_out=128)
    assert (tmp_path / "meta.json").read_text() == (made / "meta.json").read_text()


def test_the_held_out_tokens_and_the_facts_are_as_told(made: Path):
    meta = json.loads((made / "meta.json").read_text())
    assert meta["vocabulary"] == 280
    assert meta["bytes"] == sum(len(text.encode()) for text in KEPT.values())
    assert meta["tokens"]["heldout"] == 129
    loaded = load_corpus(made, torch.device("cpu"))
    assert len(loaded.train) == meta["tokens"]["train"]
    assert int(loaded.train.max()) < 280


def test_a_file_that_does_not_fit_its_facts_is_refused(made: Path, tmp_path: Path):
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    np.save(tmp_path / "train.npy", np.zeros(10, dtype=np.uint16))
    with pytest.raises(TinylmError, match="got 10 tokens"):
        load_corpus(tmp_path, torch.device("cpu"))


def test_missing_or_useless_sources_are_refused(packed: Path, tmp_path: Path):
    with pytest.raises(TinylmError, match="no archive at"):
        corpus.pack(tmp_path / "none.tar.xz", tmp_path)
    with tarfile.open(tmp_path / "bare.tar.xz", "w:xz"):
        pass
    with pytest.raises(TinylmError, match="no C source"):
        corpus.pack(tmp_path / "bare.tar.xz", tmp_path)
    with pytest.raises(TinylmError, match="no packed corpus"):
        corpus.encode(tmp_path, tmp_path / "out")
    with pytest.raises(TinylmError, match="too few to hold out"):
        corpus.encode(packed, tmp_path / "out")


SOURCES = {f"part{i}.py": f"def part_{i}():\n    return {i * i}\n" for i in range(40)}
SOURCES |= {"deep/er/one.py": "ONE = 1  # ü\n", "deep/two.py": "TWO = 2\n"}
OTHERS = {
    "notes.txt": "no source\n",
    "empty.py": "",
    "huge.py": "x" * 400_001,
    "nul.py": "a\0b",
    "site-packages/other.py": "import this\n",
    "deep/tests/test_two.py": "assert True\n",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in (SOURCES | OTHERS).items():
        path = tmp_path / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "sources" / "latin.py").write_bytes(b"caf\xe9")
    return tmp_path / "sources"


def test_a_folders_documents_are_its_sources_by_name(sources: Path):
    assert list(folder_documents(sources, [".py"])) == [SOURCES[name] for name in sorted(SOURCES)]
    assert list(folder_documents(sources, [".txt"])) == ["no source\n"]


def test_a_folder_gives_the_tokens_that_packing_it_would(sources: Path, tmp_path: Path):
    meta = corpus.make(sources, tmp_path / "made", vocabulary=280, held_out=128)
    named = {f"linux/kernel/{i:02}.c": SOURCES[name] for i, name in enumerate(sorted(SOURCES))}
    for name, text in named.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with tarfile.open(tmp_path / "source.tar.xz", "w:xz") as tar:
        for name in named:
            tar.add(tmp_path / name, name)
    corpus.pack(tmp_path / "source.tar.xz", tmp_path / "packed", vocabulary=280)
    (tmp_path / "made" / "vocabulary.json").replace(tmp_path / "packed" / "vocabulary.json")
    assert corpus.encode(tmp_path / "packed", tmp_path / "encoded", held_out=128) == meta
    assert meta["vocabulary"] == 280
    assert load_corpus(tmp_path / "made", torch.device("cpu")).checksum == meta["sha256"]["train"]


def test_the_standard_library_is_that_of_this_python_without_what_was_installed():
    texts = list(folder_documents(standard_library(), [".py"]))
    assert Path(json.__file__).read_text(encoding="utf-8") in texts
    assert Path(pytest.__file__).read_text(encoding="utf-8") not in texts


def test_a_missing_or_useless_folder_is_refused(sources: Path, tmp_path: Path):
    with pytest.raises(TinylmError, match="no folder at"):
        corpus.make(tmp_path / "none", tmp_path / "out")
    with pytest.raises(TinylmError, match=r"no \.rs or \.go file in it"):
        corpus.make(sources, tmp_path / "out", suffixes=[".rs", ".go"])
    with pytest.raises(TinylmError, match="too few to hold out 65536"):
        corpus.make(sources, tmp_path / "out")
    assert not (tmp_path / "out" / "meta.json").exists()


def test_without_tokenizers_it_is_said_what_to_install(sources: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(TinylmError, match="tokenizers is not installed here"):
        corpus.make(sources, tmp_path / "out")
