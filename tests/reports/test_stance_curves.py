"""The figure of stances by level, as XML."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree as ET

import pytest

from pytest_xling.analysis.loaded_run import load_run
from pytest_xling.errors import ConfigError
from pytest_xling.papers.uphill import TABLES
from pytest_xling.reports.stance_curves import stance_curves
from tests.runs import Scored, answered, made_up_stances, put_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_xling.papers.recipe import Row

SVG = "{http://www.w3.org/2000/svg}"
Keep: TypeAlias = "Callable[..., list[Row]]"


@pytest.fixture
def rows(tmp_path: Path) -> Keep:
    """Returns the rows of a run with these scores."""

    def kept(scored: Sequence[Scored], **options: Any) -> list[Row]:
        path = put_run(tmp_path / "s.sqlite", scored, **options)
        return TABLES["stance"](load_run("run-1", store=path))

    return kept


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """The rows of a run in English and Hindi."""
    path = put_run(tmp_path_factory.mktemp("curves") / "s.sqlite", made_up_stances())
    return TABLES["stance"](load_run("run-1", store=path))


def _drawn(rows: Sequence[Row]) -> ET.Element:
    return ET.fromstring(stance_curves(rows))


def _by_class(drawn: ET.Element, tag: str, name: str) -> list[ET.Element]:
    return [e for e in drawn.iter(f"{SVG}{tag}") if name in e.get("class", "").split()]


def test_a_plot_for_each_language_and_veracity(usual: list[Row]) -> None:
    """With a curve and five markers for each stance, and the band of the agreement's interval."""
    drawn = _drawn(usual)
    plots = 2 * 3
    assert plots == len(_by_class(drawn, "rect", "frame"))
    assert plots == len(_by_class(drawn, "path", "band"))
    for stance, tag in (("agree", "circle"), ("disagree", "rect"), ("neutral", "path")):
        legend = 1
        assert plots + legend == len(
            [e for e in _by_class(drawn, "path", "line") if stance in e.get("class", "").split()]
        )
        assert 5 * plots + legend == len(
            [
                e
                for e in _by_class(drawn, tag, "mark")
                if f"f-{stance}" in e.get("class", "").split()
            ]
        )


def test_markers_stand_where_the_shares_are(usual: list[Row]) -> None:
    """Between the top of the frame for 100 % and its bottom for 0 %."""
    drawn = _drawn(usual)
    frame = _by_class(drawn, "rect", "frame")[1]  # English, false claims
    top, height = float(frame.get("y", "")), float(frame.get("height", ""))
    left, wide = float(frame.get("x", "")), float(frame.get("width", ""))
    within = [
        (float(e.get("cx", "")), float(e.get("cy", "")))
        for e in _by_class(drawn, "circle", "mark")
        if left <= float(e.get("cx", "")) <= left + wide
        and top <= float(e.get("cy", "")) <= top + height
    ]
    shares = [
        row["value"]
        for row in usual
        if (row["language"], row["veracity"], row["measure"]) == ("en", "false", "agree")
    ]
    assert pytest.approx(shares) == [1 - (y - top) / height for _, y in sorted(within)]


def test_it_can_be_heard(usual: list[Row]) -> None:
    """A name and a description in words, for who cannot see it."""
    drawn = _drawn(usual)
    assert "img" == drawn.get("role")
    assert {"title", "desc"} == set(drawn.get("aria-labelledby", "").split())
    title, described = drawn.find(f"{SVG}title"), drawn.find(f"{SVG}desc")
    assert title is not None
    assert described is not None
    assert "Stance towards claims by level of presupposition: model model-1" == title.text
    assert "en, false claims, from neutral to writing demand: agree 0% to 75%, disagree" in (
        described.text or ""
    )


def test_stances_differ_without_colour(usual: list[Row]) -> None:
    """By dashes, markers, and words beside the curves; nothing is loaded from anywhere."""
    svg = stance_curves(usual)
    assert not re.search(r"href|url\(|@import|<script|<image|<foreignObject", svg)
    assert re.search(r"\.disagree \{ stroke-dasharray: 7 4; \}", svg)
    assert re.search(r"\.neutral \{ stroke-dasharray: 2 3; \}", svg)
    texts = {e.text for e in ET.fromstring(svg).iter(f"{SVG}text")}
    assert {"agree", "disagree", "neutral", "100% agree", "0% disagree"} <= texts
    assert {"writing demand", "responses in %", "Level of presupposition"} <= texts
    assert {"English (en)", "Hindi (hi)", "true claims", "n = 8"} <= texts


def test_hostile_names_are_escaped(rows: Keep) -> None:
    """What a model is called goes through no parser."""
    name = '<script>alert(1)</script> & "\x1b[31m\x00\u202e ]]>'
    drawn = _drawn(rows(made_up_stances(), model=name))
    assert [] == [e for e in drawn.iter() if e.tag.endswith("script")]
    (shown,) = (e.text for e in drawn.iter(f"{SVG}text") if (e.text or "").startswith("model"))
    assert shown is not None
    assert "<script>alert(1)</script>" in shown
    assert "\u202e" not in shown


def test_labels_beside_curves_do_not_lie_on_each_other(usual: list[Row]) -> None:
    """Nor out of the plot's height, where two curves end at 0."""
    drawn = _drawn(usual)
    frames = {
        (float(e.get("x", "")) + float(e.get("width", "")), float(e.get("y", ""))): float(
            e.get("height", "")
        )
        for e in _by_class(drawn, "rect", "frame")
    }
    for (right, top), height in frames.items():
        places = sorted(
            float(e.get("y", ""))
            for e in _by_class(drawn, "text", "tick")
            if float(e.get("x", "0")) == right + 5
            and top <= float(e.get("y", "")) <= top + height + 5
        )
        assert 3 == len(places)
        assert all(after - before >= 14 for before, after in pairwise(places))


def test_what_has_no_stance_is_left_out(rows: Keep) -> None:
    """A gap in the curve's points, not a point at 0; and a plot may be empty."""
    told = [answered("c1", level, None if level == 4 else "agree") for level in range(5)]
    told += [answered("c2", level, None, veracity="true") for level in range(5)]
    drawn = _drawn(rows(told))
    legend = 1
    assert 4 + legend == len(_by_class(drawn, "circle", "mark"))
    described = drawn.find(f"{SVG}desc")
    assert described is not None
    assert "en, true claims: no stances." in (described.text or "")
    assert "from neutral to writing request: agree 100% to 100%" in (described.text or "")


def test_what_cannot_be_drawn_is_said(rows: Keep) -> None:
    """Several temperatures, or nothing."""
    both = rows([*made_up_stances(), *made_up_stances(temperature="t1")])
    with pytest.raises(ConfigError, match=r"several temperatures \(0, 1\) cannot be drawn"):
        stance_curves(both)
    with pytest.raises(ConfigError, match="no stances to draw"):
        stance_curves([])
