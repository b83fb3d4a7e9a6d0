"""What a run leaves behind holds answers: it is for whom made it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.project import Project

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")

ANSWERS = "rules: [{text: Bread rises because the gas in the dough expands in the oven.}]"


def mode(path: Path) -> int:
    """Return a file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


def test_store_and_reports_are_for_their_owner_only(project: Project) -> None:
    """Also exports and pages for raters; a file that is there keeps its permissions."""
    kept = project.write("kept.html", "")
    kept.chmod(0o640)
    model = project.script(ANSWERS)
    project.run(model, "--langs=en", "-n2", "--xling-report=report.html", code=0)
    for command in (
        ("report", "latest", "-o", "again.html"),
        ("report", "latest", "-o", "kept.html", "--force"),
        ("export", "latest", "-o", "run.jsonl"),
        ("review", "latest", "--metric=wrong_language", "-o", "review.html"),
    ):
        project.xling(*command, code=0)
    modes = {
        path: mode(project.root / path)
        for path in (
            ".xling/store.sqlite",
            "report.html",
            "again.html",
            "run.jsonl",
            "review.html",
        )
    }
    assert dict.fromkeys(modes, 0o600) == modes
    assert 0o700 == mode(project.root / ".xling")
    assert 0o640 == mode(kept)
