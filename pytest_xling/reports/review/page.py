"""The page on which people label answers, or rate them side by side."""

from __future__ import annotations

import html
import json
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from pytest_xling.reports.offline import content_policy, inert

if TYPE_CHECKING:
    from pytest_xling.reports.review.document import Review

_HERE = Path(__file__).parent


def review_page(review: Review) -> str:
    """Return the page for *review*."""
    style = _asset("review.css")
    parts = ("kept.js", "showing.js", f"{review.asks}.js", "review.js")
    # One scope for all parts, so that nothing of theirs is global.
    program = f'"use strict";\n(() => {{\n{"".join(map(_asset, parts))}}})();\n'
    policy = content_policy(program, style)
    return Template(_asset("review.html")).substitute(
        policy=html.escape(policy, quote=False),
        title=html.escape(review.title),
        style=style,
        program=program,
        data=inert(json.dumps(review.document, ensure_ascii=False, allow_nan=False)),
    )


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
