"""A scratch project in which the blocks of a document are carried out, one after the other."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests import forkserver
from tests.docs.blocks import read_blocks
from tests.servers.openai_server import spawned

if TYPE_CHECKING:
    from tests.docs.blocks import Block

__all__ = ["ROOT", "Bench", "carry_out"]

ROOT = Path(__file__).resolve().parents[2]

SERVER = "http://localhost:8000/v1"
"""What documents call a server of the reader's own; a real one stands in for it."""

ANY = "…"

COMMANDS = {"pytest": "pytest", "xling": "pytest_xling.cli"}
_SIMPLE = re.compile(r"\s*((?:[A-Z_]+=\S+ )*(?:pytest|xling)\b[^|&;<>()$`\\*?\n#~]*)\s*")


@dataclass(frozen=True, slots=True)
class Bench:
    """A scratch folder, and what has happened in it."""

    root: Path
    outputs: list[str] = field(default_factory=list)
    """What each block that was run printed."""
    packages: list[Path] = field(default_factory=list)
    """Folders of packages that count as installed."""
    path: list[Path] = field(default_factory=list)
    """Folders that come before the project's own code."""

    def write(self, name: str, text: str) -> None:
        """Write a file; a package's pyproject.toml also installs it, as `pip install -e` would."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.name == "pyproject.toml" and path.parent != self.root:
            self._install(path)

    def _install(self, pyproject: Path) -> None:
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        name = project["name"].replace("-", "_")
        info = pyproject.parent / f"{name}-{project['version']}.dist-info"
        info.mkdir()
        metadata = (
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        lines = []
        for group, entries in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.packages.append(pyproject.parent)

    def run(self, script: str, *, server: str = "") -> subprocess.CompletedProcess[str]:
        """Run a shell script here; ``pytest`` and ``xling`` are those of this Python."""
        script = script.replace(SERVER, server)
        simple = not self.path and _SIMPLE.fullmatch(script)
        done = self._run_command(simple[1]) if simple else self._run_script(script)
        self.outputs.append(done.stdout)
        return done

    def _run_command(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run one command, with variables before it or without, where the shell adds nothing."""
        words = shlex.split(line)
        start = next(n for n, word in enumerate(words) if word in COMMANDS)
        variables = dict(word.split("=", 1) for word in words[:start])
        return forkserver.run(
            COMMANDS[words[start]],
            words[start + 1 :],
            cwd=self.root,
            env=self._environment() | variables,
            one_stream=True,
        )

    def _run_script(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # the commands are those our own documents show
            ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607
            cwd=self.root,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        commands = self.root.parent / f"{self.root.name}-bin"
        commands.mkdir(exist_ok=True)
        for name, module in COMMANDS.items():
            command = commands / name
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
            command.chmod(command.stat().st_mode | stat.S_IXUSR)
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XLING_", "OPENAI_", "AZURE_", "PYTEST_", "GITHUB_", "COLUMNS"))
            and name != "PYTHONDONTWRITEBYTECODE"  # or pytest would rewrite the plugin every time
        }
        python_path = [*self.path, *self.packages, ROOT]
        return inherited | {
            "PATH": f"{commands}{os.pathsep}{inherited['PATH']}",
            "PYTHONPATH": os.pathsep.join(map(str, python_path)),
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
        }

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
