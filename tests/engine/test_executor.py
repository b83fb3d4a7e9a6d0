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


def lengths_of(annotator: Lengths, lengths: Sequence[int], *, max_batch: int) -> list[Any]:
    """Return what comes of texts of *lengths* in batches."""
    texts = [("x" * length, "en") for length in lengths]

    async def computed(executor: Executor) -> dict[int, Any]:
        outcomes: dict[int, Any] = {}
        async for batch in in_batches(annotator, texts, executor=executor, max_batch=max_batch):
            outcomes |= batch
        return outcomes

    with closing(Executor()) as executor:
        outcomes = asyncio.run(computed(executor))
    return [outcomes[index] for index in range(len(texts))]


@given(lengths=st.lists(st.integers(0, 50), max_size=40), max_batch=st.integers(1, 10))
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_batches_are_sorted_and_order_restored(lengths: list[int], max_batch: int) -> None:
    """Whatever the batch size, each input gets its own result."""
    annotator = Lengths()
    assert lengths == lengths_of(annotator, lengths, max_batch=max_batch)
    assert sorted(lengths) == [size for batch in annotator.seen for size in batch]
    assert all(len(batch) <= max_batch for batch in annotator.seen)


@given(max_batch=st.integers(1, 5))
@settings(deadline=None, max_examples=5)
def test_what_breaks_a_batch_fails_alone(max_batch: int) -> None:
    """An EvaluationError reaches the input that it is of, and no other, in whatever batch."""
    found = lengths_of(Lengths(refused="xxx"), [1, 2, 3, 4], max_batch=max_batch)
    assert isinstance(found.pop(2), EvaluationError)
    assert [1, 2, 4] == found


async def test_each_batch_is_told_of() -> None:
    """A step that is computed twice goes on where it was."""
    told: list[tuple[str, int, int]] = []
    lengths: list[float | None] = []
    one, two = [("x", "en"), ("xx", "en")], [("xxx", "en")]
    with closing(Executor(progress=lambda *state: told.append(state))) as executor:
        for batches in ([one, two], [], [one[:1]]):
            async for _, outcomes in executor.outcomes(Lengths(), batches):
                lengths += outcomes
    assert [1, 2, 3, 1] == lengths
    assert [("lengths", *done) for done in ((0, 3), (2, 3), (3, 3), (3, 4), (4, 4))] == [
        state for n, state in enumerate(told) if not n or state != told[n - 1]
    ]
