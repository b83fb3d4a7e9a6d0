"""The reader of XLingHealth's workbooks: both layouts, hand-made and real, and their oddities."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from pytest_xling.errors import DataError
from pytest_xling.importers.xlinghealth import XLingHealth
from pytest_xling.importers.xlinghealth import workbook as _xlinghealth_workbook
from pytest_xling.importers.xlinghealth.content import _parsed
from pytest_xling.importers.xlinghealth.oddities import script_share
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DATA = (Path(__file__).resolve().parents[2] / "../shared/data/xlinghealth").resolve()
real = pytest.mark.skipif(not DATA.is_dir(), reason="XLingHealth's files are not here")
FILES = ("LiveQA.xlsx", "MedicationQA.xlsx")
LANGUAGES = ("en", "es", "hi", "zh")

HEADER = (
    "id",
    "label",
    "answer_ids",
    "question_English",
    "answer_English",
    "question_Hindi",
    "answer_Hindi",
)
# Two questions; each one's right answer is the other's wrong one.
ROWS: tuple[tuple[Any, ...], ...] = (
    (0, 1, 0, "What is iron?", "A metal.", "लोहा क्या है?", "एक धातु।"),
    (0, 0, 7, "What is iron?", "A gas.", "लोहा क्या है?", "एक गैस।"),
    (7, 1, 7, "What is air?", "A gas.", "हवा क्या है?", "एक गैस।"),
    (7, 0, 0, "What is air?", "A metal.", "हवा क्या है?", "एक धातु।"),
)
MULTI: dict[str, tuple[tuple[Any, ...], ...]] = {
    "English": (
        ("id", "question", "answer", "neg_sample"),
        (0, "What is iron?", "A metal.", "[7]"),
        (7, "What is air?", "A gas.", "[0]"),
    ),
    "Hindi": (
        ("id", "question", "answer", "question_translated", "answer_translated", "neg_sample"),
        (0, "What is iron?", "A metal.", "लोहा क्या है?", "एक धातु।", "[7]"),
        (7, "What is air?", "A gas.", "हवा क्या है?", "एक गैस।", "[0]"),
    ),
}


def _write(file: Path, sheets: Mapping[str, Iterable[Sequence[Any]]]) -> Path:
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    book.save(file)
    return file


def _single(
    folder: Path, rows: Iterable[Sequence[Any]] = ROWS, header: Sequence[str] = HEADER
) -> Path:
    return _write(folder / "Small.xlsx", {"Sheet1": [header, *rows]})


def _multi(folder: Path, **changes: Iterable[Sequence[Any]]) -> Path:
    return _write(folder / "Small.xlsx", {**MULTI, **changes})


def _replaced(row: int, **cells: Any) -> list[tuple[Any, ...]]:
    """Return ROWS with some cells of one row changed, by their column's name."""
    rows = [dict(zip(HEADER, values, strict=True)) for values in ROWS]
    rows[row] |= cells
    return [tuple(values.values()) for values in rows]


def _read(path: Path, *languages: str) -> list[Sample]:
    return XLingHealth().read(path, benchmark="b", languages=languages or ("en", "hi"))


def _notices(path: Path, *languages: str) -> list[str]:
    return XLingHealth().notices(path, languages=languages or ("en", "hi"))


def _message(path: Path) -> str:
    """Return what the reader says of the file, without its folder."""
    with pytest.raises(DataError) as caught:
        _read(path)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_question_becomes_a_sample_a_language(tmp_path: Path) -> None:
    """With the file's number, both in four digits, and its name as the set."""
    first, *_ = _read(_single(tmp_path))
    expected = Sample(
        id="q0000",
        benchmark="b",
        language="en",
        prompt={"question": "What is iron?"},
        reference="A metal.",
        wrong=("A gas.",),
        parallel_id="q0000",
        metadata={"set": "Small"},
    )
    assert expected == first


def test_both_layouts_give_the_same_samples(tmp_path: Path) -> None:
    """The older one with a sheet for each language, too."""
    for name in ("single", "multi"):
        (tmp_path / name).mkdir()
    assert _read(_single(tmp_path / "single")) == _read(_multi(tmp_path / "multi"))


def test_any_number_of_wrong_answers_is_fine(tmp_path: Path) -> None:
    """HealthQA has nine; the order is the file's."""
    rows = [(3, int(n == 4), n, "Why?", f"Because {n}.", "क्यों?", f"क्योंकि {n}।") for n in range(10)]
    english, _ = _read(_single(tmp_path, rows))
    assert "Because 4." == english.reference
    assert tuple(f"Because {n}." for n in range(10) if n != 4) == english.wrong


def test_a_question_may_have_no_wrong_answer(tmp_path: Path) -> None:
    """Consistency does not need one."""
    (sample,) = _read(_single(tmp_path, ROWS[:1]), "en")
    assert () == sample.wrong


@pytest.mark.parametrize("name", ["Small.xlsx", "small.XLSX"])
def test_a_workbook_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    """Nothing is opened for it; a folder is known by what is in it."""
    assert not XLingHealth().recognises(tmp_path / name)
    assert not XLingHealth().recognises(tmp_path)
    (tmp_path / name).write_text("no workbook at all", encoding="utf-8")
    assert XLingHealth().recognises(tmp_path / name)
    assert XLingHealth().recognises(tmp_path)


@pytest.mark.parametrize("name", ["Small.xls", "Small.csv", "~$Small.xlsx", ".Small.xlsx"])
def test_other_files_are_not_workbooks(tmp_path: Path, name: str) -> None:
    """Nor is what Excel leaves beside an open one."""
    (tmp_path / name).write_text("x", encoding="utf-8")
    assert not XLingHealth().recognises(tmp_path / name)
    assert not XLingHealth().recognises(tmp_path)


def test_a_folder_with_one_workbook_is_that_workbook(tmp_path: Path) -> None:
    """With two, the user has to say which."""
    file = _single(tmp_path)
    assert _read(file) == _read(tmp_path)
    _write(tmp_path / "Other.xlsx", MULTI)
    with pytest.raises(DataError, match=r"holds Other\.xlsx, Small\.xlsx; name one of them"):
        XLingHealth().languages(tmp_path)


def test_cells_may_hold_numbers_rich_text_and_escapes(tmp_path: Path) -> None:
    """All become trimmed text; what only XML cannot hold is gone."""
    rich = CellRichText("A ", TextBlock(InlineFont(b=True), "metal"), ".")
    rows = _replaced(0, answer_English=rich)
    rows[1] = (0, 0, 7.0, "What is iron?", 5.0, "लोहा क्या है?", "  एक_x000D_\nगैस। ")
    rows[2] = (7, True, 7, "What is air?", 0.5, "हवा क्या है?", datetime(2024, 5, 3))  # noqa: DTZ001
    rows[3] = ("7", "0", "00", "What is air?", 12, "हवा क्या है?", "=1+1")
    samples = {(s.language, s.id): s for s in _read(_single(tmp_path, rows))}
    assert ("A metal.", ("5",)) == (
        samples["en", "q0000"].reference,
        samples["en", "q0000"].wrong,
    )
    assert ("एक\nगैस।",) == samples["hi", "q0000"].wrong
    assert ("0.5", ("12",)) == (samples["en", "q0007"].reference, samples["en", "q0007"].wrong)
    assert "2024-05-03" == samples["hi", "q0007"].reference
    # openpyxl stores no value with a formula, so its cell is blank.
    assert ("",) == samples["hi", "q0007"].wrong


def test_a_wrong_size_in_the_file_does_not_hide_rows(tmp_path: Path) -> None:
    """Some programs write A1 as the size of the sheet."""
    file = _single(tmp_path)
    expected = _read(file)
    with ZipFile(file) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert b'<dimension ref="A1:G5"' in sheet
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b"A1:G5", b"A1")
    smaller = tmp_path / "Small2.xlsx"
    with ZipFile(smaller, "w") as written:
        for name, content in parts.items():
            written.writestr(name, content)
    assert [s.reference for s in expected] == [s.reference for s in _read(smaller)]


def test_column_names_may_be_in_any_case_and_order(tmp_path: Path) -> None:
    """And there may be columns and sheets of other kinds."""
    order = (6, 0, 3, 1, 5, 2, 4)
    rows = [["", *(values[n] for n in order), "note"] for values in ROWS]
    header = ["URL", *(f" {HEADER[n].upper()} " for n in order), ""]
    file = _write(tmp_path / "Small.xlsx", {"Notes": [["read me"]], "Sheet1": [header, *rows]})
    plain = tmp_path / "plain"
    plain.mkdir()
    assert _read(_single(plain)) == _read(file)


def test_a_file_is_parsed_once_until_it_changes(tmp_path: Path) -> None:
    """A session asks for languages, samples and notices."""
    file = _single(tmp_path)
    _parsed.cache_clear()
    XLingHealth().languages(file)
    _read(file)
    _notices(file)
    assert 1 == _parsed.cache_info().misses
    _single(tmp_path, _replaced(0, answer_English="An element."))
    os.utime(file, ns=(1, 1))
    assert "An element." == _read(file)[0].reference


def test_openpyxl_is_not_loaded_before_a_file_is_read() -> None:
    """The reader is loaded whenever data is looked for."""
    code = (
        "import sys, pathlib\n"
        "from pytest_xling.registry import load\n"
        "load('importer', 'xlinghealth')().recognises(pathlib.Path('.'))\n"
        "print([m for m in sys.modules if m in ('openpyxl', 'numpy', 'pandas')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()


# What is odd but not wrong


def test_nothing_odd_is_nothing_to_say(tmp_path: Path) -> None:
    """Neither layout."""
    assert [] == _notices(_single(tmp_path))
    assert [] == _notices(_multi(tmp_path))


@pytest.mark.parametrize("blank", [None, "", "  \n", "\u200b\ufeff", "#N/A", "#REF!"])
def test_a_blank_question_is_left_out_in_its_language_and_told(
    tmp_path: Path, blank: str | None
) -> None:
    """Blank is what shows nothing, or what a failed formula shows."""
    rows = [tuple(blank if n == 5 else cell for n, cell in enumerate(ROWS[0]))]
    rows += [tuple(blank if n == 5 else cell for n, cell in enumerate(ROWS[1])), *ROWS[2:]]
    file = _single(tmp_path, rows)
    got = [(sample.language, sample.id) for sample in _read(file)]
    assert [("en", "q0000"), ("en", "q0007"), ("hi", "q0007")] == got
    assert ["Small.xlsx: 1 question is blank and left out: hi row 2"] == _notices(file)
    assert [] == _notices(file, "en")


def test_a_blank_right_answer_leaves_its_question_out(tmp_path: Path) -> None:
    """There is nothing to compare with."""
    file = _single(tmp_path, _replaced(2, answer_Hindi=None))
    assert ["q0000"] == [sample.id for sample in _read(file, "hi")]
    expected = "Small.xlsx: 1 right answer is blank, its question left out: hi row 4"
    assert [expected] == _notices(file)
    file = _single(tmp_path, [(*values[:5], None, values[6]) for values in ROWS])
    assert ["q0000", "q0007"] == [sample.id for sample in _read(file, "en")]


def test_a_blank_wrong_answer_keeps_its_place(tmp_path: Path) -> None:
    """So that the others stay parallel; the question stays."""
    file = _single(tmp_path, _replaced(1, answer_Hindi=""))
    assert [("A gas.",), ("",)] == [s.wrong for s in _read(file) if s.id == "q0000"]
    assert ["Small.xlsx: 1 wrong answer is blank and left out: hi row 3"] == _notices(file)


def test_blanks_of_the_older_layout_are_told_with_the_rows_of_their_sheet(tmp_path: Path) -> None:
    """One blank answer is a right one and others' wrong one."""
    header, first, second = MULTI["Hindi"]
    file = _multi(tmp_path, Hindi=[header, first, (*second[:4], None, second[5])])
    assert [("q0000", ("",))] == [(s.id, s.wrong) for s in _read(file, "hi")]
    assert [
        "Small.xlsx: 1 right answer is blank, its question left out: hi row 3",
        "Small.xlsx: 1 wrong answer is blank and left out: hi row 3",
    ] == _notices(file)


def test_a_wrong_answer_that_is_the_right_one_is_dropped_in_all_languages(tmp_path: Path) -> None:
    """Its Hindi translation differs, but it says the same."""
    file = _single(tmp_path, _replaced(1, answer_English=" a  METAL. "))
    assert [(), ()] == [sample.wrong for sample in _read(file) if sample.id == "q0000"]
    assert [
        (
            "Small.xlsx: 1 wrong answer repeats another answer of the question and is left out in "
            "all languages: question 0"
        )
    ] == _notices(file)


def test_the_second_of_two_equal_wrong_answers_is_dropped(tmp_path: Path) -> None:
    """The first stays."""
    rows = [*ROWS[:2], (0, 0, 9, "What is iron?", "A gas.", "लोहा क्या है?", "गैस।"), *ROWS[2:]]
    assert [("A gas.",), ("एक गैस।",)] == [
        s.wrong for s in _read(_single(tmp_path, rows)) if s.id == "q0000"
    ]


def test_texts_in_another_script_are_told_and_kept(tmp_path: Path) -> None:
    """Questions and answers; an answer to many questions counts once."""
    rows = [tuple("No text." if n == 6 and r[2] == 0 else c for n, c in enumerate(r)) for r in ROWS]
    rows = [tuple("And?" if n == 5 and r[0] == 7 else c for n, c in enumerate(r)) for r in rows]
    file = _single(tmp_path, rows)
    assert "No text." == _read(file, "hi")[0].reference
    assert [
        "Small.xlsx: 1 question is not in its language's script: hi row 4",
        "Small.xlsx: 1 answer is not in its language's script: hi row 2",
    ] == _notices(file)


def test_a_placeholder_in_place_of_many_answers_is_told(tmp_path: Path) -> None:
    """Five questions with one answer; only the first three rows are listed."""
    rows = [(n, 1, n, f"What is {n}?", "No answers", f"{n} क्या है?", f"{n} यह है।") for n in range(5)]
    assert [
        (
            "Small.xlsx: 5 right answers look like placeholders, one text for 5 or more questions: "
            "en rows 2, 3, 4, …"
        )
    ] == _notices(_single(tmp_path, rows))
    assert [] == _notices(_single(tmp_path, rows[:4]))


def test_questions_that_a_language_lacks_are_told(tmp_path: Path) -> None:
    """Its sheet may be shorter, as long as no wrong answer is lost."""
    header, *rows = MULTI["English"]
    file = _multi(tmp_path, English=[header, *rows, (8, "What is ice?", "Water.", "[0, 7]")])
    assert Counter(en=3, hi=2) == Counter(sample.language for sample in _read(file))
    assert ["Small.xlsx: hi lacks what other languages have: question 8"] == _notices(file)


# What is wrong


@pytest.mark.parametrize("column", HEADER)
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    """Together with those that are there."""
    at = HEADER.index(column)
    header, *rows = [[*v[:at], *v[at + 1 :]] for v in (HEADER, *ROWS)]
    message = _message(_single(tmp_path, rows, header))
    name = {"question_English": "question_english", "answer_English": "answer_english"}
    expected = name.get(column, column.casefold())
    assert message.startswith(f"Small.xlsx: sheet 'Sheet1': column '{expected}' is missing.")
    assert message.endswith(f"Its columns: {', '.join(title.casefold() for title in header)}")


Sheets: TypeAlias = "Mapping[str, Iterable[Sequence[Any]]]"


def _one(*header: str, rows: Iterable[Sequence[Any]] = ROWS) -> Sheets:
    return {"Sheet1": [header or HEADER, *rows]}


def _cell(row: int, **cells: Any) -> Sheets:
    return _one(rows=_replaced(row, **cells))


def _english(cell: str | None) -> Sheets:
    """Return the older layout with another list of wrong answers of the first question."""
    header, first, second = MULTI["English"]
    return {**MULTI, "English": [header, (*first[:3], cell), second]}


NUMBER = "but must be a whole number; "
NO_LIST = "not a list such as "


@pytest.mark.parametrize(
    ("sheets", "says"),
    [
        # Columns: twice, misspelt, without their partner, or none for a language.
        (_one(*HEADER, "question_English"), "2 columns are called 'question_english'; keep one"),
        (_one(*HEADER, "question_eng"), "column 'question_eng' is one more for language 'en'"),
        (_one(*HEADER, "ID"), "2 columns are called 'id'; keep one"),
        (_one(*HEADER, "answer_Spanish"), "column 'question_spanish' is missing."),
        (_one(*HEADER[:3]), "no language has columns; expected question_English, answer_English"),
        (_one("id", "lable", *HEADER[2:]), "column 'label' is missing. Is it 'lable'? "),
        (_one(*HEADER[:5], "question_Hinid", "answer_Hinid"), "'question_hinid' is of no "),
        (_one(*HEADER[:5], "question_Hinid", "answer_Hinid"), "Did you mean 'hindi'?"),
        # Sheets that are none, or one too many.
        ({"Budget": [["year", "sum"]]}, "Small.xlsx: not XLingHealth's columns: expected one shee"),
        ({"Budget": [["year", "sum"]]}, "Sheet 'Budget' has year, sum"),
        ({"Sheet1": []}, "Small.xlsx: not XLingHealth's columns"),
        ({"Sheet1": [HEADER]}, "Small.xlsx: no questions below the header"),
        ({"Sheet1": [HEADER, [], [None, " "]]}, "Small.xlsx: no questions below the header"),
        (
            {"A": [HEADER, *ROWS], "B": [HEADER, *ROWS]},
            "Small.xlsx: sheets 'A' and 'B' both hold candidate answers; keep one",
        ),
        ({**MULTI, "Spanich": [*MULTI["Hindi"]]}, "sheet 'Spanich' is of no language we know: "),
        ({**MULTI, "Spanich": [*MULTI["Hindi"]]}, "Did you mean 'spanish'?"),
        ({**MULTI, "hi": [*MULTI["Hindi"]]}, "sheet 'hi' is one more for language 'hi'; keep one"),
        # Cells.
        (_cell(1, label=2), "row 3: 'label' is '2', but must be 1 for the right answer or 0"),
        (_cell(1, label=None), "row 3: 'label' is '', but must be 1"),
        (_cell(1, id=None), "row 3: 'id' is blank; number the questions 0, 1, 2, …"),
        (_cell(1, id=-1), f"row 3: 'id' is '-1', {NUMBER}"),
        (_cell(1, id=0.5), f"row 3: 'id' is '0.5', {NUMBER}"),
        (_cell(1, id="٣"), f"row 3: 'id' is '٣', {NUMBER}"),
        (_cell(1, answer_ids="x"), "row 3: 'answer_ids' is 'x', but must be a whole number"),
        (_cell(1, answer_ids=0), "row 3: question 0 already has answer 0 in row 2; keep one"),
        (
            _cell(3, question_English="What is water?"),
            "row 5: 'question_english' is not what it is in row 4, though both are question 7",
        ),
        (_cell(0, label=0), "question 0 has no right answer (rows 2, 3); exactly one of its rows"),
        (_cell(1, label=1), "question 0 has 2 right answers (rows 2, 3); exactly one of its rows"),
        (
            _one(rows=[(*values[:5], None, values[6]) for values in ROWS]),
            "every question in 'hi' is blank or lacks its right answer; leave the language out",
        ),
        # Lists of wrong answers.
        (_english(None), f"sheet 'English', row 2: 'neg_sample' is '', {NO_LIST}[195, 136, 204"),
        (_english("[7"), f"'neg_sample' is '[7', {NO_LIST}"),
        (_english("7"), f"'neg_sample' is '7', {NO_LIST}"),
        (_english("{7}"), f"'neg_sample' is '{{7}}', {NO_LIST}"),
        (_english("[" * 9999), "'neg_sample' is '[[["),
        (_english("__import__('os')"), "'neg_sample' is \"__import__('os')\", not a list"),
        (_english("[7, None]"), f"'neg_sample' is 'None', {NUMBER}"),
        (_english("[True]"), f"'neg_sample' is 'True', {NUMBER}"),
        (_english("[99]"), "'neg_sample' names question 99, which this sheet does not have; "),
        (_english("[0]"), "'neg_sample' names question 0 itself, whose answer is right"),
        (_english("[7, '07']"), "'neg_sample' names question 7 twice; keep one"),
        (
            {**MULTI, "Hindi": [MULTI["Hindi"][0], (*MULTI["Hindi"][1][:5], "[]")]},
            "sheet 'Hindi', row 2: 'neg_sample' is [], but for the same question 0 it is [7] in ",
        ),
        (
            {**MULTI, "English": [*MULTI["English"], ("07", *MULTI["English"][2][1:])]},
            "Small.xlsx: sheet 'English', row 4: id 7 is already in row 3; ",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, sheets: Sheets, says: str) -> None:
    """File, sheet and row as Excel shows them, and what must be there."""
    message = _message(_write(tmp_path / "Small.xlsx", sheets))
    assert message.startswith("Small.xlsx: ")
    assert says in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"id,label\n0,1\n", "it may be cut short or something else under this name"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "it is an old .xls or has a password"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer"),
    ],
)
def test_what_is_no_workbook_is_called_by_its_name(
    tmp_path: Path, content: bytes, says: str
) -> None:
    """With what to do about it."""
    file = tmp_path / "Small.xlsx"
    file.write_bytes(content)
    message = _message(file)
    assert message.startswith("Small.xlsx: not a workbook that can be read (")
    assert says in message


@pytest.mark.parametrize("kept", [[], ["[Content_Types].xml"], ["xl/workbook.xml"]])
def test_a_zip_of_something_else_is_refused(tmp_path: Path, kept: list[str]) -> None:
    """With some or none of the parts that a workbook has."""
    with ZipFile(_single(tmp_path)) as packed:
        parts = {name: packed.read(name) for name in kept}
    file = tmp_path / "Small.xlsx"
    with ZipFile(file, "w") as written:
        for name, content in {"readme.txt": b"hello", **parts}.items():
            written.writestr(name, content)
    assert _message(file).startswith("Small.xlsx: not a workbook that can be read (")


def test_a_missing_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    """A folder in its place, too."""
    with pytest.raises(DataError, match=r"Small\.xlsx: no \.xlsx file here"):
        XLingHealth().languages(tmp_path / "Small.xlsx")
    (tmp_path / "Small.xlsx").mkdir()
    with pytest.raises(DataError, match=r"no \.xlsx file here"):
        XLingHealth().languages(tmp_path)
    with pytest.raises(DataError, match=r"Small\.xlsx: cannot be read \(Is a directory\)"):
        _xlinghealth_workbook.read_sheets(tmp_path / "Small.xlsx")


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    """A wrong byte in the archive or in a part of it, or the end cut off: a DataError at most."""
    with ZipFile(_single(tmp_path)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    within = data.draw(st.booleans(), label="within a part")
    if within:
        name = data.draw(st.sampled_from(sorted(parts)), label="part")
        parts[name] = _damaged(parts[name], data)
    file = tmp_path / "Damaged.xlsx"
    with ZipFile(file, "w") as written:
        for name, content in parts.items():
            written.writestr(name, content)
    if not within:
        file.write_bytes(_damaged(file.read_bytes(), data))
    _parsed.cache_clear()
    try:
        samples = _read(file, "en")
    except DataError as error:
        assert str(error).startswith(str(file))  # noqa: PT017  either way is right
    else:
        assert samples


def _damaged(content: bytes, data: st.DataObject) -> bytes:
    place = data.draw(st.integers(0, len(content) - 1), label="place")
    if data.draw(st.booleans(), label="cut"):
        return content[:place]
    bits = data.draw(st.integers(1, 255), label="bits")
    return content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]


# Which script a text is in


@pytest.mark.parametrize(
    ("text", "language", "share"),
    [
        ("ciprodex是什么？", "zh", 3 / 4),
        ("HPV", "zh", 0.0),
        ("Norvasc में क्या है", "hi", 3 / 4),
        ("हिन्दी", "hi", 1.0),
        ("Esidrix® Hydrodiuril®", "hi", 0.0),
        ("¿Qué es?", "es", 1.0),
        ("что", "en", 0.0),
        ("アスピリンとは何ですか", "ja", 1.0),
        ("타이레놀은 무엇 Tylenol", "ko", 2 / 3),
        ("12 mg + 3", "hi", 0.0),
        ("12 + 3 = 15 ®", "hi", None),
        ("", "hi", None),
    ],
)
def test_the_share_of_words_in_the_script(text: str, language: str, share: float | None) -> None:
    """Worked by hand: a Chinese character counts as a word, a drug's name as one."""
    assert share == script_share(text, language)


# The real files


@pytest.mark.slow
@real
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("LiveQA.xlsx", {"en": 244, "es": 246, "hi": 246, "zh": 246}),
        ("MedicationQA.xlsx", {"en": 689, "es": 690, "hi": 690, "zh": 689}),
    ],
)
@pytest.mark.parametrize("layout", ["", "legacy_multisheet"])
def test_the_real_files_have_the_questions_of_the_paper(
    name: str, counts: dict[str, int], layout: str
) -> None:
    """246 and 690, less what is blank, with four wrong answers but where one repeats."""
    file = DATA / layout / name
    assert LANGUAGES == XLingHealth().languages(file)
    samples = _read(file, *LANGUAGES)
    assert counts == Counter(sample.language for sample in samples)
    fewer = {sample.id for sample in samples if len(sample.wrong) != 4}
    assert (set() if name == "LiveQA.xlsx" else {"q0224", "q0535"}) == fewer
    assert all(sample.reference not in sample.wrong for sample in samples)


@pytest.mark.slow
@real
@pytest.mark.parametrize("name", FILES)
def test_the_real_layouts_agree(name: str) -> None:
    """Text for text."""
    newer = _read(DATA / name, *LANGUAGES)
    assert newer == _read(DATA / "legacy_multisheet" / name, *LANGUAGES)


@pytest.mark.slow
@real
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LiveQA.xlsx", ["2 questions are blank and left out: en rows 292, 337"]),
        (
            "MedicationQA.xlsx",
            [
                "2 right answers are blank, their questions left out: en row 1062; zh row 1062",
                (
                    "13 answers are not in their language's script: hi rows 26, 51, 149, …; "
                    "zh rows 26, 51, 472, …"
                ),
                (
                    "36 right answers look like placeholders, one text for 5 or more questions: "
                    "en rows 157, 607, 722, …; es rows 157, 607, 722, …; hi rows 157, 607, 722, …; "
                    "zh rows 157, 607, 722, …"
                ),
                (
                    "2 wrong answers repeat another answer of the question and are left out in all "
                    "languages: questions 224, 535"
                ),
            ],
        ),
    ],
)
def test_what_is_odd_in_the_real_files(name: str, expected: list[str]) -> None:
    """As counted by a script of its own, before there was a reader."""
    lines = [f"{name}: {line}" for line in expected]
    assert lines == _notices(DATA / name, *LANGUAGES)


@real
@pytest.mark.parametrize("name", FILES)
@pytest.mark.slow
def test_pandas_reads_the_same_texts(name: str) -> None:
    """An independent reader of the same cells, here with the newer layout."""
    pandas = pytest.importorskip("pandas")
    table = pandas.read_excel(DATA / name, keep_default_na=False)
    samples = {(s.language, s.id): s for s in _read(DATA / name, *LANGUAGES)}
    for title, code in (("Chinese", "zh"), ("English", "en"), ("Hindi", "hi"), ("Spanish", "es")):
        for row in json.loads(table.to_json(orient="records")):
            question, answer = str(row[f"question_{title}"]), str(row[f"answer_{title}"])
            sample = samples.get((code, f"q{row['id']:04}"))
            if sample is None:
                assert "" in (question.strip(), answer.strip()) or row["label"] == 0
                continue
            assert question.strip() == sample.prompt["question"]
            if row["label"] == 1:
                assert answer.strip() == sample.reference
            elif sample.id not in {"q0224", "q0535"}:
                assert answer.strip() in sample.wrong


def test_a_workbook_with_a_row_far_down_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cell in the last row of a sheet is a million rows to read; the sheet is named."""
    monkeypatch.setattr(_xlinghealth_workbook, "_MOST_ROWS", 1_000)
    book = Workbook()
    sheet = book.create_sheet("Questions", 0)
    sheet["A1"] = "question"
    sheet["A1048576"] = "x"
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(DataError, match=r"far\.xlsx: sheet 'Questions' has more than 1,000 rows"):
        _xlinghealth_workbook.read_sheets(tmp_path / "far.xlsx")


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    """Before it is unpacked."""
    path = tmp_path / "bomb.xlsx"
    with ZipFile(path, "w", ZIP_DEFLATED) as parts:
        parts.writestr("xl/sharedStrings.xml", b" " * (65 << 20))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"bomb\.xlsx: unpacks to 65 MB, and at most 64 are read"):
        _xlinghealth_workbook.read_sheets(path)
