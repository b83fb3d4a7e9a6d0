"""The language of a few words."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.line_languages import LineLanguages, short
from pytest_xling.engine.steps import parameters_of
from pytest_xling.errors import ConfigError
from pytest_xling.interfaces import annotator
from pytest_xling.languages import find
from tests.text.labelled_lines import each_line, short_lines_too

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue


@pytest.mark.parametrize(
    ("line", "expected", "language"),
    [
        ("Jag vill inte gå.", "sv", "sv"),
        ("Ne dediğini anlamadım.", "tr", "tr"),
        ("Danas je lijep dan.", "hr", "hr"),
        ("Saya suka makan ikan.", "id", "id"),
        ("Sure, here you go:", "hi", "en"),
        ("Sure, here you go:", "fi", "en"),
        ("Sure, here you go:", "sv", None),
        ("Vi leder budgivningen!", "no", None),
        ("Students.", "fi", None),
        ("To Kill a Mockingbird", "es", None),
        ("Ya kafa tarihi.", "ha", None),
        ("…", "hi", None),
    ],
)
def test_what_identifiers_agree_on(line: str, expected: str, language: str | None) -> None:
    """The expected one by two of them, another one by all, if it can be no other."""
    assert [language] == short.agreed([(line, find(expected))])


def test_short_lines_are_left_out_unless_they_are_asked_for() -> None:
    """And where they are, those are that nobody knows."""
    text = "Sure, here you go:\nStudents.\nमैं आज घर पर हूँ और किताब पढ़ रहा हूँ।\nठीक है, चलो।"
    value: Any
    lines: dict[bool, list[dict[str, JsonValue]]] = {}
    for read in (False, True):
        (value,) = LineLanguages(short_lines=read).annotate([text], ["hi"])
        lines[read] = value["lines"]
    assert [3] == [line["line"] for line in lines[False]]
    assert [(1, "en"), (3, "hi"), (4, "hi")] == [
        (line["line"], line["language"]) for line in lines[True]
    ]
    assert lines[False][0] == lines[True][1]


def test_a_few_english_words_make_an_answer_wrong() -> None:
    """Above a text that is right."""
    text = "Sure, here you go:\nमैं आज घर पर हूँ और किताब पढ़ रहा हूँ।"
    assert [0.0] == each_line([text], ["hi"])
    assert [1.0] == short_lines_too([text], ["hi"])


def test_they_stand_in_the_signature_only_where_they_are_asked() -> None:
    """So that what was kept before stays known."""
    assert "short_lines" not in parameters_of(LineLanguages())
    signed = parameters_of(LineLanguages(short_lines=True))["short_lines"]
    assert isinstance(signed, dict)
    assert {"heliport", "lingua-language-detector"} == signed.keys()


def test_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked."""

    def version(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(annotator, "version", version)
    LineLanguages().check()
    with pytest.raises(ConfigError, match=r"heliport.*pip install 'pytest-xling\[short-lines\]'"):
        LineLanguages(short_lines=True).check()
