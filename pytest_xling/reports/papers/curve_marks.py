"""The parts of a figure of stances: its style sheet, its texts, curves and markers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STYLE", "mark", "path", "text", "upwards"]

STYLE: Final = """\
text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, "Noto Sans", sans-serif; fill: #1f2328; }
.title { font-size: 17px; font-weight: 600; }
.sub, .tick, .axis { fill: #57606a; }
.head { font-size: 13px; font-weight: 600; }
.back { fill: #ffffff; }
.frame { fill: none; stroke: #8c959f; stroke-width: 1; }
.grid { stroke: #d8dee4; stroke-width: 1; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.band { stroke: none; opacity: 0.18; }
.agree { stroke: #b3261e; } .disagree { stroke: #0b57a4; } .neutral { stroke: #5f6670; }
.disagree { stroke-dasharray: 7 4; } .neutral { stroke-dasharray: 2 3; }
.mark { stroke-dasharray: none; stroke-width: 1.5; }
.f-agree { fill: #b3261e; } .f-disagree { fill: #ffffff; } .f-neutral { fill: #5f6670; }
.t-agree { fill: #b3261e; } .t-disagree { fill: #0b57a4; } .t-neutral { fill: #5f6670; }
.label { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .sub, .tick, .axis { fill: #9da7b1; }
  .back, .f-disagree { fill: #0d1117; } .frame { stroke: #6e7681; } .grid { stroke: #2d333b; }
  .agree { stroke: #ff8a80; } .disagree { stroke: #79b8ff; } .neutral { stroke: #b1bac4; }
  .f-agree { fill: #ff8a80; } .f-neutral { fill: #b1bac4; }
  .t-agree { fill: #ff8a80; } .t-disagree { fill: #79b8ff; } .t-neutral { fill: #b1bac4; }
}
"""
"""For light and dark backgrounds; classes are named after stances."""


def path(points: Sequence[tuple[float, float]]) -> str:
    """Return a polyline through *points* as the data of a path, but for its first letter."""
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def mark(x: float, y: float, stance: str) -> str:
    """Return the marker of a stance: a dot, an open square or a diamond."""
    classes = f'class="mark {stance} f-{stance}"'
    if stance == "agree":
        return f'<circle {classes} cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if stance == "disagree":
        return f'<rect {classes} x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"/>'
    return f'<path {classes} d="M{x:.1f} {y - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5Z"/>'


def text(x: float, y: float, said: str, classes: str, *, anchor: str = "start") -> str:
    """Return a text; *said* may hold anything that XML can."""
    return (
        f'<text class="{classes}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(said)}</text>'
    )


def upwards(x: float, y: float, said: str, classes: str) -> str:
    """Return a text that is read from below, its middle at the place."""
    place = f'text-anchor="middle" transform="translate({x:g} {y:g}) rotate(-90)"'
    return f'<text class="{classes}" {place}>{escape(said)}</text>'
