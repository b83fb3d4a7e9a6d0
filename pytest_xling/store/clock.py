"""The clock that all who share a store go by."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection


def now(connection: Connection) -> float:
    """Return the time, in seconds since 1970: a server's, or of a file that of its machine.

    Machines' clocks differ: a lease that one gives for 30 s may look long over to another.
    """
    if connection.dialect.name == "sqlite":
        return time.time()
    query = "SELECT extract(epoch FROM clock_timestamp())::float8"
    return float(connection.exec_driver_sql(query).scalar_one())


def ahead_s(connection: Connection) -> float:
    """Return by how many seconds this machine's clock is ahead of the store's."""
    return 0.0 if connection.dialect.name == "sqlite" else time.time() - now(connection)
