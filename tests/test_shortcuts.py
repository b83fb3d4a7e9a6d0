"""A project whose conftest.py has a ``--model`` of its own is told what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CONFTEST = """
def pytest_addoption(parser):
    parser.addoption({name!r}, {more})
"""


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XLING_", "PYTEST_"))
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=inherited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _project(root: Path, folder: str, name: str, more: str = "dest='theirs'") -> None:
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    place = root / folder
    place.mkdir(exist_ok=True)
    (place / "conftest.py").write_text(CONFTEST.format(name=name, more=more), encoding="utf-8")
    (place / "test_plain.py").write_text(
        "def test_plain(request): assert request.config.option.theirs in (None, 'x')\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize("option", ["model", "langs", "baseline"])
@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        ("", []),
        ("", ["--{}", "x"]),
        ("", ["--{}=x", "-n2"]),
        ("checks", ["checks", "--{}=x"]),
    ],
)
def test_a_conftest_with_our_option(
    tmp_path: Path, option: str, folder: str, arguments: list[str]
) -> None:
    """One message with the way out, and exit 4; the way out works."""
    _project(tmp_path, folder, f"--{option}")
    given = [argument.format(option) for argument in arguments]
    done = _pytest(tmp_path, *given)
    assert 4 == done.returncode, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(f"ERROR: --{option} already belongs to a conftest.py")
    assert "-p no:xling_short" in done.stderr
    assert f"--xling-{option}" in done.stderr
    done = _pytest(tmp_path, "-p", "no:xling_short", *given)
    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(
    pytest.version_tuple < (9,), reason="pytest 8 builds its parser again for the help, and stops"
)
def test_help_is_shown_all_the_same(tmp_path: Path) -> None:
    """``--help`` prints the options, then the message."""
    _project(tmp_path, "", "--model")
    done = _pytest(tmp_path, "--help")
    assert 4 == done.returncode
    assert "--xling-model" in done.stdout
    assert done.stderr.startswith("ERROR: --model already belongs to")


def test_a_clash_with_somebody_else_is_not_ours(tmp_path: Path) -> None:
    """A conftest.py that declares an option of pytest's own is shown what pytest shows."""
    _project(tmp_path, "", "--verbose")
    done = _pytest(tmp_path)
    assert 1 == done.returncode
    assert "conflicting option string: --verbose" in done.stderr
    assert "xling_short" not in done.stderr


def test_a_required_option_is_left_to_pytest(tmp_path: Path) -> None:
    """Looking for clashes early asks for no option early: pytest's own help does not, either."""
    _project(tmp_path, "", "--theirs", "required=True")
    assert 0 == _pytest(tmp_path, "--theirs=x").returncode
    assert 4 == _pytest(tmp_path).returncode
