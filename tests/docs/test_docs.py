"""The documents are true: their commands were run, their tables are the code's, their links lead."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from pytest_xling.config.options import OPTIONS
from pytest_xling.store import runs
from pytest_xling.store.database import Database
from tests.docs.bench import ROOT, Bench, carry_out
from tests.docs.blocks import read_blocks, table_between
from tests.docs.tables import GUIDE, TABLES

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
WRITTEN = ("add-a-benchmark.md", "add-a-metric.md", "add-a-provider.md", "guide.md")

_CODE = re.compile(r"```.*?```", re.DOTALL)
_LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_OPTION = re.compile(r"--(?:xling-[a-z-]+|model|langs)\b")


@dataclass(frozen=True)
class Done:
    """A document, carried out."""

    bench: Bench

    def answers(self) -> list[tuple[str, str | None]]:
        """Return language and answer of each case of the run with that many tests ago."""
        with Database(self.bench.root / ".xling" / "store.sqlite", create=False).read() as found:
            latest = runs.get_run(found, "latest")
            return [(a.language, a.response.text) for a in runs.answers(found, latest.run_id)]


def _do(name: str, factory: pytest.TempPathFactory) -> Done:
    if shutil.which("bash") is None:
        pytest.skip("the documents show commands for a POSIX shell, and there is no bash")
    return Done(carry_out(DOCS / name, factory.mktemp(name.partition(".")[0])))


@pytest.fixture(scope="module")
def metric(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """What became of add-a-metric.md."""
    return _do("add-a-metric.md", tmp_path_factory).bench


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """What became of add-a-provider.md."""
    return _do("add-a-provider.md", tmp_path_factory).bench


@pytest.fixture(scope="module")
def benchmark_page(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """What became of add-a-benchmark.md."""
    return _do("add-a-benchmark.md", tmp_path_factory).bench


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """What became of guide.md."""
    return _do("guide.md", tmp_path_factory).bench
