"""The page on which people label answers, or rate them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.reports.offline import asset, page

if TYPE_CHECKING:
    from pytest_xling.reports.review.document import Review


def review_page(review: Review) -> str:
    """Return the page for *review*."""
    parts = ("kept", "showing", review.asks, "review")
    program = "".join(asset(f"review/{name}.js") for name in parts)
    return page(
        "review/review.html",
        style=asset("review/review.css"),
        # One scope for all parts, so that nothing of theirs is global.
        script=f'"use strict";\n(() => {{\n{program}}})();\n',
        data=review.document,
        title=review.title,
    )
