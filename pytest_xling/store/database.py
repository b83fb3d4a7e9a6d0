"""Open the store and begin transactions in it."""

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
"""How often a transaction is tried whose connection breaks each time."""
PAUSES_S = (0.1, 5.0)
"""Between two attempts to reach a server: first and longest."""


@dataclass(slots=True)
class _Outage:
    """A server that cannot be reached."""

    since: float
    """By the monotonic clock."""
    given_up: str = ""
    """The message, once the patience is over; "" until then."""
    not_before: float = 0.0
    """When it is tried again; each attempt may take long to fail."""


class Database:
    """A store; safe to use from several threads and processes, on a server from several machines.

    Args:
        location: an SQLite file, created with its folder if absent, or the URL of a PostgreSQL
            database, in which the tables are created.
        create: whether a missing store may be created; reading commands say False.
        patient: whether to wait from the start for a server that cannot be reached, as those do who
            join a run; for others a wrong address is likelier, and an error at once.

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
        """Whether the server cannot be reached just now."""
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

        There is one at a time, in all processes. It waits for a server that is away before it
        begins; where the connection may break later, :meth:`transact` repeats it.
        """
        with self._transaction(writes=True) as connection:
            yield connection
            self.check()

    def transact(self, function: Callable[[Connection], T], *, writes: bool = True) -> T:
        """Call *function* in a transaction, commit, and return its result.

        Where the connection to a server breaks, it is repeated from the beginning. Nobody knows
        then whether the commit succeeded, so *function* must be idempotent.
        """
        for left in reversed(range(ATTEMPTS)):
            try:
                with self._transaction(writes=writes) as connection:
                    result = function(connection)
                    self.check()
            except StoreAway:
                self._note_outage(time.monotonic())
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
            connection = self._begin(stack, writes=writes)
            try:
                yield connection
                stack.close()  # commits
            except DBAPIError as error:
                raise self._backend.store_error(error) from error

    def _begin(self, stack: ExitStack, *, writes: bool) -> Connection:
        """Begin a transaction, and wait for a server that is away.

        All transactions share the patience of one outage: once it is over, each fails at once,
        until the server is back.
        """
        pause, longest = PAUSES_S
        options = self._backend.writing if writes else self._backend.reading
        while True:
            tried_at = time.monotonic()
            if (outage := self._outage) and tried_at < outage.not_before:
                raise StoreError(outage.given_up)
            try:
                with ExitStack() as on_error:
                    connection = on_error.enter_context(self._backend.engine.connect())
                    connection = connection.execution_options(**options)
                    on_error.enter_context(connection.begin())
                    stack.push(on_error.pop_all())
                    self._outage = None
                    return connection
            except DBAPIError as error:
                fault = self._backend.store_error(error)
                if not isinstance(fault, StoreAway) or not self._patience_s:
                    raise fault from error
                outage, now = self._note_outage(tried_at), time.monotonic()
                if now - outage.since > self._patience_s:
                    outage.given_up = f"{fault}; it was waited for {self._patience_s:g} s"
                    outage.not_before = now + (now - tried_at)
                    raise StoreError(outage.given_up) from error
            time.sleep(pause)
            pause = min(2 * pause, longest)

    def _note_outage(self, since: float) -> _Outage:
        """Note that the server could not be reached, and return its outage."""
        outage = self._outage = self._outage or _Outage(since)
        return outage


def _backend(location: StoreLocation, *, create: bool) -> Backend:
    if isinstance(location, Path):
        return SqliteFile(location, create=create)
    # Not imported where the store is a file.
    from pytest_xling.store.postgresql import PostgresqlServer  # noqa: PLC0415

    return PostgresqlServer(location, create=create)
