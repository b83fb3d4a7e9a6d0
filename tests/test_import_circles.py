"""No two modules of the package import each other, by whatever way round."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


def test_no_module_is_in_a_circle() -> None:
    """Neither at the top of files nor inside functions nor for type checkers alone."""
    graph = grimp.build_graph("pytest_xling", cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert "pytest_xling.records" in imported["pytest_xling.metrics.repetition"]
    TopologicalSorter(imported).prepare()  # its error names the modules of a circle
