"""Throughput of a whole run, beside a bare loop over the official client, in one go.

    python perf/throughput.py [--rounds N]

A local OpenAI-compatible server answers after 200 ms. The same 1,000 distinct prompts are asked

- by a bare ``AsyncOpenAI`` loop with 64 connections: a client, nothing else;
- by ``pytest --model=…``: store, cases, metrics, gates and JUnit included;
- by it again, warm: nothing is asked;
- by both kinds of client of a server that answers 429 above 32 requests in flight.

Ideal: 1,000 / 64 rounds of 200 ms = 3.2 s; 6.4 s where only 32 are let in. Evaluation is the time
from the first request the server saw to the last answer it gave; the process is timed from outside.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.servers.openai_server import spawned, stats  # noqa: E402  the path is set above

PROMPTS = 1000
CONNECTIONS = 64
DELAY_S = 0.2
ANSWER = (
    "Ships float because they push aside water that weighs as much as they do. "
    "A hull holds a lot of air, so the whole ship is lighter than the water it displaces. "
) * 3

BARE = """
import asyncio, sys
from openai import AsyncOpenAI, RateLimitError

async def main(prompts, connections):
    client = AsyncOpenAI(max_retries=2)
    slots = asyncio.Semaphore(connections)
    lost = 0
    async def one(i):
        nonlocal lost
        async with slots:
            try:
                await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": f"Question {i}: why?"}],
                    temperature=0, max_tokens=64)
            except RateLimitError:
                lost += 1
    await asyncio.gather(*(one(i) for i in range(prompts)))
    print("lost", lost)
asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
"""

TEST = """
import pytest
pytestmark = pytest.mark.xling(
    metrics=["no_answer", "wrong_language", "repetition", "answer_length"]
)
def test_answer(xling_case):
    xling_case.check("no_answer", "wrong_language", "repetition")
def test_gate(xling_gate):
    xling_gate.check()
"""

THRESHOLDS = """
benchmarks:
  load:
    wrong_language: {max_rate: 0.05}
    repetition: {max_rate: 0.05}
"""


def make_project(folder: Path, prompts: int) -> None:
    """Write a benchmark of *prompts* questions into *folder*."""
    benchmark = folder / "benchmarks" / "load"
    (benchmark / "data").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "thresholds.yaml").write_text(THRESHOLDS, encoding="utf-8")
    (benchmark / "prompts.yaml").write_text('chat: "{question}"\n', encoding="utf-8")
    (benchmark / "test_load.py").write_text(TEST, encoding="utf-8")
    rows = (
        json.dumps(
            {
                "id": f"q{i:06d}",
                "set": "load",
                "category": "load",
                "source": "made up",
                "question": f"Question {i}: why do ships float on the sea?",
            }
        )
        for i in range(prompts)
    )
    (benchmark / "data" / "en.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


def timed(command: list[str], *, cwd: Path, base_url: str) -> tuple[float, str]:
    """Run *command* and return its wall seconds and output."""
    environment = os.environ | {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none"}
    # Compiled files are kept, as on a user's machine: it is not compilation that is measured.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    wall = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(f"{command} ended {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return wall, done.stdout


def xling(folder: Path) -> list[str]:
    """Return the command of a run in *folder*."""
    options = [f"--xling-max-connections={CONNECTIONS}", "--xling-max-tokens=64"]
    return [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "--model=m", "--langs=en", "--junitxml=junit.xml", *options, str(folder / "benchmarks"),
    ]  # fmt: skip


def measure(
    name: str, command: list[str], *, cwd: Path, ideal_s: float, **server: object
) -> dict[str, float]:
    """Time one command against a fresh server."""
    with spawned(delay_s=DELAY_S, answer=ANSWER, **server) as base_url:
        wall, out = timed(command, cwd=cwd, base_url=base_url)
        seen = stats(base_url)
    evaluation = seen["active_s"]
    answered, refused = seen["statuses"].get("200", 0), seen["statuses"].get("429", 0)
    print(
        f"  {name:<22} evaluation {evaluation:6.2f} s = {evaluation / ideal_s:5.2f} x ideal   "
        f"process {wall:6.2f} s = {wall / ideal_s:5.2f} x   answered {answered}"
        f"   refused {refused}" + (f"   {out.strip()}" if "lost" in out else "")
    )
    return {"evaluation": evaluation, "process": wall}


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    arguments = parser.parse_args()
    ideal = arguments.prompts / CONNECTIONS * DELAY_S
    bare = [sys.executable, "-c", BARE, str(arguments.prompts), str(CONNECTIONS)]
    collected: dict[str, list[dict[str, float]]] = {}
    for number in range(arguments.rounds):
        print(f"round {number + 1}; ideal {ideal:.2f} s")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_project(folder, arguments.prompts)
            for label, command in (("bare AsyncOpenAI", bare), ("pytest --model", xling(folder))):
                result = measure(label, command, cwd=folder, ideal_s=ideal)
                collected.setdefault(label, []).append(result)
    print("median")
    for label, results in collected.items():
        evaluation = statistics.median(r["evaluation"] for r in results) / ideal
        process = statistics.median(r["process"] for r in results) / ideal
        print(f"  {label:<22} evaluation {evaluation:.2f} x ideal   process {process:.2f} x ideal")


if __name__ == "__main__":
    main()
