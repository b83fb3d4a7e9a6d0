"""``data:`` of prompts.yaml: what it may say, and what is said of what it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.planning.prompts import Prompts

if TYPE_CHECKING:
    from pathlib import Path


def _read(folder: Path, data: str) -> Prompts:
    path = folder / "prompts.yaml"
    path.write_text(f'chat: "{{question}}"\ndata: {data}\n', encoding="utf-8")
    return Prompts.read(path)


def test_what_it_says(tmp_path: Path) -> None:
    """Columns by field, in one of three ways, and where each stands."""
    data = _read(
        tmp_path,
        "{file: q.csv, question: {hin: h, en: e}, id: [a, 2], reference: 3, topic: t, pair: line}",
    ).data
    assert data is not None
    columns = {"question": {"hi": "h", "en": "e"}, "id": ("a", "2"), "reference": "3", "topic": "t"}
    assert columns == data.columns
    assert ("q.csv", "line", True) == (data.file, data.pair, data.header)
    assert data.origin["topic"].endswith("prompts.yaml:2: data.topic")


def test_keys_of_the_users_own_are_metadata(tmp_path: Path) -> None:
    """``subject`` is no misspelling of ``subset``."""
    data = _read(tmp_path, "{question: q, subject: s, region: r}").data
    assert data is not None
    assert {"question", "subject", "region"} == {*data.columns}
