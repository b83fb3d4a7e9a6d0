"""What holds for all of the room: its modules are light."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["decide", "spec"])
def test_deciding_loads_no_database(module: str) -> None:
    """A run of one case, warm, is not to wait for what only readers of the store need."""
    code = (
        f"import sys, pytest_xling.gates.{module}\n"
        "print(sorted({'sqlalchemy', 'sqlite3', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
