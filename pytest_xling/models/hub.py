"""Models named by their name on the Hugging Face hub: settings first, weights when needed."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_xling.errors import ConfigError
from pytest_xling.models.quiet import quiet
from pytest_xling.text.display import printable

__all__ = ["fetch_weights", "hub_name", "settings_directory"]

_NAME = re.compile(r"(?P<name>[\w.-]+(/[\w.-]+)?)(@(?P<revision>[\w./-]+))?", re.ASCII)
_SETTINGS = ["*.json", "*.txt", "*.model", "*.jinja"]
_WEIGHTS = ["*.safetensors"]
_OTHER_PROGRAMS = ["onnx/*", "openvino/*"]


def hub_name(spec: str) -> tuple[str, str | None] | None:
    """Return name and revision of ``name`` or ``name@revision``; None for what can be neither."""
    match = _NAME.fullmatch(spec)
    if match is None or spec.startswith("."):
        return None
    return match["name"], match["revision"]


def settings_directory(name: str, revision: str | None) -> Path:
    """Return the directory of a model with its settings, named by the commit.

    What the hub's cache on this machine has is taken as it is, so that a run does not change
    because its model did.

    Raises:
        ConfigError: it is neither in the cache nor to be had from the hub.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  with transformers
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415  as above

    try:
        cached = Path(
            snapshot_download(
                name, revision=revision, allow_patterns=_SETTINGS, local_files_only=True
            )
        )
    except LocalEntryNotFoundError:
        return _download(name, revision, _SETTINGS)
    except ValueError as error:
        raise _fault(name, error) from error
    if (cached / "config.json").is_file() or (cached / "modules.json").is_file():
        return cached
    return _download(name, revision, _SETTINGS)


def fetch_weights(name: str, directory: Path) -> None:
    """Put the weights of a model beside its settings, unless they are there.

    Raises:
        ConfigError: they are not to be had from the hub.
    """
    if not any(directory.rglob("*.safetensors")):
        _download(name, directory.name, _WEIGHTS)


def _download(name: str, revision: str | None, patterns: list[str]) -> Path:
    from httpx2 import HTTPError  # noqa: PLC0415  what the hub's client speaks with
    from huggingface_hub import snapshot_download  # noqa: PLC0415  with transformers

    try:
        with quiet():
            return Path(
                snapshot_download(
                    name,
                    revision=revision,
                    allow_patterns=patterns,
                    ignore_patterns=_OTHER_PROGRAMS,
                )
            )
    except (OSError, ValueError, HTTPError) as error:
        raise _fault(name, error) from error


def _fault(name: str, error: Exception) -> ConfigError:
    why = printable(str(error), limit=200)
    return ConfigError(
        f"encoder {name!r}: no such directory, and the Hugging Face hub does not give it ({why}); "
        "name a directory, a model of the hub, or 'embedded'"
    )
