"""What the store asks of that which keeps its tables: an SQLite file, or a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import DBAPIError

    from pytest_xling.errors import StoreError


class Backend(Protocol):
    """Keeps the tables of one store."""

    engine: Engine

    @property
    def patience_s(self) -> float:
        """How long to wait for one that cannot be reached, once it was."""
        ...

    @property
    def reading(self) -> Mapping[str, object]:
        """Options of a connection whose transaction sees the store as it was when that began."""
        ...

    @property
    def writing(self) -> Mapping[str, object]:
        """Options of a connection whose transaction is the only one that writes."""
        ...

    def __str__(self) -> str:
        """Name it, for messages, without a password."""
        ...

    def check(self) -> None:
        """Check that what was opened is still there.

        Raises:
            StoreError: it is not.
        """
        ...

    def version(self, connection: Connection) -> int:
        """Return the number of migrations that made the tables there are; 0: there are none.

        Raises:
            StoreMissing: there are none, and this is a reader.
        """
        ...

    def set_version(self, connection: Connection, version: int) -> None:
        """Keep how many migrations made the tables."""
        ...

    def foreign(self, connection: Connection) -> str:
        """Say what else is kept where no tables of ours are; "" where there is nothing."""
        ...

    def spelled(self, statement: str) -> str:
        """Return a statement of a migration, which is in SQLite's words, in those spoken here."""
        ...

    def explained(self, error: DBAPIError) -> StoreError:
        """Return what went wrong, with what to do.

        It is a :class:`~pytest_xling.errors.StoreAway` where the same may go well in a while.
        """
        ...
