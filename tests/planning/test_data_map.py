"""``data:`` of prompts.yaml: what it may say, and what is said of what it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError
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


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("q.csv", "data: needs `file:` or `hub:`, or columns, such as `{file: q.csv, question: t"),
        ("{questoin: a}", "data.questoin: unknown key. Did you mean 'question'?"),
        ("{question: [a, b]}", "data.question: needs a name, or one by language code, not ['a', "),
        ("{language: {hi: a}}", "data.language: needs a name, not {'hi': 'a'}"),
        ("{question: {xx: a}}", "data.question.xx: unknown language 'xx'"),
        ("{question: {hi: a, hin: b}}", "data.question.hin: the language 'hi' is there twice"),
        ("{question: ''}", "data.question: needs a name"),
        ("{pair: row}", "data.pair: needs id, parallel_id, line, not 'row'"),
        ("{header: 1}", "data.header: needs true or false"),
        ("{'my column': a}", "data.my column: may hold only ASCII letters"),
        ("{hub: a/b}", "data.hub: needs a split, such as `split: test`"),
        ("{hub: a/b, file: c, split: d}", "data.hub: there is a file: already; keep one"),
        ("{revision: b}", "data.revision: means something only with hub:"),
        ("{hub: a, split: '{language}', subset: '{language}'}", "data.split: subset: varies by la"),
    ],
)
def test_what_it_may_not_say(tmp_path: Path, data: str, says: str) -> None:
    """Each is told by file, line and key."""
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, data)
    assert f"prompts.yaml:2: {says}" in str(caught.value)


def test_keys_of_the_users_own_are_metadata(tmp_path: Path) -> None:
    """``subject`` is no misspelling of ``subset``."""
    data = _read(tmp_path, "{question: q, subject: s, region: r}").data
    assert data is not None
    assert {"question", "subject", "region"} == {*data.columns}
