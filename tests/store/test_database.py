"""Opening the store's file, also where nothing can be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import StoreError, StoreMissing
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.config.store_location import StoreLocation

NOBODY = 65534


@pytest.fixture
def artefact() -> Iterator[Path]:
    """A store in a folder that everybody can read and nobody write."""
    folder = Path(tempfile.mkdtemp())  # unlike tmp_path, below folders everybody can enter
    store = folder / "a copy? 100%.sqlite"
    with closing(Database(store)) as database, database.write() as connection:
        connection.exec_driver_sql("INSERT INTO inputs VALUES (x'00', 'kept')")
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


def test_a_read_only_copy_can_be_read(artefact: Path) -> None:
    """A store that was unpacked where nothing can be written is read, and nothing else."""
    with _unprivileged():
        with closing(Database(artefact, create=False)) as database:
            with database.read() as connection:
                assert "kept" == connection.exec_driver_sql("SELECT payload FROM inputs").scalar()
            refused = pytest.raises(StoreError, match="read-only; make it writable")
            with refused, database.write() as connection:
                connection.exec_driver_sql("DELETE FROM inputs")
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


def test_readers_make_no_store(location: StoreLocation, tmp_path: Path) -> None:
    """They say how to make one; what is there they read."""
    for _ in range(2):
        with pytest.raises(StoreMissing, match=r"no store at .*--xling-store"):
            Database(location, create=False)
    assert [] == list(tmp_path.iterdir())
    Database(location).close()
    Database(location, create=False).close()


@pytest.mark.parametrize(
    ("name", "create", "said"),
    [
        ("folder", True, "folder is a folder"),
        ("folder", False, "folder is a folder"),
        ("notes.txt", True, "not an SQLite file"),
        ("notes.txt/store.sqlite", True, "cannot make the folder"),
        ("bookmarks.sqlite", True, "of something else"),
    ],
)
def test_what_is_no_store_is_refused(
    tmp_path: Path,
    name: str,
    create: bool,  # noqa: FBT001  a test's parameter
    said: str,
) -> None:
    """With a clear message; somebody else's database is not turned into one."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("not a database, however long it may be\n" * 100)
    with closing(sqlite3.connect(tmp_path / "bookmarks.sqlite")) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
        with pytest.raises(StoreError, match=said):
            Database(tmp_path / name, create=create)
        assert [("bookmarks",)] == connection.execute("SELECT name FROM sqlite_master").fetchall()


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
    gone = f"store.sqlite {how} while it was in use"
    for use in (database.read, database.write):
        with pytest.raises(StoreError, match=gone), use():
            pass
    with pytest.raises(StoreError, match=gone):
        database.check()
    database.close()


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
