"""Open what a command is told to read: the store, a thresholds file."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.config.options import option
from pytest_xling.config.values import path as parse_path
from pytest_xling.config.yaml import read_yaml
from pytest_xling.errors import ConfigError, StoreError, did_you_mean
from pytest_xling.planning import thresholds
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator

    from sqlalchemy import Connection

    from pytest_xling.config.thresholds import ThresholdFile

__all__ = ["read_thresholds", "reading", "store_path"]


def store_path(args: argparse.Namespace) -> Path:
    """Return where the store is: ``--xling-store``, else ``XLING_STORE``, else the usual place.

    Raises:
        ConfigError: what was given is not a path.
    """
    store = option("store")
    for source, text in ((store.flag, args.xling_store), (store.env, os.environ.get(store.env))):
        if text:
            try:
                return parse_path(text)
            except ValueError as error:
                msg = f"{source}: {error}"
                raise ConfigError(msg) from error
    usual: Path = store.default
    return usual


@contextmanager
def reading(args: argparse.Namespace) -> Iterator[Connection]:
    """Give a connection that sees the store as it is now.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    path = store_path(args)
    if not path.exists():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        msg = (
            f"there is no store at {path}{where}; go to the folder of your project, name the store "
            "with --xling-store, or make one: pytest --model=MODEL"
        )
        raise StoreError(msg)
    database = Database(path, create=False)
    try:
        with database.read() as connection:
            yield connection
    finally:
        database.close()


def read_thresholds(path: Path, benchmarks: Collection[str]) -> ThresholdFile:
    """Read and check the file at *path*.

    Benchmarks the run does not have are nobody's mistake, unless their name is nearly that of one
    it has.

    Args:
        path: the file.
        benchmarks: those of the run.

    Raises:
        ConfigError: names the file, the line and the fix.
    """
    written = read_yaml(path).get("benchmarks")
    names = set(written) if isinstance(written, dict) else set()
    unmentioned = set(benchmarks) - names
    known = set(benchmarks) | {name for name in names if not did_you_mean(name, unmentioned)}
    return thresholds.read_thresholds(path, benchmarks=known)
