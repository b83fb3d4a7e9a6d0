"""A scratch project in which the blocks of a document are carried out, one after the other."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import sys
import sysconfig
import venv
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests import forkserver
from tests.docs.blocks import read_blocks
from tests.servers.openai_server import spawned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.docs.blocks import Block

__all__ = ["ROOT", "Bench", "carry_out"]

ROOT = Path(__file__).resolve().parents[2]

SERVER = "http://localhost:8000/v1"
"""What documents call a server of the reader's own; a real one stands in for it."""

OFFLINE = "--no-index --no-deps --no-build-isolation --quiet --disable-pip-version-check"
"""What ``pip install`` needs where there is no network: the build backend is here already."""

ANY = "…"

MODULES = {"pytest": "pytest", "xling": "pytest_xling.cli"}
_COMMAND = re.compile(r"\s*((?:[A-Z_]+=\S+ )*(?:pytest|xling)\b[^|&;<>()$`\\*?\n#~]*)\s*")


@dataclass(frozen=True, slots=True)
class Bench:
    """A scratch folder, and what has happened in it."""

    root: Path
    outputs: list[str] = field(default_factory=list)
    """What each block that was run printed."""
    path: list[Path] = field(default_factory=list)
    """Folders that come before the project's own code."""

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, script: str, *, server: str = "") -> subprocess.CompletedProcess[str]:
        """Run a shell script here; ``pytest`` and ``xling`` are those of this Python.

        Commands alone, a line each, need no shell, and none of them an environment of the bench's
        own as long as nothing is installed there.
        """
        script = script.replace(SERVER, server)
        lines = script.replace("\\\n", " ").splitlines()
        commands = [_COMMAND.fullmatch(line) for line in lines if line.strip()]
        plain = [command[1] for command in commands if command]
        if not plain or len(plain) < len(commands) or self.path or self._has_packages:
            done = self._run_script(script)
        else:
            done = self._run_commands(plain)
        self.outputs.append(done.stdout)
        return done

    def _run_commands(self, lines: Sequence[str]) -> subprocess.CompletedProcess[str]:
        output = ""
        for line in lines:
            done = self._run_command(line)
            output += done.stdout
            if done.returncode:
                break
        done.stdout = output
        return done

    def _run_command(self, line: str) -> subprocess.CompletedProcess[str]:
        words = shlex.split(line)
        start = next(number for number, word in enumerate(words) if word in MODULES)
        variables = dict(word.split("=", 1) for word in words[:start])
        return forkserver.run(
            MODULES[words[start]],
            words[start + 1 :],
            cwd=self.root,
            env=self._environment() | variables,
            one_stream=True,
        )

    def _run_script(self, script: str) -> subprocess.CompletedProcess[str]:
        environment = self._environment()
        return subprocess.run(  # the commands are those our own documents show
            ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607
            cwd=self.root,
            env=environment | {"PATH": f"{self._commands()}{os.pathsep}{environment['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XLING_", "OPENAI_", "AZURE_", "PYTEST_", "GITHUB_", "COLUMNS"))
            and name != "PYTHONDONTWRITEBYTECODE"  # or pytest would rewrite the plugin every time
        }
        python_path = [*self.path, ROOT]
        return inherited | {
            "PYTHONPATH": os.pathsep.join(map(str, python_path)),
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
        }

    @property
    def _has_packages(self) -> bool:
        return any(self._home.glob("lib/python*/site-packages/*.dist-info"))

    @property
    def _home(self) -> Path:
        return self.root.parent / f"{self.root.name}-venv"

    def _commands(self) -> Path:
        """Return a folder with the commands documents use, of an environment of the bench's own.

        What is installed into it is gone with the bench; it has all that this Python has.
        """
        home = self._home
        if not home.exists():
            venv.create(home, symlinks=True)
            python = home / "bin" / "python"
            commands = {
                "pip": f'{sys.executable} -m pip --python {python} "$@" {OFFLINE}',
            }
            commands |= {name: f'{python} -m {module} "$@"' for name, module in MODULES.items()}
            for name, line in commands.items():
                command = home / "bin" / name
                command.write_text(f"#!/bin/sh\nexec {line}\n")
                command.chmod(command.stat().st_mode | stat.S_IXUSR)
            (packages,) = home.glob("lib/python*/site-packages")
            ours = sysconfig.get_path("purelib")
            (packages / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
        return home / "bin"

    def properties(self, test: str, report: str = "junit.xml") -> dict[str, str]:
        """Return the properties of a test in a JUnit file."""
        cases = ET.parse(self.root / report).getroot().iter("testcase")
        (case,) = [case for case in cases if case.attrib["name"] == test]
        return {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}


def carry_out(document: Path, root: Path) -> Bench:
    """Do what *document* says, from its top to its end, in the empty folder *root*.

    Raises:
        AssertionError: a command ended otherwise than the document says, or did not print what it
            shows; names the line.
    """
    bench = Bench(root)
    with ExitStack() as stack:
        blocks = read_blocks(document)
        needs_server = any(SERVER in block.text for block in blocks if block.mark == "run")
        server = stack.enter_context(spawned(echo=True)) if needs_server else ""
        for block in blocks:
            _do(block, bench, server=server, where=f"{document.name}:{block.line}")
    return bench


def _do(block: Block, bench: Bench, *, server: str, where: str) -> None:
    if block.mark == "file":
        bench.write(block.argument, block.text)
    elif block.mark == "run":
        expected = int(block.argument.removeprefix("exit ") or 0)
        done = bench.run(block.text, server=server)
        assert expected == done.returncode, f"{where}: exit {done.returncode}\n{done.stdout}"
    elif block.mark == "shows":
        missing = _not_shown(block.text, bench.outputs[-1])
        assert missing is None, f"{where}: {missing!r} is not in\n{bench.outputs[-1]}"


def _not_shown(text: str, output: str) -> str | None:
    """Return the first line of *text* that *output* lacks, or None; blanks do not matter."""
    lines = iter([_plain(line) for line in output.split("\n")])
    for wanted in text.split("\n"):
        part = _plain(wanted)
        if part not in {"", ANY} and not any(part in line for line in lines):
            return wanted
    return None


def _plain(line: str) -> str:
    return " ".join(line.split())
