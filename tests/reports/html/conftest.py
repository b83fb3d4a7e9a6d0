"""A made-up run in a store, and what a page says of it, made once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.reports.html.model import report_model
from pytest_xling.reports.run_summary import run_summary
from pytest_xling.store.database import Database
from tests.reports.html.made_run import MadeRun, make_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection


@contextmanager
def kept(path: Path, made: MadeRun) -> Iterator[Connection]:
    """Give a connection to a store with *made* as ``run-1``."""
    database = Database(make_run(path, made))
    with database.read() as connection:
        yield connection
    database.close()


@pytest.fixture
def store(tmp_path: Path) -> Any:  # noqa: ANN401  a function
    """Returns a function that gives a connection to a store with a made-up run."""

    def opened(made: MadeRun) -> AbstractContextManager[Connection]:
        return kept(tmp_path / "store.sqlite", made)

    return opened


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A connection to a store with claims in four languages at two temperatures."""
    path = tmp_path_factory.mktemp("html") / "store.sqlite"
    made = MadeRun(claims=6, languages=("en", "ar", "es", "hi"), conditions=("", "t0.7"))
    with kept(path, made) as connection:
        yield connection


@pytest.fixture(scope="session")
def model(run: Connection) -> dict[str, Any]:
    """What a page says of that run."""
    return report_model(run, run_summary(run, "run-1"))


@pytest.fixture(scope="session")
def bench(model: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    """What it says of the only benchmark."""
    (only,) = model["benchmarks"]
    return only
