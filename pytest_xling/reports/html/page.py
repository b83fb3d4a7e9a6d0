"""One HTML file that shows a run: it asks for nothing else, and runs nothing but its own script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.errors import ConfigError
from pytest_xling.files.whole import OWNER_ONLY, kept_mode, whole
from pytest_xling.reports.html.model import report_model
from pytest_xling.reports.offline import asset, page
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from pytest_xling.reports.run_summary import RunSummary

SCRIPTS: Final = (
    "dom.js",
    "tip.js",
    "verdict.js",
    "heatmap.js",
    "curves.js",
    "cases.js",
    "page.js",
)
"""In the order they build on each other; together they are one script."""


def write_report(connection: Connection, summary: RunSummary, path: str | Path) -> Path:
    """Write a run as one HTML file, and return where; missing folders are made.

    Raises:
        ConfigError: the file cannot be written.
    """
    model = report_model(connection, summary)
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole(file, mode=kept_mode(file, new=OWNER_ONLY)) as written:
            written.write(render(model))
    except OSError as error:
        msg = (
            f"the report cannot be written to {file}: {error.strerror or error}; name another file"
        )
        raise ConfigError(msg) from error
    return file


def render(model: Mapping[str, Any]) -> str:
    """Return the page that shows *model*, as :func:`~.model.report_model` makes it."""
    run, verdict = model["run"], model["verdict"]
    texts = {
        "model": run["model"],
        "run": run["id"],
        "headline": verdict["headline"],
        "state": verdict["state"],
    }
    return page(
        "html/page.html",
        style=asset("html/page.css"),
        script="\n".join(["'use strict';", *(asset(f"html/{name}") for name in SCRIPTS)]),
        data=model,
        policy="img-src data:",
        **{name: printable(str(text)) for name, text in texts.items()},
    )
