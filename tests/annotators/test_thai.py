"""Thai is split where its sentences end, by an optional package."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from pytest_xling.annotators.translate import Translate
from pytest_xling.annotators.translate.passages import thai_sentences
from pytest_xling.errors import ConfigError
from tests.annotators.judges import Judge, annotation
from tests.answers import annotated_answer

SENTENCES = [
    "อินซูลินช่วยให้น้ำตาลในเลือดเข้าสู่เซลล์",
    "ถ้าขาดอินซูลินน้ำตาลจะสะสมในเลือด",
    "คุณควรดื่มน้ำมากๆ และพักผ่อนให้เพียงพอ",
    "หากมีไข้นานเกินสามวันควรไปพบแพทย์",
]
installed = pytest.mark.skipif(
    find_spec("pythainlp") is None or find_spec("pycrfsuite") is None,
    reason="the extra [thai] is not installed",
)


def translated(translate: Translate) -> Any:  # noqa: ANN401  the value of an annotation
    """Return what becomes of a Thai answer."""
    translator = Judge(lambda *_: "Words that could be the translation.", style="translation")
    return annotation(translate, annotated_answer(" ".join(SENTENCES), "th"), translator)


@installed
def test_spaces_within_a_sentence_do_not_end_it() -> None:
    """A space may be a comma in Thai; sentences end where they end."""
    assert SENTENCES == thai_sentences(" ".join(SENTENCES))
    assert [] == thai_sentences("  ")


@installed
def test_by_pythainlp_on_request() -> None:
    """Where it is asked for, each sentence is one, and the versions stand in the signature."""
    assert 4 == translated(Translate(thai="pythainlp"))["sentences"]
    assert 1 == translated(Translate())["sentences"]
    assert {"pythainlp", "python-crfsuite"} == set(Translate(thai="pythainlp").signed())
    assert {} == Translate().signed()


def test_without_pythainlp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is told with the command that installs it."""
    packages = "pytest_xling.annotators.translate.passages._PACKAGES"
    monkeypatch.setattr(packages, ("no-such-package",))
    with pytest.raises(ConfigError, match=r"no-such-package: pip install 'pytest-xling\[thai\]'"):
        Translate(thai="pythainlp").signed()
