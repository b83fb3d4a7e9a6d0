"""Labelled lines, and how a rule reads them: ``python -m tests.text.labelled_lines``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.annotators.language_evidence import LanguageEvidence
from pytest_xling.annotators.line_languages import LineLanguages
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.metrics.wrong_language import WrongLanguage
from pytest_xling.metrics.wrong_line import WrongLine
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.interfaces.annotator import TextAnnotator
    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.records import Answer

__all__ = [
    "CASES",
    "LabelledLine",
    "Outcome",
    "each_line",
    "labelled_lines",
    "outcomes",
    "short_lines_too",
    "table",
    "whole_answer",
]

Outcome: TypeAlias = Literal["right", "undecided", "overdecided", "mistaken"]
"""``undecided``: no reading, and there could be one. ``overdecided``: a reading, and none can be
had. ``mistaken``: the opposite reading."""

CASES = (
    "plain",
    "short",
    "names",
    "numbers",
    "code",
    "urls",
    "code_mixed",
    "romanised",
    "close_pair",
    "loan_words",
    "quotes",
    "list_items",
    "opening_line",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledLine:
    """A line of an answer, the language it is in and the one asked for."""

    line: str
    language: str | None
    """BCP 47; None where nobody could know. Romanised text has ``-Latn``."""
    expected: str
    case: str

    @property
    def wrong(self) -> float | None:
        """What a flag of wrong languages should read: 1.0, 0.0, or None.

        Romanised text counts as in its language.
        """
        if self.language is None:
            return None
        if self.language.endswith("-Latn"):
            return float(self.language.partition("-")[0] != self.expected.partition("-")[0])
        return float(self.language != self.expected)


def labelled_lines() -> list[LabelledLine]:
    """Return the rows of ``labelled_lines.jsonl``."""
    path = Path(__file__).with_suffix(".jsonl")
    rows = path.read_text(encoding="utf-8").split("\n")
    return [LabelledLine(**json.loads(row)) for row in rows if row]


def outcomes(
    read: Callable[[Sequence[str], Sequence[str]], Sequence[float | None]],
    rows: Sequence[LabelledLine],
) -> dict[str, Counter[Outcome]]:
    """Return by case what comes of reading *rows*.

    Args:
        read: lines and the languages asked for → 1.0 in another, 0.0 in it, None not known.
        rows: labelled.
    """
    readings = read([row.line for row in rows], [row.expected for row in rows])
    counted: dict[str, Counter[Outcome]] = {case: Counter() for case in CASES}
    for row, reading in zip(rows, readings, strict=True):
        counted[row.case][_outcome(reading, row.wrong)] += 1
    return counted


def _outcome(reading: float | None, wrong: float | None) -> Outcome:
    if reading == wrong:
        return "right"
    if reading is None:
        return "undecided"
    return "overdecided" if wrong is None else "mistaken"


def table(counted: dict[str, Counter[Outcome]]) -> str:
    """Return a Markdown table of *counted*, a line for each case and one for all."""
    total: Counter[Outcome] = Counter()
    for counts in counted.values():
        total.update(counts)
    lines = [
        "| case | n | right | undecided | overdecided | mistaken |",
        "|---|---|---|---|---|---|",
    ]
    for case, counts in {**counted, "all": total}.items():
        n = counts.total()
        lines.append(
            f"| {case} | {n} | {counts['right'] / n:.1%} | {counts['undecided']} "
            f"| {counts['overdecided']} | {counts['mistaken']} |"
        )
    return "\n".join(lines)


def whole_answer(lines: Sequence[str], languages: Sequence[str]) -> list[float | None]:
    """Return what ``wrong_language`` reads, None for languages that are not in our table."""
    return _read_by(WrongLanguage(), LanguageEvidence(), lines, languages)


def each_line(lines: Sequence[str], languages: Sequence[str]) -> list[float | None]:
    """Return what ``wrong_line`` reads, None for languages that are not in our table."""
    return _read_by(WrongLine(), LineLanguages(), lines, languages)


def short_lines_too(lines: Sequence[str], languages: Sequence[str]) -> list[float | None]:
    """Return what ``wrong_line`` reads with ``line_languages.short_lines``, likewise."""
    return _read_by(WrongLine(), LineLanguages(short_lines=True), lines, languages)


def _read_by(
    metric: Metric[Answer],
    annotator: TextAnnotator,
    lines: Sequence[str],
    languages: Sequence[str],
) -> list[float | None]:
    known = [at for at, language in enumerate(languages) if _known(language)]
    values = annotator.annotate([lines[at] for at in known], [languages[at] for at in known])
    readings: list[float | None] = [None] * len(lines)
    for at, value in zip(known, values, strict=True):
        code = find(languages[at]).code
        answer = annotated_answer(lines[at], code, {annotator.name: value})
        readings[at] = metric.read(answer).value
    return readings


def _known(language: str) -> bool:
    try:
        find(language)
    except ConfigError:
        return False
    return True


if __name__ == "__main__":
    for rule in (each_line, short_lines_too, whole_answer):
        sys.stdout.write(f"{rule.__name__}\n\n{table(outcomes(rule, labelled_lines()))}\n\n")
