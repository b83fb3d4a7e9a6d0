"""Benchmarks on disk, and settings as a user would give them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_xling.config.option import Sources
from pytest_xling.config.settings import settle
from pytest_xling.languages import find
from pytest_xling.planning.benchmark import open_benchmark
from pytest_xling.planning.prompts import Prompts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pytest_xling.config.settings import Settings
    from pytest_xling.planning.benchmark import Benchmark


class MakeBenchmark(Protocol):
    """Writes a benchmark and opens it."""

    def __call__(
        self, ids: Mapping[str, Sequence[str]], *, prompts: str = 'chat: "{question}"\n'
    ) -> Benchmark:
        """Write ``set:id`` by language, in the order of the file."""
        ...


class MakeSettings(Protocol):
    """Settles settings from the command line's values."""

    def __call__(self, **given: Any) -> Settings:
        """Settle what is *given*; all else is left at its default."""
        ...


@pytest.fixture
def benchmark_of(tmp_path: Path) -> MakeBenchmark:
    """A maker of the benchmark ``bread``: ``set:id`` by language, in the order of the file."""

    def make(
        ids: Mapping[str, Sequence[str]], *, prompts: str = 'chat: "{question}"\n'
    ) -> Benchmark:
        folder = tmp_path / "bread"
        (folder / "data").mkdir(parents=True, exist_ok=True)
        (folder / "prompts.yaml").write_text(prompts, encoding="utf-8")
        for language, names in ids.items():
            rows = []
            for name in names:
                of_set, _, sample_id = name.rpartition(":")
                rows.append(
                    {
                        "id": sample_id,
                        "set": of_set or "agnostic",
                        "category": "food",
                        "source": "made up",
                        "question": f"Why {sample_id}?",
                    }
                )
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / "data" / f"{language}.jsonl").write_text(lines, encoding="utf-8")
        return open_benchmark(folder, data={})

    return make


@pytest.fixture
def prompts_of(tmp_path: Path) -> Callable[[str], Prompts]:
    """A reader of a prompts.yaml with this text; with a chat prompt where it has none."""

    def read(text: str) -> Prompts:
        path = tmp_path / "prompts.yaml"
        chat = "" if "chat" in text or text == "{}" else "\nchat: '{question}'\n"
        path.write_text(f"{text}{chat}", encoding="utf-8")
        return Prompts.read(path)

    return read


@pytest.fixture
def settings_of(tmp_path: Path) -> MakeSettings:
    """A maker of settings: ``settings_of(langs="hi,zh", limit=3)``."""

    def make(**given: Any) -> Settings:
        cli = {f"xling_{name}": value for name, value in {"model": "scripted", **given}.items()}
        return settle(
            Sources(
                cli=cli,
                environ={},
                rootdir=tmp_path,
                cwd=tmp_path,
                language_code=lambda name: find(name).code,
            )
        )

    return make
