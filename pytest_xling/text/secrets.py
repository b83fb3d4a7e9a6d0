"""Take secrets out of texts that come from outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED: Final = "***"
SHORTEST: Final = 6
"""What is shorter is no secret, and stands in texts that know nothing of it."""
_LIKE_A_KEY = re.compile(r"\bsk-[\w*.…•-]{6,}|(?<=Bearer )[\w*.…•~+/=-]{6,}", re.ASCII)
_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos", "…": "hellip", "•": "bull"}
_LEAST_SHOWN, _MOST_SHOWN = 4, 64
"""How much a server shows of the beginning or the end of a secret, with a gap for the rest."""
_LONGEST_GAP = 500


class Secrets:
    """Finds known secrets in whatever form JSON, a URL or HTML gives them.

    What is shown of one beside a gap (``sk-proj…6789``) is found, too: at least four of its first
    or last characters, before or after an ellipsis, two dots, a star or a bullet. In an answer, one
    end alone that may be a word or a number stays: ``**local**`` is there by chance.

    Args:
        known: the secrets as they are; those of less than 6 characters are not looked for.
    """

    __slots__ = ("_hints", "_in_answers", "_in_errors", "_whole")

    def __init__(self, known: Iterable[str]) -> None:
        # The longest first: one may begin with another.
        secrets = sorted({s for s in known if len(s) >= SHORTEST}, key=len, reverse=True)
        self._whole = [re.compile(b"".join(map(_forms, secret))) for secret in secrets]
        # Found in a tenth of the time of the patterns below, and hardly ever there.
        parts = (part for s in secrets for part in (s[:_LEAST_SHOWN], s[-_LEAST_SHOWN:]))
        self._hints = [re.compile(b"".join(map(_form, part))) for part in parts]
        self._in_errors = [_ends(secret, answer=False) for secret in secrets]
        self._in_answers = [_ends(secret, answer=True) for secret in secrets]

    def redact(self, text: str) -> str:
        """Return *text* with ``***`` in place of every secret, and of what is shown of one."""
        if not self._whole:
            return text
        # Half characters may be in it, which UTF-8 has no bytes for.
        return self.redact_bytes(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def redact_bytes(self, text: bytes, *, answer: bool = False) -> bytes:
        """Return *text*, which is UTF-8 as far as it can be read, likewise.

        Args:
            text: where secrets may be.
            answer: whether it is a model's answer, whose words and numbers stay.
        """
        for pattern in self._whole:
            text = pattern.sub(REDACTED.encode(), text)
        if any(hint.search(text) for hint in self._hints):
            for pattern in self._in_answers if answer else self._in_errors:
                text = pattern.sub(rb"\g<gap>" + REDACTED.encode(), text)
        return text


def hide_keys(text: str) -> str:
    """Return *text* without what looks like a key of anybody's."""
    return _LIKE_A_KEY.sub(REDACTED, text)


def _ends(secret: str, *, answer: bool) -> re.Pattern[bytes]:
    """Return a pattern of what a server may show of *secret* beside a gap.

    The group ``gap`` has what is to stay.
    """
    lengths = range(_LEAST_SHOWN, len(secret))
    head = next((n for n in lengths if not (answer and _is_plain(secret[:n]))), len(secret))
    tail = next((n for n in lengths if not (answer and _is_plain(secret[-n:]))), len(secret))
    patterns = (
        _head(secret, _LEAST_SHOWN) + _GAPS + _tail(secret, _LEAST_SHOWN),
        _head(secret, head) + b"(?=%s)" % _GAP,
        b"(?P<gap>%s)" % _GAP + _tail(secret, tail),
    )
    return re.compile(b"|".join(patterns))


def _is_plain(text: str) -> bool:
    """Tell whether *text* may be a word or a number, and stand anywhere."""
    one_case = text.islower() or text.isupper() or text.istitle()
    return text.isdecimal() or (text.isalpha() and one_case)


def _head(secret: str, least: int) -> bytes:
    """Return a pattern of *least* or more of the first characters."""
    chars = [_form(char) for char in secret[:_MOST_SHOWN]]
    more = chars[least:]
    return b"".join((*chars[:least], *(b"(?:" + char for char in more))) + b")?" * len(more)


def _tail(secret: str, least: int) -> bytes:
    """Return a pattern of *least* or more of the last characters."""
    chars = [_form(char) for char in secret[-_MOST_SHOWN:]]
    more = chars[:-least]
    return b"(?:" * len(more) + b"".join(char + b")?" for char in more) + b"".join(chars[-least:])


def _form(char: str) -> bytes:
    """Return a pattern of *char*; nobody writes a letter otherwise who writes a part of a key."""
    return char.encode() if char.isalnum() else _forms(char)


def _forms(char: str) -> bytes:
    """Return a pattern of the ways to write *char*: plain, in JSON, in a URL, in HTML."""
    code = ord(char)
    utf16 = char.encode("utf-16-be", "surrogatepass")
    units = [utf16[i : i + 2].hex() for i in range(0, len(utf16), 2)]
    forms = [
        re.escape(char),
        "".join(rf"\\{{1,16}}u{_any_case(unit)}" for unit in units),
        "".join(f"%{_any_case(f'{byte:02x}')}" for byte in char.encode(errors="surrogatepass")),
        f"&#0*{code};",
        f"&#[xX]0*{_any_case(f'{code:x}')};",
    ]
    if char in '/"\\':
        forms.append(rf"\\{{1,16}}{re.escape(char)}")
    if char in _NAMED:
        forms.append(f"&{_NAMED[char]};")
    return f"(?:{'|'.join(forms)})".encode(errors="surrogatepass")


def _any_case(digits: str) -> str:
    return "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in digits)


_GAP: Final = b"[ \\[(]?(?:%s)[ \\])]?" % b"|".join((rb"\.\.", *map(_forms, "*…•")))
_GAPS: Final = b"[ \\[(]?(?:%s){1,%d}[ \\])]?" % (
    b"|".join((rb"\.", *map(_forms, "*…•"))),
    _LONGEST_GAP,
)
