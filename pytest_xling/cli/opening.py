"""Open the store that a command reads, and settle the options that it shares with pytest."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.config.option import Sources
from pytest_xling.config.options import refuse_unknown_variables
from pytest_xling.config.settings import Settings, settle
from pytest_xling.languages import find
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping
    from typing import Any

    from sqlalchemy import Connection

    from pytest_xling.config.store_location import StoreLocation


def settled(options: Mapping[str, Any]) -> Settings:
    """Return the settings of a command that is given options as pytest is.

    Raises:
        ConfigError: one of them is wrong.
    """
    refuse_unknown_variables(os.environ)
    return settle(sources(options, Path.cwd()))


def store_location(args: argparse.Namespace) -> StoreLocation:
    """Return where the store is: ``--xling-store``, else ``XLING_STORE``, else the usual place.

    Raises:
        ConfigError: what was given is neither a path nor a URL.
    """
    return sources(vars(args), Path()).value(Settings.store)


def sources(options: Mapping[str, Any], cwd: Path) -> Sources:
    """Return where a command is given options; relative paths are below *cwd*."""
    return Sources(
        cli=options,
        environ=os.environ,
        rootdir=cwd,
        cwd=cwd,
        language_code=lambda name: find(name).code,
    )


@contextmanager
def reading(args: argparse.Namespace) -> Iterator[Connection]:
    """Give a connection that sees the store as it is now.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    with closing(_store(args)) as database, database.read() as connection:
        yield connection


@contextmanager
def writing(args: argparse.Namespace) -> Iterator[Connection]:
    """Give a connection that changes the store, when all is done.

    Raises:
        StoreError: there is no store, or it cannot be written.
    """
    with closing(_store(args)) as database, database.write() as connection:
        yield connection


def _store(args: argparse.Namespace) -> Database:
    return Database(store_location(args), create=False)
