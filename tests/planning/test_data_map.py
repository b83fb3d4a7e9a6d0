"""``data:`` of prompts.yaml: what it may say, and what is said of what it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.planning.bread import Bread


def test_what_it_says(bread: Bread) -> None:
    """Columns by field, in one of three ways, and where each stands."""
    data = bread.prompts(
        "data: {file: q.csv, question: {hin: h, en: e}, id: [a, 2], reference: 3, topic: t, "
        "pair: line}"
    ).data
    assert data is not None
    columns = {"question": {"hi": "h", "en": "e"}, "id": ("a", "2"), "reference": "3", "topic": "t"}
    assert columns == data.columns
    assert ("q.csv", "line", True) == (data.file, data.pair, data.header)
    assert data.origin["topic"].endswith("prompts.yaml:1: data.topic")


def test_keys_of_the_users_own_are_metadata(bread: Bread) -> None:
    """``subject`` is no misspelling of ``subset``."""
    data = bread.prompts("data: {question: q, subject: s, region: r}").data
    assert data is not None
    assert {"question", "subject", "region"} == {*data.columns}
