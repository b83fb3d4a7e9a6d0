"""Language identification against langid itself."""

from __future__ import annotations

import json
import random
from pathlib import Path

import langid as original
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid import langid as fork

from pytest_xling.errors import ConfigError
from pytest_xling.text import langid
from pytest_xling.text.sentences import sentences

CALMQA = Path(__file__).resolve().parents[2] / "../shared/data/calmqa/datasets"
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def stored_answers(count: int) -> list[str]:
    """Return answers of all languages, drawn with a fixed seed."""
    if not CALMQA.is_dir():
        pytest.skip("needs ../shared/data/calmqa")
    drawn = random.Random(7)  # noqa: S311  a sample, not a secret
    files = sorted(CALMQA.glob("dataset-agnostic-*.json"))
    texts: list[str] = []
    for file in files:
        entries = json.loads(file.read_text(encoding="utf-8"))["entries"]
        answers = [a for entry in entries for a in entry["answers"]]
        texts += [
            answer["translations"][answer["language"]]["text"]
            for answer in drawn.sample(answers, count // len(files))
        ]
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("count", [23, pytest.param(115, marks=pytest.mark.slow)])
def test_agrees_with_langid_on_stored_answers(count: int) -> None:
    """Whole answers and their sentences get the code that langid 1.1.6 gives them."""
    texts = stored_answers(count)
    split = [s for text in texts for s in sentences(text, "en")]
    sample = texts + random.Random(8).sample(split, count)  # noqa: S311  a sample, not a secret
    assert [original.classify(text)[0] for text in sample] == langid.identify(sample)


@settings(deadline=None, max_examples=20)
@given(st.lists(ANY_TEXT, max_size=6))
def test_agrees_with_langid_on_any_text(texts: list[str]) -> None:
    """Random text is no exception, alone or beside others."""
    expected = [original.classify(text)[0] for text in texts]
    assert expected == langid.identify(texts)
    assert expected == [code for text in texts for code in langid.identify([text])]


def test_agrees_with_langid_on_texts_longer_than_a_window() -> None:
    """Windows of a long text do not change its counts."""
    texts = ["".join(stored_answers(230)), "hello world " * 50_000, "नमस्ते " * 20_000]
    assert [original.classify(text)[0] for text in texts] == langid.identify(texts)


def test_many_empty_texts_between_others() -> None:
    """Empty texts are what langid says of nothing, and disturb no neighbour."""
    german = "Das ist ein ganz gewöhnlicher deutscher Satz."
    expected = ["en", "de"] * 3
    assert expected == langid.identify(["", german] * 3)
    assert {"en"} == set(langid.identify([""] * 150_000))


def test_order_of_the_automaton() -> None:
    """No n-gram of the model is longer than four bytes, and none has the byte 0xFF."""
    identifier = fork.LanguageIdentifier.from_pickled_model(fork.MODEL_FILE)
    after = np.asarray(identifier.tk_nextmove).reshape(-1, 256)
    assert not after[:, 0xFF].any()
    reached = {0}
    frontier = {0}
    depth = 0
    while frontier := set(np.unique(after[sorted(frontier)]).tolist()) - reached:
        reached |= frontier
        depth += 1
    assert 4 == depth


def test_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A py3langid with a retrained model is a mistake of configuration, not other numbers."""
    monkeypatch.delattr(fork.LanguageIdentifier, "from_pickled_model")
    langid._model.cache_clear()
    with pytest.raises(ConfigError, match=r"py3langid>=0\.3,<0\.4"):
        langid.codes()


def test_a_prior_and_votes_move_the_answer() -> None:
    """By as many nats as they have; codes that langid does not know mean nothing."""
    text = "Hau euskarazko esaldi arrunt bat da."
    ((language, lead),) = langid.compare([text], ["es"])
    assert "eu" == language
    assert lead is not None
    ((still, less),) = langid.compare([text], ["es"], prior={"eu": -1.0, "tlh": 99.0})
    assert "eu" == still
    assert pytest.approx(lead - 1) == less
    (voted,) = langid.compare([text], ["es"], votes=[{"es": lead + 1, "tlh": 99.0}])
    assert ("es", 0.0) == voted
    assert [(language, lead)] == langid.compare([text], ["es"], prior={}, votes=[{}])
