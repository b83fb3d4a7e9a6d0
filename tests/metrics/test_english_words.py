"""English words in answers in other scripts."""

from __future__ import annotations

import csv
import io
import json
import re
import string
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.languages import find
from pytest_xling.metrics import english_words
from pytest_xling.metrics.english_words import EnglishWords
from pytest_xling.records import Sample
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Reading

ROOT = Path(__file__).resolve().parents[2]
CALMQA = ROOT / "../shared/data/calmqa/datasets"
LCB = ROOT / "../.mirror/for-ai+language-confusion/repo"
LIST = Path(english_words.__file__).with_name("words.txt")

WORDS = LIST.read_text(encoding="ascii").split()
LCB_RULE = EnglishWords(rule="lcb")
NATIVE = {
    "ar": "الطقس جميل اليوم ولهذا نذهب إلى البحر مع الأصدقاء.",
    "bal": "مرچی موسم شرّ انت، پمیشکا ما دریا ءَ رویں۔",
    "el": "Ο καιρός είναι ωραίος σήμερα και πάμε στη θάλασσα.",
    "he": "מזג האוויר יפה היום ולכן נלך לים עם חברים.",
    "hi": "आज मौसम अच्छा है इसलिए हम समुद्र के किनारे जाएंगे।",
    "ja": "今日は天気がいいので、友達と海に行きます。",
    "ko": "오늘은 날씨가 좋아서 친구들과 바다에 갑니다.",
    "ru": "Сегодня хорошая погода, поэтому мы идём на море с друзьями.",
    "ta": "இன்று வானிலை நன்றாக இருப்பதால் நாங்கள் கடலுக்குச் செல்கிறோம்.",
    "th": "วันนี้อากาศดี เราจึงไปทะเลกับเพื่อน",
    "zh": "今天天气很好，所以我们和朋友一起去海边。",
}
"""A sentence in each of some languages of other scripts, our own."""
SPACED = frozenset({"ar", "hi", "ko", "ru"})
"""Languages of the benchmark whose words stand between spaces: no dictionary is needed."""
languages = st.sampled_from(sorted(NATIVE))
words = st.sampled_from(sorted(set(WORDS) - set(EnglishWords().loans.split())))


def _reading(text: str, language: str, metric: EnglishWords | None = None) -> Reading:
    (reading,) = (metric or EnglishWords()).score([annotated_answer(text, language)])
    return reading


def test_the_list() -> None:
    """It has what its README says: sorted, each word once, four small letters or more."""
    assert len(WORDS) == 39_670
    assert sorted(set(WORDS)) == WORDS
    assert all(re.fullmatch("[a-z]{4,}", word) for word in WORDS)
    assert not {"also", "because", "explosive", "colour", "color"} - set(WORDS)


@pytest.mark.parametrize(
    ("text", "language", "reason"),
    [
        ("一个常见的 misunderstanding 是这样的。", "zh", "1 English word: 'misunderstanding'"),
        (
            "최근 몇 년 동안 explosive growth를 보이며",
            "ko",
            "2 English words: 'explosive', 'growth'",
        ),
        ("В один ordinary день он проснулся.", "ru", "1 English word: 'ordinary'"),
        ("من القيم والskills اللازمة لنجاحهم", "ar", "1 English word: 'skills'"),
        ("यह एक old-fashioned घर था।", "hi", "1 English word: 'fashioned'"),
        ("これは stringentな基準で、stringentです。", "ja", "2 English words: 'stringent' (2)"),
        (
            "Сначала apples, pears, plums, grapes, melons, lemons и всё остальное на столе у нас.",
            "ru",
            "6 English words: 'apples', 'pears', 'plums', 'grapes', 'melons' and 1 more",
        ),
        (
            "Он сказал (и это было often правдой для всех нас) много.",
            "ru",
            "1 English word: 'often'",
        ),
        ("「学校で教えることを advocating しましょう」", "ja", "1 English word: 'advocating'"),
    ],
)
def test_flagged(text: str, language: str, reason: str) -> None:
    """Words in the midst of sentences count, also where letters of the script adjoin them."""
    assert (1.0, reason) == (_reading(text, language).value, _reading(text, language).reason)


@pytest.mark.parametrize(
    "apart",
    [
        "\n```python\nfor word in sentence: print(word)\n```",
        "`return value`",
        "https://example.com/some/page",
        "some.body@example.com",
        "main.py",
        "some_variable_name",
        "<strong>",
        "$speed = \\frac{distance}{time}$",
        "500 mg",
        "Machine Learning",
        "GPT-based",
        "NASA",
        "syn-propanethial-S-oxide",
        "(photosynthesis)",
        "（deep learning）",
        "(англ. supply chain)",
        "[photosynthesis]",
        '"wealth redistribution"',
        "“wealth redistribution”",
        "«wealth redistribution»",
        "「wealth redistribution」",
        "《gone with the wind》",
        "'wealth redistribution'",
        '{"summary": 1, "assistance": false}',
        "email",
        "know-how",
        "email-сервер",
        "the",
        "(the answer ends in the midst of this bra",
    ],
)
@pytest.mark.parametrize("language", ["ru", "zh"])
def test_spared(apart: str, language: str) -> None:
    """Code, addresses, units, names, terms, quotations, loans and short words do not count."""
    assert (0.0, "") == (
        _reading(f"{NATIVE[language]} {apart}", language).value,
        _reading(f"{NATIVE[language]} {apart}", language).reason,
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("深層学習（deep learning）について、もう少し詳しく説明します。", 1.0),
        ("深層学習 Deep Learning について、もう少し詳しく説明します。", 0.0),
        ("深層学習deepについて。", 1.0),
        ("deep?", None),
        ("深い deep", 0.0),
        ("海 sea\n山 deep mountain", 0.0),
    ],
)
def test_by_lcb(text: str, value: float | None) -> None:
    """By the published rule all small words count, in lines of five tokens or more."""
    assert value == _reading(text, "ja", LCB_RULE).value


@pytest.mark.parametrize(
    ("text", "language", "reason"),
    [
        ("Das ist sehr nice und easy.", "de", "German is written in Latin letters, as English is"),
        ("This is plain.", "en", "English is written in Latin letters, as English is"),
        ("1945.", "hi", "no letters besides names, code, formulas and numbers"),
        ("`print(value)`", "ja", "no letters besides names, code, formulas and numbers"),
        ("This is plain English, from here on.", "hi", "not written in Hindi's script: see "),
        ("Это по-русски, а не на иврите.", "he", "not written in Hebrew's script: see wrong_"),
    ],
)
def test_no_value(text: str, language: str, reason: str) -> None:
    """Languages of the same script, and answers that are not in the language, have no value."""
    assert _reading(text, language).value is None
    assert _reading(text, language).reason.startswith(reason)


def test_it_is_not_about_languages_in_latin_letters() -> None:
    """They get no score, so that a gate on all languages is none that nothing can open."""
    about = {
        code
        for code in (*NATIVE, "de", "en", "tr", "vi")
        if EnglishWords.applies(Sample(id="q", benchmark="b", language=code, prompt={}))
    }
    assert NATIVE.keys() == about


def test_other_loans() -> None:
    """Which loan words are passed over is a parameter."""
    text = "这个 software 很好用，我每天都用 email。"
    assert _reading(text, "zh").value == 1.0
    assert _reading(text, "zh", EnglishWords(loans="email software")).value == 0.0


@given(languages, words)
def test_any_word_in_any_script(language: str, word: str) -> None:
    """A word of the list in a sentence is flagged and named, and in code it is not."""
    assert repr(word) in _reading(f"{NATIVE[language]} {word} {NATIVE[language]}", language).reason
    for code in (f"`{word}`", f"\n```\n{word} {word}\n```\n", f"https://{word}.com", f"{word}.py"):
        assert 0.0 == _reading(f"{NATIVE[language]} {code} {NATIVE[language]}", language).value


@given(
    languages,
    st.text(st.one_of(st.characters(), st.sampled_from(" \n()\"'`-$")), max_size=30),
    st.lists(words, max_size=3),
    st.sampled_from([EnglishWords(), LCB_RULE]),
)
def test_more_of_the_language_changes_no_flag(
    language: str, text: str, inserted: list[str], metric: EnglishWords
) -> None:
    """What is flagged stays flagged with another sentence, and what has a value keeps one."""
    before = _reading(" ".join([text, *inserted]), language, metric)
    after = _reading(f"{' '.join([text, *inserted])}\n{NATIVE[language]}", language, metric)
    if before.value == 1.0:
        assert (before.value, before.reason) == (after.value, after.reason)
    elif before.value == 0.0:
        assert after.value is not None


def _as_published(text: str, listed: frozenset[str]) -> bool:
    """Tell whether the benchmark's own rule finds a word, in a language with spaces."""
    text = text.split("\nQ:", maxsplit=1)[0].translate(str.maketrans("", "", string.punctuation))
    lines = [line.split() for line in text.replace("—", " ").replace("،", "").split("\n")]
    return any(word in listed for line in lines if len(line) >= 5 for word in line)


def _of_the_benchmark(path: str) -> str:
    if not LCB.exists():
        pytest.skip("needs ../.mirror/for-ai+language-confusion")
    command = ["git", "-C", str(LCB), "show", f"HEAD:{path}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("model", ["command-r-plus", "llama-3-instruct", "mistral-8x7b"])
def test_the_published_rule_on_published_answers(model: str) -> None:
    """With a shorter list, hardly an answer is judged otherwise than by the benchmark's rule."""
    listed = frozenset(
        word for word in _of_the_benchmark("words").split() if word.islower() and len(word) > 3
    )
    rows = csv.DictReader(io.StringIO(_of_the_benchmark(f"outputs/{model}.csv")))
    texts = [(r["completion"], r["language"]) for r in rows if r["language"] in SPACED]
    pairs = [
        (reading.value == 1.0, _as_published(text, listed))
        for text, language in texts
        if (reading := _reading(text, language, LCB_RULE)).value is not None
    ]
    assert len(pairs) > 500
    assert sum(ours != theirs for ours, theirs in pairs) <= 0.01 * len(pairs)


def test_people_write_few() -> None:
    """At most 2 % of the questions and answers that people wrote for CaLMQA are flagged."""
    if not CALMQA.exists():
        pytest.skip("needs ../shared/data/calmqa")
    readings = [_reading(text, language) for text, language in _by_people()]
    assert len(readings) > 900
    assert sum(reading.value == 1.0 for reading in readings) <= 0.02 * len(readings)


def _by_people() -> Sequence[tuple[str, str]]:
    texts = []
    for file in sorted(CALMQA.glob("dataset-specific-*.json")):
        language = find(file.stem.rpartition("-")[2])
        if language.script == "Latn":
            continue
        for entry in json.loads(file.read_text(encoding="utf-8"))["entries"]:
            human = [a for a in entry["answers"] if "human" in a["name"].lower()]
            for each in (entry["question"], *human):
                text = each["translations"][language.english_name]["text"]
                texts.append((text, language.code))
    return texts
