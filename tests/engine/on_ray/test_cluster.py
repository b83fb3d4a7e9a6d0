"""Ray that is not installed, or not there: said at once, with what to do."""

from __future__ import annotations

import socket
import sys

import pytest

from pytest_xling.engine.on_ray import open_cluster
from pytest_xling.engine.on_ray.batch_actor import Task
from pytest_xling.errors import ConfigError
from pytest_xling.registry import load


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra, and the message names it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[ray\]'"):
        open_cluster(None, actors=1, device="cpu")


def test_an_address_without_ray() -> None:
    """A port nobody listens on is found out at once."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'pytest-xling[ray]'")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConfigError, match=f"ray:127.0.0.1:{port}: no Ray there"):
        open_cluster(f"127.0.0.1:{port}", actors=1, device="cpu")


def test_what_every_process_can_make() -> None:
    """Metrics and text annotators of packages; not what asks a judge, nor a project's own."""
    assert Task.is_portable(load("metric", "repetition")())
    assert Task.is_portable(load("annotator", "language_id")())
    assert not Task.is_portable(load("annotator", "relevance_llm")())
    made = load("metric", "repetition")(times=7)
    assert made == Task.of(made).make()
