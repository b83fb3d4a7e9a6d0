"""The page on which people label answers: one file that needs no network.

What models wrote is data: JSON in a script element that is no program, shown as text only. The
page's own program and style are named by their digests in its Content-Security-Policy, which lets
nothing else run, load or be sent.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.reports.review.document import Review

__all__ = ["review_page"]

_HERE = Path(__file__).parent
_PROGRAM = ("labels.js", "showing.js", "review.js")
# Of JSON these only stand within strings; as escapes they cannot end the element, begin a comment
# or end a line of a program.
_ESCAPES = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"})


def review_page(review: Review) -> str:
    """Return the page for *review*."""
    style = _asset("review.css")
    # One scope for all parts, so that nothing of theirs is global.
    program = f'"use strict";\n(() => {{\n{"".join(map(_asset, _PROGRAM))}}})();\n'
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(program)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return Template(_asset("review.html")).substitute(
        policy=html.escape(policy, quote=False),
        title=html.escape(f"Review of {review.scheme.metric}, run {review.run.run_id}"),
        style=style,
        program=program,
        data=_inert(json.dumps(review.as_json(), ensure_ascii=False, allow_nan=False)),
    )


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _inert(text: str) -> str:
    """Return JSON that means the same and cannot be anything but text in a script element."""
    return text.translate(_ESCAPES)
