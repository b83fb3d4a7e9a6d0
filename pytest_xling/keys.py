"""Content keys, SHA-256 of canonical JSON, and signatures."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JsonValue: TypeAlias = (
    "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)

# One encoder for all calls: json.dumps with options builds a new one each time.
_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: JsonValue) -> str:
    """Return *value* as JSON with sorted keys and no spaces.

    Raises:
        ValueError: *value* holds NaN or an infinity.
    """
    return _encoder.encode(value)


def content_key(value: JsonValue) -> bytes:
    """Return the 32-byte SHA-256 of *value*'s canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).digest()


def signature_of(name: str, version: str, parameters: Mapping[str, JsonValue]) -> str:
    """Return the signature of a step in one line: ``repetition|v1|length:20|times:4|…``."""
    parts = [name, f"v{version}"]
    for key, value in sorted(parameters.items()):
        parts.append(f"{key}:{value if isinstance(value, str) else canonical_json(value)}")
    return "|".join(parts)
