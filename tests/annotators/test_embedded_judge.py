"""A real model judges: badly, and the swapping of positions shows it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_xling.annotators.correctness_label import LABELS, CorrectnessLabel
from tests.annotators.judges import Embedded, embedded
from tests.answers import annotated_answer

ASKED = {"question": "How much water should I drink a day?"}
EXPERT = "About two litres, and more when it is hot."


@pytest.mark.slow
@embedded
def test_the_embedded_model_gives_labels_that_hang_on_the_position() -> None:
    """A small base model names a label, long texts and all; swapping shows it cannot judge."""

    async def main() -> list[Any]:
        judge = Embedded()
        try:
            return [
                await CorrectnessLabel(swap=swap).annotate(
                    annotated_answer(text, language, prompt=ASKED, reference=EXPERT), judge
                )
                for text, language, swap in (
                    ("पानी पिएँ। " * 2_000, "hi", False),
                    ("Around two litres.", "en", True),
                )
            ]
        finally:
            await judge.provider.aclose()

    long, swapped = asyncio.run(main())
    assert long["label"] in LABELS
    assert swapped["label"] is None
    assert "positions swapped" in swapped["reason"]
