"""Take secrets out of texts that come from outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["REDACTED", "Secrets", "hide_keys"]

REDACTED: Final = "***"
SHORTEST: Final = 6
"""What is shorter is no secret, and stands in texts that know nothing of it."""
_LIKE_A_KEY = re.compile(r"\bsk-[\w*.-]{6,}|(?<=Bearer )[\w*.~+/=-]{6,}", re.ASCII)
_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


class Secrets:
    """Finds known secrets in whatever form JSON, a URL or HTML gives them.

    Args:
        known: the secrets as they are; those of less than 6 characters are not looked for.
    """

    __slots__ = ("_patterns",)

    def __init__(self, known: Iterable[str]) -> None:
        # The longest first: one may begin with another.
        secrets = sorted({s for s in known if len(s) >= SHORTEST}, key=len, reverse=True)
        self._patterns = [re.compile(b"".join(map(_forms, secret))) for secret in secrets]

    def redact(self, text: str) -> str:
        """Return *text* with ``***`` in place of every secret."""
        if not self._patterns:
            return text
        # Half characters may be in it, which UTF-8 has no bytes for.
        return self.redact_bytes(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def redact_bytes(self, text: bytes) -> bytes:
        """Return *text*, which is UTF-8 as far as it can be read, likewise."""
        for pattern in self._patterns:
            text = pattern.sub(REDACTED.encode(), text)
        return text


def hide_keys(text: str) -> str:
    """Return *text* without what looks like a key of anybody's."""
    return _LIKE_A_KEY.sub(REDACTED, text)


def _forms(char: str) -> bytes:
    """Return a pattern of the ways to write *char*: plain, in JSON, in a URL, in HTML."""
    code = ord(char)
    utf16 = char.encode("utf-16-be", "surrogatepass")
    units = [utf16[i : i + 2].hex() for i in range(0, len(utf16), 2)]
    forms = [
        re.escape(char),
        "".join(rf"\\+u{_any_case(unit)}" for unit in units),
        "".join(f"%{_any_case(f'{byte:02x}')}" for byte in char.encode(errors="surrogatepass")),
        f"&#0*{code};",
        f"&#[xX]0*{_any_case(f'{code:x}')};",
    ]
    if char in '/"\\':
        forms.append(rf"\\+{re.escape(char)}")
    if char in _NAMED:
        forms.append(f"&{_NAMED[char]};")
    return f"(?:{'|'.join(forms)})".encode(errors="surrogatepass")


def _any_case(digits: str) -> str:
    return "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in digits)
