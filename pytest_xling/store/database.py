"""Open the store's SQLite file."""

from __future__ import annotations

import contextlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import URL, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from pytest_xling.errors import StoreError
from pytest_xling.store.migrations import LATEST, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from sqlite3 import Connection as SqliteConnection

    from sqlalchemy import Connection
    from sqlalchemy.pool import ConnectionPoolEntry

__all__ = ["Database"]

BUSY_TIMEOUT_S = 30.0
USUAL_FOLDER = ".xling"
"""Of the store that nobody named."""


class Database:
    """One SQLite file in WAL mode; safe to use from several threads and processes.

    Args:
        path: the file; it and its folder are made if absent.
        create: whether a missing file may be made; reading commands say False.

    Raises:
        StoreError: it cannot be opened or written, is not a store, or has a newer schema; later,
            that the file is no longer there.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        if not create and not path.exists():
            msg = f"there is no store at {path}; name it with --xling-store"
            raise StoreError(msg)
        if path.is_dir():
            msg = f"{path} is a folder; name the store's file in it with --xling-store"
            raise StoreError(msg)
        try:
            _make_folder(path.parent)
        except OSError as error:
            msg = f"cannot make the folder of the store, {path.parent}: {error.strerror}"
            raise StoreError(msg) from error
        frozen = not create and _is_frozen(path)
        self._engine = create_engine(
            _frozen_url(path) if frozen else URL.create("sqlite", database=str(path)),
            poolclass=QueuePool,
            connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
        )
        if not frozen:
            event.listen(self._engine, "connect", _on_connect)
        event.listen(self._engine, "begin", _on_begin)
        self._file: tuple[int, int] | None = None
        with self.read() as connection:
            version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        self._file = _identity(path)
        if version != LATEST:
            with self.write() as connection:
                migrate(connection, path=str(path))

    def check(self) -> None:
        """Check that the file is still the one that was opened.

        SQLite goes on with a file that is deleted: what it writes then is seen by nobody.

        Raises:
            StoreError: it was deleted, or another was put in its place.
        """
        now = _identity(self.path)
        if self._file is None or now == self._file:
            return
        what = "was deleted" if now is None else "was replaced by another file"
        msg = (
            f"store {self.path} {what} while it was in use: what this run kept in it is lost, and "
            "nothing more can be kept; run again (--xling-store names the store)"
        )
        raise StoreError(msg)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection inside one consistent read transaction."""
        self.check()
        try:
            with self._engine.connect() as connection, connection.begin():
                yield connection
        except DBAPIError as error:
            raise self._explained(error) from error

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection inside a write transaction; commit at the end, roll back on error."""
        self.check()
        try:
            with (
                self._engine.connect().execution_options(xling_write=True) as connection,
                connection.begin(),
            ):
                yield connection
                self.check()
        except DBAPIError as error:
            raise self._explained(error) from error

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _explained(self, error: DBAPIError) -> StoreError:
        cause = str(error.orig)
        remedies = {
            "readonly": "it, or its folder, is read-only; make it writable",
            "unable to open": "its folder is missing or not writable",
            "disk I/O": "the disk is full or failing; what was stored before is safe",
            "disk is full": "the disk is full; free some space and run again, nothing is lost",
            "not a database": "it is not an SQLite file; name another file",
            "malformed": "it is damaged; move it away, or restore a copy",
            "locked": "another process held it for too long",
        }
        remedy = next((r for sign, r in remedies.items() if sign in cause), "see the cause above")
        return StoreError(f"store {self.path}: {cause}: {remedy} (--xling-store names the store)")


def _make_folder(folder: Path) -> None:
    """Make the store's folder; the usual one, which lies in a project, keeps itself out of git."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == USUAL_FOLDER:
        with contextlib.suppress(FileExistsError), (folder / ".gitignore").open("x") as file:
            file.write("*\n")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from others that had its name; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_frozen(path: Path) -> bool:
    """Tell whether the store lies where nothing can be written, and nobody is writing it."""
    effective = os.access in os.supports_effective_ids
    writable = os.access(path.parent, os.W_OK, effective_ids=effective)
    return not writable and not path.with_name(f"{path.name}-wal").exists()


def _frozen_url(path: Path) -> URL:
    """Return a URL to read it by: without the files that WAL would need beside it."""
    query = {"mode": "ro", "immutable": "1", "uri": "true"}
    return URL.create("sqlite", database=path.absolute().as_uri(), query=query)


def _on_connect(connection: SqliteConnection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    # NORMAL under WAL survives kill -9 of any process; a power cut may lose the last commits.
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _on_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("xling_write", False)
    # IMMEDIATE: take the write lock now, where the busy time-out applies, not half-way through.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
