"""``data:`` of prompts.yaml: what it may say, and what is said of what it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.importers.rows import Rows
from pytest_xling.importers.uphill import Uphill
from pytest_xling.planning.benchmark import open_benchmark
from tests.importers.uphill_files import queries, write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planning.bread import Bread


def test_what_it_says(bread: Bread) -> None:
    """Columns by field, in one of three ways, and where each stands."""
    data = bread.prompts(
        "data: {file: q.csv, question: {hin: h, en: e}, id: [a, 2], reference: 3, topic: t, "
        "pair: line}"
    ).data
    assert data is not None
    columns = {"question": {"hi": "h", "en": "e"}, "id": ("a", "2"), "reference": "3", "topic": "t"}
    assert columns == data.columns
    assert ("q.csv", "line", True) == (data.file, data.pair, data.header)
    assert data.origin["topic"].endswith("prompts.yaml:1: data.topic")


def test_keys_of_the_users_own_are_metadata(bread: Bread) -> None:
    """``subject`` is no misspelling of ``subset``."""
    data = bread.prompts("data: {question: q, subject: s, region: r}").data
    assert data is not None
    assert {"question", "subject", "region"} == {*data.columns}


def test_a_layout_that_is_read_where_it_lies(tmp_path: Path) -> None:
    """Whatever its name says; other data that is given instead may be of another layout."""
    folder = tmp_path / "bread"
    folder.mkdir()
    write_csv(tmp_path / "theirs.csv", queries("c1", "false"))
    text = "chat: '{question}'\ndata: {layout: uphill, file: ../theirs.csv}\n"
    (folder / "prompts.yaml").write_text(text, encoding="utf-8")
    opened = open_benchmark(folder, data={})
    assert isinstance(opened.importer, Uphill)
    samples = opened.samples(["en"])
    assert [f"c1-l{level}" for level in range(5)] == [sample.id for sample in samples]
    assert {"bread"} == {sample.benchmark for sample in samples}
    (tmp_path / "en.jsonl").write_text('{"question": "Why?"}')
    other = open_benchmark(folder, data={"bread": tmp_path / "en.jsonl"})
    assert isinstance(other.importer, Rows)
