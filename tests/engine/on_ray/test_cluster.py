"""Ray that is not installed, or not there: said at once, with what to do."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.engine.on_ray import cluster, open_cluster
from pytest_xling.engine.on_ray.batch_actor import Task
from pytest_xling.errors import ConfigError
from pytest_xling.registry import load

if TYPE_CHECKING:
    from types import ModuleType


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra, and the message names it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[ray\]'"):
        open_cluster(None, actors=1, device="cpu")


@pytest.mark.usefixtures("ray")
def test_what_pytest_logs_is_not_silenced(caplog: pytest.LogCaptureFixture) -> None:
    """Ray's logger gives nothing on, so that pytest has its own handlers there, too."""
    cluster._imported()
    logging.getLogger("other").warning("seen")
    assert "seen" in caplog.text


@pytest.fixture
def port() -> int:
    """A port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number: int = server.getsockname()[1]
    return number


@pytest.mark.usefixtures("ray")
def test_an_address_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """That is found out at once; a token is not taken up too late.

    Ray reads at its import whether there is one: set later, its own processes would differ.
    """
    (tmp_path / cluster.TOKEN).parent.mkdir()
    (tmp_path / cluster.TOKEN).write_text("ab" * 32)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(cluster.AUTHENTICATION, raising=False)
    with pytest.raises(ConfigError, match=f"ray:127.0.0.1:{port}: no Ray there"):
        open_cluster(f"127.0.0.1:{port}", actors=1, device="cpu")
    assert cluster.AUTHENTICATION not in os.environ


def test_what_every_process_can_make() -> None:
    """Metrics and text annotators of packages; not what asks a judge, nor a project's own."""
    assert Task.is_portable(load("metric", "repetition")())
    assert Task.is_portable(load("annotator", "language_id")())
    assert not Task.is_portable(load("annotator", "relevance_llm")())
    made = load("metric", "repetition")(times=7)
    assert made == Task.of(made).make()


def test_an_address_where_something_else_listens(
    ray: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is not waited for, and what is said of it is to be seen."""
    ends = threading.Event()
    monkeypatch.setattr(ray, "init", lambda **_: ends.wait())
    monkeypatch.setattr(cluster, "CONNECTED_S", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"ray:{address}: what listens there .* `ray start"):
            open_cluster(address, actors=1, device="cpu")
    os.write(2, b"seen")
    ends.set()
    assert "seen" == capfd.readouterr().err


def test_no_ray_on_this_machine(ray: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Ray says of it names options that are not ours."""

    def find_none(**_: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(ray, "init", find_none)
    with pytest.raises(ConfigError, match="ray:auto: no Ray runs on this machine; start one"):
        open_cluster("auto", actors=1, device="cpu")


OPENING = """
import sys
from pytest_xling.engine.on_ray import open_cluster

opened = open_cluster(sys.argv[1], actors=1, device="cpu")
print(opened.authentication)
opened.close()
"""


@pytest.mark.slow
@pytest.mark.usefixtures("ray")
def test_a_cluster_as_ray_starts_one(tmp_path: Path, port: int) -> None:
    """Where there is a token it demands it; where there is none here, that is said."""
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "HOME": str(tmp_path)}
    environment.pop("RAY_AUTH_MODE", None)
    start = f"start --head --block --num-cpus=1 --port={port} --include-dashboard=false"
    command = [str(Path(sys.executable).with_name("ray")), *start.split()]
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("ab" * 32)
    head = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )

    def opened(home: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", OPENING, f"127.0.0.1:{port}"],
            env={**environment, "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )

    try:
        assert head.stdout is not None
        assert any("Ray runtime started" in line for line in head.stdout)
        known = opened(tmp_path)
        assert "token\n" == known.stdout, known.stderr
        unknown = opened(tmp_path / "elsewhere")
        assert "and is its token here" in unknown.stderr
    finally:
        os.killpg(head.pid, signal.SIGKILL)
        head.communicate()


HANGING = """
import signal
import time

import psutil
import ray
from pytest_xling.engine.on_ray import open_cluster

opened = open_cluster(None, actors=1, device="cpu")
opened.start_pool()
ray.get(opened.pool()[0].load.remote(b""))
started = psutil.Process().children(recursive=True)
(raylet,) = [process for process in started if process.name() == "raylet"]
(actor,) = [process for process in started if "BatchActor" in process.name()]
actor.send_signal(signal.SIGSTOP)
shutdown = ray.shutdown

def shutdown_late():
    raylet.kill()
    shutdown()

ray.shutdown = shutdown_late
opened.close()
time.sleep(1)  # for the kernel to end it
left = actor.is_running() and actor.status() != psutil.STATUS_ZOMBIE
if left:
    actor.kill()
assert not left, actor
"""


@pytest.mark.slow
@pytest.mark.usefixtures("ray")
def test_a_process_that_misses_the_end_is_ended() -> None:
    """On a busy machine Ray's core is killed before it has ended those it started."""
    done = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, check=False)
    assert 0 == done.returncode, done.stderr.decode()
