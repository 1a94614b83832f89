"""Small studies for tests: a study file in a folder, with some of its lines changed."""

from __future__ import annotations

from pathlib import Path

from lawsmith.study import LiveStudy, open_study

TEXT = """\
name = "small"
seed = 3
constraints = ["tokens_per_param >= 5"]

[[model]]
name = "xs"
N = 1e7
layers = 4

[[model]]
name = "s"
N = 4e7
layers = 8

[tokens]
values = [1e8, 4e8, 1.6e9]

[axes]
lr = [1e-3, 4e-3]
opt = ["adamw", "muon"]

[budget]
flops = 1e30

[law]
targets = [1e21]

[policy]
name = "full"
surrogate = "surface"

[runner]
kind = "local"
slots = 2
poll = 0.05
command = ["/bin/sh", "-c", 'echo "{{\\"loss\\": 3.5}}" > result.json']

[failures]
backoff = 0
"""
# xs: three values of D, s: 4e8 and 1.6e9; times 2 × 2.
N_CANDIDATES = 20
COMMAND = """command = ["/bin/sh", "-c", 'echo "{{\\"loss\\": 3.5}}" > result.json']"""


def study_text(*changes: tuple[str, str]) -> str:
    """The text with each first string replaced by the second; one that is not there is a slip."""
    text = TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def small_study(folder: Path, *changes: tuple[str, str]) -> LiveStudy:
    """The study in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "study.toml"
    file.write_text(study_text(*changes), encoding="utf-8")
    return open_study(file)


def shell(line: str) -> tuple[str, str]:
    """The change that makes a line of shell the trainer; braces are the runner's."""
    script = line.replace("{", "{{").replace("}", "}}")
    return COMMAND, f"command = [\"/bin/sh\", \"-c\", '''{script}''']"
