"""One HTML file that shows a run: it asks for nothing else, and runs nothing but its own script."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.errors import ConfigError
from pytest_xling.files.whole import OWNER_ONLY, kept_mode, whole
from pytest_xling.reports.html.model import report_model
from pytest_xling.reports.offline import content_policy, inert
from pytest_xling.text.display import clean, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from pytest_xling.keys import JsonValue
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


def write_report(connection: Connection, came_to: RunSummary, path: str | Path) -> Path:
    """Write a run as one HTML file, and return where.

    Args:
        connection: to the store.
        came_to: what the run came to.
        path: of the file; what is there is replaced, and missing folders are made.

    Raises:
        ConfigError: the file cannot be written.
    """
    model = report_model(connection, came_to)
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole(file, mode=kept_mode(file, new=OWNER_ONLY)) as page:
            page.write(render(model))
    except OSError as error:
        msg = (
            f"the report cannot be written to {file}: {error.strerror or error}; name another file"
        )
        raise ConfigError(msg) from error
    return file


def render(model: Mapping[str, Any]) -> str:
    """Return the page that shows *model*, as :func:`~.model.report_model` makes it."""
    style = _asset("page.css")
    script = "\n".join(["'use strict';", *map(_asset, SCRIPTS)])
    run, verdict = model["run"], model["verdict"]
    policy = content_policy(script, style, "img-src data:")
    return Template(_asset("page.html")).substitute(
        policy=html.escape(policy, quote=True),
        model=html.escape(printable(str(run["model"]))),
        run=html.escape(printable(str(run["id"]))),
        headline=html.escape(printable(str(verdict["headline"]))),
        state=html.escape(str(verdict["state"])),
        style=style,
        script=script,
        data=embedded(model),
    )


def embedded(model: Mapping[str, JsonValue]) -> str:
    """Return *model* as JSON that can stand inside a script element, whatever its texts hold.

    Raises:
        ValueError: it holds NaN or an infinity.
    """
    text = json.dumps(model, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return inert(clean(text))


def _asset(name: str) -> str:
    return (files("pytest_xling.reports.html") / name).read_text(encoding="utf-8")
