"""Batches: inputs of similar size together, results in order, faults where they belong."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_xling.engine.executor import Executor, in_batches
from pytest_xling.errors import EvaluationError
from pytest_xling.interfaces.annotator import TextAnnotator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue


@dataclass(frozen=True)
class Lengths(TextAnnotator):
    """Counts characters; refuses a batch that holds what it does not like."""

    name = "lengths"
    version = "1"

    refused: str = ""
    seen: list[list[int]] = field(default_factory=list)

    def annotate(self, texts: Sequence[str], languages: Sequence[str]) -> list[JsonValue]:
        """Return how long each text is."""
        del languages
        if self.refused and self.refused in texts:
            msg = f"{self.refused} again"
            raise EvaluationError(msg)
        lengths = [len(text) for text in texts]
        self.seen.append(lengths)
        return [*lengths]


def lengths_of(annotator: Lengths, texts: Sequence[str], *, max_batch: int) -> list[Any]:
    """Return what comes of *texts* in batches."""

    async def computed(executor: Executor) -> dict[int, Any]:
        outcomes: dict[int, Any] = {}
        computing = in_batches(
            annotator,
            [(text, "en") for text in texts],
            executor=executor,
            max_batch=max_batch,
        )
        async for batch in computing:
            outcomes |= batch
        return outcomes

    with closing(Executor()) as executor:
        outcomes = asyncio.run(computed(executor))
    return [outcomes[index] for index in range(len(texts))]


@given(
    lengths=st.lists(st.integers(0, 50), max_size=40),
    max_batch=st.integers(1, 10),
)
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_batches_are_sorted_and_order_restored(lengths: list[int], max_batch: int) -> None:
    """Whatever the batch size, each input gets its own result."""
    annotator = Lengths()
    assert lengths == lengths_of(annotator, ["x" * n for n in lengths], max_batch=max_batch)
    assert sorted(lengths) == [size for batch in annotator.seen for size in batch]
    assert all(len(batch) <= max_batch for batch in annotator.seen)


@given(max_batch=st.integers(1, 5))
@settings(deadline=None, max_examples=5)
def test_what_breaks_a_batch_fails_alone(max_batch: int) -> None:
    """An EvaluationError reaches the input that it is of, and no other, in whatever batch."""
    first, second, error, last = lengths_of(
        Lengths(refused="xxx"), ["x", "xx", "xxx", "xxxx"], max_batch=max_batch
    )
    assert (1, 2, 4) == (first, second, last)
    assert isinstance(error, EvaluationError)
