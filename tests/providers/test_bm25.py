"""Search without a network: scores as the formula has them, words of every script, a kept index."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.errors import ConfigError, DataError, PermanentFault
from pytest_xling.importers.rows import Rows
from pytest_xling.interfaces.search import results_of
from pytest_xling.planning.benchmark import bundled
from pytest_xling.providers.bm25 import Bm25Provider, index
from pytest_xling.providers.bm25.corpus import SHIPPED, Article
from pytest_xling.providers.bm25.passages import MOST_WORDS, passages, searched_words
from tests.providers import asking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_xling.interfaces.search import SearchResult
    from pytest_xling.records import Request

CLAIMS = Path(__file__).with_name("data") / "culture_claims.jsonl"

_ARTICLES = {
    "Kettle": "Steam bubbles collapse in the kettle. The kettle grows quiet.",
    "Moon": "The Moon turns once on its axis.",
    "Tea": "A kettle of water, and tea, and tea again.",
    "चंद्रमा": "चंद्रमा अपनी धुरी पर घूमता है।",
    "月球": "月球自转一圈的时间与绕地球公转一圈的时间相同。",
    "القهوة": "يهزّ الضيف فنجان القهوة علامة على الاكتفاء.",
    "ชา": "คนไทยชอบดื่มชาเย็นในฤดูร้อน",
}


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where indexes are kept, and none is yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "pytest-xling"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Bm25Provider:
    """Search seven short articles in five scripts."""
    return _written(tmp_path_factory.mktemp("small"), _ARTICLES)


@pytest.fixture(scope="module")
def shipped() -> Bm25Provider:
    """Search what comes with the package."""
    return Bm25Provider()


def _written(folder: Path, articles: dict[str, str], *, name: str = "a.jsonl") -> Bm25Provider:
    rows = [{"id": title, "title": title, "text": text} for title, text in articles.items()]
    return _lines(folder, *map(json.dumps, rows), name=name)


def _lines(folder: Path, *lines: str, name: str = "a.jsonl") -> Bm25Provider:
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Bm25Provider(str(folder / name))


def _request(query: str, results: int) -> Request:
    return asking.request(query, params={"results": results})


def _found(provider: Bm25Provider, query: str, *, results: int = 10) -> list[SearchResult]:
    return results_of(asyncio.run(provider.generate(_request(query, results))))


def _titles(provider: Bm25Provider, query: str, *, results: int = 10) -> list[str]:
    return [result.title for result in _found(provider, query, results=results)]


def _lucene(texts: Sequence[list[str]], query: list[str]) -> list[float]:
    """Return BM25 in Lucene's variant (Kamphuis et al., 2020, Table 1), k₁ = 1.5 and b = 0.75."""
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for word in query:
            holding = sum(word in other for other in texts)
            idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            count = Counter(text)[word]
            score += idf * count / (count + 1.5 * (1 - 0.75 + 0.75 * len(text) / mean))
        scores.append(score)
    return scores


@given(st.lists(st.sampled_from(["kettle", "tea", "THE", "moon,", "of", "月球", "absent"])))
def test_ranks_are_those_of_the_formula(small: Bm25Provider, chosen: list[str]) -> None:
    """Lucene's BM25 worked out by hand; equals in the order of the corpus, zeros left out."""
    query = " ".join(chosen)
    worded = [searched_words(f"{title} {text}") for title, text in _ARTICLES.items()]
    scores = [round(score, 5) for score in _lucene(worded, searched_words(query))]
    ranked = sorted(zip(scores, _ARTICLES, strict=True), key=lambda pair: -pair[0])
    assert [title for score, title in ranked if score] == _titles(small, query)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("अपनी धुरी", "चंद्रमा"),
        ("为什么地球的时间不同", "月球"),
        ("فنجان الضيف؟", "القهوة"),
        ("ดื่มชาเย็น", "ชา"),
        ("ＭＯＯＮ AXIS", "Moon"),
    ],
)
def test_words_of_every_script_find(small: Bm25Provider, query: str, title: str) -> None:
    """Hindi, Chinese without spaces, Arabic, Thai without spaces, and wide capitals."""
    assert title == _titles(small, query)[0]


def test_every_question_finds_its_article(shipped: Bm25Provider) -> None:
    """Questions in the languages that have articles, and a claim about each of one culture."""
    rows = [
        json.loads(line)
        for file in sorted(SHIPPED.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    about = [(row["title"], question) for row in rows for question in row.get("about", [])]
    samples = Rows().read(bundled()["culture"], benchmark="culture", languages=["en"])
    for language in ("es", "hi", "zh"):
        read = Rows().read(bundled()["culture"], benchmark="culture", languages=[language])
        samples += [sample for sample in read if sample.metadata["set"] == "specific"]
    # The first twelve of all languages, and the first six of each of these, have articles.
    queries = [
        (sample.id, sample.prompt["question"])
        for sample in samples
        if sample.id in {question for _, question in about}
    ]
    claims = map(json.loads, CLAIMS.read_text(encoding="utf-8").splitlines())
    queries += [(row["about"], row["claim"]) for row in claims]
    assert 12 + 6 * 8 == len({question for question, _ in queries})
    missed = [
        query
        for question, query in queries
        if not {title for title, of in about if of == question} & set(_titles(shipped, query))
    ]
    assert [] == missed


def test_a_claim_ranks_its_article_first(shipped: Bm25Provider) -> None:
    """Among neighbours on the same matter, mostly the one it is about is best."""
    titles = {
        "The Dead Sea has no outflow.": "Salt lakes and lakes with an outflow",
        "Chloramines form when bleach meets ammonia.": "Dangers of mixing bleach",
        "Paella comes from Valencia.": "Paella",
        "El cebador prepara el mate.": "El mate compartido",
        "डब्बावाले टिफ़िन पहुँचाते हैं": "मुंबई के डब्बावाले",
        "关羽是红脸": "京剧脸谱",
    }
    assert list(titles.values()) == [_titles(shipped, claim)[0] for claim in titles]


@settings(max_examples=15)
@given(st.lists(st.sampled_from(["kettle", "tea", "moon axis", "ชา", ""]), min_size=1))
def test_searches_do_not_depend_on_each_other(small: Bm25Provider, queries: list[str]) -> None:
    """All at once find what each finds alone."""

    async def at_once() -> list[Sequence[SearchResult]]:
        return await asyncio.gather(*(small.search(query, results=3) for query in queries))

    assert [_found(small, query, results=3) for query in queries] == asyncio.run(at_once())


def test_any_number_of_results(small: Bm25Provider) -> None:
    """None, one, or more than there are passages; the first are the same."""
    every = _titles(small, "kettle tea moon", results=1000)
    assert ["Tea", "Moon", "Kettle"] == every
    assert [every[:n] for n in range(4)] == [
        _titles(small, "kettle tea moon", results=n) for n in range(4)
    ]


@pytest.mark.parametrize("query", ["", "absent", "?!", "🙂", "\0"])
def test_what_matches_nothing_finds_nothing(small: Bm25Provider, query: str) -> None:
    """An empty list is no fault."""
    assert [] == _found(small, query)


def test_a_long_claim_is_searched(small: Bm25Provider) -> None:
    """Five thousand characters find what their words are in, and a word counts each time."""
    assert ["Moon", "Kettle", "Tea"] == _titles(small, "moon axis " * 500 + "kettle")


@given(
    st.lists(
        st.sampled_from(["word ", "Dr. ", "end. ", "终于。", "ไทย ", "— ", "\n\n", "?! ", "𝔘"]),
        max_size=80,
    ),
    st.integers(1, 12),
)
def test_passages_are_the_article(parts: list[str], times: int) -> None:
    """Cut at ends of sentences, no word is lost, doubled or cut off the next, and none too long."""
    article = Article(title="A title", text="".join(parts) * times)
    cut = list(passages(article))
    titled = searched_words(article.title)
    assert searched_words(article.text) == [w for _, found in cut for w in found[len(titled) :]]
    squeezed = "".join(article.text.split())
    assert squeezed == "".join("".join(result.text.split()) for result, _ in cut)
    assert all(found[: len(titled)] == titled for _, found in cut)
    assert all(len(found) <= MOST_WORDS + len(titled) for _, found in cut)


def test_a_long_article_has_a_passage_each(tmp_path: Path) -> None:
    """The passage that says it is found, with the article's title and address."""
    text = "".join(f"Sentence {n} says something of number {n}. " for n in range(100))
    row = {"id": "1", "title": "Numbers", "text": text, "url": "https://x.example/", "extra": 1}
    (first, *_) = _found(_lines(tmp_path, json.dumps(row)), "number 77")
    assert ("Numbers", "https://x.example/") == (first.title, first.url)
    assert "number 77." in first.text
    assert 100 <= len(searched_words(first.text)) <= MOST_WORDS


@pytest.mark.usefixtures("cache")
def test_the_index_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process cuts no words of articles; where the corpus lies does not matter."""
    before = _written(tmp_path, _ARTICLES)
    found = _found(before, "kettle")
    monkeypatch.setattr(index, "passages", lambda _: pytest.fail("cut again"))
    (tmp_path / "elsewhere").mkdir()
    again = _written(tmp_path / "elsewhere", _ARTICLES, name="b.jsonl")
    assert found == _found(again, "kettle")
    assert before.identify(_request("?", 10)) == again.identify(_request("?", 10))


def test_the_index_follows_corpus_and_format(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another word in an article has an index of its own, as has another version."""
    before = _written(tmp_path, {"A": "tea"})
    assert ["A"] == _titles(before, "tea")
    after = _written(tmp_path, {"A": "coffee"})
    assert [] == _titles(after, "tea")
    assert before.signed() != after.signed()
    assert 2 == len(list(cache.iterdir()))
    monkeypatch.setattr(index, "FORMAT", 0)
    assert ["A"] == _titles(Bm25Provider(after.spec), "coffee")
    assert 3 == len(list(cache.iterdir()))


def test_a_damaged_index_is_made_again(tmp_path: Path, cache: Path) -> None:
    """Wherever a byte is wrong or missing; what is left there is whole."""
    found = _found(_written(tmp_path, _ARTICLES), "kettle tea")
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    for place in (0, 40, len(whole) // 2, len(whole) - 1):
        wrong = bytes([whole[place] ^ 255])
        for damaged in (whole[:place] + wrong + whole[place + 1 :], whole[:place]):
            kept.write_bytes(damaged)
            assert found == _found(Bm25Provider(str(tmp_path / "a.jsonl")), "kettle tea")
    assert index.Index.from_bytes(kept.read_bytes()) is not None


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is made in memory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a.jsonl"))
    assert ["Moon"] == _titles(_written(tmp_path, _ARTICLES), "axis")


def test_a_directory_is_one_corpus(tmp_path: Path) -> None:
    """Its files by name; hidden ones and others are no part of it."""
    _written(tmp_path, {"B": "tea"}, name="b.jsonl")
    _written(tmp_path, {"A": "tea"}, name="a.jsonl")
    _written(tmp_path, {"C": "tea"}, name=".c.jsonl")
    (tmp_path / "README.md").write_text("tea")
    provider = Bm25Provider(str(tmp_path))
    provider.check()
    assert ["A", "B"] == _titles(provider, "tea")


_ROW: dict[str, Any] = {"id": "1", "title": "T", "text": "words"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"a\.jsonl:2: not valid JSON.*cut short"),
        ("[1]", r"a\.jsonl:2: each line must be one JSON object, such as {\"id\": …}"),
        ('{"id": "2", "title": "T"}', r"a\.jsonl:2: column 'text' is missing.*Needed"),
        ('{"id": "2", "title": "T", "txt": ""}', r"a\.jsonl:2: .*Did you mean 'txt'"),
        (json.dumps(_ROW | {"id": "2", "text": " "}), r"a\.jsonl:2: key 'text' is empty"),
        (json.dumps(_ROW | {"id": 2}), r"a\.jsonl:2: key 'id' must be a string"),
        (json.dumps(_ROW | {"id": "2", "url": [1]}), r"a\.jsonl:2: key 'url' must be a string"),
        (json.dumps(_ROW | {"id": "2", "text": "\ud800"}), r"a\.jsonl:2: .*lone surrogate"),
        (json.dumps(_ROW), r"a\.jsonl:2: id '1' is already at .*a\.jsonl:1; give each article"),
        ('{"id": "2", "id": "3"}', r"a\.jsonl:2: .*'id' is given twice"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    """Before anything is asked: the file, the line and the fix."""
    with pytest.raises(DataError, match=message):
        _lines(tmp_path, json.dumps(_ROW), line).check()


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("article.jsonl", ConfigError, r"no such file .*Did you mean 'articles\.jsonl'"),
        ("nowhere/a.jsonl", ConfigError, r"no such file .*Write bm25:FILE\.jsonl, bm25:DIR"),
        ("x" * 5000, ConfigError, "name too long"),
        ("folder", ConfigError, r"folder: no \*\.jsonl in this directory; put"),
        ("empty.jsonl", DataError, r"empty\.jsonl: there is no row in it"),
        ("latin1.jsonl", DataError, r"latin1\.jsonl:2: byte 0xff is not UTF-8; save"),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, spec: str, kind: type[ConfigError], message: str
) -> None:
    """No file, with what is close; a directory without articles; a file without any."""
    _lines(tmp_path, json.dumps(_ROW), name="articles.jsonl")
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "latin1.jsonl").write_bytes(json.dumps(_ROW).encode() + b"\n\xff\n")
    with pytest.raises(kind, match=message) as caught:
        Bm25Provider(str(tmp_path / spec)).check()
    assert kind is caught.type


def test_missing_bm25s_names_the_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to type."""
    monkeypatch.setattr("pytest_xling.providers.bm25.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="pip install bm25s"):
        Bm25Provider().check()


def test_a_large_corpus_is_read_when_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with it is then a fault that every search would meet."""
    monkeypatch.setattr("pytest_xling.providers.bm25._READ_AT_CHECK", 3)
    provider = _lines(tmp_path, "{", json.dumps(_ROW))
    provider.check()
    with pytest.raises(PermanentFault, match=r"a\.jsonl:1: not valid JSON") as fault:
        _found(provider, "words")
    assert fault.value.every_request


def test_articles_without_a_word_are_named(tmp_path: Path) -> None:
    """There is nothing to search."""
    with pytest.raises(PermanentFault, match="there is no word in any article"):
        _found(_written(tmp_path, {"?": "!!!"}), "words")


def test_a_corpus_that_changes_meanwhile(tmp_path: Path) -> None:
    """It is not taken for the one that content keys already stand for."""
    provider = _written(tmp_path, {"A": "tea"})
    provider.check()
    _written(tmp_path, {"A": "coffee, and more of it"})
    with pytest.raises(PermanentFault, match=r"a\.jsonl: the corpus was changed meanwhile"):
        _found(provider, "coffee")
