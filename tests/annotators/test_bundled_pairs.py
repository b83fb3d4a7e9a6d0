"""What holds for all labelled texts that come along: fields, languages, no text nearly twice."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_xling.annotators import correctness_label, relevance, support
from pytest_xling.text.categories import CATEGORIES
from pytest_xling.text.empathy import MECHANISMS
from tests.annotators.labelled_pairs import (
    LANGUAGES,
    SCRIPTS,
    correlation,
    latin_languages,
    near_duplicates,
    read_card,
    read_pairs,
    rows_by,
    rows_in,
    script_share,
    telling_words,
    words,
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
    counted: tuple[str, ...] = ()
    """What the card counts in each language and split: texts of a field, rows, rows of a label."""
    whole: tuple[str, ...] = ()
    """Fields of which all rows with the same text are of one language and split."""
    script: float = 0.95
    """The share of letters in the script of the language."""
    judged: str = "response"
    tells: dict[str, float] = field(default_factory=dict)
    """How much of a label is told by the judged text's length, any of its words, any of its first
    three, and the share of its words that another text has, by that one's name: correlations."""

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
        counted=("question", "", "relevant"),
        whole=("question", "response"),
        tells={"length": 0.2, "word": 0.35, "first word": 0.35, "question": 0.25},
    ),
    Bundled(
        name="support",
        fields=("id", "claim_id", "language", "split", "claim", "response", "label"),
        texts=("claim", "response"),
        labels=support.LABELS,
        alike={"claim": 0.6, "response": 0.3},
        once=("claim",),
        counted=("response", "", "supported"),
        whole=("response",),
        judged="claim",
        tells={"length": 0.3, "word": 0.4},
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
        counted=("question", "", "contradictory"),
        whole=("question", "response"),
        # Of the reference more words, as the card says.
        tells={
            "length": 0.25,
            "word": 0.5,
            "first word": 0.35,
            "question": 0.35,
            "reference": 0.65,
        },
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
        counted=("seeker", "", *MECHANISMS),
        whole=("seeker",),
        # "Sorry" and the question mark must tell something.
        tells={"length": 0.3, "word": 0.55},
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


@pytest.mark.parametrize("bundled", [each for each in BUNDLED if each.counted], ids=str)
def test_the_card_counts_what_there_is(bundled: Bundled) -> None:
    """Different texts, rows, and those with a label, per language and split."""
    for language, split in itertools.product(LANGUAGES, bundled.splits):
        rows = rows_in(bundled.rows, language, split)
        counts = [
            len({row[key] for row in rows})
            if key in bundled.fields and key not in bundled.label_keys
            else sum(key in {"", row.get("label")} or row.get(key) == 1 for row in rows)
            for key in bundled.counted
        ]
        line = f"| {language} | {split} | {' | '.join(map(str, counts))} |"
        assert line in read_card(bundled.name)


@pytest.mark.parametrize("bundled", [each for each in BUNDLED if each.whole], ids=str)
def test_no_text_is_in_two_splits(bundled: Bundled) -> None:
    """Nothing that is measured on was seen in training."""
    for key in bundled.whole:
        for text, rows in rows_by(key, bundled.rows).items():
            assert (text, 1) == (text, len({(row["language"], row["split"]) for row in rows}))


@pytest.mark.parametrize("bundled", [each for each in BUNDLED if each.tells], ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_shortcuts_tell_little(bundled: Bundled, language: str) -> None:
    """What does not ask for an understanding of the text has little to do with any label."""
    rows = rows_in(bundled.rows, language)
    texts = [words(row[bundled.judged], language) for row in rows]
    for key, label in itertools.product(bundled.label_keys, bundled.labels):
        labels = [row[key] == label for row in rows]
        for what, limit in bundled.tells.items():
            if what == "length":
                found = {what: correlation([len(row[bundled.judged]) for row in rows], labels)}
            elif what.endswith("word"):
                found = telling_words([t[:3] if "first" in what else t for t in texts], labels)
            else:
                shares = [
                    len(set(text) & {*words(row[what], language)}) / len(set(text))
                    for text, row in zip(texts, rows, strict=True)
                ]
                found = {what: correlation(shares, labels)}
            told = {word: value for word, value in found.items() if abs(value) > limit}
            assert (label, what, {}) == (label, what, told)


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
