"""The runs that the golden store holds, and all that is asked of it afterwards.

Every bundled benchmark is asked of two scripts, one of them worse and compared with the other; some
more questions of those that cost little, with labels beside half of the flags, so that gates are
judged by them, too; the embedded model is asked a little. Judges stand behind a socket.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
REPOSITORY: Final = HERE.parent.parent
THRESHOLDS: Final = HERE / "thresholds.yaml"
REPEATED: Final = HERE / "repeated.yaml"
BASE: Final = "good"
"""The run that the others are compared with."""
WORSE: Final = "weak"
EMBEDDED: Final = "small"
MANY: Final = "many"
"""More questions, of the benchmarks that cost little."""
LABELLED: Final = "labelled"
"""The same of the worse model; people have labelled some of its answers."""
_ALL: Final = ("benchmarks", "--langs=es,hi", "--xling-limit=6", "--xling-judge=judge")
_CHEAP: Final = (
    "benchmarks/culture",
    "benchmarks/presupposition",
    "benchmarks/confusion/monolingual",
    "benchmarks/conversation",
    "--langs=es,hi",
    "--xling-limit=24",
    "--xling-judge=judge",
)
RUNS: Final = {
    BASE: (*_ALL, "--model=scripted:good.yaml"),
    WORSE: (*_ALL, "--model=scripted:weak.yaml", f"--baseline={BASE}"),
    MANY: (*_CHEAP, "--model=scripted:good.yaml"),
    LABELLED: (*_CHEAP, "--model=scripted:weak.yaml", f"--baseline={MANY}"),
    "repeated": (
        "benchmarks/culture",
        "--langs=es,hi",
        "--xling-limit=12",
        "--xling-samples=3",
        "--xling-temperatures=0.5,1",
        "--model=scripted:weak.yaml",
    ),
    EMBEDDED: (
        "benchmarks/culture",
        "--langs=es,hi",
        "--xling-limit=4",
        "--xling-max-tokens=16",
        "--model=embedded",
    ),
}
"""What pytest is given, by the run's name."""
QUESTIONS: Final = {
    "gate": ("gate", LABELLED, "--thresholds", str(THRESHOLDS), "--json"),
    "compare": ("compare", LABELLED, MANY, "--json"),
    "tune": ("tune", MANY, "--benchmark=culture", "--thresholds", str(THRESHOLDS), "--json"),
    "show": ("show", LABELLED, "--json"),
}
"""What ``xling`` is asked of the store, by the name of the answer."""
LABELS: Final = (
    ("presupposition", "agrees_with_false"),
    ("presupposition", "factual_accuracy"),
    ("culture", "wrong_language"),
    ("conversation", "no_answer"),
)
"""Benchmarks and metrics of which people are said to have labelled answers of `LABELLED`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is, or is to be, and the folder that commands run in."""

    folder: Path

    @property
    def store(self) -> Path:
        """The store's file."""
        return self.folder / "store.sqlite"

    def pytest(self, name: str, *, url: str, after: str = "") -> None:
        """Make the run *name*; *after* stands behind its name.

        Raises:
            RuntimeError: pytest did not come to the end of it.
        """
        done = self._start(
            "pytest",
            "-p",
            "no:cacheprovider",
            "-q",
            f"--rootdir={REPOSITORY}",
            *(str(REPOSITORY / w) if w.startswith("benchmarks") else w for w in RUNS[name]),
            f"--xling-run-name={name}{after}",
            f"--xling-store={self.store}",
            f"--xling-thresholds={REPEATED if name == 'repeated' else THRESHOLDS}",
            url=url,
        )
        if done.returncode not in {0, 1}:
            msg = f"run {name!r} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
            raise RuntimeError(msg)

    def xling(self, *arguments: str) -> str:
        """Return what ``xling`` prints.

        Raises:
            RuntimeError: it failed.
        """
        done = self._start("pytest_xling.cli", f"--xling-store={self.store}", *arguments)
        if done.returncode not in {0, 1}:
            msg = f"xling {arguments[0]} ended with {done.returncode}:\n{done.stderr}"
            raise RuntimeError(msg)
        return done.stdout

    def _start(self, *command: str, url: str = "") -> subprocess.CompletedProcess[str]:
        ours = ("XLING_", "OPENAI_", "PYTEST_", "GITHUB_")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        environment |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-golden"}
        environment["PYTHONPATH"] = str(REPOSITORY)
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def write_scripts(self) -> None:
        """Write the scripts of the scripted models."""
        for name in ("good", "weak"):
            text = (HERE / f"{name}.yaml").read_text(encoding="utf-8")
            (self.folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    def answers(self) -> dict[str, Any]:
        """Return what ``xling`` says of the store, by `QUESTIONS`, without where files are."""
        printed = {name: self.xling(*words) for name, words in QUESTIONS.items()}
        here = f"{REPOSITORY}/"
        return {
            name: _placeless(json.loads(text.replace(here, ""))) for name, text in printed.items()
        }

    def contents(self) -> dict[str, Any]:
        """Return all outputs of the store by step: their keys and what they say, digested."""
        with closing(sqlite3.connect(self.store)) as connection:
            rows = connection.execute(
                "SELECT kind, name, version, parameters, hex(input_key), outputs.output"
                " FROM outputs JOIN steps ON steps.id = outputs.step ORDER BY 1, 2, 3, 4, 5"
            ).fetchall()
        by_step: dict[str, list[tuple[str, str]]] = {}
        for kind, name, version, parameters, key, output in rows:
            by_step.setdefault(f"{kind} {name} {version} {parameters}", []).append((key, output))
        return {
            step: {
                "outputs": len(outputs),
                "keys": _digest([key for key, _ in outputs]),
                "values": _digest([_timeless(output) for _, output in outputs]),
            }
            for step, outputs in by_step.items()
        }

    def verdicts(self, run: str) -> dict[str, Any]:
        """Return a run's verdicts by benchmark and gate."""
        with closing(sqlite3.connect(self.store)) as connection:
            rows = connection.execute(
                "SELECT benchmark, gate, verdict FROM verdicts WHERE run_id = ?", (run,)
            ).fetchall()
        return {
            f"{benchmark} {gate}": ordered(json.loads(verdict)) for benchmark, gate, verdict in rows
        }

    def scored(self, run: str) -> dict[str, int]:
        """Return how many of a run's answers each step has scored, by benchmark and step."""
        with closing(sqlite3.connect(self.store)) as connection:
            rows = connection.execute(
                "SELECT cases.benchmark, steps.name, steps.version, steps.parameters, count(*)"
                " FROM cases JOIN run_steps USING (run_id, benchmark)"
                " JOIN steps ON steps.id = run_steps.step"
                " JOIN outputs ON outputs.step = steps.id AND outputs.input_key = answer_key"
                " WHERE run_id = ? GROUP BY 1, 2, 3, 4",
                (run,),
            ).fetchall()
        return {" ".join(row[:4]): row[4] for row in rows}

    def label(self) -> None:
        """Put labels of people beside half of the answers: every seventh differs from the flag."""
        with closing(sqlite3.connect(self.store)) as connection, connection:
            for benchmark, metric in LABELS:
                rows = connection.execute(
                    "SELECT case_id, json_extract(outputs.output, '$[0]')"
                    " FROM cases JOIN run_steps USING (run_id, benchmark)"
                    " JOIN steps ON steps.id = run_steps.step AND steps.name = ?"
                    " JOIN outputs ON outputs.step = steps.id AND outputs.input_key = answer_key"
                    " WHERE run_id = ? AND benchmark = ? ORDER BY case_id",
                    (metric, LABELLED, benchmark),
                ).fetchall()
                for case, value in rows:
                    if value is None:
                        continue
                    drawn = zlib.crc32(case.encode())
                    label = None if drawn % 8 == 0 else 1 - value if drawn % 7 == 0 else value
                    agree, stratum = drawn % 5 > 0, str(round(value))
                    connection.execute(
                        "INSERT INTO human_labels (run_id, benchmark, metric, case_id, said, value,"
                        " cannot_tell, raters_agree) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        (LABELLED, benchmark, metric, case, stratum, label, label is None, agree),
                    )


def ordered(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return a verdict with the scores that it expects in order: they are a set."""
    verdict["expected"]["scores"].sort(key=str)
    return verdict


def _placeless(answer: Any) -> Any:  # noqa: ANN401  any JSON
    """Return an answer without the run's settings, and the path of thresholds.yaml."""
    if isinstance(answer, dict):
        kept = answer.keys() - {"settings", "thresholds"}
        return {key: _placeless(answer[key]) for key in kept}
    return [_placeless(each) for each in answer] if isinstance(answer, list) else answer


def _digest(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def _timeless(output: str) -> str:
    """Return an output without how long it took."""
    return re.sub(r'"(latency_s|first_token_s)": ?[0-9.e-]+', r'"\1":0', output)
