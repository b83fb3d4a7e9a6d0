"""The words of the answers of a set, for metrics that compare or count them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.metrics._readable import readable_or_why
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import TextIn
    from pytest_xling.records import Answer

__all__ = ["words_or_why"]


def words_or_why(
    answers: Sequence[Answer], *, text_in: TextIn, least: int
) -> list[list[str]] | Reading:
    """Return the words of each readable answer, or why there are too few such answers.

    Args:
        answers: of one set.
        text_in: which text is read.
        least: how many are needed.
    """
    # Imported when there is something to score: ICU is 40 MB of libraries.
    from pytest_xling.text.words import words  # noqa: PLC0415

    texts = readable_or_why(answers, text_in=text_in, least=least)
    if isinstance(texts, Reading):
        return texts
    return [words(each.text or "", each.language) for each in texts]
