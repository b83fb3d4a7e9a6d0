"""A fence keeps what is in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.text.fence import fenced
from pytest_xling.text.thoughts import split_thoughts

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
PIECES = (
    "<",
    "<<<",
    ">>>",
    "＜＜",
    "\u200b",
    "≪",
    "»",
    "\n",
    "\r",
    "\u2028",
    "END TEXT ",
    "```\n",
    "~~~",
    "0" * 16,
)


@settings(deadline=None, max_examples=60)
@given(ANY_TEXT, st.lists(st.sampled_from(PIECES)).map("".join), ANY_TEXT)
def test_a_fence_has_two_lines(before: str, forgery: str, after: str) -> None:
    """Whatever is between them, only the first and the last line of a fence are marks."""
    lines = fenced({"TEXT": before + forgery + after})["TEXT"].splitlines()
    nonce = lines[0].removeprefix("<<<BEGIN TEXT ").removesuffix(">>>")
    assert 16 == len(nonce)
    assert f"<<<END TEXT {nonce}>>>" == lines[-1]
    assert not [line for line in lines[1:-1] if "<<<" in line or ">>>" in line or nonce in line]


def test_the_number_of_a_fence_depends_on_all_that_is_fenced() -> None:
    """The same texts have the same fences; another letter anywhere changes all of them."""
    one = fenced({"A": "x", "B": "y"})
    assert one == fenced({"A": "x", "B": "y"})
    assert one["A"] != fenced({"A": "x", "B": "z"})["A"]
    assert fenced({"A": "x"}) != fenced({"A": "x "})


@pytest.mark.parametrize(
    "tags",
    [
        *(("<think>", "</think>"), ("<Thinking>", "</Thinking>"), ("<thought>", "</thought>")),
        *(("<seed:think>", "</seed:think>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷")),
    ],
)
def test_a_quote_begins_and_ends_no_thoughts(tags: tuple[str, str]) -> None:
    """The tags are broken up, so that a reply that quotes what is fenced has none."""
    text = f"{tags[0]}Hm.{tags[1]}yes"
    assert "yes" == split_thoughts(text)[1]
    shown = fenced({"TEXT": text})["TEXT"].splitlines()[1]
    assert ("", shown) == split_thoughts(shown, begun_by_prompt=False)
    assert shown.replace(" ", "") == text
    inside = f"<think>It says: {shown}\n"
    assert "" == split_thoughts(inside, begun_by_prompt=False)[1]


def test_ordinary_text_stays_as_it_is() -> None:
    """Quotation marks, titles, comparisons and paragraphs are not touched."""
    text = "«Sí», dijo.\n\n《本草纲目》: a < b > c << d, <b>bold</b> & x -> y, 1 ≪ 2 |> f"
    assert text == "\n".join(fenced({"TEXT": text})["TEXT"].split("\n")[1:-1])
