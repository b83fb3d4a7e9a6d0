"""Opening the store's file, also where nothing can be written."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import StoreError
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

NOBODY = 65534


@pytest.fixture
def artefact() -> Iterator[Path]:
    """A store in a folder that everybody can read and nobody write."""
    folder = Path(tempfile.mkdtemp())  # unlike tmp_path, below folders everybody can enter
    store = folder / "a copy? 100%.sqlite"
    database = Database(store)
    with database.write() as connection:
        connection.exec_driver_sql("INSERT INTO inputs VALUES (x'00', 'kept')")
    database.close()
    assert [store] == list(folder.iterdir())
    store.chmod(0o444)
    folder.chmod(0o555)
    yield store
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def _unprivileged() -> Iterator[None]:
    """Go without the superuser's right to write everywhere."""
    if not hasattr(os, "geteuid") or os.access not in os.supports_effective_ids:
        pytest.skip("needs effective user ids")
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def _payload(store: Path) -> str:
    database = Database(store, create=False)
    try:
        with database.read() as connection:
            return str(connection.exec_driver_sql("SELECT payload FROM inputs").scalar_one())
    finally:
        database.close()


def test_a_read_only_copy_can_be_read(artefact: Path) -> None:
    """A store that was unpacked where nothing can be written is read, and nothing else."""
    with _unprivileged():
        assert "kept" == _payload(artefact)
        database = Database(artefact, create=False)
        with (
            pytest.raises(StoreError, match="read-only; make it writable"),
            database.write() as connection,
        ):
            connection.exec_driver_sql("DELETE FROM inputs")
        database.close()
        with pytest.raises(StoreError, match=r"copy\? 100%\.sqlite"):
            Database(artefact)
    assert [artefact] == list(artefact.parent.iterdir())


def test_a_copy_without_all_it_needs_is_not_read(artefact: Path) -> None:
    """What stands in a -wal file beside the store would be passed over, so that is an error."""
    artefact.parent.chmod(0o755)
    artefact.with_name(f"{artefact.name}-wal").write_bytes(b"not yet in the store")
    artefact.parent.chmod(0o555)
    with _unprivileged(), pytest.raises(StoreError, match="unable to open database file"):
        Database(artefact, create=False)


def test_a_missing_store_is_not_made_by_readers(tmp_path: Path) -> None:
    """Its path and the option are named."""
    with pytest.raises(StoreError, match=r"no store at .*s\.sqlite; .* --xling-store"):
        Database(tmp_path / "s.sqlite", create=False)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("create", [False, True])
def test_a_folder_is_no_store(tmp_path: Path, create: bool) -> None:  # noqa: FBT001
    """The message says so."""
    with pytest.raises(StoreError, match=f"{tmp_path.name} is a folder"):
        Database(tmp_path, create=create)


@pytest.mark.parametrize("name", ["what?.sqlite", "100%.sqlite", "a#b&c.sqlite", "मित्र.sqlite"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    """A path is not a URL: nothing in it has a meaning."""
    Database(tmp_path / name).close()
    assert [name] == [path.name for path in tmp_path.iterdir()]


def test_the_usual_folder_keeps_itself_out_of_git(tmp_path: Path) -> None:
    """Where we made it; no folder that was there, or goes by another name, is touched."""
    Database(tmp_path / "a" / ".xling" / "store.sqlite").close()
    assert "*\n" == (tmp_path / "a" / ".xling" / ".gitignore").read_text()
    Database(tmp_path / "kept" / "store.sqlite").close()
    (tmp_path / "b" / ".xling").mkdir(parents=True)
    Database(tmp_path / "b" / ".xling" / "store.sqlite").close()
    assert [] == [*(tmp_path / "kept").glob(".gitignore"), *(tmp_path / "b").rglob(".gitignore")]


@pytest.mark.parametrize("how", ["was deleted", "was replaced by another file"])
def test_a_store_that_is_gone_takes_nothing_more(tmp_path: Path, how: str) -> None:
    """SQLite itself would go on writing into a file that nobody sees."""
    path = tmp_path / "store.sqlite"
    database = Database(path)
    path.rename(tmp_path / "moved.sqlite")
    if "replaced" in how:
        path.write_bytes(b"")
    for use in (database.read, database.write, database.check):
        with pytest.raises(StoreError, match=f"store.sqlite {how} while it was in use"):
            _enter(use)
    database.close()


def _enter(use: Callable[[], AbstractContextManager[object] | None]) -> None:
    if (context := use()) is not None:
        with context:
            pass


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_new_store_is_its_owners(tmp_path: Path) -> None:
    """With the files that SQLite has beside it, whatever the umask; one that is there stays."""
    mask = os.umask(0)
    try:
        store = tmp_path / "project" / ".xling" / "store.sqlite"
        database = Database(store)
        with database.write() as connection:
            connection.exec_driver_sql("INSERT INTO inputs VALUES (x'00', 'kept')")
        modes = {path.name: path.stat().st_mode & 0o777 for path in store.parent.iterdir()}
        database.close()
        shared = tmp_path / "shared.sqlite"
        shared.touch(0o664)
        Database(shared).close()
    finally:
        os.umask(mask)
    assert {"store.sqlite", "store.sqlite-wal", "store.sqlite-shm", ".gitignore"} == modes.keys()
    del modes[".gitignore"]
    assert {0o600} == set(modes.values())
    assert 0o700 == store.parent.stat().st_mode & 0o777
    assert 0o777 == store.parent.parent.stat().st_mode & 0o777
    assert 0o664 == shared.stat().st_mode & 0o777
