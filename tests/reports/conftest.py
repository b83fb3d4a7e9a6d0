"""A small run in a store, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.store.database import Database
from tests.reports.stories import GATES, METRICS, STORY
from tests.runs import make_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A connection to a store with the story as ``run-1``."""
    path = tmp_path_factory.mktemp("story") / "store.sqlite"
    make_run(path, STORY, metrics=METRICS, gates=GATES)
    database = Database(path, create=False)
    with database.read() as connection:
        yield connection
    database.close()
