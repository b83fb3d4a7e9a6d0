"""How many examples Hypothesis draws, how many threads compute, and what is garbage."""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# Threads of torch and BLAS that wait for one another spin: on two cores, both busy with tests, that
# is CPU time for nothing. Read when they are imported, also by processes that tests start.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Half of what Hypothesis tries by default; a machine that is busy is no failure.
settings.register_profile("half", max_examples=50, deadline=None)
settings.load_profile("half")


def pytest_collection_finish() -> None:
    """Leave thousands of tests out of each search for garbage: they live to the end."""
    gc.collect()
    gc.freeze()
