"""The table of languages by metrics, cut into as many tables as the width asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from pytest_xling import registry
from pytest_xling.errors import ConfigError
from pytest_xling.gates.estimate import Measure, estimate
from pytest_xling.gates.reasons import demand_of
from pytest_xling.languages import find
from pytest_xling.records import ALL_LANGUAGES, Estimate
from pytest_xling.reports.rendering import GAP, columns_of, ruled_table
from pytest_xling.store.scores import averages, scores_by_place
from pytest_xling.text.numbers import Figures
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import JustifyMethod
    from rich.table import Table
    from sqlalchemy import Connection

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Outcome, Verdict
    from pytest_xling.store.scores import MetricStep, Place

ALPHA = 0.05
"""Where no gate says at which level an interval is wanted."""


def with_intervals(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> dict[Place, Estimate]:
    """Return estimates of *scored* by benchmark, metric and language; reads every score."""
    return {
        (benchmark, metric, language): replace(
            estimate(
                scores,
                replace(Measure.of(metric, language, alpha=ALPHA), share=kind_of(metric) == "flag"),
            ),
            share=_is_share(metric),
        )
        for (benchmark, metric, language), scores in scores_by_place(
            connection, run_id, scored
        ).items()
    }


def without_intervals(
    connection: Connection, run_id: str, scored: Sequence[MetricStep]
) -> dict[Place, Estimate]:
    """Return estimates without intervals, averaged by the store: fast on any number of cases."""
    return {
        (benchmark, metric, language): Estimate(
            metric=metric,
            language=language,
            value=average.mean,
            low=None,
            high=None,
            n=average.n,
            unscored=average.unscored,
            share=_is_share(metric),
        )
        for (benchmark, metric, language), average in averages(connection, run_id, scored).items()
    }


def _is_share(metric: str) -> bool:
    """Tell whether a metric's mean is a share; of one not installed here any more, not."""
    try:
        share: bool = registry.load("metric", metric).share
    except ConfigError:
        return False
    return share


def kind_of(metric: str) -> MetricKind:
    """Return a metric's kind; ``number`` for one that is not installed here any more."""
    try:
        kind: MetricKind = registry.load("metric", metric).kind
    except ConfigError:
        return "number"
    return kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How an outcome is shown; never by colour alone."""

    symbol: str
    word: str
    style: str


OUTCOMES: dict[Outcome, Look] = {
    "pass": Look(symbol="✓", word="pass", style="green"),
    "fail": Look(symbol="✗", word="fail", style="bold red"),
    "inconclusive": Look(symbol="?", word="inconclusive", style="yellow"),
    "error": Look(symbol="!", word="error", style="bold magenta"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One metric: its head, and a cell for each language that has one."""

    head: Text
    cells: Mapping[str, Text]
    right: bool = False
    """Whether it is flush right."""

    @property
    def width(self) -> int:
        """How many columns of the terminal it takes."""
        return max(columns_of(text.plain) for text in (self.head, *self.cells.values()))


def is_gap(verdict: Verdict) -> bool:
    """Tell whether a gate compares a language with the pivot language."""
    return bool(verdict.estimate.pivot)


def is_drop(verdict: Verdict) -> bool:
    """Tell whether a gate compares a run with its baseline."""
    return bool(verdict.estimate.baseline)


def is_of_metric(verdict: Verdict) -> bool:
    """Tell whether a gate judges a metric itself, over all its answers."""
    made = verdict.estimate
    compared = made.pivot or made.baseline or made.trend or made.per_case
    return not compared and verdict.threshold.level is None


def named(verdict: Verdict) -> str:
    """Name what a gate is about: ``sim_sent``, ``sim_sent gap``, ``says_right neutral gap``."""
    limits, made = verdict.threshold, verdict.estimate
    level = "" if limits.level is None else LEVELS[limits.level]
    kind = "gap" if made.pivot else "trend" if made.trend else "cases" if made.per_case else ""
    kind = "drop" if made.baseline else kind
    return " ".join(filter(None, (limits.metric, level, kind)))


def gated_column(
    metric: str, verdicts: Sequence[Verdict], others: Mapping[str, Estimate]
) -> Column:
    """Return the column of a metric with gates.

    Args:
        metric: its name.
        verdicts: of its gates, one or more, all named alike.
        others: its estimates in languages that have no gate.
    """
    estimates = [*(verdict.estimate for verdict in verdicts), *others.values()]
    figures = Figures.of(*estimates)
    width = max(len(figures.value(estimate.value)) for estimate in estimates)
    cells = {}
    for language, unjudged in others.items():
        cell = Text("  ")
        cells[language] = cell.append_text(_number(figures, unjudged, width, style=""))
    for verdict in verdicts:
        look = OUTCOMES[verdict.outcome]
        cell = Text(f"{look.symbol} ", style=look.style)
        cell.append_text(_number(figures, verdict.estimate, width, style=look.style))
        cells[verdict.threshold.language] = cell
    demand = demand_of(verdicts, joined="\n  ")
    head = Text.assemble((metric, "bold"), "\n", (f"  {demand}", "dim"))
    return Column(head=head, cells=cells)


def plain_column(metric: str, estimates: Mapping[str, Estimate]) -> Column:
    """Return the column of a metric without gates, from its estimates by language."""
    figures = Figures.of(*estimates.values())
    width = max(len(figures.value(estimate.value)) for estimate in estimates.values())
    cells = {
        language: _number(figures, estimate, width, style="")
        for language, estimate in estimates.items()
    }
    # Without intervals the name is the widest part: break it where that helps.
    narrow = all(e.low is None for e in estimates.values())
    name = metric.replace("_", "_\n") if narrow else metric
    return Column(head=Text(name, style="bold"), cells=cells, right=narrow)


def _number(figures: Figures, estimate: Estimate, width: int, *, style: str) -> Text:
    cell = Text(figures.value(estimate.value).rjust(width), style=style)
    if estimate.value is not None:
        interval = figures.interval(estimate.low, estimate.high)
        cell.append(f"  {interval}" if interval else "", style="dim not bold default")
    return cell


def language_name(code: str) -> str:
    """Return the English name of a language; empty for one our table lacks."""
    if code == ALL_LANGUAGES:
        return "languages"
    try:
        return find(code).english_name
    except ConfigError:
        return ""


def tables(columns: Sequence[Column], counts: Mapping[str, int], *, width: int) -> Iterator[Table]:
    """Yield tables of languages by *columns*, each at most *width* wide.

    Args:
        columns: one per metric.
        counts: answers by language: the rows.
        width: of the terminal.
    """
    codes = max((len(code) for code in counts), default=2)
    labels = {code: f"{code:{codes}} {language_name(code)}".rstrip() for code in counts}
    fixed = max(map(columns_of, labels.values()), default=0)
    fixed += GAP + max((len(str(count)) for count in counts.values()), default=1)
    for together in _cut(columns, width - fixed):
        table = ruled_table()
        table.add_column(Text("language", style="bold"), no_wrap=True)
        table.add_column(Text("n", style="bold"), justify="right", no_wrap=True)
        for column in together:
            justify: JustifyMethod = "right" if column.right else "left"
            table.add_column(column.head, no_wrap=True, justify=justify)
        for code, count in counts.items():
            if code == ALL_LANGUAGES and not any(code in column.cells for column in together):
                continue
            cells = (column.cells.get(code, Text("")) for column in together)
            table.add_row(Text(labels[code]), Text(str(count), style="dim"), *cells)
        yield table


def _cut(columns: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """Cut *columns* into pieces that fit beside each other; each has one at least."""
    together: list[Column] = []
    taken = 0
    for column in columns:
        if together and taken + GAP + column.width > width:
            yield together
            together, taken = [], 0
        together.append(column)
        taken += GAP + column.width
    if together:
        yield together
