"""The store's schema: made, upgraded, and refused where it is not ours."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine

from pytest_xling.errors import StoreError
from pytest_xling.store import migrations
from pytest_xling.store.database import Database
from pytest_xling.store.migrations import LATEST, MIGRATIONS
from pytest_xling.store.schema import metadata

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.config.store_location import StoreLocation


def columns(path: Path) -> dict[str, list[tuple[str, str, int, int]]]:
    """Return name, type, not-null and key position of every column of every table."""
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            table: [
                (name, kind, notnull, key)
                for _, name, kind, notnull, _, key in connection.execute(
                    f"PRAGMA table_info({table})"
                )
            ]
            for (table,) in sorted(tables)
        }


def store_at_version(path: Path, version: int) -> None:
    """Make a store as an earlier release left it."""
    with sqlite3.connect(path) as connection:
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")


def test_migrations_lead_to_the_schema_of_the_code(tmp_path: Path) -> None:
    """What the migrations make is what schema.py declares, column by column."""
    Database(tmp_path / "migrated.sqlite").close()
    engine = create_engine(f"sqlite:///{tmp_path / 'declared.sqlite'}")
    metadata.create_all(engine)
    engine.dispose()
    assert columns(tmp_path / "declared.sqlite") == columns(tmp_path / "migrated.sqlite")


@pytest.mark.parametrize("version", range(1, LATEST))
def test_an_older_store_is_upgraded_and_keeps_its_rows(tmp_path: Path, version: int) -> None:
    """Rows written under an earlier schema are still there under the latest."""
    path = tmp_path / "store.sqlite"
    store_at_version(path, version)
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO steps VALUES (1, x'00', 'answer', 'openai', '1', '{}')")
        connection.execute("INSERT INTO outputs VALUES (x'aa', 1, '\"kept\"', 0.0, 0.0)")
    with closing(Database(path)) as database, database.read() as upgraded:
        assert LATEST == upgraded.exec_driver_sql("PRAGMA user_version").scalar_one()
        assert '"kept"' == upgraded.exec_driver_sql("SELECT output FROM outputs").scalar_one()


def test_a_newer_store_is_refused(location: StoreLocation, database: Database) -> None:
    """A store of a later release is not touched, and the message says what to do."""
    with database.write() as connection:
        database._backend.set_version(connection, LATEST + 1)
    with pytest.raises(StoreError, match=r"newer version.*Upgrade pytest-xling"):
        Database(location)


def test_a_failed_migration_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration that breaks half-way is rolled back whole."""
    path = tmp_path / "store.sqlite"
    store_at_version(path, 1)
    before = columns(path)
    broken = (MIGRATIONS[0], (MIGRATIONS[1][0], "CREATE TABLE broken ("))
    monkeypatch.setattr(migrations, "MIGRATIONS", broken)
    with pytest.raises(StoreError):
        Database(path)
    assert before == columns(path)


def test_many_may_open_a_new_store_at_once(location: StoreLocation) -> None:
    """Workers that start together do not trip over each other's migration: one makes the tables."""
    with ThreadPoolExecutor(8) as pool:
        databases = list(pool.map(lambda _: Database(location), range(8)))
    with databases[0].read() as connection:
        assert LATEST == databases[0]._backend.version(connection)
    for database in databases:
        database.close()
