"""How much sooner two actors on Ray have scored stored answers than one process.

    python perf/ray_score.py [--answers N] [--actors N] [--metric NAME]

Answers of the scripted provider's kind are made up, cut into batches as the engine cuts them, and
scored with one metric: on the local thread with one thread of its own, and on Ray. Ray's start
is not counted, that of the pool and of its models is. On two cores nothing else may run: the load
before and after is printed beside the figures. Exit status 1: the ratio is below 1.6.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import time
from typing import TYPE_CHECKING, Any

from pytest_xling.engine.executor import Executor, in_batches
from pytest_xling.engine.on_ray import RayExecutor, open_cluster
from pytest_xling.records import Answer, AnswerSet, Reading, Response, Sample
from pytest_xling.registry import load

if TYPE_CHECKING:
    from collections.abc import Sequence


WANTED = 1.6
WORDS = ("bread", "water", "salt", "oven", "dough", "flour", "crust", "yeast", "bake", "slice")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Read by libraries when they are imported, which is when a metric loads."""


def answers(count: int) -> list[AnswerSet]:
    """Return *count* answers of 20 to 60 words, two to a set."""
    draw = random.Random(0)  # noqa: S311  reproducible, not secret
    made = [
        Answer(
            sample=Sample(id=f"q{n // 2}", benchmark="b", language="en", prompt={"question": "?"}),
            response=Response(
                text=" ".join(draw.choices(WORDS, k=draw.randint(20, 60))), stop_reason="stop"
            ),
        )
        for n in range(count)
    ]
    return [AnswerSet(answers=(made[n], made[n + 1])) for n in range(0, count, 2)]


async def timed(executor: Executor, metric: Any, sets: Sequence[AnswerSet]) -> tuple[float, Any]:  # noqa: ANN401  any metric
    """Return the seconds an executor takes, and the values by index."""
    began = time.perf_counter()
    values: dict[int, float | None] = {}
    computing = in_batches(metric, sets, executor=executor, max_batch=64)
    async for batch in computing:
        for index, reading in batch.items():
            if not isinstance(reading, Reading):
                raise SystemExit(str(reading))
            values[index] = reading.value
    executor.close()
    return time.perf_counter() - began, values


async def on_ray(cluster: Any, metric: Any, sets: Sequence[AnswerSet]) -> tuple[float, Any]:  # noqa: ANN401  Ray's
    """Return the same of actors on Ray."""
    cluster.start_pool()
    return await timed(RayExecutor(cluster), metric, sets)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--metric", default="sim_sent")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))  # one process is one core, as each actor is
    sets, metric = answers(given.answers), load("metric", given.metric)()
    print(f"{given.answers:,} answers, {given.metric}; load {os.getloadavg()[0]:.1f}")
    alone, expected = asyncio.run(timed(Executor(), metric, sets))
    print(f"one process      {alone:7.1f} s; load {os.getloadavg()[0]:.1f}")
    cluster = open_cluster(None, actors=given.actors, device="cpu")
    together, values = asyncio.run(on_ray(cluster, metric, sets))
    cluster.close()
    apart = max(abs((values[n] or 0) - (value or 0)) for n, value in expected.items())
    ratio = alone / together
    print(f"{given.actors} actors on Ray  {together:7.1f} s; load {os.getloadavg()[0]:.1f}")
    print(f"ratio {ratio:.2f} (wanted {WANTED}); values differ by {apart:.1e} at most")
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
