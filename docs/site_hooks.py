"""What the site needs beyond docs/: the paper's pages, the API reference, links that stay inside.

Pages link to each other by their paths in the repository, so that they can be read there too. On
the site a link to a page goes to that page; a link to another file of the repository becomes text.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from api_page import api_page  # noqa: E402

# Pages and folders of the repository outside docs/ → where they are on the site.
OTHERS = {
    "paper/README.md": "paper/index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
FOLDERS = {"docs": "", "paper/docs": "paper"}
KEPT = (".md", ".png", ".svg", ".csv", ".json")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the paper's pages, the pages at the top of the repository, and the API reference."""
    found = {source: target for source, target in OTHERS.items() if (ROOT / source).exists()}
    for path in sorted((ROOT / "paper" / "docs").rglob("*")):
        if path.suffix in KEPT:
            source = path.relative_to(ROOT).as_posix()
            found[source] = site_path(source)
    for source, target in found.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "api.md", content=api_page()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of the repository to links of the site, outside blocks of code."""
    here = repository_path(page.file.src_uri)
    parts = FENCE.split(markdown)
    for i in range(0, len(parts), 2):
        parts[i] = LINK.sub(
            lambda match: rewritten(match, here, page.file.src_uri, files), parts[i]
        )
    return "".join(parts)


def rewritten(match: re.Match[str], here: str, page: str, files: Files) -> str:
    """A link as the site has it: to a page of it, or text where there is none."""
    bang, text, target = match.groups()
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target):
        return match[0]
    source = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
    place = site_path(source)
    if files.get_file_from_path(place) is None:
        return text
    relative = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"{bang}[{text}]({relative}{'#' + anchor if anchor else ''})"


def site_path(source: str) -> str:
    """The path on the site of a file of the repository."""
    if source in OTHERS:
        return OTHERS[source]
    for folder, place in FOLDERS.items():
        if source.startswith(f"{folder}/"):
            return posixpath.join(place, source.removeprefix(f"{folder}/"))
    return source


def repository_path(place: str) -> str:
    """The file of the repository that is at ``place`` on the site."""
    for source, target in OTHERS.items():
        if target == place:
            return source
    if place.startswith("paper/"):
        return f"paper/docs/{place.removeprefix('paper/')}"
    return f"docs/{place}"
