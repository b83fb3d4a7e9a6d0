"""Whether the judge of claims is kept busy: parity's information in 31 languages, in one go.

    python perf/claims.py [--questions N] [--rounds N]

A local OpenAI-compatible server judges after 200 ms; the answers are stored already, so that it is
asked nothing else. In each of 31 languages the same questions have five facts each. *Ideal* is all
requests by 64 at a time: first the claims of the answers, then each claim beside the other answer.
Exit status 1: a pair was asked twice, or the server took more than 1.1 times the ideal.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from perf.throughput import CONNECTIONS, DELAY_S, timed  # noqa: E402  the path is set above
from tests.servers.openai_server import spawned, stats  # noqa: E402  likewise

FACTS = 5
MOST = 1.1
LANGUAGES = [
    "en", "ar", "bn", "cs", "de", "el", "es", "fa", "fr", "gu",
    "he", "hi", "id", "it", "ja", "kn", "ko", "ml", "nl", "pa",
    "pl", "pt", "ro", "ru", "ta", "te", "th", "tr", "ur", "vi",
    "zh",
]  # fmt: skip
TEST = """
import pytest
pytestmark = pytest.mark.xling(metrics=["information"])
def test_answer(xling_case):
    xling_case.check()
"""


def make_project(folder: Path, questions: int) -> None:
    """Write a benchmark of *questions* questions in all languages, and answers to them."""
    benchmark = folder / "benchmarks" / "facts"
    (benchmark / "data").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (benchmark / "prompts.yaml").write_text('pivot: en\nchat: "{question}"\n', encoding="utf-8")
    (benchmark / "test_facts.py").write_text(TEST, encoding="utf-8")
    answers = []
    for language in LANGUAGES:
        rows = []
        for number in range(questions):
            place = {"language": language, "source": "made up", "category": "load", "set": "load"}
            rows.append({"id": f"q{number:04d}", "question": f"Question {number}?", **place})
            facts = range(100 + FACTS * number, 100 + FACTS * (number + 1))
            # Distinct in each language, so that no two claims or texts are the same.
            text = " ".join(f"Fact {fact} is told in {language}." for fact in facts)
            answers.append({"sample_id": f"q{number:04d}", "language": language, "text": text})
        write(benchmark / "data" / f"{language}.jsonl", rows)
    write(folder / "answers.jsonl", answers)


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Time runs against a fresh server each."""
    parser = argparse.ArgumentParser(description="Whether the judge of claims is kept busy.")
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    questions = arguments.questions
    lists = len(LANGUAGES) * questions
    best = math.inf
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as name, spawned(delay_s=DELAY_S, claims=True) as url:
            folder = Path(name)
            make_project(folder, questions)
            command = [
                sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                "--model=transcript:answers.jsonl", "--xling-judge=openai:judge",
                f"--xling-max-connections={CONNECTIONS}", str(folder / "benchmarks"),
            ]  # fmt: skip
            wall, _ = timed(command, cwd=folder, base_url=url)
            seen = stats(url)
        checks = seen["requests"] - lists
        ideal = (math.ceil(lists / CONNECTIONS) + math.ceil(checks / CONNECTIONS)) * DELAY_S
        ratio = seen["active_s"] / ideal
        best = min(best, ratio)
        print(
            f"{lists} lists and {checks} checks, the most of any "
            f"{max(seen['prompts'].values())}; at once {seen['max_in_flight']}; evaluation "
            f"{seen['active_s']:.2f} s = {ratio:.2f} x {ideal:.2f} s; process {wall:.2f} s"
        )
        if max(seen["prompts"].values()) > 1:
            sys.exit("a pair was asked twice")
    if best > MOST:
        sys.exit(f"{best:.2f} x is more than {MOST} x")


if __name__ == "__main__":
    main()
