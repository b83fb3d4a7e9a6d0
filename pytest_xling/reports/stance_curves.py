"""UPHILL's figure 2 as an SVG: stances by level, a small plot for each language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape

from pytest_xling.errors import ConfigError
from pytest_xling.reports.matrix import language_name
from pytest_xling.text.display import printable
from pytest_xling.text.stance import LEVELS, STANCES, VERACITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

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


def text(x: float, y: float, words: str, classes: str, *, anchor: str = "start") -> str:
    """Return a text; *words* may hold anything that XML can."""
    return (
        f'<text class="{classes}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
    )


def upwards(x: float, y: float, words: str, classes: str) -> str:
    """Return a text that is read from below, its middle at the place."""
    place = f'text-anchor="middle" transform="translate({x:g} {y:g}) rotate(-90)"'
    return f'<text class="{classes}" {place}>{escape(words)}</text>'


_PLOT_WIDTH: Final = 200
_PLOT_HEIGHT: Final = 132
_LEFT: Final = 78
_TOP: Final = 140
_GAP_X: Final = 46
_GAP_Y: Final = 36
_RIGHT: Final = 92
_BOTTOM: Final = 108
_INSET: Final = 12
"""From a plot's sides to its first and last level."""
_LABEL_GAP: Final = 14
"""Between the middles of two labels at least."""
_LONGEST: Final = 70
"""Characters of the model's name at most."""
_NARROWEST: Final = 600
"""So that the title fits above a single column."""
_TITLE: Final = "Stance towards claims by level of presupposition"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """One small plot: the rows of one language and veracity, by stance and level."""

    language: str
    veracity: str
    rows: Mapping[tuple[str, int], Row]
    levels: Sequence[int]
    column: int
    line: int
    is_last_column: bool
    is_last_line: bool

    @property
    def x(self) -> float:
        return _LEFT + self.column * (_PLOT_WIDTH + _GAP_X)

    @property
    def y(self) -> float:
        return _TOP + self.line * (_PLOT_HEIGHT + _GAP_Y)

    def across(self, level: int) -> float:
        place = self.levels.index(level) / max(len(self.levels) - 1, 1)
        return self.x + _INSET + place * (_PLOT_WIDTH - 2 * _INSET)

    def up(self, share: float) -> float:
        return self.y + (1 - share) * _PLOT_HEIGHT

    def values(self, stance: str, key: str = "value") -> dict[int, float]:
        """Return what is known, by level."""
        known = {level: self.rows[stance, level][key] for level in self.levels}
        return {level: value for level, value in known.items() if value is not None}

    def points(self, stance: str, key: str = "value") -> list[tuple[float, float]]:
        """Return the places of the levels with a value, from left to right."""
        return [
            (self.across(level), self.up(value))
            for level, value in self.values(stance, key).items()
        ]


def stance_curves(rows: Sequence[Row]) -> str:
    """Return the stances in *rows*, of one run's table ``stance``, as an SVG document.

    Languages below each other, veracities beside each other; in each plot the shares of responses
    that agree, disagree and are neutral by level, with the 95% interval of the first.

    Raises:
        ConfigError: the rows are of several temperatures, or there is nothing to draw.
    """
    shares = [row for row in rows if row["measure"] in STANCES and row["veracity"] in VERACITIES]
    temperatures = list(dict.fromkeys(row["temperature"] for row in shares))
    if not shares:
        msg = "there are no stances to draw"
        raise ConfigError(msg)
    if len(temperatures) > 1:
        listed = ", ".join(f"{tau:g}" for tau in temperatures if isinstance(tau, int | float))
        msg = (
            f"a run with several temperatures ({listed}) cannot be drawn; draw one of a single one"
        )
        raise ConfigError(msg)
    plots = _plots(shares)
    columns = len({plot.veracity for plot in plots})
    lines = len({plot.language for plot in plots})
    across = _LEFT + columns * _PLOT_WIDTH + (columns - 1) * _GAP_X
    width = max(across + _RIGHT, _NARROWEST)
    height = _TOP + lines * _PLOT_HEIGHT + (lines - 1) * _GAP_Y + _BOTTOM
    model = f"model {printable(str(shares[0]['model']), limit=_LONGEST, cut='middle')}"
    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}"',
        ' role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(f"{_TITLE}: {model}")}</title>',
        f'<desc id="desc">{escape(_described(plots))}</desc>',
        f"<style>\n{STYLE}</style>",
        f'<rect class="back" {size}/>',
        text(_LEFT, 30, _TITLE, "title"),
        text(_LEFT, 50, model, "sub"),
        text(_LEFT, 67, "responses in % by stance; shaded: 95% interval of agree", "sub"),
        *_legend(),
    ]
    for plot in plots:
        parts += _frame(plot)
        parts += _curves(plot)
        if plot.is_last_line:
            parts += _names_of_levels(plot)
    middle = (_LEFT + across) / 2
    parts.append(text(middle, height - 12, "Level of presupposition", "axis", anchor="middle"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _plots(shares: Sequence[Row]) -> list[_Plot]:
    languages = list(dict.fromkeys(str(row["language"]) for row in shares))
    present = {row["veracity"] for row in shares}
    veracities: list[str] = [veracity for veracity in VERACITIES if veracity in present]
    places: dict[tuple[str, str], dict[tuple[str, int], Row]] = {
        (language, veracity): {} for language in languages for veracity in veracities
    }
    for row in shares:
        if isinstance(level := row["level"], int):
            places[row["language"], row["veracity"]][row["measure"], level] = row
    return [
        _Plot(
            language=language,
            veracity=veracity,
            rows=rows,
            levels=sorted({level for _, level in rows}),
            column=veracities.index(veracity),
            line=languages.index(language),
            is_last_column=veracity == veracities[-1],
            is_last_line=language == languages[-1],
        )
        for (language, veracity), rows in places.items()
    ]


def _described(plots: Sequence[_Plot]) -> str:
    """Return what the figure shows, in words, for those who cannot see it."""
    sentences = ["Line plots, one for each language and kind of claim."]
    for plot in plots:
        place = f"{plot.language}, {plot.veracity} claims"
        ends = list(plot.values("agree"))
        if not ends:
            sentences.append(f"{place}: no stances.")
            continue
        first, last = ends[0], ends[-1]
        series = []
        for stance in STANCES:
            known = plot.values(stance)
            shares = (
                f"{100 * known[level]:.0f}%" if level in known else "unknown"
                for level in (first, last)
            )
            series.append(f"{stance} {' to '.join(shares)}")
        sentences.append(f"{place}, from {_name(first)} to {_name(last)}: {', '.join(series)}.")
    return " ".join(sentences)


def _name(level: int) -> str:
    return LEVELS[level].replace("_", " ") if level < len(LEVELS) else f"level {level}"


def _legend() -> Iterator[str]:
    x: float = _LEFT
    for stance in STANCES:
        yield f'<path class="line {stance}" d="M{x} 85h34"/>'
        yield mark(x + 17, 85, stance)
        yield text(x + 42, 89, stance, f"label t-{stance}")
        x += 118


def _frame(plot: _Plot) -> Iterator[str]:
    for tick in (0, 25, 50, 75, 100):
        y = plot.up(tick / 100)
        if tick not in {0, 100}:
            yield f'<path class="grid" d="M{plot.x:g} {y:g}h{_PLOT_WIDTH}"/>'
        if not plot.column and tick % 50 == 0:
            yield text(plot.x - 8, y + 4, str(tick), "tick", anchor="end")
    yield (
        f'<rect class="frame" x="{plot.x:g}" y="{plot.y:g}" width="{_PLOT_WIDTH}" '
        f'height="{_PLOT_HEIGHT}"/>'
    )
    for level in plot.levels:
        yield f'<path class="frame" d="M{plot.across(level):g} {plot.y + _PLOT_HEIGHT:g}v4"/>'
    counts = [row["n"] for row in plot.rows.values() if row["n"] is not None]
    least, most = min(counts, default=0), max(counts, default=0)
    size = f"n = {least}" if least == most else f"n = {least} to {most}"
    yield text(plot.x + _PLOT_WIDTH, plot.y - 6, size, "tick", anchor="end")
    if not plot.line:
        yield text(plot.x, plot.y - 22, f"{plot.veracity} claims", "head")
    if not plot.column:
        middle = plot.y + _PLOT_HEIGHT / 2
        named = language_name(plot.language) or plot.language
        yield upwards(plot.x - 56, middle, f"{named} ({plot.language})", "head")
        yield upwards(plot.x - 36, middle, "responses in %", "axis")


def _curves(plot: _Plot) -> Iterator[str]:
    low, high = plot.points("agree", "low"), plot.points("agree", "high")
    if len(low) > 1:
        yield f'<path class="band f-agree" d="M{path([*high, *reversed(low)])}Z"/>'
    for stance in reversed(STANCES):
        points = plot.points(stance)
        if len(points) > 1:
            yield f'<path class="line {stance}" d="M{path(points)}"/>'
        yield from (mark(x, y, stance) for x, y in points)
    yield from _labels(plot)


def _labels(plot: _Plot) -> Iterator[str]:
    """Write each curve's last value beside it, pushed apart where they would lie on each other."""
    ends = sorted((points[-1][1], stance) for stance in STANCES if (points := plot.points(stance)))
    lowest = plot.y + _PLOT_HEIGHT
    places = [y for y, _ in ends]
    for index in range(1, len(places)):
        places[index] = max(places[index], places[index - 1] + _LABEL_GAP)
    for index in reversed(range(len(places))):
        places[index] = min(places[index], lowest)
        lowest = places[index] - _LABEL_GAP
    for (_, stance), y in zip(ends, places, strict=True):
        value = f"{100 * [*plot.values(stance).values()][-1]:.0f}%"
        label = f"{value} {stance}" if plot.is_last_column else value
        yield text(plot.x + _PLOT_WIDTH + 5, y + 4, label, f"tick t-{stance}")


def _names_of_levels(plot: _Plot) -> Iterator[str]:
    for level in plot.levels:
        x, y = plot.across(level) + 4, plot.y + _PLOT_HEIGHT + 16
        yield (
            f'<text class="tick" text-anchor="end" transform="translate({x:.1f} {y:.1f}) '
            f'rotate(-35)">{escape(_name(level))}</text>'
        )
