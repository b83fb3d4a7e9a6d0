"""What a benchmark's test files say in so many words, read without running them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["flags_checked", "named_metrics"]


def flags_checked(function: Callable[..., object]) -> list[str]:
    """Return the flags a test asserts: texts in ``xling_case.check("no_answer")``, in order.

    What is worked out when the test runs is not among them.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):  # no source, or one that cannot stand alone
        return []
    return [
        argument.value
        for call in _calls(tree, "check")
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "xling_case"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def named_metrics(
    folder: Path, *, beside: Mapping[Path, Sequence[str]] | None = None
) -> set[str] | None:
    """Return the metrics that ``pytest.mark.xling(metrics=[…])`` names in a folder's files.

    Args:
        folder: a benchmark's.
        beside: of a file that pytest has collected, the metrics of one of its markers.

    Returns:
        Names; None where a marker is put together in a way only Python can read.
    """
    beside = beside or {}
    named: set[str] = set()
    for file in sorted(folder.glob("*.py")):
        texts = _marked(file)
        unread = texts.count(None)
        if unread > (1 if file in beside else 0):
            return None
        named.update(*filter(None, texts), beside.get(file, ()))
    return named


def _marked(file: Path) -> list[tuple[str, ...] | None]:
    """Return the metrics of each marker in a file; None for what is not a list of texts."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # pytest says so where the file is collected
        return []
    return [_texts(call) for call in _calls(tree, "xling")]


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Yield the calls of an attribute called *name*, as they are written."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    ]
    yield from sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _texts(call: ast.Call) -> tuple[str, ...] | None:
    given = next((word.value for word in call.keywords if word.arg == "metrics"), None)
    if not isinstance(given, ast.List | ast.Tuple):
        return None
    texts = [part.value for part in given.elts if isinstance(part, ast.Constant)]
    named = tuple(text for text in texts if isinstance(text, str))
    return named if len(named) == len(given.elts) else None
