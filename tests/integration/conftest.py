"""The project the tests of this folder run pytest in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.project import make_bread

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with three parallel questions in four languages and no thresholds."""
    return make_bread(tmp_path)
