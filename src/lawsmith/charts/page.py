"""Self-contained HTML pages: what all of them have, and the page of one chart.

A page is light or dark, wide or narrow, and loads nothing.
"""

from __future__ import annotations

import html
import json
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Any

import vl_convert

from lawsmith.charts.theme import DARK, FONT, LIGHT, PRINT, config, variables
from lawsmith.datasets.fetch import cache_dir

Spec = dict[str, Any]

# The policy lets a page's own script run (Vega compiles expressions) and nothing be fetched but, by
# a live page, from where it came.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action 'none'"
)


@cache
def asset(name: str, package: str = "lawsmith.charts") -> str:
    """A file that pages of a package are made of: a template, a script, a style."""
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def fill(template: str, **parts: str) -> str:
    """A template with $names replaced; the parts may hold anything, braces and $ too."""
    return Template(template).substitute(parts)


def head(title: str, style: str, *, connect: str = "'none'") -> str:
    """A page down to its body. ``title`` is HTML; the style may use the themes' variables."""
    policy = POLICY.format(connect=connect)
    parts = {"policy": policy, "title": title, "style": theme_style() + style}
    return fill(asset("head.html"), **parts).rstrip()


def theme_style() -> str:
    """The colours of the charts' themes and their font, as CSS variables."""
    return (
        f":root {{ color-scheme: light dark; --font: {FONT}; {variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}\n"
        f"@media print {{ :root {{ color-scheme: light; {variables(PRINT)} }} }}\n"
    )


def theme_configs() -> str:
    """Theme → its charts' configuration, as a script has it."""
    return script_json({theme.name: config(theme) for theme in (LIGHT, DARK, PRINT)})


def page(wide: Spec, narrow: Spec, *, title: str) -> str:
    """The page of a chart given as Vega-Lite specifications for a page and for a telephone."""
    specs, datasets = shared(wide, narrow)
    return fill(
        asset("chart.html"),
        head=head(html.escape(title), asset("chart.css")),
        library=library(),
        specs=script_json(specs),
        datasets=script_json(datasets),
        configs=theme_configs(),
    )


def library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script.

    vl-convert carries them and takes two seconds to put them together, so the script is kept in
    the cache; where that cannot be written it is made anew.
    """
    kept = cache_dir() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    bundle: Any = vl_convert.javascript_bundle  # its stub asks for an argument that is optional
    script = str(bundle())
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_text(script, encoding="utf-8")
        part.replace(kept)  # whole or not at all
    return script


def shared(wide: Spec, narrow: Spec) -> tuple[dict[str, Spec], Spec]:
    """Both specifications without data, by name; and the data of both, which are held once.

    Altair names data by their hash.
    """
    datasets = {**wide.get("datasets", {}), **narrow.get("datasets", {})}
    return {"wide": bare(wide), "narrow": bare(narrow)}, datasets


def bare(spec: Spec) -> Spec:
    """The specification without its data and configuration, which the page adds once."""
    return {k: part for k, part in spec.items() if k not in ("config", "datasets", "$schema")}


def script_json(value: Any) -> str:
    """JSON that may stand in a script: no text of a study can end the script or open a tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
