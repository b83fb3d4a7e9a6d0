"""What the tests of all shipped labelled pairs ask: their rows, scripts, languages, likeness."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import py3langid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = TypeVar("Row", bound=Mapping[str, Any])

LANGUAGES: Final = ("en", "es", "hi", "zh")
SCRIPTS: Final = {"en": "LATIN", "es": "LATIN", "hi": "DEVANAGARI", "zh": "CJK"}


def read_pairs(annotator: str, *, file: str = "pairs") -> list[dict[str, Any]]:
    """Return all rows of the pairs that are shipped for *annotator*, or of another file."""
    path = resources.files("pytest_xling.annotators") / annotator / f"{file}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows_in(rows: Iterable[Row], language: str, split: str = "") -> list[Row]:
    """Return the rows of a language, and of a split where one is named."""
    return [row for row in rows if row["language"] == language and split in {"", row["split"]}]


def rows_by(key: str, rows: Iterable[Row]) -> dict[Any, list[Row]]:
    """Return the rows by what they have under *key*."""
    found: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return dict(found)


def read_card(annotator: str) -> str:
    """Return the data card beside the pairs."""
    file = resources.files("pytest_xling.annotators") / annotator / "README.md"
    return file.read_text(encoding="utf-8")


def script_share(text: str, script: str) -> float:
    """Return which share of the letters and vowel signs of *text* is of *script*."""
    letters = [char for char in text if unicodedata.category(char)[0] in "LM"]
    return sum(script in unicodedata.name(char, "") for char in letters) / len(letters)


def latin_languages(texts: Iterable[str]) -> list[str]:
    """Return which of English and Spanish py3langid takes each text for."""
    identifier = py3langid.langid.LanguageIdentifier.from_pickled_model(
        py3langid.langid.MODEL_FILE, norm_probs=True
    )
    identifier.set_languages(["en", "es"])
    return [identifier.classify(text)[0] for text in texts]


def words(text: str, language: str) -> list[str]:
    """Return words and marks in lower case; of Chinese, every two characters that are neighbours.

    A rougher cut than the package's own, on purpose: it may not share that one's mistakes.
    """
    if language == "zh":
        return [*map("".join, itertools.pairwise(text)), *re.findall(r"[？！。]", text)]
    return re.findall(r"[^\W_](?:[^\W_]|[\u0900-\u0963'’])*|[^\w\s]", text.lower())


def near_duplicates(texts: Sequence[str], at_most: float) -> list[tuple[str, str]]:
    """Return pairs of texts that share more than *at_most* of their runs of three characters."""
    runs = [{text[i : i + 3] for i in range(len(text) - 2)} for text in texts]
    return [
        (texts[i], texts[j])
        for i, j in itertools.combinations(range(len(texts)), 2)
        if len(runs[i] & runs[j]) > at_most * len(runs[i] | runs[j])
    ]


def correlation(values: Sequence[float], labels: Sequence[float]) -> float:
    """Return Pearson's coefficient, from -1 to 1."""
    return float(np.corrcoef(values, labels)[0, 1])


def telling_words(texts: Sequence[list[str]], labels: Sequence[int]) -> dict[str, float]:
    """Return, of words in five texts or more, how their presence correlates with the label."""
    presence: dict[str, list[bool]] = {}
    for index, text in enumerate(texts):
        for word in set(text):
            presence.setdefault(word, [False] * len(texts))[index] = True
    return {
        word: correlation(rows, labels)
        for word, rows in presence.items()
        if 5 <= sum(rows) <= len(texts) - 5
    }
