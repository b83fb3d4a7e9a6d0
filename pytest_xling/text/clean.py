"""Make text safe to encode, where it enters."""

from __future__ import annotations

__all__ = ["clean"]


def clean(text: str) -> str:
    """Return *text* without surrogates: pairs joined, lone ones made U+FFFD, all else untouched.

    JSON can escape half a character, which Python then holds and no file, database or terminal
    can; pytest-xdist loses the whole report over one.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        # In UTF-16 a pair of surrogates *is* the character, and a lone one an error.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
