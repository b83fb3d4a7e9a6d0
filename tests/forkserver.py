"""``python -m pytest`` and ``python -m pytest_xling.cli`` in processes that need not start.

Starting Python, pytest and the plugin takes two seconds of CPU time, what most tests do in it a
tenth of that. `run` therefore asks a server, one for all workers, that has imported it and forks.
What runs is in every other respect a process of its own, with its own memory, folder, environment,
streams, threads and exit status; so are the workers of pytest-xdist. Where it matters that nothing
was imported before, or how the interpreter itself ends, Python is started as users start it.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import inspect
import io
import json
import math
import os
import pkgutil
import re
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pytest


NOT_IMPORTED = re.compile(
    r"\.(encoders|models|hf|head|nli|reader|translate|bertscore|topics|judging|papers|training|__main__"
    r"|anthropic|google)\b"
)
"""Modules that import torch, whose threads do not live through a fork, those that are run, and two
clients that few ask, whose thousands of modules take longer than all the rest."""


class Process:
    """What was forked: the part of `subprocess.Popen` that tests need."""

    def __init__(self, pid: int, folder: TemporaryDirectory[str]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._folder = folder
        self._texts = ("", "")

    def poll(self) -> int | None:
        """Return the exit status if it has ended."""
        return self._ended(wait=False)

    def wait(self) -> int:
        """Wait for its end and return the exit status."""
        code = self._ended(wait=True)
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self) -> tuple[str, str]:
        """Wait for its end and return what it wrote to standard output and standard error."""
        self.wait()
        return self._texts

    def _ended(self, *, wait: bool) -> int | None:
        if self.returncode is None and (code := _ask({"pid": self.pid, "wait": wait})):
            self.returncode = int(code)
            with self._folder as folder:
                out, err = (Path(folder, name) for name in ("out", "err"))
                self._texts = (_text(out), _text(err))
        return self.returncode


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def start(
    module: str,
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float = 300,
    one_stream: bool = False,
    terminal: str = "",
    new_session: bool = False,
) -> Process:
    """Start ``python -m module``.

    Args:
        module: ``pytest`` or ``pytest_xling.cli``.
        arguments: of the command line.
        cwd: the folder to run it in.
        env: all of its environment; of what Python itself reads, it heeds ``PYTHONPATH`` only.
        timeout_s: after which it is killed.
        one_stream: whether standard error goes where standard output goes.
        terminal: the device all its streams are; not given: none, and two files.
        new_session: whether it begins a session, and so a process group, of its own.
    """
    folder = TemporaryDirectory()
    out, err = (str(Path(folder.name, name)) for name in ("out", "err"))
    request = {
        "module": module,
        "arguments": list(arguments),
        "cwd": str(cwd),
        "env": dict(env),
        "timeout_s": timeout_s,
        "streams": [terminal] * 3 if terminal else [os.devnull, out, out if one_stream else err],
        "new_session": new_session,
    }
    return Process(int(_ask(request)), folder)


def run(
    module: str,
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float = 300,
    one_stream: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module`` and return how it ended; arguments as those of `start`."""
    process = start(module, arguments, cwd=cwd, env=env, timeout_s=timeout_s, one_stream=one_stream)
    code, (out, err) = process.wait(), process.communicate()
    if code == -signal.SIGALRM:
        raise subprocess.TimeoutExpired([module, *arguments], timeout_s, out, err)
    return subprocess.CompletedProcess([module, *arguments], code, out, err)


def run_pytester(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest on the files of *pytester*, as its ``runpytest_subprocess`` does."""
    import pytest  # noqa: PLC0415  the server imports it as its own work

    command = [f"--basetemp={pytester.path / 'tmp'}", *arguments]
    done = run("pytest", command, cwd=pytester.path, env=os.environ)
    print(done.stdout, done.stderr, sep="\n")  # noqa: T201  pytest shows it where the test fails
    return pytest.RunResult(
        done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), duration=0.0
    )


def _ask(request: Mapping[str, object]) -> str:
    """Send the server a request and return its answer: a process id, or an exit status."""
    server = _server()
    server.write(json.dumps(request) + "\n")
    server.flush()
    return server.readline().strip()


@cache
def _server() -> IO[str]:
    """Connect to the server of this run of the tests; whoever needs it first starts it."""
    folder = Path(gettempdir(), f"forks-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}")
    folder.mkdir(mode=0o700, exist_ok=True)
    address = str(folder / "socket")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(address)
        except OSError:
            server = subprocess.Popen(
                [sys.executable, __file__, address],
                env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert server.stdout is not None
            server.stdout.readline()
            atexit.register(server.communicate)
            connection.connect(address)
    stream = connection.makefile("rw", encoding="utf-8")
    connection.close()  # with the stream, which is to end before the server is waited for
    atexit.register(stream.close)
    return stream


class _Importer:
    """A plugin that imports ours while pytest rewrites the assertions of plugins, as it would."""

    def pytest_configure(self) -> None:
        """Import what is not left out, and load what nearly every run needs."""
        package = import_module("pytest_xling")
        for module in pkgutil.walk_packages(package.__path__, "pytest_xling."):
            if not NOT_IMPORTED.search(module.name):
                import_module(module.name)
        # What runs import when they come to it: by the plugin of Hypothesis at their end, where
        # they have workers, for the store.
        for name in ("hypothesis.internal.observability", "xdist.dsession", "sqlite3"):
            import_module(name)
        _remember_packages()
        import_module("pytest_xling.text.langid").codes()
        import_module("pytest_xling.text.tokens").decode([])
        inspect.getmodule(_end.__code__)  # learns the files of modules, which tracebacks look for


def _remember_packages() -> None:
    """Read once what each run asks of installed packages: their plugins, versions and files."""

    def remembering(read: Callable[[metadata.Distribution], object]) -> property:
        known: dict[str, object] = {}

        def remembered(package: metadata.PathDistribution) -> object:
            folder = str(package._path)
            if folder not in known:
                known[folder] = read(package)
            return known[folder]

        return property(remembered)

    for name in ("entry_points", "files", "metadata"):
        read = getattr(metadata.Distribution, name).fget
        setattr(metadata.PathDistribution, name, remembering(read))
    for package in metadata.distributions():
        package.version  # noqa: B018  to be remembered


def _accept(address: str) -> IO[str]:
    """Fork for each worker that connects and return, forked, the connection; end with our input."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, b"\n")
        while sys.stdin not in select.select([sys.stdin, listening], [], [])[0]:
            connection, _ = listening.accept()
            with connection:
                if not os.fork():
                    return connection.makefile("rw", encoding="utf-8")
    shutil.rmtree(Path(address).parent)
    with suppress(ChildProcessError):
        while True:
            os.wait()  # or the time they took would be nobody's
    sys.exit()


def _serve(connection: IO[str]) -> dict[str, Any]:
    """Fork for each request and tell the process id, later its status; return, forked, a request.

    Asked whether a process has ended, it answers with the exit status, or with an empty line.
    """
    with connection:
        while line := connection.readline():
            request: dict[str, Any] = json.loads(line)
            if "pid" in request:
                done, status = os.waitpid(request["pid"], 0 if request["wait"] else os.WNOHANG)
                answer = str(os.waitstatus_to_exitcode(status)) if done else ""
            elif pid := os.fork():
                answer = str(pid)
            else:
                return request
            print(answer, file=connection, flush=True)
    sys.exit()


def _become(request: dict[str, Any]) -> None:
    """Make this process what a Python just started for the request would be."""
    if request["new_session"]:
        os.setsid()
    signal.alarm(math.ceil(request["timeout_s"]))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [request["cwd"], *paths]
    for number, path in enumerate(request["streams"]):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    workers = re.search(r"(?:^|\0)-n[ \0]?(\d+)", "\0".join(request["arguments"]))
    if workers:
        _fork_workers(int(workers[1]))


def _fork_workers(count: int) -> None:
    """Fork the workers of pytest-xdist, while nothing is set up and no thread runs."""
    from execnet import gateway_base, gateway_io  # noqa: PLC0415  an extra may be missing

    # What workers take for the path at the start; it was that of the server.
    import_module("xdist.plugin")._sys_path[:] = sys.path
    start_python = gateway_io.Popen2IOMaster
    waiting: list[tuple[int, int, int]] = []
    for _ in range(count):
        read, stdin = os.pipe()
        stdout, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(read, 0)
            os.dup2(write, 1)
            os.closerange(3, write + 1)
            bootstrap = sys.stdin.readline()  # empty where the run ends before it has workers
            exec(eval(bootstrap or "''"), {})  # noqa: S102, S307  as `python -c` does for execnet
            _end(0)
        os.close(read)
        os.close(write)
        waiting.append((pid, stdin, stdout))

    class Worker(gateway_base.Popen2IO):
        def __init__(self, execmodel: gateway_base.ExecModel) -> None:
            self._pid, stdin, stdout = waiting.pop(0)
            super().__init__(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), execmodel)

        def wait(self) -> int | None:
            with suppress(ChildProcessError):
                return os.waitpid(self._pid, 0)[1]
            return None

        def kill(self) -> None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def worker(arguments: list[str], execmodel: gateway_base.ExecModel) -> gateway_base.Popen2IO:
        return Worker(execmodel) if waiting else start_python(arguments, execmodel)

    setattr(gateway_io, "Popen2IOMaster", worker)  # noqa: B010  mypy takes it for a class


def _run_module(module: str, arguments: Sequence[str]) -> NoReturn:
    """Run *module* as ``python -m`` does, and end with its exit status."""
    sys.argv[1:] = arguments
    code: object = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  told as Python would, and it ends here
        traceback.print_exc()
        code = 1
    assert code is None or isinstance(code, int)
    _end(code or 0)


def _end(code: int) -> NoReturn:
    """End as Python does, but leave standing what was imported: that takes as long as a run."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _main() -> NoReturn:
    """Import, serve, and in each process that was forked run what is asked for."""
    import pytest  # noqa: PLC0415  the server imports it as its own work

    with TemporaryDirectory() as empty, redirect_stdout(io.StringIO()):
        nothing = ["--collect-only", "-c", os.devnull, "--rootdir", empty, "-p", "no:cacheprovider"]
        pytest.main([*nothing, empty], plugins=[_Importer()])
    gc.collect()
    gc.freeze()
    request = _serve(_accept(sys.argv[1]))
    _become(request)
    _run_module(request["module"], request["arguments"])


if __name__ == "__main__":
    _main()
