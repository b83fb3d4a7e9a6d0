"""What asking adds to a provider's own work: slot, breaker, budget and retries, per request.

    python perf/request.py

The provider answers at once, so that all that is timed is ours. Exit status 1: more than 30
microseconds a request in the best of five rounds.
"""

from __future__ import annotations

import asyncio
import sys
import time

from pytest_xling.engine.client import Client
from pytest_xling.engine.limits import Account, Budget
from pytest_xling.providers.scripted import ScriptedProvider
from pytest_xling.records import Message, Request, Response, Usage

MAX_US = 30.0
ROUNDS, REQUESTS = 5, 500


class Instant(ScriptedProvider):
    """Answers at once."""

    async def generate(self, request: Request) -> Response:
        """Return an empty answer."""
        del request
        return Response(text="", stop_reason="stop", usage=Usage(prompt_tokens=12))


async def best_us() -> float:
    """Return the microseconds a request takes in the best round."""
    request = Request(model="m", messages=(Message(role="user", content="Why?"),), params={})
    client = Client(Instant(""), account=Account(Budget(1.0), 1.0, 1.0))
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(REQUESTS):
            await client.ask(request)
        rounds.append((time.perf_counter() - started) / REQUESTS * 1e6)
    return min(rounds)


def main() -> int:
    """Measure and print."""
    microseconds = asyncio.run(best_us())
    print(f"asking costs {microseconds:.1f} µs a request (at most {MAX_US:g})")
    return int(microseconds > MAX_US)


if __name__ == "__main__":
    sys.exit(main())
