"""A small run in a store, made once."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.store.database import Database
from tests.reports.stories import GATES, METRICS, STORY
from tests.runs import make_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from tests.runs import Asked


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A connection to a store with the story as ``run-1``."""
    path = tmp_path_factory.mktemp("story") / "store.sqlite"
    make_run(path, STORY, metrics=METRICS, gates=GATES)
    database = Database(path, create=False)
    with database.read() as connection:
        yield connection
    database.close()


@pytest.fixture
def evaluated(tmp_path: Path) -> Iterator[Callable[..., Connection]]:
    """Returns a connection to a store with what was asked, answered and judged as a run."""
    with ExitStack() as opened:

        def made(asked: Sequence[Asked], **record: Any) -> Connection:
            kept = make_run(tmp_path / "s.sqlite", asked, **record)
            database = opened.enter_context(closing(Database(kept.path)))
            return opened.enter_context(database.read())

        yield made
