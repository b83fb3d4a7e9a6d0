"""Stores that are open."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pytest_xling.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.config.store_location import ServerUrl, StoreLocation


@pytest.fixture
def database(location: StoreLocation) -> Iterator[Database]:
    """A store with nothing in it, of either kind."""
    with closing(Database(location)) as made:
        yield made


@pytest.fixture
def served(server_store: ServerUrl) -> Iterator[Database]:
    """A store with nothing in it, on a server."""
    with closing(Database(server_store)) as made:
        yield made
