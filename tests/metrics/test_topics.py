"""Similarity of topics, within a language and between two."""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

from pytest_xling.errors import ConfigError
from pytest_xling.metrics.topics.models import _tomotopy, fitted_topics, vocabulary
from pytest_xling.records import Answer, AnswerSet
from pytest_xling.registry import load
from tests.answers import annotated_answer, translation

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
CALMQA = ROOT / "../shared/data/calmqa/datasets"
REPEATS = ("sim_lda_20", "sim_lda_100", "sim_hdp")
CROSS = ("cross_sim_lda_20", "cross_sim_lda_100", "cross_sim_hdp")
FIELDS = (
    "heart blood pressure artery pulse vessel stroke clot valve rhythm",
    "skin rash itch cream allergy hives eczema lotion sun burn",
    "sleep dream night pillow tired insomnia snore bed rest nap",
    "tooth gum dentist floss cavity crown filling jaw enamel root",
)
"""Words of four fields of medicine that share none."""


def answer(text: str, *, sample: int = 0, language: str = "en", english: str = "") -> Answer:
    """Return an answer to a question, with its translation."""
    said = {} if language == "en" else {"translate": translation(english or None)}
    return annotated_answer(text, language, said, id=f"q{sample}")


def about(field: int, seed: str, *, count: int = 30) -> str:
    """Return *count* words of one field, some of them those that are everywhere."""
    chosen = random.Random(seed)  # noqa: S311  reproducible, not secret
    return " ".join(chosen.choice(("the", "of", *FIELDS[field].split())) for _ in range(count))


def corpus(*, repeats: int = 4) -> list[AnswerSet]:
    """Return answers to 12 questions, three of each field."""
    return [
        AnswerSet(
            answers=tuple(
                answer(about(sample % 4, f"{sample} {repeat}"), sample=sample)
                for repeat in range(repeats)
            )
        )
        for sample in range(12)
    ]


def values(name: str, sets: Sequence[AnswerSet], **fields: Any) -> list[float]:
    """Return what the metric says, none of it None."""
    found = [reading.value for reading in load("metric", name)(**fields).score(sets)]
    assert None not in found, name
    return [value for value in found if value is not None]


@pytest.mark.parametrize("name", REPEATS)
def test_tells_one_topic_from_two(name: str) -> None:
    """Answers of one field are alike; of four, two in each of two fields, two pairs in six are."""
    mixed = AnswerSet(
        answers=tuple(
            answer(about(field, f"mixed {field} {repeat}"), sample=99)
            for field in (0, 1)
            for repeat in range(2)
        )
    )
    *pure, of_mixed = values(name, [*corpus(), mixed])
    # Not quite 1: LDA makes several topics of a field, and smooths.
    assert statistics.mean(pure) > 0.8
    assert of_mixed == pytest.approx(1 / 3, abs=0.12)


def test_agrees_with_scikit_learn() -> None:
    """Variational LDA of an independent program finds the same pairs of questions alike."""
    sets = [
        AnswerSet(
            answers=(
                answer(about(first, f"a {first} {second} {copy}", count=60)),
                answer(about(second, f"b {first} {second} {copy}", count=60)),
            )
        )
        for first, second in itertools.product(range(4), repeat=2)
        for copy in range(2)
    ]
    ours = values("sim_lda_20", sets)
    counts = CountVectorizer(max_df=0.5).fit_transform(
        [each.text for one in sets for each in one.answers]
    )
    model = LatentDirichletAllocation(n_components=20, random_state=0)
    topics = model.fit_transform(counts).reshape(len(sets), 2, -1)
    topics /= np.linalg.norm(topics, axis=2, keepdims=True)
    theirs = (topics[:, 0] * topics[:, 1]).sum(axis=1)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.9


@pytest.mark.parametrize("name", REPEATS)
def test_equal_answers_have_equal_topics(name: str) -> None:
    """Whatever the sampler did with each of them, their likeness is 1."""
    same = [
        AnswerSet(answers=(answer(about(sample % 4, str(sample)), sample=sample),) * 3)
        for sample in range(6)
    ]
    assert [1.0] * 6 == pytest.approx(values(name, same))


@pytest.mark.parametrize("name", REPEATS)
@settings(deadline=None, max_examples=5)
@given(data=st.data())
def test_order_does_not_matter(name: str, data: st.DataObject) -> None:
    """However sets and answers are ordered, each set has the same value, to the last digit."""
    sets = corpus(repeats=3)
    expected = values(name, sets, iterations=10)
    order = data.draw(st.permutations(range(len(sets))))
    shuffled = [
        AnswerSet(answers=tuple(data.draw(st.permutations(sets[place].answers)))) for place in order
    ]
    found = values(name, shuffled, iterations=10)
    assert [expected[place] for place in order] == found
    assert all(0.0 <= value <= 1.0 for value in found)


@pytest.mark.parametrize("name", REPEATS)
def test_seed_decides(name: str) -> None:
    """The same seed gives the same values, another one others that are close in the mean."""
    sets = corpus()
    first = values(name, sets)
    assert first == values(name, sets, seed=0)
    other = values(name, sets, seed=1)
    assert first != other
    assert statistics.mean(first) == pytest.approx(statistics.mean(other), abs=0.1)


SCORE = """
import json, sys
from pytest_xling.records import Answer, AnswerSet, Response, Sample
from pytest_xling.registry import load

def answer(text):
    sample = Sample(id="q", benchmark="b", language="en", prompt={})
    return Answer(sample=sample, response=Response(text=text, stop_reason="stop"))

sets = [AnswerSet(answers=tuple(map(answer, texts))) for texts in json.load(sys.stdin)]
for name in ("sim_lda_20", "sim_lda_100", "sim_hdp"):
    print([reading.value for reading in load("metric", name)(iterations=20).score(sets)])
"""


@pytest.mark.slow
def test_another_process_finds_the_same() -> None:
    """Python's hash seed, which orders sets of strings, has no part in it."""
    texts = json.dumps([[each.text for each in one.answers] for one in corpus()])
    found = [
        subprocess.run(
            [sys.executable, "-c", SCORE],
            input=texts,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1]
    assert found[0] == "".join(f"{values(name, corpus(), iterations=20)}\n" for name in REPEATS)


def test_instructions_are_those_all_x86_processors_have() -> None:
    """Imported by us, tomotopy computes the same on each; the variable it reads is put back."""
    code = (
        "import os; from pytest_xling.metrics.topics.models import processor\n"
        "print(processor(), os.environ.get('TOMOTOPY_ISA'))"
    )
    outputs = []
    for variables in ({}, {"TOMOTOPY_ISA": "avx2"}):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
            env={**os.environ, **variables},
        )
        outputs.append(run.stdout.split())
    if outputs[0][0] not in {"sse2", "none"}:
        pytest.skip("another kind of processor")
    assert outputs == [["sse2", "None"], ["sse2", "avx2"]]


def test_training_in_steps_is_training() -> None:
    """Letting other threads in between changes nothing."""
    texts = [tuple(each.text.split()) for one in corpus() for each in one.answers]
    whole = _tomotopy().LDAModel(k=20, alpha=0.1, eta=0.01, seed=3)
    for text in sorted(texts):
        whole.add_doc(text)
    whole.train(35, workers=1)
    expected = np.array([each.get_topic_dist() for each in whole.docs], dtype=np.float64)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = fitted_topics(texts, topics=20, iterations=35, seed=3)
    assert len(set(texts)) == len(texts)
    np.testing.assert_allclose(expected, [found[text] for text in sorted(texts)])


def test_vocabulary() -> None:
    """Words of one text only, and of more than the given share of the questions, are left out."""
    groups = [
        [["the", "heart", "beats"], ["the", "heart", "stops"]],
        [["the", "skin", "itches"], ["the", "skin", "burns"]],
        [["the", "heart"], ["the", "skin"]],
        [["the"], ["tooth", "tooth"]],
    ]
    assert frozenset({"heart", "skin"}) == vocabulary(groups, min_df=2, max_df=0.5)
    assert frozenset({"the", "heart", "skin"}) == vocabulary(groups, min_df=2, max_df=1.0)
    assert "tooth" in vocabulary(groups, min_df=1, max_df=0.25)
    assert frozenset() == vocabulary([], min_df=1, max_df=1.0)


@pytest.mark.parametrize("name", REPEATS)
def test_too_little_to_learn_from(name: str) -> None:
    """Nothing at all, one question, emoji, one word of its own each: None, and the reason."""
    metric = load("metric", name)()
    one = AnswerSet(answers=(answer("the heart beats"), answer("the heart beats")))
    emoji = AnswerSet(answers=(answer("😀", sample=1), answer("🎉", sample=1)))
    words = AnswerSet(answers=(answer("alpha", sample=2), answer("omega", sample=2)))
    for sets in ([one], [emoji], [words], [emoji, words]):
        for reading in metric.score(sets):
            assert reading.value is None
            assert reading.reason.startswith("no vocabulary: no word is in at least 2 answers")


@pytest.mark.parametrize("name", REPEATS)
def test_answers_without_a_known_word(name: str) -> None:
    """They are left out and counted; a set with fewer than two others has no value."""
    some = AnswerSet(
        answers=(
            *(answer(about(0, str(repeat)), sample=20) for repeat in range(2)),
            answer("😀", sample=20),
        )
    )
    few = AnswerSet(answers=(answer("heart 肺 दिल", sample=21), answer("zzz", sample=21)))
    *rest, first, second = load("metric", name)().score([*corpus(), some, few])
    assert not any(reading.reason for reading in rest)
    assert first.value is not None
    assert first.reason == "1 of 3 answers without a word that tells topics apart"
    assert second.value is None
    assert second.reason == "1 of 2 answers without a word that tells topics apart"


def beside_english(*, agree: bool) -> list[AnswerSet]:
    """Return Spanish answers beside English ones, translated into the same field or another."""
    return [
        AnswerSet(
            answers=tuple(
                answer(
                    "es",
                    sample=sample,
                    language="es",
                    english=about((sample + (not agree)) % 4, f"es {sample} {repeat}"),
                )
                for repeat in range(2)
            ),
            pivot=tuple(
                answer(about(sample % 4, f"en {sample} {repeat}"), sample=sample)
                for repeat in range(2)
            ),
        )
        for sample in range(12)
    ]


@pytest.mark.parametrize("name", CROSS)
def test_two_languages_are_compared_in_english(name: str) -> None:
    """Answers on the same subject are alike in both languages, those on two subjects are not."""
    alike = values(name, beside_english(agree=True), text_in="english")
    unlike = values(name, beside_english(agree=False), text_in="english")
    assert statistics.mean(alike) > 0.7
    assert statistics.mean(unlike) < 0.2


@pytest.mark.parametrize("name", CROSS)
def test_a_pivot_without_a_known_word(name: str) -> None:
    """There is nothing to compare with: None, and how many answers that is."""
    unknown = AnswerSet(answers=(answer(about(0, "own")),), pivot=(answer("zzz"),))
    metric = load("metric", name)(text_in="english", iterations=5)
    *_, reading = metric.score([*beside_english(agree=True), unknown])
    assert reading.value is None
    assert reading.reason == "1 of 2 answers without a word that tells topics apart"


@pytest.mark.parametrize("name", CROSS)
def test_topics_of_two_languages_are_not_compared(name: str) -> None:
    """Natively read, words of two languages have no topic in common: None, and what to do."""
    metric = load("metric", name)()
    assert metric.needs == ()
    reason = (
        "topics of two languages can be compared only in English: --xling-param=text_in=english"
    )
    readings = metric.score(beside_english(agree=True))
    assert [(None, reason)] * 12 == [(each.value, each.reason) for each in readings]


def test_tomotopy_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before the first batch, with what to install."""
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[topics\]'"):
        load("metric", "sim_hdp")().signed()


@pytest.mark.slow
@pytest.mark.parametrize(("file", "code"), [("english", "en"), ("chinese", "zh")])
def test_real_answers(file: str, code: str) -> None:
    """Models' answers to one question are more alike than those to different questions."""
    path = CALMQA / f"dataset-agnostic-{file}.json"
    if not path.exists():
        pytest.skip("needs ../shared/data/calmqa")
    entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
    texts = [
        [
            each["translations"][file.capitalize()]["text"]
            for each in entry["answers"]
            if len(each["translations"].get(file.capitalize(), {}).get("text") or "") > 100
        ][:3]
        for entry in entries
    ]
    texts = [group for group in texts if len(group) == 3]
    assert len(texts) > 20
    by_question = [
        AnswerSet(answers=tuple(answer(text, sample=n, language=code) for text in group))
        for n, group in enumerate(texts)
    ]
    by_model = [
        AnswerSet(
            answers=tuple(
                answer(texts[(n + shift) % len(texts)][shift], sample=n, language=code)
                for shift in range(3)
            )
        )
        for n in range(len(texts))
    ]
    for name in REPEATS:
        alike, unlike = (
            statistics.mean(values(name, sets, iterations=30, fits=1))
            for sets in (by_question, by_model)
        )
        assert alike > unlike + 0.3, name
