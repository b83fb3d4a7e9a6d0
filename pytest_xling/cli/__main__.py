"""Run the command as ``python -m pytest_xling.cli``."""

from __future__ import annotations

import sys

from pytest_xling.cli import main

if __name__ == "__main__":
    sys.exit(main())
