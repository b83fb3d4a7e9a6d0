"""Curves over levels of presupposition and over temperatures, and the figures of stances."""

from __future__ import annotations

import base64
import html
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.gates.pairing import temperature_of
from pytest_xling.reports.estimates import estimated
from pytest_xling.reports.html.escaping import as_json
from pytest_xling.reports.papers.uphill_curves import stance_curves
from pytest_xling.reports.papers.uphill_rows import stance_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Score
    from pytest_xling.reports.estimates import MetricTraits
    from pytest_xling.reports.papers.paper_table import Row
    from pytest_xling.store.scores import Place
    from pytest_xling.text.numbers import Figures

Axis: TypeAlias = Literal["level", "temperature"]

_DESCRIPTION = re.compile(r'<desc id="desc">(.*?)</desc>', re.DOTALL)


def curves_of(
    benchmark: str,
    metrics: Sequence[MetricTraits],
    scores: Mapping[Place, Sequence[Score]],
    *,
    languages: Sequence[str],
    figures: Mapping[str, Figures],
) -> list[JsonValue]:
    """Return for each metric its curve over what the benchmark varies, by language."""
    curves: list[JsonValue] = []
    axes: tuple[Axis, ...] = ("level", "temperature")
    for axis in axes:
        for metric in metrics:
            groups = {
                language: _by(axis, scores.get((benchmark, metric.name, language), ()))
                for language in languages
            }
            places = sorted({at for group in groups.values() for at in group})
            if len(places) < 2:  # noqa: PLR2004  one point is no curve
                continue
            lines: dict[str, JsonValue] = {
                language: [
                    as_json(
                        estimated(metric.name, group[at], language=language),
                        figures.get(metric.name),
                    )
                    if at in group
                    else None
                    for at in places
                ]
                for language, group in groups.items()
                if group
            }
            curves.append({"metric": metric.name, "axis": axis, "x": places, "lines": lines})
    return curves


def _by(axis: Axis, scores: Sequence[Score]) -> dict[float, list[Score]]:
    groups: defaultdict[float, list[Score]] = defaultdict(list)
    for score in scores:
        at = score.level if axis == "level" else temperature_of(score.condition)
        if at is not None:
            groups[at].append(score)
    return groups


def stance_figures(connection: Connection, run_id: str, benchmark: str) -> list[JsonValue]:
    """Return UPHILL's figure 2, one for each temperature, as images that hold themselves.

    None for a benchmark without stances; in place of one that cannot be drawn, the reason.
    """
    try:
        rows = stance_rows(connection, run_id, benchmark=benchmark)
    except ConfigError:
        return []  # not scored for it
    except EvaluationError as error:
        return [{"why": str(error)}]
    by_temperature: defaultdict[str | int | float | None, list[Row]] = defaultdict(list)
    for row in rows:
        by_temperature[row["temperature"]].append(row)
    figures: list[JsonValue] = []
    for temperature, some in by_temperature.items():
        figure: dict[str, JsonValue] = {"temperature": temperature}
        try:
            figure |= _image(stance_curves(some))
        except ConfigError as error:
            figure["why"] = str(error)
        figures.append(figure)
    return figures


def _image(svg: str) -> dict[str, JsonValue]:
    described = _DESCRIPTION.search(svg)
    return {
        "source": f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}",
        "description": html.unescape(described[1]) if described else "",
    }
