"""Self-contained HTML pages: their common parts, and the page of one chart.

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

# The policy allows a page's own script (Vega compiles expressions) and no connection, except to the
# server of a live page.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action 'none'"
)


@cache
def asset(name: str, package: str = "lawsmith.charts") -> str:
    """A template, script or style of a package's pages."""
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def fill(template: str, **parts: str) -> str:
    """A template with its $names replaced; the parts may contain anything, also braces and $."""
    return Template(template).substitute(parts)


def head(title: str, style: str, *, connect: str = "'none'") -> str:
    """A page up to its body. ``title`` is HTML; the style may use the variables of the themes."""
    policy = POLICY.format(connect=connect)
    parts = {"policy": policy, "title": title, "style": theme_style() + style}
    return fill(asset("head.html"), **parts).rstrip()


def theme_style() -> str:
    """The colours and the font of the themes, as CSS variables."""
    return (
        f":root {{ color-scheme: light dark; --font: {FONT}; {variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}\n"
        f"@media print {{ :root {{ color-scheme: light; {variables(PRINT)} }} }}\n"
    )


def theme_configs() -> str:
    """Theme → configuration of charts, as JSON for a script."""
    return script_json({theme.name: config(theme) for theme in (LIGHT, DARK, PRINT)})


def page(wide: Spec, narrow: Spec, *, title: str) -> str:
    """The page of a chart, from its specifications for a wide page and for a phone."""
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

    vl-convert needs two seconds to bundle them, so the script is kept in the cache. If the cache
    cannot be written, it is bundled again each time.
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
    """(both specifications without data, by name; the data of both, each once).

    Altair names data by their hash.
    """
    datasets = {**wide.get("datasets", {}), **narrow.get("datasets", {})}
    return {"wide": bare(wide), "narrow": bare(narrow)}, datasets


def bare(spec: Spec) -> Spec:
    """The specification without its data and configuration, which a page has only once."""
    return {k: part for k, part in spec.items() if k not in ("config", "datasets", "$schema")}


def script_json(value: Any) -> str:
    """JSON that is safe in a script: no text of a study can end the script or open a tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
