"""What all tests share; the plugin under test comes by its entry point."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


_HOLD_MODELS = ("pytest_xling.encoders.opening", "pytest_xling.models.nli.model")


@pytest.fixture(scope="module", autouse=True)
def forget_models() -> Iterator[None]:
    """Let go of what a file of tests has loaded; a process holds each encoder as long as it lives.

    Two of them take 900 MB, which the C library keeps for itself unless it is told.
    """
    yield
    held = [sys.modules[name] for name in _HOLD_MODELS if name in sys.modules]
    if not any(module._open.cache_info().currsize for module in held):  # noqa: SLF001  as below
        return
    for module in held:
        module._open.cache_clear()  # noqa: SLF001  there is no other way to
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
        if trim is not None:
            trim(0)
