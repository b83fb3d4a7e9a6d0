"""Answers for the tests of metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.registry import load
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import Answer


@pytest.fixture(scope="session")
def make_answer() -> Callable[..., Answer]:
    """Give the tests a maker of answers, annotated by the real annotators that are named."""

    def make(
        text: str | None, *, language: str = "de", needs: tuple[str, ...] = (), **response: Any
    ) -> Answer:
        said = {
            name: load("annotator", name)().annotate([text or ""], [language])[0] for name in needs
        }
        answer = annotated_answer(text, language, said)
        return replace(answer, response=replace(answer.response, **response))

    return make
