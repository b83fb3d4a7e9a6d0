"""INSERT … ON CONFLICT, which both kinds of store have and SQLAlchemy spells for each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy.dialects.sqlite import insert as sqlite_insert

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

    Insert: TypeAlias = SqliteInsert | PostgresqlInsert


def insert(connection: Connection, table: Table) -> Insert:
    """Return an INSERT into *table* that knows what to do where the row is there already."""
    if connection.dialect.name == "sqlite":
        return sqlite_insert(table)
    from sqlalchemy.dialects.postgresql import insert as postgresql_insert  # noqa: PLC0415  slow

    return postgresql_insert(table)
