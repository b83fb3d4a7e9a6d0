"""No two modules of the package import each other, by whatever way round."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest_xling

PACKAGE = Path(pytest_xling.__file__).parent


def modules() -> dict[str, Path]:
    """Return the files of the package by the names of their modules."""
    named = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def imports(name: str, path: Path, known: set[str]) -> set[str]:
    """Return the package's modules that a file imports anywhere: lazily, or for its types, too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = name if path.name == "__init__.py" else name.rpartition(".")[0]
                for _ in range(node.level - 1):
                    base = base.rpartition(".")[0]
                module = f"{base}.{module}".rstrip(".")
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                found.add(whole if whole in known else module)
    return (found & known) - {name}


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the strongly connected parts of a graph that are more than one node (Tarjan)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    parts: set[frozenset[str]] = set()

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in number:
                visit(target)
                lowest[node] = min(lowest[node], lowest[target])
            elif target in stack:
                lowest[node] = min(lowest[node], number[target])
        if lowest[node] == number[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                parts.add(frozenset(part))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return parts


def test_a_circle_is_seen() -> None:
    """Of two that import each other by a third; what only leads there is not in it."""
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert {frozenset("abc")} == circles(graph)


def test_no_module_is_in_a_circle() -> None:
    """Neither at the top of files nor inside functions nor for type checkers alone."""
    files = modules()
    known = set(files)
    graph = {name: imports(name, path, known) for name, path in files.items()}
    assert len(graph) > 200
    assert [] == sorted(map(sorted, circles(graph)))
