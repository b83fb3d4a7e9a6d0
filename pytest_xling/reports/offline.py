"""What pages that need no network have in common: nothing but their own script runs in them."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

# With these escaped, JSON holds nothing that HTML could take for the end of a script, the start of
# a comment or an entity, nor a line end that JavaScript knows and JSON does not.
_ESCAPES: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def content_policy(script: str, style: str, *others: str) -> str:
    """Return the Content-Security-Policy that lets only this script and this style in.

    It names both by their digests; nothing else is run, loaded or sent but for what *others* allow.
    """
    directives = (
        "default-src 'none'",
        f"script-src '{_digest(script)}'",
        f"style-src '{_digest(style)}'",
        *others,
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(directives)


def inert(text: str) -> str:
    """Return JSON that means the same and is nothing but data inside a script element."""
    return text.translate(_ESCAPES)


def _digest(text: str) -> str:
    """Return the hash by which a browser knows an element whose text is *text*."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
