"""What pages that need no network have in common: nothing but their own script runs in them."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Final

from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

# With these escaped, JSON holds nothing that HTML could take for the end of a script, the start of
# a comment or an entity, nor a line end that JavaScript knows and JSON does not.
_ESCAPES: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def page(
    name: str,
    *,
    style: str,
    script: str,
    data: Mapping[str, JsonValue],
    policy: str = "",
    **texts: str,
) -> str:
    """Return a page whose Content-Security-Policy lets only this script and this style in.

    Nothing else is run, loaded or sent but for what *policy* allows.

    Args:
        name: of the template.
        style: of the page.
        script: of the page.
        data: what the script reads.
        policy: further directives.
        texts: stand in the template, escaped.
    """
    directives = (
        "default-src 'none'",
        f"script-src '{_digest(script)}'",
        f"style-src '{_digest(style)}'",
        *([policy] if policy else []),
        "base-uri 'none'",
        "form-action 'none'",
    )
    texts["policy"] = "; ".join(directives)
    escaped = {key: html.escape(text) for key, text in texts.items()}
    template = Template(asset(name))
    return template.substitute(style=style, script=script, data=embedded(data), **escaped)


def asset(name: str) -> str:
    """Return a file that lies in a folder here: ``html/page.css``."""
    return (files("pytest_xling.reports") / name).read_text(encoding="utf-8")


def embedded(data: Mapping[str, JsonValue]) -> str:
    """Return *data* as JSON that can stand inside a script element, whatever its texts hold.

    Raises:
        ValueError: it holds NaN or an infinity.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return clean(text).translate(_ESCAPES)


def _digest(text: str) -> str:
    """Return the hash by which a browser knows an element whose text is *text*."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
