"""Throughput of a whole run, beside a bare loop over the official client, in one go.

    python perf/throughput.py [--rounds N]
    python perf/throughput.py --store postgresql://USER@HOST/DATABASE [--rounds N]

A local OpenAI-compatible server answers after 200 ms. The same 1,000 distinct prompts are asked

- by a bare ``AsyncOpenAI`` loop with 64 connections: a client, nothing else;
- by ``pytest --model=…``: store, cases, metrics, gates and JUnit included;
- by the same again, warm: nothing is asked;
- by both of a server that answers 429 + Retry-After above 32 requests in flight.

Plain pytest with as many empty cases and JUnit is timed too. Ideal: 16 rounds of 200 ms = 3.2 s
for 1,000 prompts over 64 connections; 32 rounds = 6.4 s where only 32 are let in. *Evaluation* is
the time from the first request the server saw to the last answer it gave; the process is timed
from outside.

With ``--store`` something else is measured: runs with ``-n 4``, in turns with an SQLite file and in
a new schema of that database, cold and warm, and the ratio of their times: of the medians, and of
the shortest, which other programs on the machine disturb least.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
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
ADMITTED = 32
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

PLAIN = """
import pytest
@pytest.mark.parametrize("case", range({prompts}))
def test_answer(case):
    pass
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


def timed(
    command: list[str], *, cwd: Path, base_url: str, store: str = ".xling/store.sqlite"
) -> tuple[float, str]:
    """Run *command* and return its wall seconds and output."""
    environment = os.environ | {
        "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none", "XLING_STORE": store,
    }  # fmt: skip
    # Compiled files are kept, as on a user's machine: it is not compilation that is measured.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    wall = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(
            f"{command} ended {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
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
    answered, refused = seen["statuses"].get("200", 0), seen["statuses"].get("429", 0)
    lost = f", lost {found[1]}" if (found := re.search(r"lost (\d+)", out)) else ""
    print(
        f"  {name:<26} evaluation {seen['active_s']:6.2f} s = {seen['active_s'] / ideal_s:4.2f} x"
        f"   process {wall:6.2f} s = {wall / ideal_s:4.2f} x"
        f"   answered {answered}, refused {refused}{lost}"
    )
    return {"evaluation": seen["active_s"] / ideal_s, "process": wall / ideal_s}


def warm(folder: Path, prompts: int) -> dict[str, float]:
    """Time a first and a second run on one server, and plain pytest beside the second."""
    plain_file = folder / "test_plain.py"
    plain_file.write_text(PLAIN.format(prompts=prompts), encoding="utf-8")
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xling",
             "-p", "no:xling_short", "--junitxml=plain.xml", str(plain_file)]  # fmt: skip
    with spawned(delay_s=0.0, answer=ANSWER) as base_url:
        timed(xling(folder), cwd=folder, base_url=base_url)
        before = stats(base_url)["requests"]
        wall, _ = timed(xling(folder), cwd=folder, base_url=base_url)
        asked = stats(base_url)["requests"] - before
        plain_wall, _ = timed(plain, cwd=folder, base_url=base_url)
    per_case_ms = 1000 * (wall - plain_wall) / prompts
    print(
        f"  {'warm':<26} process {wall:.2f} s, requests {asked}; plain pytest {plain_wall:.2f} s: "
        f"{per_case_ms:.2f} ms a case more"
    )
    return {"process_s": wall, "requests": asked, "ms_per_case": per_case_ms}


def beside_sqlite(url: str, *, prompts: int, rounds: int) -> None:
    """Time runs of four workers with an SQLite file and on a server, in turns."""
    import psycopg  # noqa: PLC0415  an extra

    times: dict[str, list[float]] = {}
    for number in range(rounds):
        kinds = ["file", "server"] if number % 2 == 0 else ["server", "file"]
        for kind in kinds:
            schema = f"perf_{os.getpid()}_{number}"
            store = f"{url}{'&' if '?' in url else '?'}options=-csearch_path={schema}"
            with tempfile.TemporaryDirectory() as name, psycopg.connect(url) as connection:
                connection.autocommit = True
                connection.execute(f"CREATE SCHEMA {schema}")
                folder = Path(name)
                make_project(folder, prompts)
                where = {"store": store} if kind == "server" else {}
                with spawned(delay_s=DELAY_S, answer=ANSWER) as base_url:
                    for heat in ("cold", "warm"):
                        command = [*xling(folder), "-n4"]
                        wall, _ = timed(command, cwd=folder, base_url=base_url, **where)
                        times.setdefault(f"{kind} {heat} process", []).append(wall)
                    seen = stats(base_url)
                times.setdefault(f"{kind} evaluation", []).append(seen["active_s"])
                connection.execute(f"DROP SCHEMA {schema} CASCADE")
                asked, active = seen["requests"], seen["active_s"]
                print(f"  round {number + 1} {kind:<7} asked {asked}, evaluation {active:6.2f} s")
    for figure in ("evaluation", "cold process", "warm process"):
        for name, of in (("median", statistics.median), ("shortest", min)):
            file, server = (of(times[f"{kind} {figure}"]) for kind in ("file", "server"))
            print(
                f"  {figure:<13} {name:<9} file {file:6.2f} s, server {server:6.2f} s:"
                f" {server / file:4.2f} x"
            )


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description="Throughput of a whole run.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    parser.add_argument("--store", metavar="URL", help="compare a PostgreSQL database with a file")
    arguments = parser.parse_args()
    prompts = arguments.prompts
    if arguments.store:
        beside_sqlite(arguments.store, prompts=prompts, rounds=arguments.rounds)
        return
    ideal = math.ceil(prompts / CONNECTIONS) * DELAY_S
    refusing_ideal = math.ceil(prompts / ADMITTED) * DELAY_S
    bare = [sys.executable, "-c", BARE, str(prompts), str(CONNECTIONS)]
    refusing = {"max_in_flight": ADMITTED, "retry_after": "1"}
    collected: dict[str, list[dict[str, float]]] = {}
    for number in range(arguments.rounds):
        print(f"round {number + 1}; ideal {ideal:.1f} s, with refusals {refusing_ideal:.1f} s")
        for label, command_of, ideal_s, server in (
            ("bare AsyncOpenAI", lambda _: bare, ideal, {}),
            ("pytest --model", xling, ideal, {}),
            ("bare, 429 above 32", lambda _: bare, refusing_ideal, refusing),
            ("pytest --model, 429", xling, refusing_ideal, refusing),
        ):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                make_project(folder, prompts)
                result = measure(label, command_of(folder), cwd=folder, ideal_s=ideal_s, **server)
                collected.setdefault(label, []).append(result)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_project(folder, prompts)
            collected.setdefault("warm", []).append(warm(folder, prompts))
    print(f"median of {arguments.rounds}")
    for label, results in collected.items():
        medians = {key: statistics.median(r[key] for r in results) for key in results[0]}
        shown = "   ".join(f"{key} {value:.2f}" for key, value in medians.items())
        print(f"  {label:<26} {shown}")


if __name__ == "__main__":
    main()
