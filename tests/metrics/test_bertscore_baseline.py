"""Baselines for rescaling BERTScore."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.metrics.bertscore.baseline import ANY, given_baselines, published_baselines

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("bert_score", reason="needs pytest-xling[torch]")


def test_published() -> None:
    """The last layer is what bert-score publishes for it; only English has that model."""
    found = published_baselines("bert-base-uncased", layer=None)
    assert ["en"] == list(found)
    english = found["en"]
    assert (0.40192786, 0.40191513, 0.40038353) == (english.precision, english.recall, english.f1)
    assert 64 == len(english.sha256)


def test_published_for_a_layer_and_several_languages() -> None:
    """Each layer and language has its own."""
    found = published_baselines("bert-base-multilingual-cased", layer=9)
    assert {"en", "es", "zh"} < set(found)
    assert "hi" not in found
    assert found["en"].f1 != found["zh"].f1
    assert found["en"].f1 != published_baselines("bert-base-multilingual-cased", layer=8)["en"].f1


@pytest.mark.parametrize("model", ["embedded", "/etc/passwd", "../en/bert-base-uncased", "*"])
def test_nothing_published(model: str) -> None:
    """Other names have none, and none reaches outside bert-score's folder."""
    assert {} == published_baselines(model, layer=None)


def test_given_for_all_languages(tmp_path: Path) -> None:
    """One file is for any language; the last layer is the highest."""
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n12,0.8,0.7,0.6\n3,0.1,0.2,0.3\n", encoding="utf-8")
    last, third = (given_baselines(str(file), layer=layer)[ANY] for layer in (None, 3))
    assert (0.8, 0.7, 0.6) == (last.precision, last.recall, last.f1)
    assert 0.3 == third.f1


def test_given_by_language(tmp_path: Path) -> None:
    """``{language}`` in a path stands for its code; brackets stand for themselves."""
    folder = tmp_path / "[mine]"
    folder.mkdir()
    for code, value in (("hi", 0.5), ("zh", 0.6)):
        text = f"LAYER,P,R,F\n1,{value},{value},{value}\n"
        (folder / f"base-{code}.tsv").write_text(text, encoding="utf-8")
    found = given_baselines(str(folder / "base-{language}.tsv"), layer=1)
    assert {"hi": 0.5, "zh": 0.6} == {code: each.f1 for code, each in found.items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with LAYER,P,R,F"),
        ("LAYER;P;R;F\n1;0;0;0\n", "begins with LAYER,P,R,F"),
        ("LAYER,P,R,F\n", "no baseline for layer None; it has: none"),
        ("LAYER,P,R,F\n1,0.5,0.5\n", ":2: not a layer and three numbers"),
        ("LAYER,P,R,F\n1,0.5,0.5,much\n", ":2: not a layer and three numbers"),
        ("LAYER,P,R,F\n1,0.5,nan,0.5\n", ":2: a baseline must be below 1"),
        ("LAYER,P,R,F\n1,0.5,1.0,0.5\n", ":2: a baseline must be below 1"),
        ("LAYER,P,R,F\n1,\x000.5,0.1,0.5\n", ":2: not a layer and three numbers"),
    ],
)
def test_unreadable(tmp_path: Path, text: str, message: str) -> None:
    """A file that is none says where."""
    file = tmp_path / "baseline.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)):
        given_baselines(str(file), layer=None)


def test_no_such_layer(tmp_path: Path) -> None:
    """A layer that is not in the file is named, and those that are."""
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n1,0,0,0\n2,0,0,0\n", encoding="utf-8")
    with pytest.raises(DataError, match="no baseline for layer 7; it has: 1, 2"):
        given_baselines(str(file), layer=7)


def test_no_such_file(tmp_path: Path) -> None:
    """A path that leads nowhere is a mistake of configuration."""
    with pytest.raises(ConfigError, match=r"no file '.*nowhere-\{language\}.tsv'"):
        given_baselines(str(tmp_path / "nowhere-{language}.tsv"), layer=None)
