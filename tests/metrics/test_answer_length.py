"""Lengths in tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.metrics.answer_length import AnswerLength

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import Answer


def test_counts_tokens(make_answer: Callable[..., Answer]) -> None:
    """White space in a text counts; a text of white space alone is no answer."""
    texts = ["Hello, world!", " \n", None, "a <|endoftext|>"]
    readings = AnswerLength().score([make_answer(text) for text in texts])
    assert [4.0, None, None, 8.0] == [reading.value for reading in readings]
    assert "no answer" == readings[1].reason
