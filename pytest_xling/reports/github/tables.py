"""Languages by metrics, with what the gates said of each number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.wording import Figures, limit_of
from pytest_xling.reports.github.markdown import code, prose, table
from pytest_xling.reports.terminal.matrix import is_overall, language_name, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.records import Estimate, Outcome, Verdict

__all__ = ["LEGEND", "SIGNS", "Column", "gated", "tables", "ungated"]

SIGNS: Final[Mapping[Outcome, str]] = {
    "pass": "✅",
    "fail": "❌",
    "inconclusive": "❔",
    "error": "⚠️",
}
LEGEND: Final = " · ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items())
_BESIDE: Final = 6
"""Columns of one table; of more, one would see only some without scrolling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One metric: its head and its cells by language, as Markdown."""

    head: str
    cells: Mapping[str, str]


def gated(verdicts: Sequence[Verdict]) -> list[Column]:
    """Return a column for each thing gates are about, rates of all answers first."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(named(verdict), []).append(verdict)
    ordered = sorted(groups.items(), key=lambda group: (not _is_rate(group[1][0]), group[0]))
    columns = []
    for name, found in ordered:
        figures = Figures.of(*(verdict.estimate for verdict in found))
        demands = list(dict.fromkeys(map(limit_of, found)))
        demand = demands[0] if len(demands) == 1 else "limits vary"
        cells = {
            verdict.threshold.language: f"{SIGNS[verdict.outcome]} "
            + _number(figures, verdict.estimate)
            for verdict in found
        }
        columns.append(Column(head=f"{code(name)}<br>{prose(demand)}", cells=cells))
    return columns


def ungated(estimates: Mapping[str, Mapping[str, Estimate]]) -> list[Column]:
    """Return a column for each metric, from its estimates by language."""
    columns = []
    for metric, found in estimates.items():
        figures = Figures.of(*found.values())
        cells = {language: _number(figures, made) for language, made in found.items()}
        columns.append(Column(head=code(metric), cells=cells))
    return columns


def _is_rate(verdict: Verdict) -> bool:
    return verdict.threshold.max_rate is not None and is_overall(verdict)


def _number(figures: Figures, made: Estimate) -> str:
    """Word a number with its interval below it."""
    interval = figures.interval(made.low, made.high) if made.value is not None else ""
    return figures.value(made.value) + (f"<br><sub>{interval}</sub>" if interval else "")


def tables(columns: Sequence[Column], counts: Mapping[str, int]) -> str:
    """Return tables of languages by *columns*, some columns each.

    Args:
        columns: one per metric.
        counts: answers by language: the rows.
    """
    made = []
    for start in range(0, len(columns), _BESIDE):
        beside = columns[start : start + _BESIDE]
        rows = [
            [
                _language(language),
                f"{count:,}",
                *(column.cells.get(language, "") for column in beside),
            ]
            for language, count in counts.items()
        ]
        head = ["language", "answers", *(column.head for column in beside)]
        made.append(table(head, rows))
    return "\n".join(made)


def _language(language: str) -> str:
    return f"{prose(language_name(language))} {code(language)}".strip()
