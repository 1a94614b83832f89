"""What pyproject.toml cannot say: the pages of docs/ in the wheel, and a README without pictures.

`lawsmith docs` shows the pages. Links and pictures of the README are relative to the repository, so
they are left out where the README is shown elsewhere.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


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


def description() -> str:
    """The README without pictures, and with the text of links to files."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^\]]*\]\([^)]*\)\n+", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


setup(
    cmdclass={"build_py": BuildWithPages},
    long_description=description(),
    long_description_content_type="text/markdown",
)
