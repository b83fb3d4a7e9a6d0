"""Open the store, and give transactions in it."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.exc import DBAPIError

from pytest_xling.errors import StoreAway, StoreError
from pytest_xling.store.migrations import LATEST, migrate
from pytest_xling.store.sqlite_file import SqliteFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.store.backend import Backend

T = TypeVar("T")

ATTEMPTS = 5
"""How often a transaction is made whose connection breaks each time."""
PAUSES_S = (0.1, 5.0)
"""Between two looks whether a server is back: first and longest."""


@dataclass(slots=True)
class _Outage:
    """A server that cannot be reached."""

    since: float
    """By the monotonic clock."""
    given_up: str = ""
    """What is said of it, once it was waited for in vain."""
    not_before: float = 0.0
    """When it is tried again: one that keeps silent takes its time to fail."""


class Database:
    """A store; safe to use from several threads and processes, on a server from several machines.

    Args:
        location: an SQLite file, which is made with its folder if absent, or the URL of a
            PostgreSQL database, in which the tables are made.
        create: whether a missing store may be made; reading commands say False.
        patient: whether a server that is away is waited for at once, as by those who join a run;
            else a wrong address is likelier, and is told.

    Raises:
        StoreError: it cannot be opened or written, is not a store, or has a newer schema; later,
            that the file is no longer there, or that the server was away for too long.
        ConfigError: the driver for the server is missing, or the URL is wrong.
    """

    def __init__(
        self, location: StoreLocation, *, create: bool = True, patient: bool = False
    ) -> None:
        self._backend = _backend(location, create=create)
        self._outage: _Outage | None = None
        self._patience_s = self._backend.patience_s if patient else 0.0
        with ExitStack() as on_error:
            on_error.callback(self.close)
            with self.read() as connection:
                version = self._backend.version(connection)
            if version != LATEST:
                with self.write() as connection:
                    migrate(connection, self._backend)
            on_error.pop_all()
        self._patience_s = self._backend.patience_s

    @property
    def is_away(self) -> bool:
        """Whether the server is waited for just now, or was in vain."""
        return self._outage is not None

    def check(self) -> None:
        """Check that the file is still the one that was opened.

        Raises:
            StoreError: it was deleted, or another was put in its place.
        """
        self._backend.check()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection inside one consistent read transaction."""
        with self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection inside a write transaction; commit at the end, roll back on error.

        There is one at a time, in all processes. A server that is away is waited for, before it
        begins; :meth:`transact` makes it anew where that happens later.
        """
        with self._transaction(writes=True) as connection:
            yield connection
            self.check()

    def transact(self, function: Callable[[Connection], T], *, writes: bool = True) -> T:
        """Call *function* in a transaction, commit, and return its result.

        Where the connection to a server broke, that is done again from the beginning. Nobody knows
        then whether the commit had come through, so what it does twice must be as if done once.
        """
        for left in reversed(range(ATTEMPTS)):
            try:
                with self._transaction(writes=writes) as connection:
                    result = function(connection)
                    self.check()
            except StoreAway:
                self._missed(time.monotonic())
                if not left:
                    raise
            else:
                return result  # it is committed
        raise AssertionError  # pragma: no cover  the last attempt returns or raises

    def close(self) -> None:
        """Close all connections."""
        self._backend.engine.dispose()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        self._backend.check()
        with ExitStack() as stack:
            connection = self._begun(stack, writes=writes)
            try:
                yield connection
                stack.close()  # commits
            except DBAPIError as error:
                raise self._backend.explained(error) from error

    def _begun(self, stack: ExitStack, *, writes: bool) -> Connection:
        """Begin a transaction, and wait for a server that is away.

        The patience is for the outage, whatever begins meanwhile: once it is over, all that begins
        fails at once, until the server is back.

        Raises:
            StoreError: it is away for too long, or refuses.
        """
        pause, longest = PAUSES_S
        options = self._backend.writing if writes else self._backend.reading
        while True:
            tried_at = time.monotonic()
            if (outage := self._outage) and tried_at < outage.not_before:
                raise StoreError(outage.given_up)
            try:
                with ExitStack() as begun:
                    connection = begun.enter_context(self._backend.engine.connect())
                    connection = connection.execution_options(**options)
                    begun.enter_context(connection.begin())
                    stack.push(begun.pop_all())
                    self._outage = None
                    return connection
            except DBAPIError as error:
                refused = self._backend.explained(error)
                if not isinstance(refused, StoreAway) or not self._patience_s:
                    raise refused from error
                outage, now = self._missed(tried_at), time.monotonic()
                if now - outage.since > self._patience_s:
                    outage.given_up = f"{refused}; it was waited for {self._patience_s:g} s"
                    outage.not_before = now + (now - tried_at)
                    raise StoreError(outage.given_up) from error
            time.sleep(pause)
            pause = min(2 * pause, longest)

    def _missed(self, at: float) -> _Outage:
        """Note that the server could not be reached, and return its outage."""
        outage = self._outage = self._outage or _Outage(at)
        return outage


def _backend(location: StoreLocation, *, create: bool) -> Backend:
    if isinstance(location, Path):
        return SqliteFile(location, create=create)
    # Whoever keeps a file does not wait for this.
    from pytest_xling.store.postgresql import PostgresqlServer  # noqa: PLC0415

    return PostgresqlServer(location, create=create)
