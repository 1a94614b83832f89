"""The framework's flow chart as inline SVG: wide for pages, tall for telephones.

Colours are the page's CSS variables, so that light, dark and print share one drawing.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A step: its centre, its title, what is said below it, and whether the paper added it."""

    x: float
    y: float
    title: str
    text: str
    added: bool = False


@dataclass(frozen=True)
class Arrow:
    """A path of straight pieces, an arrow at its end, and a label at a place of its own."""

    points: tuple[Point, ...]
    label: str = ""
    place: Point = (0, 0)


@dataclass(frozen=True)
class Layout:
    """Boxes of one size, arrows, and the frame about the search loop: x, y, width, height."""

    width: int
    height: int
    box: tuple[int, int]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    loop: tuple[int, int, int, int]


# Title and text of each step, and whether it is one of the two additions to plain Bayesian search.
STEPS: dict[str, tuple[str, str, bool]] = {
    "grid": ("Grid of runs", "N × D × λ, cost C = 6ND", False),
    "initial": ("Initial runs", "ten of the cheapest cells", False),
    "surrogate": ("Surrogate", "fitted to all observed", False),
    "window": ("Compute window", "then the acquisition picks", True),
    "run": ("Run it", "its loss joins the observed", False),
    "fantasies": ("Fantasized losses", "surrogate's, where not run", True),
    "mixed": ("Mixed grid", "observed + fantasized", False),
    "frontier": ("Frontier Π", "the envelope of the grid", False),
    "law": ("Law", "L(C) or L(N, D)", False),
    "metrics": ("Metrics", "against the dense grid's law", False),
}


def _box(name: str, x: float, y: float) -> Box:
    title, text, added = STEPS[name]
    return Box(x, y, title, text, added)


WIDE = Layout(
    width=1010,
    height=330,
    box=(176, 54),
    boxes=(
        *(
            _box(name, 95 + 205 * i, 92)
            for i, name in enumerate(("grid", "initial", "surrogate", "window", "run"))
        ),
        *(
            _box(name, 95 + 205 * i, 272)
            for i, name in enumerate(("metrics", "law", "frontier", "mixed"))
        ),
        _box("fantasies", 505, 182),
    ),
    arrows=(
        *(Arrow(((183 + 205 * i, 92), (212 + 205 * i, 92))) for i in range(4)),
        *(Arrow(((212 + 205 * i, 272), (183 + 205 * i, 272))) for i in range(3)),
        Arrow(
            ((915, 65), (915, 36), (505, 36), (505, 65)),
            "again, until the budget is spent",
            (710, 30),
        ),
        Arrow(((505, 119), (505, 155))),
        Arrow(((593, 182), (680, 182), (680, 245))),
        Arrow(((915, 119), (915, 182), (740, 182), (740, 245)), "observed losses", (828, 176)),
    ),
    loop=(404, 8, 604, 124),
)
TALL = Layout(
    width=340,
    height=816,
    box=(184, 54),
    boxes=tuple(
        _box(name, 150, 36 + 82 * i)
        for i, name in enumerate(
            (
                *("grid", "initial", "surrogate", "window", "run"),
                *("fantasies", "mixed", "frontier", "law", "metrics"),
            )
        )
    ),
    arrows=(
        *(Arrow(((150, 63 + 82 * i), (150, 91 + 82 * i))) for i in (0, 1, 2, 3, 5, 6, 7, 8)),
        Arrow(((242, 354), (264, 354), (264, 200), (242, 200)), "again", (288, 282)),
        Arrow(((58, 200), (30, 200), (30, 446), (58, 446)), "predicts", (62, 412)),
        Arrow(((242, 374), (264, 374), (264, 528), (242, 528)), "observed", (298, 452)),
    ),
    loop=(42, 158, 276, 238),
)


def svg(layout: Layout, name: str) -> str:
    """The drawing; ``name`` keeps the ids of two drawings on a page apart."""
    x, y, width, height = layout.loop
    parts = [
        f'<svg class="flow {name}" viewBox="0 0 {layout.width} {layout.height}" role="img" '
        f'aria-labelledby="flow-{name}">',
        f'<title id="flow-{name}">{html.escape(described())}</title>',
        f'<defs><marker id="tip-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker></defs>',
        f'<rect class="loop" x="{x}" y="{y}" width="{width}" height="{height}" rx="10"/>',
        *(_arrow(arrow, name) for arrow in layout.arrows),
        *(_drawn(box, layout.box) for box in layout.boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def described() -> str:
    """The chart in words, for readers who do not see it."""
    steps = " → ".join(title.lower() for title, _, _ in STEPS.values())
    added = " and ".join(title.lower() for title, _, is_new in STEPS.values() if is_new)
    return f"{steps}; from 'run it' back to the surrogate until the budget is spent; new: {added}"


def _drawn(box: Box, size: tuple[int, int]) -> str:
    width, height = size
    left, top = box.x - width / 2, box.y - height / 2
    kind = "step added" if box.added else "step"
    name, text = html.escape(box.title), html.escape(box.text)
    return (
        f'<g class="{kind}"><rect x="{left:g}" y="{top:g}" width="{width}" height="{height}" '
        f'rx="7"/><text class="name" x="{box.x:g}" y="{box.y - 5:g}">{name}</text>'
        f'<text x="{box.x:g}" y="{box.y + 14:g}">{text}</text></g>'
    )


def _arrow(arrow: Arrow, name: str) -> str:
    path = f'<path class="arrow" d="{_path(arrow.points)}" marker-end="url(#tip-{name})"/>'
    if not arrow.label:
        return path
    x, y = arrow.place
    return f'{path}<text class="label" x="{x:g}" y="{y:g}">{html.escape(arrow.label)}</text>'


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
