"""BERTScore over all pairs of a set, beside the package bert-score."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_xling.encoders import opening
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.metrics.bertscore import (
    MEANS,
    BertScore,
    BertScorePrecision,
    BertScoreRecall,
    CrossBertScore,
)
from tests.metrics.bertscore_cases import WORDS, make_model, repeats

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.records import AnswerSet

pytest.importorskip("bert_score", reason="needs pytest-xling[torch]")

TEXTS = {
    "en": (
        "Drink plenty of water and rest.",
        "You should rest, and drink a lot of fluids.",
        "See a doctor if the fever lasts more than three days!",
        "Drink plenty of water and rest.",
    ),
    "es": (
        "Beba mucha agua y descanse.",
        "Debe descansar y tomar abundantes líquidos.",
        "¡Consulte a un médico si la fiebre dura más de tres días!",
    ),
    "zh": ("多喝水,好好休息。", "你应该休息,并多喝水。", "如果发烧超过三天,请去看医生!"),
    "hi": (
        "खूब पानी पिएँ और आराम करें।",
        "आपको आराम करना चाहिए और खूब पानी पीना चाहिए।",
        "बुखार तीन दिन से अधिक रहे तो डॉक्टर को दिखाएँ!",
    ),
}
ALL = (BertScore, BertScorePrecision, BertScoreRecall, CrossBertScore)
PARTS = (BertScorePrecision, BertScoreRecall, BertScore)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a small BERT with random weights, whole words as tokens."""
    folder = tmp_path_factory.mktemp("tiny")
    make_model(folder)
    return str(folder)


@pytest.fixture(scope="module")
def embedded() -> Any:  # noqa: ANN401  untyped package
    """Give bert-score's own scorer with the embedded encoder."""
    from pytest_xling.encoders.e5.directory import e5_directory  # noqa: PLC0415  needs torch

    return scorer(str(e5_directory()), layer=12)


def scorer(directory: str, *, layer: int) -> Any:  # noqa: ANN401  untyped package
    """Return bert-score's own scorer."""
    from bert_score import BERTScorer  # noqa: PLC0415  an extra

    return BERTScorer(model_type=directory, num_layers=layer, device="cpu", nthreads=0, lang="en")


def values(sets: Sequence[AnswerSet], **parameters: Any) -> list[list[float]]:
    """Return precision, recall and F1 of each set."""
    columns = [
        [reading.value for reading in part(device="cpu", **parameters).score(sets)]
        for part in PARTS
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def theirs(score: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:  # noqa: ANN401
    """Return the means of bert-score's precision, recall and F1 over *pairs*."""
    lefts, rights = zip(*pairs, strict=True)
    return [float(part.double().mean()) for part in score.score(list(lefts), list(rights))]


@pytest.mark.slow
def test_is_as_bert_score(embedded: Any) -> None:  # noqa: ANN401  untyped package
    """Precision, recall and F1, plain and with idf weights, in four languages."""
    from bert_score.utils import get_idf_dict  # noqa: PLC0415  an extra

    sets = [repeats(texts, language=language) for language, texts in TEXTS.items()]
    plain, weighted = values(sets), values(sets, idf=True)
    for texts, ours, ours_weighted in zip(TEXTS.values(), plain, weighted, strict=True):
        pairs = list(combinations(texts, 2))
        assert ours == pytest.approx(theirs(embedded, pairs), abs=1e-4)
        embedded._idf = True
        embedded._idf_dict = get_idf_dict(list(texts), embedded._tokenizer, nthreads=0)
        expected = theirs(embedded, pairs)
        embedded._idf = False
        assert ours_weighted == pytest.approx(expected, abs=1e-4)
        assert ours_weighted != pytest.approx(ours, abs=1e-3)


# Of a frame pandas 3 gives what cannot be written; bert-score hands it to torch, which only reads.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning")
def test_rescaled_is_as_bert_score(
    embedded: Any,  # noqa: ANN401  untyped package
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """With the same file of baselines, in four languages; bert-score counts its lines."""
    file = tmp_path / "baseline.tsv"
    rows = [f"{layer},0.7,0.72,0.{700 + layer}" for layer in range(13)]
    file.write_text("\n".join(["LAYER,P,R,F", *rows]) + "\n", encoding="utf-8")
    monkeypatch.setattr(embedded, "_rescale_with_baseline", True)
    monkeypatch.setattr(embedded, "baseline_path", str(file))
    sets = [repeats(texts, language=language) for language, texts in TEXTS.items()]
    found = values(sets, rescale=True, baseline=str(file))
    for texts, ours in zip(TEXTS.values(), found, strict=True):
        assert ours == pytest.approx(theirs(embedded, list(combinations(texts, 2))), abs=1e-4)


@pytest.mark.parametrize("layer", [0, 1, 3])
def test_each_layer_is_as_bert_score(tiny: str, layer: int) -> None:
    """Any layer can be compared; 0 is the embeddings."""
    texts = ("drink water and rest .", "rest and see doctor", "if fever lasts three days")
    found = values([repeats(texts)], encoder=tiny, layer=layer)
    expected = theirs(scorer(tiny, layer=layer), list(combinations(texts, 2)))
    assert found[0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
def test_across_languages_is_as_bert_score(embedded: Any) -> None:  # noqa: ANN401  as above
    """Each answer is a candidate for each answer in the pivot language."""
    sets = [repeats(TEXTS["hi"], language="hi", pivot=TEXTS["en"])]
    (reading,) = CrossBertScore(device="cpu").score(sets)
    pairs = list(product(TEXTS["hi"], TEXTS["en"]))
    assert theirs(embedded, pairs)[2] == pytest.approx(reading.value, abs=1e-4)


def test_across_languages_counts_each_answer(tiny: str) -> None:
    """An answer given twice counts twice, on either side."""
    metric = CrossBertScore(encoder=tiny, device="cpu")
    twice = repeats(["drink", "drink", "rest now"], pivot=["water", "see doctor", "water"])
    pairs = [
        metric.score([repeats([left.text], pivot=[right.text])])[0].value
        for left, right in product(twice.answers, twice.pivot)
    ]
    (reading,) = metric.score([twice])
    assert math.fsum(value or 0.0 for value in pairs) / 9 == pytest.approx(reading.value, abs=1e-6)


def test_the_earlier_answer_is_the_candidate(tiny: str) -> None:
    """All of a part is found in the whole, not the other way round."""
    ((precision, recall, f1),) = values(
        [repeats(["water .", "see doctor if fever lasts water ."])], encoder=tiny, layer=0
    )
    ((swapped, swapped_recall, swapped_f1),) = values(
        [repeats(["see doctor if fever lasts water .", "water ."])], encoder=tiny, layer=0
    )
    assert precision > recall
    assert (precision, recall) == pytest.approx((swapped_recall, swapped), abs=1e-6)
    assert f1 == pytest.approx(swapped_f1, abs=1e-6)


@pytest.mark.parametrize("idf", [False, True])
def test_identical_answers(tiny: str, *, idf: bool) -> None:
    """They are alike in full, also where all tokens are in all of them."""
    found = values([repeats(["drink water ."] * 3)], encoder=tiny, idf=idf)
    assert [[1.0, 1.0, 1.0]] == found


@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    data=st.lists(
        st.lists(
            st.one_of(
                st.lists(st.sampled_from(WORDS.split()), max_size=9).map(" ".join),
                st.text(st.characters(exclude_categories=()), max_size=9),
            ),
            min_size=2,
            max_size=4,
        ),
        min_size=1,
        max_size=4,
    ),
    idf=st.booleans(),
)
def test_batch_is_as_one_by_one(
    tiny: str,
    data: list[list[str]],
    idf: bool,  # noqa: FBT001  hypothesis names its arguments
) -> None:
    """Any texts have a value within bounds or a reason, the same alone and among others."""
    sets = [repeats(texts, pivot=texts[:1]) for texts in data]
    metrics: tuple[Metric[AnswerSet], ...] = tuple(
        kind(encoder=tiny, device="cpu", idf=idf) for kind in ALL
    )
    for metric in metrics:
        MEANS.clear()
        batch = metric.score(sets)
        MEANS.clear()
        single = [metric.score([each])[0] for each in sets]
        assert [reading.reason for reading in single] == [reading.reason for reading in batch]
        for alone, among in zip(single, batch, strict=True):
            assert (among.value is None) is bool(among.reason)
            assert alone.value == pytest.approx(among.value, abs=1e-5)
            if among.value is not None:
                assert type(among.value) is float
                assert 0.0 <= among.value <= 1.0


def test_three_names_are_computed_once(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Precision and recall of sets whose F1 is known need no encoder."""
    sets = [repeats(["drink water", "rest", "see doctor ."])]
    MEANS.clear()
    (f1,) = BertScore(encoder=tiny, device="cpu").score(sets)

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the encoder was opened again")

    monkeypatch.setattr(opening, "open_encoder", refuse)
    (precision,) = BertScorePrecision(encoder=tiny, device="cpu").score(sets)
    (recall,) = BertScoreRecall(encoder=tiny, device="cpu").score(sets)
    assert precision.value is not None
    assert recall.value is not None
    assert (
        min(precision.value, recall.value) <= (f1.value or 0) <= max(precision.value, recall.value)
    )


def test_sets_alike_but_for_the_side_differ(tiny: str) -> None:
    """What is kept of one set is not taken for another with the same texts."""
    metric = CrossBertScore(encoder=tiny, device="cpu")
    left = repeats(["drink", "rest"], pivot=["water"])
    right = repeats(["drink"], pivot=["rest", "water"])
    first, second = metric.score([left, right])
    MEANS.clear()
    assert second == metric.score([right])[0]
    assert first != second


def test_texts_without_tokens(tiny: str) -> None:
    """Texts of special tokens only are no texts; without two others there is no pair."""
    metric = BertScore(encoder=tiny, device="cpu")
    none, some = metric.score(
        [repeats(["[CLS]", "drink", "[SEP] [CLS]"]), repeats(["[CLS]", "drink water", "drink"])]
    )
    assert none.value is None
    assert "2 of 3 texts have no token the encoder knows" == none.reason
    assert metric.score([repeats(["drink water", "drink"])])[0] == some


def test_nan_is_an_error(tmp_path: Path) -> None:
    """An encoder that gives NaN gives no score."""
    make_model(tmp_path, broken=True)
    with pytest.raises(EvaluationError, match="NaN or infinity"):
        BertScore(encoder=str(tmp_path), device="cpu").score([repeats(["drink", "rest"])])


def test_signature_holds_the_baseline(tiny: str, tmp_path: Path) -> None:
    """Another file of baselines is another signature."""
    signatures = []
    for name, value in (("a", 0.5), ("b", 0.6)):
        file = tmp_path / f"{name}.tsv"
        file.write_text(f"LAYER,P,R,F\n3,{value},{value},{value}\n", encoding="utf-8")
        metric = BertScore(encoder=tiny, device="cpu", rescale=True, baseline=str(file))
        signatures.append(metric.signed()["baseline"])
    assert signatures[0] != signatures[1]


def test_no_baseline_for_the_embedded_encoder() -> None:
    """Nobody has published one; the message says how to give one."""
    with pytest.raises(
        ConfigError, match=r"no baseline for 'embedded'.*Set the parameter baseline"
    ):
        BertScore(device="cpu", rescale=True).signed()


def test_no_baseline_across_languages(tiny: str) -> None:
    """What bert-score has is for texts in one language."""
    with pytest.raises(ConfigError, match="no baseline for texts in two languages"):
        CrossBertScore(encoder=tiny, device="cpu", rescale=True).signed()


def test_published_baseline_is_shown_for_a_directory(tmp_path: Path) -> None:
    """A directory called as a model bert-score knows may or may not be that model."""
    folder = tmp_path / "bert-base-uncased"
    folder.mkdir()
    make_model(folder)
    with pytest.raises(ConfigError, match=r"the file is '.*\{language\}/bert-base-uncased\.tsv'"):
        BertScore(encoder=str(folder), device="cpu", rescale=True).signed()


def test_no_baseline_for_a_language(tiny: str, tmp_path: Path) -> None:
    """Where baselines are by language, one without has no value."""
    (tmp_path / "en.tsv").write_text("LAYER,P,R,F\n3,0.5,0.5,0.5\n", encoding="utf-8")
    metric = BertScore(
        encoder=tiny, device="cpu", rescale=True, baseline=str(tmp_path / "{language}.tsv")
    )
    texts = ["drink water", "rest ."]
    english, hindi = metric.score([repeats(texts), repeats(texts, language="hi")])
    (plain,) = BertScore(encoder=tiny, device="cpu").score([repeats(texts)])
    assert 2 * (plain.value or 0.0) - 1 == pytest.approx(english.value)
    assert hindi.value is None
    assert "in 'hi' to rescale with" in hindi.reason


def test_no_such_layer(tiny: str) -> None:
    """The encoder says how many it has."""
    with pytest.raises(ConfigError, match="no layer 9"):
        BertScore(encoder=tiny, device="cpu", layer=9).score([repeats(["drink", "rest"])])
