"""What holds for all labelled texts that come along: fields, languages, no text nearly twice."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_xling.annotators import correctness_label, relevance, support
from pytest_xling.text.categories import CATEGORIES
from pytest_xling.text.empathy import MECHANISMS
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    SCRIPTS,
    latin_languages,
    near_duplicates,
    read_pairs,
    rows_in,
    script_share,
)

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"


@dataclass(frozen=True, kw_only=True)
class Bundled:
    """Labelled texts, in the order of their numbers."""

    name: str
    fields: tuple[str, ...]
    """One in English is not there where the row is English."""
    texts: tuple[str, ...]
    splits: tuple[str, ...] = ("train", "held_out")
    labels: tuple[str, ...] | tuple[int, ...]
    label_keys: tuple[str, ...] = ("label",)
    alike: dict[str, float]
    """How much two different texts may share of their runs of three characters."""
    once: tuple[str, ...] = ()
    """Those of which no two rows have the same."""
    benchmark: str = ""
    """Whose questions none of the first of *alike* is."""
    script: float = 0.95
    """The share of letters in the script of the language."""

    def __str__(self) -> str:
        return self.name

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All of them."""
        return read_pairs(self.name, file="questions" if self.name == "category" else "pairs")


BUNDLED: Final = (
    Bundled(
        name="relevance",
        fields=("id", "question", "question_english", "response", "language", "split", "label"),
        texts=("question", "response"),
        labels=relevance.LABELS,
        alike={"question": 0.4, "response": 0.3},
        benchmark="culture",
    ),
    Bundled(
        name="support",
        fields=("id", "claim_id", "language", "split", "claim", "response", "label"),
        texts=("claim", "response"),
        labels=support.LABELS,
        alike={"claim": 0.6, "response": 0.3},
        once=("claim",),
    ),
    Bundled(
        name="correctness_label",
        fields=(
            *("id", "question_id", "question", "reference", "response"),
            *("language", "split", "label"),
        ),
        texts=("question", "reference", "response"),
        labels=correctness_label.LABELS,
        alike={"question": 0.4, "response": 0.3},
        benchmark="health",
    ),
    Bundled(
        name="empathy",
        fields=("id", "seeker", "response", "language", "split", *MECHANISMS),
        texts=("seeker", "response"),
        splits=("train", "test"),
        labels=(0, 1),
        label_keys=MECHANISMS,
        alike={"seeker": 0.3, "response": 0.3},
        once=("response",),
        benchmark="parity/empathy",
    ),
    Bundled(
        name="category",
        fields=("id", "language", "split", "question", "label"),
        texts=("question",),
        splits=("test",),
        labels=tuple(CATEGORIES),
        alike={"question": 0.4},
        once=("question",),
        script=0.9,
    ),
)
of_all = pytest.mark.parametrize("bundled", BUNDLED, ids=str)


@of_all
def test_every_row_has_the_fields_and_closed_values(bundled: Bundled) -> None:
    """A reader may rely on the fields, their order, and the sets their values come from."""
    rows = bundled.rows
    numbers = [f"{bundled.name[0]}{number:03d}" for number in range(1, len(rows) + 1)]
    assert numbers == [row["id"] for row in rows]
    bad = [
        row["id"]
        for row in rows
        if [*row]
        != [f for f in bundled.fields if row["language"] != "en" or not f.endswith("_english")]
        or not all(text.strip() == text != "" for text in row.values() if isinstance(text, str))
        or row["language"] not in LANGUAGES
        or row["split"] not in bundled.splits
        or any(
            type(row[key]) is not type(bundled.labels[0]) or row[key] not in bundled.labels
            for key in bundled.label_keys
        )
    ]
    assert bad == []


@of_all
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_texts_are_nearly_equal(bundled: Bundled, language: str) -> None:
    """They were written one by one, not filled into templates."""
    rows = rows_in(bundled.rows, language)
    for key, limit in bundled.alike.items():
        texts = [row[key] for row in rows]
        distinct = texts if key in bundled.once else [*dict.fromkeys(texts)]
        assert (key, []) == (key, near_duplicates(distinct, limit))


@of_all
def test_texts_are_in_their_language(bundled: Bundled) -> None:
    """By script; English and Spanish as an independent identifier tells them, too."""
    rows = bundled.rows
    for row in rows:
        for key in (*bundled.texts, *(key for key in row if key.endswith("_english"))):
            script = "LATIN" if key.endswith("_english") else SCRIPTS[row["language"]]
            share = script_share(row[key], script)
            assert (row["id"], key, True) == (row["id"], key, share > bundled.script)
    latin = [row for row in rows if SCRIPTS[row["language"]] == "LATIN"]
    found = latin_languages(" ".join(row[key] for key in bundled.texts) for row in latin)
    assert [row["language"] for row in latin] == found


@pytest.mark.parametrize("bundled", [each for each in BUNDLED if each.benchmark], ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_none_is_of_the_benchmark(bundled: Bundled, language: str) -> None:
    """An annotator is not trained or measured on the questions whose answers it later judges."""
    file = BENCHMARKS / bundled.benchmark / "data" / f"{language}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    key, limit = next(iter(bundled.alike.items()))
    ours = dict.fromkeys(row[key] for row in rows_in(bundled.rows, language))
    theirs = [json.loads(line)["question"] for line in lines]
    assert [] == near_duplicates([*ours, *theirs], limit)
