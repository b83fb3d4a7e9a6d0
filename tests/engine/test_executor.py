"""What is told of how far an executor is."""

from __future__ import annotations

import asyncio

from pytest_xling.engine.executor import Executor
from pytest_xling.records import Answer, Response, Sample
from pytest_xling.registry import load


def test_each_batch_is_told_of() -> None:
    """A metric asked twice goes on where it was."""
    metric = load("metric", "answer_length")()
    sample = Sample(id="q", benchmark="b", language="en", prompt={"question": "?"})
    answers = [
        Answer(sample=sample, response=Response(text=text, stop_reason="stop"))
        for text in ("one", "two words", "two words more")
    ]
    told: list[tuple[str, int, int]] = []

    async def run() -> list[float | None]:
        executor = Executor(progress=lambda *state: told.append(state))
        values: list[float | None] = []
        for batches in ([answers[:2], answers[2:]], [], [answers[:1]]):
            async for _, readings in executor.outcomes(metric, batches):
                values += [reading.value for reading in readings]
        executor.close()
        return values

    assert [1, 2, 3, 1] == asyncio.run(run())
    assert [("answer_length", *done) for done in ((0, 3), (2, 3), (3, 3), (3, 4), (4, 4))] == [
        state for n, state in enumerate(told) if not n or state != told[n - 1]
    ]
