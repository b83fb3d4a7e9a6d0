"""The project the tests of this folder run pytest in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.project import TEST_FILE, Project, write_questions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with four parallel questions in two languages and no thresholds."""
    made = Project(tmp_path)
    made.write("pytest.ini", "[pytest]\n")
    made.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\n')
    made.write("benchmarks/bread/test_bread.py", TEST_FILE)
    write_questions(made, count=4, languages=("en", "hi"))
    return made
