"""``xling batches``: what is in flight, cancelled or forgotten."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pytest_xling.interfaces.batching import BatchState
from pytest_xling.store import batches
from pytest_xling.store.database import Database
from tests.servers.batch_server import Batch, BatchServer, serving_batches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Xling


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """A server with one batch that will not end by itself."""
    with serving_batches() as running:
        running.batches["batch_9"] = Batch("batch_9", "file-8", [], "stuck", 0.0)
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


@pytest.fixture
def flying(server: BatchServer, tmp_path: Path, xling: Xling) -> Xling:
    """The command on a store that knows the server's batch, and one that was not begun."""
    path = tmp_path / "s.sqlite"
    with closing(Database(path)) as database, database.write() as connection:
        for file, names in (("file-8", b"abc"), ("file-7", b"d")):
            row = batches.add(
                connection,
                model="batch:m",
                service=server.url,
                file=file,
                keys={bytes([name]) * 32: () for name in names},
            )
            if file == "file-8":
                state = BatchState(id="batch_9", status="in_progress", over=False, completed=1)
                batches.note(connection, row, state)
    return xling.on(path)


def test_what_is_in_flight_is_listed(flying: Xling) -> None:
    """With counts, status and since when; as objects, too."""
    lines = flying("batches").out.splitlines()
    assert ["batch", "model", "requests", "done", "waited", "for", "status"] == lines[0].split()[:7]
    assert ["batch_9", "batch:m", "3", "1", "3", "in_progress"] == lines[2].split()[:6]
    assert ["–", "batch:m", "1", "0", "1", "not", "begun"] == lines[3].split()[:7]
    first, _ = json.loads(flying("batches", "--json").out)
    assert ("batch_9", 3, 3) == (first["batch"], first["total"], first["waiting"])


def test_a_store_without_batches(xling: Xling) -> None:
    """It says so."""
    assert "No batch in the store has answers yet to come." in xling("batches").out


def test_a_batch_is_cancelled(flying: Xling, server: BatchServer) -> None:
    """What it has answered is taken in later: it stays in the store."""
    said = flying("batches", "--cancel", "batch_9", code=0)
    assert "batch_9: cancelled; the next run takes in what it has answered" in said.out
    assert server.batches["batch_9"].cancelled
    assert "cancelled" in flying("batches").out


def test_a_batch_that_is_over_is_not_cancelled(flying: Xling, server: BatchServer) -> None:
    """Its answers are paid for."""
    server.stuck()
    assert "it is completed; the next run takes" in flying("batches", "--cancel", "batch_9").out
    assert not server.batches["batch_9"].cancelled


def test_a_batch_the_service_does_not_know(flying: Xling, server: BatchServer) -> None:
    """It may be forgotten here, too: then its requests are asked again."""
    server.batches.clear()
    assert "`xling batches --forget batch_9`" in flying("batches", "--cancel", "batch_9").out
    said = flying("batches", "--forget", "batch_9")
    assert "batch_9: forgotten; requests to be asked again: 3" in said.out
    assert "batch_9" not in flying("batches").out


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--cancel", "batch_8", "no batch 'batch_8' in flight. Did you mean 'batch_9'?"),
        ("--cancel", "", "no batch '' in flight"),
        ("--forget", "", "no batch '' in flight"),
    ],
)
def test_an_unknown_id(flying: Xling, option: str, name: str, said: str) -> None:
    """As of a variable that is unset: nothing is done, and that is no success."""
    assert said in flying("batches", option, name, code=4).err


def test_a_batch_of_another_service(flying: Xling, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id may be somebody else's there."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    said = flying("batches", "--cancel", "batch_9", code=4)
    assert "the environment names http://127.0.0.1:1/v1" in said.err
