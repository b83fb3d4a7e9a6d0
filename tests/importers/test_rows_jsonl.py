"""The reader of our own layout: what it accepts, and what it says of what it does not."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_xling.errors import DataError
from pytest_xling.importers.rows import Rows
from pytest_xling.interfaces.importer import DataMap
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from pathlib import Path

ROW = {
    "id": "q1",
    "set": "specific",
    "question": "Miért úszik a jég?",
    "category": "science",
    "source": "Wikipedia (hu): Jég",
}


METADATA = {key: ROW[key] for key in ("set", "category", "source")}


def _line(**changes: object) -> str:
    return json.dumps({**ROW, **changes}, ensure_ascii=False)


def _without(key: str) -> str:
    return json.dumps({k: v for k, v in ROW.items() if k != key})


def _read(folder: Path, *languages: str) -> list[Sample]:
    return Rows().read(folder, benchmark="b", languages=languages or ("hu",))


def _sample(folder: Path, line: str) -> Sample:
    """Return the only sample of a hu.jsonl with this line."""
    (folder / "hu.jsonl").write_text(line, encoding="utf-8")
    (sample,) = _read(folder)
    return sample


def _message(folder: Path, content: str | bytes) -> str:
    """Return what the reader says of a hu.jsonl with this content, without the folder's name."""
    raw = content if isinstance(content, bytes) else content.encode()
    (folder / "hu.jsonl").write_bytes(raw)
    with pytest.raises(DataError) as caught:
        _read(folder)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_row_becomes_a_sample(tmp_path: Path) -> None:
    """Every key has its place; further keys become metadata."""
    row = _line(reference="Mert könnyebb.", parallel_id="p1", translation="machine")
    (tmp_path / "hu.jsonl").write_text(row, encoding="utf-8")
    assert [
        Sample(
            id="q1",
            benchmark="b",
            language="hu",
            prompt={"question": "Miért úszik a jég?"},
            reference="Mert könnyebb.",
            parallel_id="p1",
            metadata={**METADATA, "translation": "machine"},
        )
    ] == _read(tmp_path)


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        (_line(), "reference", None),
        (_line(), "parallel_id", None),
        (_line(wrong=[None, "Mert sós.", None]), "wrong", ("", "Mert sós.", "")),
        ('{"question": "Mi a só?", "parallel_id": "p1"}', "id", "p1"),
        ('{"question": "Mi a só?", "parallel_id": "p1"}', "parallel_id", "p1"),
        (_line(set="hard"), "metadata", {**METADATA, "set": "hard"}),
        (_line(question="Mi\u2028ez?"), "prompt", {"question": "Mi\u2028ez?"}),
        (_line(question="XX").replace("XX", "\\ud83d\\ude00"), "prompt", {"question": "😀"}),
    ],
    ids=[
        "no reference",
        "no parallel_id",
        "blanks keep places",
        "id",
        "parallel_id",
        "any set",
        "line separator",
        "surrogate pair",
    ],
)
def test_what_a_row_may_be(tmp_path: Path, line: str, field: str, value: object) -> None:
    """Most can be left out; a benchmark may have sets of its own; U+2028 ends no line."""
    sample = _sample(tmp_path, line)
    assert value == getattr(sample, field)


def test_versions_of_a_question_share_both_names(tmp_path: Path) -> None:
    """Gates pair by id: with different parallel_ids they would pair what is not one question."""
    lines = {
        "en": [_line(id="q1"), _line(id="q2", parallel_id="p2"), _line(id="q3", parallel_id="q3")],
        "hu": [_line(id="q3"), _line(id="q1"), _line(id="q2", parallel_id="p3")],
    }
    for language, rows in lines.items():
        (tmp_path / f"{language}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        Rows().read(tmp_path, benchmark="b", languages=("en", "hu"))
    assert str(caught.value) == (
        f"{tmp_path / 'hu.jsonl'}:3: id 'q2' has the parallel_id 'p3' here and 'p2' in"
        f" {tmp_path / 'en.jsonl'}:2; versions of one question share both: give them the same"
        " parallel_id, or different questions an id each"
    )


def test_wrong_answers_keep_their_order(tmp_path: Path) -> None:
    """They have a field of their own, beside the reference or without one."""
    lines = [
        _line(id="q1", reference="Mert könnyebb.", wrong=["Mert sós.", "Mert hideg."]),
        _line(id="q2", wrong=["Mert sós."]),
        _line(id="q3", reference="Mert könnyebb."),
    ]
    (tmp_path / "hu.jsonl").write_text("\n".join(lines), encoding="utf-8")
    samples = _read(tmp_path)
    assert [("Mert sós.", "Mert hideg."), ("Mert sós.",), ()] == [s.wrong for s in samples]
    assert all("wrong" not in sample.metadata for sample in samples)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("Mert sós.", "key 'wrong' must be a list of texts, such as "),
        (None, "key 'wrong' must be a list of texts, such as "),
        ({"a": "b"}, "key 'wrong' must be a list of texts, such as "),
        ([], "key 'wrong' is an empty list; write a wrong answer, or leave the key out"),
        (["a", ""], "key 'wrong[1]' is empty; "),
        (["a", "  "], "key 'wrong[1]' is empty; "),
        ([7], "key 'wrong[0]' must be a string, not a number"),
        ([["a"]], "key 'wrong[0]' must be a string, not a list"),
        (["a\0b"], "key 'wrong[0]' holds a NUL "),
        (["a", "b", "a"], "wrong[2] is wrong[0] again; keep one"),
        (["a", "Mert könnyebb."], "wrong[1] is the reference itself; "),
    ],
)
def test_wrong_answers_are_distinct_texts(tmp_path: Path, value: object, says: str) -> None:
    """None of them blank, none of them right."""
    message = _message(tmp_path, _line(reference="Mert könnyebb.", wrong=value))
    assert message.startswith(f"hu.jsonl:1: {says}")


def test_an_object_of_texts_for_templates(tmp_path: Path) -> None:
    """They go into the prompt, beside metadata of the same name; a question is not needed then."""
    line = json.dumps({"id": "q1", "claim": "ice floats", "prompt": {"claim": "ice floats"}})
    (tmp_path / "en.jsonl").write_text(line)
    rows = Rows().mapped(DataMap(prompt=frozenset({"claim"})))
    (sample,) = rows.read(tmp_path, benchmark="b", languages=["en"])
    assert {"claim": "ice floats"} == sample.prompt == sample.metadata
    sample = _sample(tmp_path, _line(prompt="text"))
    assert "text" == sample.metadata["prompt"]
    assert "hu.jsonl:1: key 'prompt.claim' must be a string" in (
        _message(tmp_path, _line(prompt={"claim": 7}))
    )


def test_a_question_in_another_language_than_its_answer(tmp_path: Path) -> None:
    """It says so, and its script is not looked at."""
    row = {"question": "Reply in Hindi. Why does ice float?", "asked_in": "en"}
    lines = [json.dumps({**row, "id": f"q{n}"}) for n in range(12)]
    (tmp_path / "hi.jsonl").write_text("\n".join(lines))
    assert 12 == len(_read(tmp_path, "hi"))
    assert [] == Rows().notices(tmp_path, languages=["hi"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_byte_order_mark_line_ends_and_blank_lines_are_fine(
    tmp_path: Path, end: str, mark: bytes
) -> None:
    """Files from Windows editors read as files from others."""
    text = end.join(["", _line(), "  ", _line(id="q2"), "", ""])
    (tmp_path / "hu.jsonl").write_bytes(mark + text.encode())
    assert ["q1", "q2"] == [sample.id for sample in _read(tmp_path)]


def test_a_benchmark_folder_is_read_through_its_data_folder(tmp_path: Path) -> None:
    """Other JSONL files beside data/ are not taken for languages."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "hu.jsonl").write_text(_line(), encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text("{}", encoding="utf-8")
    assert Rows().recognises(tmp_path)
    assert ("hu",) == Rows().languages(tmp_path)
    assert ["q1"] == [sample.id for sample in _read(tmp_path)]


def test_languages_are_sorted_codes_whatever_the_files_are_called(tmp_path: Path) -> None:
    """An alias as file name means its language; hidden and other files do not count."""
    for name in ("zh-CN.jsonl", "iw.jsonl", "ar.jsonl", "._hi.jsonl", "notes.txt"):
        (tmp_path / name).write_text(_line(), encoding="utf-8")
    assert ("ar", "he", "zh") == Rows().languages(tmp_path)


def test_a_folder_without_jsonl_is_not_ours(tmp_path: Path) -> None:
    """Neither an empty folder nor a missing one is recognised; reading them says what to expect."""
    for folder in (tmp_path, tmp_path / "missing"):
        assert not Rows().recognises(folder)
        with pytest.raises(DataError, match=r"no data here; expected files such as en\.jsonl"):
            Rows().languages(folder)


def test_a_missing_language_names_the_file_and_what_there_is(tmp_path: Path) -> None:
    """The file to write, and the languages with data."""
    (tmp_path / "hu.jsonl").write_text(_line(), encoding="utf-8")
    with pytest.raises(DataError, match=r"ja\.jsonl: no such file; .*data for: hu$"):
        _read(tmp_path, "ja")


def test_a_file_of_an_unknown_language_is_refused(tmp_path: Path) -> None:
    """With a suggestion."""
    (tmp_path / "hungarain.jsonl").write_text(_line(), encoding="utf-8")
    with pytest.raises(DataError, match=r"hungarain\.jsonl.*Did you mean 'hungarian'\?"):
        Rows().languages(tmp_path)


def test_two_files_of_one_language_are_refused(tmp_path: Path) -> None:
    """iw.jsonl and he.jsonl cannot both be meant."""
    for name in ("he.jsonl", "iw.jsonl"):
        (tmp_path / name).write_text(_line(), encoding="utf-8")
    with pytest.raises(DataError, match=r"iw\.jsonl: he\.jsonl is in the same language \(he\)"):
        Rows().languages(tmp_path)


def _misspelt(key: str, right: str) -> str:
    return json.dumps({key if name == right else name: value for name, value in ROW.items()})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "hu.jsonl: the file is empty; "),
        (b"\n \r\n", "hu.jsonl: the file is empty; "),
        (codecs.BOM_UTF8, "hu.jsonl: the file is empty; "),
        (_line() + "\n" + _line(id="q2")[:40], "hu.jsonl:2: not valid JSON: Unterminated string"),
        (_line()[:40], "it looks cut short; restore the rest"),
        ("[]", "hu.jsonl:1: each line must be one JSON object"),
        ("3", "hu.jsonl:1: each line must be one JSON object"),
        ('"text"', "hu.jsonl:1: each line must be one JSON object"),
        ("null", "hu.jsonl:1: each line must be one JSON object"),
        ("[" * 200_000, "hu.jsonl:1: not valid JSON for this reader"),
        ('{"id": ' + "9" * 5000 + "}", "hu.jsonl:1: not valid JSON for this reader"),
        (
            _line()[:-1] + ', "id": "q9"}',
            "hu.jsonl:1: not valid JSON for this reader: key 'id' is given twice; correct it",
        ),
        (
            "\n".join([_line(), "", _line(id="q2"), _line()]),
            "hu.jsonl:4: id 'q1' is already on line 1; ",
        ),
        (
            _misspelt("qestion", "question"),
            "hu.jsonl:1: unknown key 'qestion'. Did you mean 'quest",
        ),
        (_misspelt("Category", "category"), "unknown key 'Category'. Did you mean 'category'?"),
        (_misspelt("sources", "source"), "unknown key 'sources'. Did you mean 'source'?"),
        (_misspelt("Id", "id"), "unknown key 'Id'. Did you mean 'id'?"),
        (_line(refrence="x"), "Did you mean 'reference'?"),
        (_line(wrongs=["a"]), "Did you mean 'wrong'?"),
        (_line(set="Agnostik"), "hu.jsonl:1: unknown set 'Agnostik'. Did you mean 'agnostic'?"),
        (_line().encode("utf-16"), "the file is UTF-16"),
        (_line(question="ab\0c"), "key 'question' holds a NUL at character 2"),
        *(
            (
                _line(question="XX").replace("XX", escape),
                "hu.jsonl:1: key 'question' holds the lone surrogate \\ud",
            )
            for escape in ("\\ud800", "\\udfff", "a\\ud83dz")
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: str | bytes, says: str) -> None:
    """By file and line, as an editor counts them, with the cause and the fix."""
    assert says in _message(tmp_path, content)


@pytest.mark.parametrize("cut", range(1, len(_line())))
def test_every_truncation_is_refused_on_its_line(tmp_path: Path, cut: int) -> None:
    """Wherever a line is cut, it is not read as something else."""
    assert _message(tmp_path, _line(id="q0") + "\n" + _line()[:cut]).startswith("hu.jsonl:2: ")


def test_a_question_is_all_that_a_row_needs(tmp_path: Path) -> None:
    """What it is called is a hash of its text, whatever stands around it."""
    first, second = ('{"question": "Miért úszik a jég?"}', '{"question": "Mi a só?"}')
    (tmp_path / "hu.jsonl").write_text(f"{first}\n{second}\n", encoding="utf-8")
    samples = _read(tmp_path)
    assert ["ffd4ef331d", "f364befb45"] == [sample.id for sample in samples]
    assert [{}, {}] == [sample.metadata for sample in samples]
    (tmp_path / "hu.jsonl").write_text(f"{second}\n", encoding="utf-8")
    assert samples[1:] == _read(tmp_path)
    assert _message(tmp_path, f"{first}\n{second}\n{first}").startswith(
        "hu.jsonl:3: this question is already on line 1; give each question "
    )


def test_a_missing_question_is_named(tmp_path: Path) -> None:
    """All else may be left out."""
    message = _message(tmp_path, _without("question"))
    assert message == "hu.jsonl:1: key 'question' is missing; every row needs one"
    for key in ROW.keys() - {"question"}:
        (tmp_path / "hu.jsonl").write_text(_without(key), encoding="utf-8")
        assert 1 == len(_read(tmp_path))


@pytest.mark.parametrize("key", [*ROW, "reference", "parallel_id", "translation"])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "is empty"),
        (" \t", "is empty"),
        (None, "must be a string, not null"),
        (7, "must be a string, not a number"),
        (True, "must be a string, not a boolean"),
        (["a"], "must be a string, not a list"),
        ({}, "must be a string, not an object"),
    ],
)
def test_a_value_must_be_text(tmp_path: Path, key: str, value: object, says: str) -> None:
    """The message names the key and what stands there."""
    message = _message(tmp_path, _line(**{key: value}))
    assert message.startswith(f"hu.jsonl:1: key {key!r} {says}")


@pytest.mark.parametrize("name", ["q 1", "kérdés", "a/b", "q:1", "q1\n", "١"])
@pytest.mark.parametrize("key", ["id", "parallel_id", "set"])
def test_names_are_plain_ascii(tmp_path: Path, key: str, name: str) -> None:
    """They become case ids."""
    message = _message(tmp_path, _line(**{key: name}))
    assert message.startswith(f"hu.jsonl:1: key {key!r} is {name!r}, but may hold only ASCII")


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    """Line and offset, counted in bytes and with the byte order mark."""
    first = codecs.BOM_UTF8 + _line().encode() + b"\n"
    line = _line(id="q2").encode("latin-1")
    offset = len(first) + line.index(b"\xe9")
    message = _message(tmp_path, first + line)
    assert message == (
        "hu.jsonl:2: byte 0xe9 is not UTF-8; save the file as UTF-8 (iconv -f latin1); the byte is"
        f" at offset {offset}"
    )


def test_a_folder_in_place_of_a_file_is_a_data_error(tmp_path: Path) -> None:
    """Whatever the system says of it is passed on."""
    (tmp_path / "hu.jsonl").mkdir()
    with pytest.raises(DataError, match=r"hu\.jsonl: cannot be read \(Is a directory\)"):
        _read(tmp_path)


@given(
    rows=st.lists(
        st.tuples(
            st.from_regex(r"[A-Za-z0-9_.-]+", fullmatch=True),
            st.text(
                st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
            ).filter(str.strip),
        ),
        min_size=1,
        unique_by=lambda row: row[0],
    ),
    ascii_only=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read(
    *, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], ascii_only: bool
) -> None:
    """Any ids and questions survive the file, escaped or not."""
    folder = tmp_path_factory.mktemp("law")
    lines = [
        json.dumps({**ROW, "id": name, "question": text}, ensure_ascii=ascii_only)
        for name, text in rows
    ]
    (folder / "hu.jsonl").write_bytes("\n".join(lines).encode())
    assert rows == [(sample.id, sample.prompt["question"]) for sample in _read(folder)]


def test_the_english_question_is_at_hand(tmp_path: Path) -> None:
    """For what reads a question and its answer in English."""
    line = _line(question_english="Why does ice float?")
    sample = _sample(tmp_path, line)
    assert {"question": ROW["question"], "question_english": "Why does ice float?"} == sample.prompt
    # A run keeps metadata: so a judge of its questions reads what one of the data does.
    assert "Why does ice float?" == sample.metadata["english"]
