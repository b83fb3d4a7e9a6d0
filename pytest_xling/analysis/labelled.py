"""Answers that people have labelled, to measure annotators on; those whose stance they have."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pytest_xling.annotators.stance.pair import BUNDLED_PAIRS
from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.files.whole import read_utf8
from pytest_xling.keys import content_key
from pytest_xling.languages import find
from pytest_xling.records import Answer, Response, Sample
from pytest_xling.text.display import csv_text
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "Labelled",
    "LabelledAnswer",
    "LabelledSet",
    "bundled_labels",
    "read_labels",
    "source_name",
]

BUNDLED = "bundled"
COLUMNS = ("language", "claim", "response", "label")
OPTIONAL = ("claim_id", "claim_english", "rater")
_ENGLISH = "en"


class LabelledAnswer(Protocol):
    """An answer, and what is known of it."""

    @property
    def language(self) -> str:
        """The language it is in."""
        ...

    @property
    def cluster(self) -> str:
        """What answers share that are not independent."""
        ...

    @property
    def answer(self) -> Answer:
        """It as annotators see it."""
        ...

    @property
    def known(self) -> Mapping[str, str]:
        """Its label by aspect of the annotator that is measured."""
        ...


Item_co = TypeVar("Item_co", bound=LabelledAnswer, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A response to a query about a claim, and its stance."""

    language: str
    claim: str
    response: str
    label: str
    cluster: str
    """What responses about one claim share."""
    claim_english: str | None = None

    @property
    def known(self) -> Mapping[str, str]:
        """Its stance: all that annotators of stances are measured by."""
        return {"": self.label}

    @property
    def answer(self) -> Answer:
        """The response as annotators see it."""
        prompt = {"claim": self.claim}
        if self.claim_english is not None:
            prompt["claim_english"] = self.claim_english
        sample = Sample(
            id=self.cluster, benchmark="calibration", language=self.language, prompt=prompt
        )
        return Answer(sample=sample, response=Response(text=self.response, stop_reason="stop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet(Generic[Item_co]):
    """Labelled answers and where they are from."""

    source: str
    """``bundled``, or the file's name, with a digest."""
    human: bool
    """Whether the user's own raters labelled them."""
    items: tuple[Item_co, ...]
    labels: tuple[str, ...] = STANCES
    """All there are."""
    undecided: int = 0
    """Labels left out because raters were split evenly."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of their languages, sorted."""
        return tuple(sorted({item.language for item in self.items}))

    def of(self, language: str) -> tuple[Item_co, ...]:
        """Return those in *language*."""
        return tuple(item for item in self.items if item.language == language)


def bundled_labels() -> LabelledSet[Labelled]:
    """Return the held-out pairs that come along: the shipped classifier has not learnt from them.

    They were written by a language model together with their labels; people's own are better.
    """
    raw = BUNDLED_PAIRS.read_bytes()
    rows = [json.loads(line) for line in raw.decode().splitlines() if line.strip()]
    held_out = [row for row in rows if row["split"] == "held_out"]
    english = {r["claim_id"]: r["claim"] for r in held_out if r["language"] == _ENGLISH}
    items = tuple(
        Labelled(
            language=row["language"],
            claim=row["claim"],
            response=row["response"],
            label=row["label"],
            # A claim and its opposite, called by a final n, are answered with the same texts.
            cluster=row["claim_id"].removesuffix("n"),
            claim_english=english.get(row["claim_id"]),
        )
        for row in held_out
    )
    return LabelledSet(source=_source(BUNDLED, items), human=False, items=items)


def read_labels(path: Path) -> LabelledSet[Labelled]:
    """Read labels of the user's own raters from a CSV file.

    Columns are ``language``, ``claim``, ``response`` and ``label`` (agree, disagree or neutral),
    and may be ``claim_id``, ``claim_english`` and ``rater``. Where several raters labelled one
    response, most of them decide; where they are split evenly, it is left out and counted.

    Raises:
        DataError: names file, line, column and fix.
    """
    text = read_utf8(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    ratings: dict[tuple[str, str, str], list[str]] = {}
    rated: dict[tuple[str, str, str, str], int] = {}
    first: dict[tuple[str, str, str], Labelled] = {}
    try:
        _check_columns(reader.fieldnames or (), path)
        for row in reader:
            where = f"{path}:{reader.line_num}"
            if None in row:
                msg = f"{where}: more cells than the first line has; quote texts with commas"
                raise DataError(msg)
            item = _item(row, where=where)
            key = (item.language, item.claim, item.response)
            rater = (row.get("rater") or "").strip()
            line = rated.setdefault((*key, rater), reader.line_num) if rater else reader.line_num
            if line < reader.line_num:
                msg = f"{where}: {rater!r} labelled this response on line {line} already; keep one"
                raise DataError(msg)
            first.setdefault(key, item)
            ratings.setdefault(key, []).append(item.label)
    except csv.Error as error:
        msg = f"{path}:{reader.line_num}: not CSV that can be read: {error}; correct it"
        raise DataError(msg) from error
    decided = {key: _majority(labels) for key, labels in ratings.items()}
    items = tuple(
        Labelled(
            language=item.language,
            claim=item.claim,
            response=item.response,
            label=label,
            cluster=item.cluster,
            claim_english=item.claim_english,
        )
        for key, item in first.items()
        if (label := decided[key]) is not None
    )
    if not items:
        msg = f"{path}: no labelled response is left; write one a line below {','.join(COLUMNS)}"
        raise DataError(msg)
    return LabelledSet(
        source=_source(path.name, items),
        human=True,
        items=items,
        undecided=sum(label is None for label in decided.values()),
    )


def _check_columns(names: Sequence[str], path: Path) -> None:
    missing = [name for name in COLUMNS if name not in names]
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        msg = f"{path}:1: column {twice[0]!r} is there twice; keep one"
        raise DataError(msg)
    if missing:
        hint = did_you_mean(missing[0], [name for name in names if name not in COLUMNS])
        has = ", ".join(map(repr, names)) or "nothing"
        msg = f"{path}:1: column {missing[0]!r} is missing.{hint} The first line has: {has}"
        raise DataError(msg)


def _item(row: dict[str, str | None], *, where: str) -> Labelled:
    texts = {name: csv_text(row.get(name) or "").strip() for name in (*COLUMNS, *OPTIONAL)}
    for name in COLUMNS:
        if not texts[name]:
            msg = f"{where}: column {name!r} is empty; fill it or take the line out"
            raise DataError(msg)
    label = texts["label"].casefold()
    if label not in STANCES:
        hint = f"{did_you_mean(label, STANCES)} Known: {', '.join(STANCES)}"
        msg = f"{where}: unknown label {texts['label']!r}.{hint}"
        raise DataError(msg)
    try:
        language = find(texts["language"]).code
    except ConfigError as error:
        msg = f"{where}: column 'language': {error}"
        raise DataError(msg) from error
    return Labelled(
        language=language,
        claim=texts["claim"],
        response=texts["response"],
        label=label,
        cluster=texts["claim_id"] or texts["claim_english"] or texts["claim"],
        claim_english=texts["claim_english"] or None,
    )


def _majority(labels: Sequence[str]) -> str | None:
    """Return the label most raters gave; None where two are given equally often."""
    (label, count), *others = Counter(labels).most_common()
    return None if others and others[0][1] == count else label


def _source(name: str, items: Iterable[Labelled]) -> str:
    return source_name(name, ([i.language, i.claim, i.response, i.label] for i in items))


def source_name(name: str, rows: Iterable[list[str]]) -> str:
    """Name a set of labelled answers, given as *rows*, so that another one has another name."""
    return f"{name}@{content_key(sorted(rows)).hex()[:12]}"
