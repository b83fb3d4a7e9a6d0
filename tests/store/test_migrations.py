"""The store's schema: made, upgraded, and refused where it is not ours."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import StoreError
from pytest_xling.store.database import Database
from pytest_xling.store.migrations import LATEST, MIGRATIONS
from pytest_xling.store.schema import metadata

if TYPE_CHECKING:
    from pathlib import Path


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
    from sqlalchemy import create_engine  # noqa: PLC0415

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
    database = Database(path)
    with database.read() as connection:
        version_now = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        kept = connection.exec_driver_sql("SELECT output FROM outputs").scalar_one()
    database.close()
    assert version_now == LATEST
    assert kept == '"kept"'


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    """A store of a later release is not touched, and the message says what to do."""
    path = tmp_path / "store.sqlite"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    with pytest.raises(StoreError, match=r"newer version.*Upgrade pytest-xling"):
        Database(path)


def test_a_foreign_sqlite_file_is_refused(tmp_path: Path) -> None:
    """Somebody else's database is not turned into a store."""
    path = tmp_path / "bookmarks.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreError, match="of something else"):
        Database(path)
    assert list(columns(path)) == ["bookmarks"]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """A text file named as the store gives a clear message."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, however long it may be\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="not an SQLite file"):
        Database(path)


def test_a_failed_migration_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration that breaks half-way is rolled back whole."""
    from pytest_xling.store import migrations  # noqa: PLC0415

    path = tmp_path / "store.sqlite"
    store_at_version(path, 1)
    before = columns(path)
    broken = (MIGRATIONS[0], (MIGRATIONS[1][0], "CREATE TABLE broken ("))
    monkeypatch.setattr(migrations, "MIGRATIONS", broken)
    with pytest.raises(StoreError):
        Database(path)
    assert before == columns(path)


def test_many_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    """Workers that start together do not trip over each other's migration."""
    path = tmp_path / "store.sqlite"
    with ThreadPoolExecutor(8) as pool:
        for database in pool.map(lambda _: Database(path), range(8)):
            database.close()
    assert "runs" in columns(path)


def test_a_store_in_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A file where a folder should be gives a clear message."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot make the folder"):
        Database(tmp_path / "file" / "store.sqlite")


def test_a_missing_store_is_not_made_for_reading(tmp_path: Path) -> None:
    """Commands that read do not leave an empty store behind."""
    path = tmp_path / "store.sqlite"
    with pytest.raises(StoreError, match="there is no store"):
        Database(path, create=False)
    assert not path.exists()
