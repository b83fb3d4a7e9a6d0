"""What is odd in an XLingHealth file without being wrong: a line each, for the session's header."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import regex

from pytest_xling.languages import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_xling.importers.xlinghealth.question import Cell, Content, Version

# ISO 15924 names for several scripts at once, as Unicode properties. Others are their own names.
_UNICODE = {
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
# Writing without blanks between words: a character there counts as a word elsewhere.
_UNSPACED = ("Hani", "Hira", "Kana", "Khmr", "Laoo", "Mymr", "Thai")
_SINGLE = "".join(rf"\p{{Script={name}}}" for name in _UNSPACED)
_UNITS = regex.compile(
    rf"[\p{{L}}&&[{_SINGLE}]]|[\p{{L}}--[{_SINGLE}]][[\p{{L}}\p{{M}}]--[{_SINGLE}]]*", regex.V1
)


@cache
def _own(code: str) -> regex.Pattern[str]:
    script = find(code).script
    names = _UNICODE.get(script, (script,))
    return regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in names) + "]")


def script_share(text: str, language: str) -> float | None:
    """Return the share of words whose first letter is in the script of *language*.

    Words, not letters: a drug keeps its Latin name in every language, and in ``ciprodex是什么？``
    that name is eight letters of eleven but one word of four. A character of a script without
    blanks between words counts as one. None for a text without letters.
    """
    units = _UNITS.findall(text)
    if not units:
        return None
    own = _own(language)
    return sum(own.match(unit) is not None for unit in units) / len(units)


_SHOWN = 3
_IN_SCRIPT = 0.5
"""A smaller share of words in the script is reported. In LiveQA and MedicationQA, 6 of 936 Chinese
answers, 7 of 936 Hindi ones and no question are below: lists of brand names, spellings of sounds,
substances in capitals."""
_ALIKE = 5
"""So many different questions with one right answer have a placeholder, such as "No answers"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of odd cell."""

    singular: str
    plural: str
    cells: Callable[[Version], tuple[Cell, ...]]
    odd: Callable[[Cell, str], bool]
    """Takes the language's code, too."""


def oddities(content: Content, *, languages: Sequence[str]) -> Iterator[str]:
    """Yield what a user should know of the data of *languages*, in short lines."""
    file = content.file.name
    for kind in _KINDS:
        rows = {code: _rows(content, code, kind) for code in languages}
        if count := sum(map(len, rows.values())):
            oddity = kind.singular if count == 1 else kind.plural
            yield f"{file}: {count} {oddity}: {_places(rows)}"
    rows = {code: _placeholders(content, code) for code in languages}
    if count := sum(map(len, rows.values())):
        yield (
            f"{file}: {count} right answers look like placeholders, one text for {_ALIKE} or more "
            f"questions: {_places(rows)}"
        )
    if count := sum(len(question.repeated) for question in content.questions):
        ids = [question.id for question in content.questions if question.repeated]
        oddity = "wrong answer repeats" if count == 1 else "wrong answers repeat"
        yield (
            f"{file}: {count} {oddity} another answer of the question and "
            f"{'is' if count == 1 else 'are'} left out in all languages: {_ids(ids)}"
        )
    for code in languages:
        if absent := [q.id for q in content.questions if code not in q.versions]:
            yield f"{file}: {code} lacks what other languages have: {_ids(absent)}"


def _blank(cell: Cell, _code: str) -> bool:
    return not cell.text


def _foreign(cell: Cell, code: str) -> bool:
    share = script_share(cell.text, code)
    return share is not None and share < _IN_SCRIPT


_KINDS = (
    _Kind(
        singular="question is blank and left out",
        plural="questions are blank and left out",
        cells=lambda version: (version.question,),
        odd=_blank,
    ),
    _Kind(
        singular="right answer is blank, its question left out",
        plural="right answers are blank, their questions left out",
        cells=lambda version: (version.right,),
        odd=_blank,
    ),
    _Kind(
        singular="wrong answer is blank and left out",
        plural="wrong answers are blank and left out",
        cells=lambda version: version.wrong,
        odd=_blank,
    ),
    _Kind(
        singular="question is not in its language's script",
        plural="questions are not in their language's script",
        cells=lambda version: (version.question,),
        odd=_foreign,
    ),
    _Kind(
        singular="answer is not in its language's script",
        plural="answers are not in their language's script",
        cells=lambda version: (version.right, *version.wrong),
        odd=_foreign,
    ),
)


def _rows(content: Content, code: str, kind: _Kind) -> list[int]:
    """Return the rows of the odd cells; an answer to many questions is judged and counts once."""
    first: dict[tuple[str, str], Cell] = {}
    for question, version in content.versions(code):
        for cell in kind.cells(version):
            name = (cell.answer or f"question {question.id}", cell.text)
            if name not in first or cell.row < first[name].row:
                first[name] = cell
    return sorted(cell.row for cell in first.values() if kind.odd(cell, code))


def _placeholders(content: Content, code: str) -> list[int]:
    """Return the rows of right answers that many different questions have."""
    questions: dict[str, set[str]] = defaultdict(set)
    rows: dict[str, list[int]] = defaultdict(list)
    for _, version in content.versions(code):
        if version.complete:
            text = version.right.text.casefold()
            questions[text].add(version.question.text.casefold())
            rows[text].append(version.right.row)
    return sorted(row for text in rows if len(questions[text]) >= _ALIKE for row in rows[text])


def _places(rows: Mapping[str, Sequence[int]]) -> str:
    return "; ".join(
        f"{code} {'row' if len(numbers) == 1 else 'rows'} {_some(numbers)}"
        for code, numbers in rows.items()
        if numbers
    )


def _ids(names: Sequence[str]) -> str:
    return f"{'question' if len(names) == 1 else 'questions'} {_some(names)}"


def _some(items: Sequence[object]) -> str:
    shown = ", ".join(str(item) for item in items[:_SHOWN])
    return f"{shown}, …" if len(items) > _SHOWN else shown
