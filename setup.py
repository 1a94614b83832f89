"""What pyproject.toml cannot say: the pages of docs/ in the wheel, the README and the addresses.

`lawsmith docs` shows the pages. Links and pictures of the README are relative to the repository.
Where the README is shown elsewhere they need the address of the repository, which
``[tool.lawsmith] home`` of pyproject.toml gives; without one they are left out.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PICTURE = re.compile(r"^!\[([^\]]*)\]\((?!https?:)([^)]*)\)\n+", flags=re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)]*)\)")


class BuildWithPages(build_py):
    """Copy the pages beside the modules; an editable install reads them where they are."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib) / "lawsmith" / "pages"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for page in sorted((ROOT / "docs").glob("*.md")):
                shutil.copy(page, folder)


def home() -> str:
    """The address of the repository, '' while it has none."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["tool"]["lawsmith"]["home"]).rstrip("/")


def description(home: str) -> str:
    """The README with absolute links and pictures, or without pictures and links to files."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = PICTURE.sub(rf"![\1]({home}/raw/main/\2)\n\n" if home else "", text)
    return LINK.sub(rf"[\1]({home}/blob/main/\2)" if home else r"\1", text)


def addresses(home: str) -> dict[str, str]:
    """What a package index shows beside the description."""
    if not home:
        return {}
    files = f"{home}/blob/main"
    return {
        "Homepage": home,
        "Documentation": f"{files}/docs/index.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }


setup(
    cmdclass={"build_py": BuildWithPages},
    long_description=description(home()),
    long_description_content_type="text/markdown",
    project_urls=addresses(home()),
)
