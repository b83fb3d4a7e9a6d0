"""Benchmarks: found by their prompts.yaml, their data wherever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.planning.benchmark import check_data_names, discover, open_benchmark

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planning.conftest import MakeBenchmark


def make(folder: Path) -> Path:
    """Make *folder* look like a benchmark."""
    folder.mkdir(parents=True)
    (folder / "prompts.yaml").write_text('chat: "{question}"\n', encoding="utf-8")
    (folder / "test_it.py").touch()
    return folder.resolve()


def test_benchmarks_are_found_below_folders_and_beside_files(tmp_path: Path) -> None:
    """A test file stands for its folder; a file elsewhere for nothing; each is found once."""
    one, two = make(tmp_path / "a" / "one"), make(tmp_path / "two")
    (tmp_path / "test_other.py").touch()
    assert [one, two] == discover([tmp_path, one])
    assert [one] == discover([one / "test_it.py"])
    assert [] == discover([tmp_path / "test_other.py"])


def test_by_name_wherever_they_lie(tmp_path: Path) -> None:
    """A run's order, and so its output, is the same in another checkout."""
    wheat, rye = make(tmp_path / "a" / "wheat"), make(tmp_path / "b" / "rye")
    assert [rye, wheat] == discover([tmp_path])


@pytest.mark.parametrize("name", [".hidden", "_private", "node_modules", "build", "venv"])
def test_what_is_not_the_users_is_not_looked_through(tmp_path: Path, name: str) -> None:
    """Nor is what a symlink leads to, which may lead round in a circle."""
    make(tmp_path / name / "bench")
    (tmp_path / "link").symlink_to(tmp_path / name)
    assert [] == discover([tmp_path])


def test_a_benchmark_in_a_benchmark_is_data(tmp_path: Path) -> None:
    """The search ends at a prompts.yaml."""
    outer = make(tmp_path / "outer")
    make(outer / "inner")
    assert [outer] == discover([tmp_path])


def test_data_may_lie_elsewhere(tmp_path: Path, benchmark_of: MakeBenchmark) -> None:
    """--xling-data swaps a benchmark's data."""
    bread = benchmark_of({"en": ["q1"]})
    elsewhere = tmp_path / "elsewhere"
    (bread.folder / "data").rename(elsewhere)
    (elsewhere / "en.jsonl").rename(elsewhere / "hi.jsonl")
    swapped = open_benchmark(bread.folder, data={"bread": elsewhere, "other": tmp_path})
    assert ("hi",) == swapped.languages()
    assert ["q1"] == [sample.id for sample in swapped.samples(["hi"])]


def test_missing_data_is_named(tmp_path: Path) -> None:
    """Before anything is asked."""
    folder = make(tmp_path / "bread")
    with pytest.raises(ConfigError, match=r"'bread' has no data: .*bread/data does not exist"):
        open_benchmark(folder, data={})


def test_an_unknown_layout_is_named(tmp_path: Path) -> None:
    """The message says what is read."""
    folder = make(tmp_path / "bread")
    (folder / "data").mkdir()
    (folder / "data" / "en.txt").touch()
    with pytest.raises(ConfigError, match=r"no layout we know; we read: calmqa, claims, epitome"):
        open_benchmark(folder, data={})


def test_an_unknown_language_is_named(benchmark_of: MakeBenchmark) -> None:
    """With the languages there are."""
    with pytest.raises(ConfigError, match=r"no data for language 'zh'.*It has: en"):
        benchmark_of({"en": ["q1"]}).samples(["zh"])


def test_data_for_a_benchmark_that_is_not_collected_is_refused(tmp_path: Path) -> None:
    """A misspelt name must not leave the bundled questions in place."""
    folders = [tmp_path / "culture"]
    check_data_names({"culture": tmp_path}, folders)
    with pytest.raises(ConfigError, match=r"data is named 'cultur' here.*Did you mean 'culture'"):
        check_data_names({"cultur": tmp_path}, folders)
