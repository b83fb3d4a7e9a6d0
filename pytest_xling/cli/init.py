"""``xling init``: a benchmark to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.cli.printing import print_text
from pytest_xling.config.values import path as parse_path
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

__all__ = ["add_arguments", "run"]

SUFFIX = ".txt"
"""Ends the name of every template, so that none is taken for a test or a benchmark of ours."""

NEXT = """\
Next, in {folder}:
  pytest --model=scripted             asks nobody: every question is its own answer
  pytest --model=MODEL --langs=es,hi  asks a real one; OPENAI_API_KEY and OPENAI_BASE_URL say where
  xling show latest                   what came of it
Then put your own questions into benchmarks/example/data/ and your limits into thresholds.yaml.\
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = "Nothing is overwritten: files that exist already are left as they are."
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default=Path(),
        type=parse_path,
        help="your project; default: the working directory",
    )


def run(args: argparse.Namespace) -> int:
    """Write the files that are not there yet."""
    root: Path = args.folder
    for name, text in _templates(files("pytest_xling.cli").joinpath("templates"), ""):
        path = root / name
        if _write(path, text):
            print_text(f"wrote   {path}")
        else:
            print_text(f"exists  {path}")
    print_text("\n" + NEXT.format(folder="this folder" if root == Path() else root))
    return 0


def _templates(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts of the templates in and below *folder*, sorted."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            yield prefix + entry.name.removesuffix(SUFFIX), entry.read_text(encoding="utf-8")


def _write(path: Path, text: str) -> bool:
    """Write a new file and say True, or False where there is one.

    Raises:
        ConfigError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        if path.is_file():
            return False
        msg = f"cannot write {path}: something else is there, or in place of one of its folders"
        raise ConfigError(msg) from None
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise ConfigError(msg) from error
    return True
