"""What a package index shows: the README and the addresses, with a public address and without."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

pytest.importorskip("setuptools")
ROOT = Path(__file__).parents[1]
HOME = "https://git.example.org/someone/lawsmith"
MAKE = "import setuptools.build_meta as b; b.prepare_metadata_for_build_wheel('made')"


def metadata(folder: Path, home: str) -> Message:
    """Of a copy of the project with that address, as setuptools writes it into a wheel."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    (folder / "src" / "lawsmith").mkdir(parents=True)
    (folder / "src" / "lawsmith" / "__init__.py").touch()
    (folder / "made").mkdir()
    text = (folder / "pyproject.toml").read_text()
    text, n = re.subn(r'^home = ".*"$', f'home = "{home}"', text, flags=re.MULTILINE)
    assert n == 1
    (folder / "pyproject.toml").write_text(text)
    subprocess.run([sys.executable, "-c", MAKE], cwd=folder, check=True, capture_output=True)
    (made,) = folder.glob("made/*.dist-info/METADATA")
    return Parser().parsestr(made.read_text())


def linked(readme: str) -> list[str]:
    """Where links and pictures point to."""
    return re.findall(r"\]\(([^)]*)\)", readme)


def test_without_an_address_the_readme_has_no_picture_and_no_link_to_a_file(tmp_path):
    made = metadata(tmp_path, "")
    assert made.get_all("Project-URL") is None
    readme = made.get_payload()
    assert "![" not in readme
    assert all(link.startswith("https://") for link in linked(readme))
    assert "To cite it: CITATION.cff." in readme


def test_with_an_address_every_link_and_picture_is_absolute_and_names_a_file(tmp_path):
    made = metadata(tmp_path, f"{HOME}/")
    urls = dict(url.split(", ") for url in made.get_all("Project-URL"))
    assert urls["Homepage"] == HOME
    assert urls["Issues"] == f"{HOME}/issues"
    readme = made.get_payload()
    assert f"]({HOME}/raw/main/docs/figures/tinylm-answer.png)" in readme
    links = linked(readme)
    assert len(links) == len(linked((ROOT / "README.md").read_text()))
    assert all(link.startswith("https://") for link in links)
    inside = [link for link in (*links, *urls.values()) if link.startswith(f"{HOME}/")]
    files = [re.sub(r".*/(raw|blob)/main/", "", link) for link in inside if "/main/" in link]
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).exists()] == []
