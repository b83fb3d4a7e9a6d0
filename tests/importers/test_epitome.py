"""The reader of EPITOME's posts: what it accepts, and what it says of what it does not."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import DataError
from pytest_xling.files.epitome import EPITOME_COLUMNS, epitome_rows
from pytest_xling.importers.epitome import Epitome

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.records import Sample

FILE = "emotional-reactions-reddit.csv"
# Invented for these tests.
TRAIN = (
    "p1",
    "r1",
    "I missed the last train, again.",
    "That is hard, I'm sorry.",
    "2",
    "I'm sorry",
)
WALK = ("p1", "r2", "I missed the last train, again.", "Walk then.", "0", "")
EXAM = (
    "p/2",
    "r3",
    "My exam is on Monday,\nand I cannot sleep.",
    "Oh no. Oh no!",
    "1",
    "Oh no|no!",
)


def _write(folder: Path, *rows: tuple[str, ...], name: str = FILE, head: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([tuple(head.split(",")) if head else EPITOME_COLUMNS, *rows])
    return folder


def _read(path: Path, *languages: str) -> list[Sample]:
    return Epitome().read(path, benchmark="empathy", languages=languages or ("en",))


def _message(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        _read(path)
    return str(caught.value).replace(f"{path}/", "")


def test_each_post_is_one_prompt(tmp_path: Path) -> None:
    """However many responses it has and in how many files it stands; ids fit for cases."""
    folder = _write(tmp_path / "checkout", TRAIN, WALK, EXAM)
    _write(folder, EXAM, TRAIN, name="explorations-reddit.csv")
    assert Epitome().recognises(folder)
    assert ("en",) == Epitome().languages(folder)
    samples = _read(folder)
    assert [TRAIN[2], EXAM[2]] == [sample.prompt["question"] for sample in samples]
    assert "p1" == samples[0].id == samples[0].parallel_id
    assert samples[1].id.startswith("p_2_")
    assert samples[1].id.isascii()
    assert {"empathy"} == {sample.metadata["set"] for sample in samples}
    assert [] == Epitome().notices(folder, languages=("en",))


def test_a_checkout_and_a_file_are_recognised(tmp_path: Path) -> None:
    """EPITOME has its files in ``dataset``; a file may be named itself; others are not its."""
    _write(tmp_path / "dataset", TRAIN)
    assert Epitome().recognises(tmp_path)
    assert Epitome().recognises(tmp_path / "dataset" / FILE)
    _write(tmp_path / "other", TRAIN, name="my_epitome.csv")
    assert 1 == len(_read(tmp_path / "other"))
    _write(tmp_path / "none", TRAIN, name="posts.csv")
    assert not Epitome().recognises(tmp_path / "none")


def test_a_text_of_two_posts_is_asked_once(tmp_path: Path) -> None:
    """The first keeps its id, and a notice says how many are left out."""
    folder = _write(tmp_path / "d", TRAIN, ("p9", *TRAIN[1:]))
    assert ["p1"] == [sample.id for sample in _read(folder)]
    assert ["d: 1 of 2 posts in 'en' repeat the text of another sp_id and are left out"] == (
        Epitome().notices(folder, languages=("en",))
    )


def test_translations_stand_in_a_column(tmp_path: Path) -> None:
    """Below the same sp_id, which makes them one question."""
    head = ",".join((*EPITOME_COLUMNS, "language"))
    spanish = ("p1", "r1", "Perdí otra vez el último tren.", "Lo siento.", "2", "", "es")
    folder = _write(tmp_path / "d", (*TRAIN, "en"), spanish, head=head)
    assert ("en", "es") == Epitome().languages(folder)
    samples = _read(folder, "es", "en")
    assert [("p1", "es"), ("p1", "en")] == [(sample.id, sample.language) for sample in samples]
    _write(folder, (*TRAIN, "xx"), head=head)
    assert f"{FILE}:2: key 'language': unknown language 'xx'" in _message(folder)


def test_rows_keep_levels_and_rationales(tmp_path: Path) -> None:
    """What training reads: the level as a number, the rationales apart."""
    _write(tmp_path, TRAIN, WALK, (*EXAM[:4], "1.0", EXAM[5]))
    rows = list(epitome_rows(tmp_path / FILE))
    assert [2, 0, 1] == [row.level for row in rows]
    assert [("I'm sorry",), (), ("Oh no", "no!")] == [row.rationales for row in rows]
    assert [2, 3, 4] == [row.place.number for row in rows]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"level": "3"}, ":2: key 'level' is '3', and must be 0, 1 or 2"),
        ({"level": ""}, ":2: key 'level' is '', and must be 0, 1 or 2"),
        ({"level": "-1"}, ":2: key 'level' is '-1', and must be 0, 1 or 2"),
        ({"seeker_post": " "}, ":2: key 'seeker_post' is empty; write its text"),
        ({"response_post": ""}, ":2: key 'response_post' is empty; write its text"),
        ({"sp_id": ""}, ":2: key 'sp_id' is empty"),
    ],
)
def test_wrong_cells(tmp_path: Path, change: dict[str, str], said: str) -> None:
    """Each is named by file, line and column, with the fix."""
    row = dict(zip(EPITOME_COLUMNS, TRAIN, strict=True)) | change
    assert said in _message(_write(tmp_path / "d", tuple(row.values())))


def test_wrong_files(tmp_path: Path) -> None:
    """Other columns, one post with two texts, none at all."""
    folder = _write(tmp_path / "d", ("1", "Oh.", "Ah."), head="id,seeker_post,response_post")
    assert f"{FILE}:1: column 'sp_id' is missing." in _message(folder)
    assert "Needed: sp_id, rp_id, seeker_post, response_post, level, rationales" in _message(folder)
    _write(folder, TRAIN, (*WALK[:2], "I caught it.", *WALK[3:]))
    said = _message(folder)
    assert f"{FILE}:3: key 'seeker_post' of 'p1' is not the text it has at {FILE}:2" in said
    _write(folder, TRAIN)
    with pytest.raises(DataError, match="no file of EPITOME here"):
        _read(tmp_path / "nothing")
