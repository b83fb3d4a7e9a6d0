"""The question above its answer, whatever they hold."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.records import Finding
from pytest_xling.reports.findings import Ranked
from pytest_xling.reports.rendering import to_text
from pytest_xling.reports.terminal.findings import finding_parts
from tests.reports.terminals import widest_columns

TEXTS = st.text(st.characters(codec=None), max_size=400)  # lone surrogates too


def _shown(
    *, question: str, answer: str, reason: str, width: int, lines: int, thoughts: str = ""
) -> str:
    finding = Finding(
        case="q1-hi",
        metric="emoji",
        language="hi",
        question=question,
        answer=answer,
        reason=reason,
        thoughts=thoughts,
    )
    ranked = Ranked(benchmark="culture", standing="failed", finding=finding)
    parts = finding_parts(ranked, width=width, lines=lines, thoughts=True)
    return to_text(parts, width=width, color=False)


@given(text=TEXTS, answer=TEXTS, reason=TEXTS, width=st.integers(40, 160))
def test_any_text_fits_and_is_harmless(text: str, answer: str, reason: str, width: int) -> None:
    """No line is wider than the terminal, no control character gets out, all is valid Unicode."""
    text = _shown(question=text, thoughts=text, answer=answer, reason=reason, width=width, lines=4)
    assert [] == [line for line in text.splitlines() if widest_columns(line) > width]
    assert {"\n"} >= {char for char in text if unicodedata.category(char) == "Cc"}
    assert text == text.encode().decode()


def test_long_texts_take_the_lines_they_may() -> None:
    """Latin, Hindi and Chinese alike, however many characters there are."""
    for long in ("word " * 100_000, "मिलाना ख़तरनाक क्यों है " * 20_000, "面包会膨胀" * 100_000):
        text = _shown(question=long, answer=long, reason=long, thoughts=long, width=80, lines=4)
        assert 1 + 4 * 4 == len(text.splitlines())
        assert 4 == text.count("…\n")


def test_no_answer_is_said() -> None:
    """White space is no answer either."""
    text = _shown(question="Why?", answer=" \n\t", reason="empty", width=80, lines=4)
    assert "  answer  (none)" in text
