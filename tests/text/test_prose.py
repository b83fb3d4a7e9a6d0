"""What of a text tells its language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.languages import languages
from pytest_xling.text.prose import plain_lines, prose
from pytest_xling.text.scripts import SCRIPTS, letters, script_of, written_in


@pytest.mark.parametrize(
    ("text", "script", "words"),
    [
        ("Das geht so: `print(x)` gibt es aus.", "Latn", "Das geht so gibt es aus"),
        ("nimm das\n```python\nfor x in y: pass\n```\nund das", "Latn", "nimm das und das"),
        # In an item of a list, and in a quotation.
        ("nimm das\n     ```\n     for x in y\n     ```\nund das", "Latn", "nimm das und das"),
        ("nimm das\n> ~~~\n> for x in y\n> ~~~\nund das", "Latn", "nimm das und das"),
        ("bis hin zum Ende:\n~~~\nfor x in y: pass", "Latn", "bis hin zum Ende"),
        ("so ist es: $E = mc^2$ und \\[ a + b \\] sowie x=1", "Latn", "so ist es und sowie"),
        ("lies das hier: https://example.com/a_b?c=d#e (gut)", "Latn", "lies das hier gut"),
        ("schreib bitte an me.you@example.com oder so", "Latn", "schreib bitte an oder so"),
        ("nimm <b class='x'>täglich</b> 500 mg davon", "Latn", "nimm täglich davon"),
        ("<!-- ein ganzer Satz bleibt stehen -->", "Latn", "ein ganzer Satz bleibt stehen"),
        ("gegen COVID-19 hilft main.py nicht", "Latn", "gegen hilft nicht"),
        ("Ludwig van Beethoven", "Latn", "van"),
        ("Ludwig van Beethoven schrieb das hier", "Latn", "Ludwig van Beethoven schrieb das hier"),
        ("台湾のTaiwan Semiconductor社が作る", "Jpan", "台湾の 社が作る"),
        ("यह Google का है, not mine at all", "Deva", "यह का है not mine at all"),
        ("WARNING TO ALL", "Latn", "warning to all"),
        ("2020年に東京で大会がありました", "Jpan", "年に東京で大会がありました"),
        ("", "Latn", ""),
    ],
)
def test_what_is_left(text: str, script: str, words: str) -> None:
    """Code, formulas, addresses, mark-up, units and names go; sentences stay."""
    kept = "".join(
        c if script_of(c) or c.isspace() or not c.isascii() else " " for c in prose(text, script)
    )
    assert words.split() == kept.split()


@pytest.mark.parametrize(
    "unit", ["あ", "a", "\\[", "a.", "$", "`", "<", "1,", "a@", "```\n", "<a b=c "]
)
def test_time_is_linear(unit: str) -> None:
    """250,000 characters of what begins a pattern are read; a quadratic search would not end."""
    prose(unit * (250_000 // len(unit)), "Latn")


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_categories=())), st.sampled_from(sorted(SCRIPTS)))
def test_any_text_is_read(text: str, script: str) -> None:
    """Whatever a model writes, what is left can be encoded."""
    prose(text, script).encode()


def test_scripts() -> None:
    """Every language's script is known; letters are told by theirs, marks and digits are none."""
    assert {language.script for language in languages()} <= SCRIPTS.keys()
    assert {"H": 1, "и": 1, "漢": 2} == letters("H2и漢漢! \u0301")
    scripts = {
        "a": "Latin",
        "я": "Cyrillic",
        "字": "Han",
        "か": "Hiragana",
        "क": "Devanagari",
        "ि": "",
    }
    assert scripts == {letter: script_of(letter) for letter in scripts}
    for simplified, traditional in ("台臺", "学學"):
        assert written_in(simplified, "Hans")
        assert written_in(traditional, "Hans")
    assert not written_in("か", "Hans")


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_categories=())))
def test_lines_keep_their_numbers(text: str) -> None:
    """Whatever is set aside, there are as many lines as before."""
    assert len(text.splitlines()) == len(plain_lines(text))
    fenced = f"above\n```\n{text.replace('`', '')}\n```\nbelow"
    assert len(fenced.splitlines()) == len(plain_lines(fenced))
    assert ("above", "below") == (plain_lines(fenced)[0], plain_lines(fenced)[-1])


@pytest.mark.parametrize("end", ["\r\n", "\r", "\x85", "\u2028", "\u2029"])
def test_lines_end_as_unicode_has_it(end: str) -> None:
    """A block of code does, too, whatever ends its lines."""
    text = end.join(["above", "```", "code", "```", "below", ""])
    assert ["above", "", "", "", "below"] == plain_lines(text)


def test_lines_without_what_belongs_to_no_language() -> None:
    """Code, addresses and figures go; names stay."""
    text = "Ada Lovelace wrote `x = 1`.\n```\ncode\n```\nSee https://example.org now"
    assert ["Ada Lovelace wrote  .", "", "", " ", "See   now"] != text.split("\n")
    lines = plain_lines(text)
    assert "Ada Lovelace wrote" in lines[0]
    assert "x" not in lines[0].split()
    assert ["", "", ""] == [line.strip() for line in lines[1:4]]
    assert ["See", "now"] == lines[4].split()
