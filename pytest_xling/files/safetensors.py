"""The texts in a safetensors file, which its own reader gives only of a path, not of bytes."""

from __future__ import annotations

import json


def metadata_of(raw: bytes) -> dict[str, str]:
    """Return the metadata at the head of the file whose bytes are *raw*.

    Raises:
        ValueError, KeyError: it is no such file, or has none.
    """
    size = int.from_bytes(raw[:8], "little")
    metadata: dict[str, str] = json.loads(raw[8 : 8 + size])["__metadata__"]
    return metadata
