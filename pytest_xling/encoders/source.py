"""Where a spec leads: a model's directory, and what tells it from all others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.encoders.e5.directory import E5_SHA256, e5_directory
from pytest_xling.errors import ConfigError
from pytest_xling.models.directory import ModelDirectory, describe, sha256_of
from pytest_xling.models.hub import fetch_weights, hub_name, settings_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

__all__ = ["EMBEDDED", "Source", "find_source"]

EMBEDDED = "embedded"
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A model that was found; its weights may still have to be fetched."""

    name: str
    """The same on all machines: ``embedded``, the hub's name, or the last part of a path."""
    model: ModelDirectory
    revision: str | None = None
    """The hub's commit."""

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """What stands in the signature for the weights and the tokenizer."""
        if self.revision is not None:
            return {"revision": self.revision}
        if self.name == EMBEDDED:
            return {"sha256": E5_SHA256}
        folder = self.model.transformer or self.model.root
        tokenizer = tuple(folder / name for name in _TOKENIZERS if (folder / name).is_file())
        return {
            "sha256": sha256_of(self.model.weights),
            "tokenizer_sha256": sha256_of(tokenizer) if tokenizer else None,
        }

    def fetch(self) -> None:
        """Make sure the weights are there.

        Raises:
            ConfigError: they are neither there nor to be had.
        """
        if self.revision is not None:
            fetch_weights(self.name, self.model.root)
        _ = self.model.weights


def find_source(spec: str) -> Source:
    """Find the model *spec* names; see :func:`pytest_xling.encoders.opening.open_encoder`.

    Raises:
        ConfigError: there is none, or it is no encoder.
    """
    if spec == EMBEDDED:
        return Source(name=EMBEDDED, model=describe(e5_directory()))
    directory = Path(spec).expanduser()
    if directory.is_dir():
        directory = directory.resolve()
        return Source(name=directory.name, model=describe(directory))
    named = None if directory.is_absolute() or directory.exists() else hub_name(spec)
    if named is None:
        msg = (
            f"encoder {spec!r}: there is no such directory in {os.getcwd()}; "  # noqa: PTH109  shown
            "name a directory, a model of the hub, or 'embedded'"
        )
        raise ConfigError(msg)
    name, revision = named
    settings = settings_directory(name, revision)
    return Source(name=name, model=describe(settings), revision=settings.name)
