"""Answers that people have labelled, to measure annotators on."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_xling.annotators import support
from pytest_xling.annotators.stance import pair as stance
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

__all__ = ["TASKS", "Labelled", "LabelledSet", "Task", "bundled_labels", "read_labels", "task_of"]

BUNDLED = "bundled"
COLUMNS = ("language", "claim", "response", "label")
OPTIONAL = ("claim_id", "claim_english", "rater")
_ENGLISH = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What annotators of one kind say, and what they are measured on."""

    labels: tuple[str, ...]
    bundled: Path
    """Labelled pairs that come along, JSON lines; those held out are measured on."""


TASKS: Final[Mapping[str, Task]] = {
    "stance": Task(labels=STANCES, bundled=stance.BUNDLED_PAIRS),
    "support": Task(labels=support.LABELS, bundled=support.BUNDLED_PAIRS),
}
"""By what the names of their annotators begin with, and the option that chooses one."""


def task_of(annotator: str) -> str:
    """Return what the annotator called so is measured at: a key of :data:`TASKS`."""
    return annotator.partition("_")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A response beside a claim, and its label: its stance, or whether it supports the claim."""

    language: str
    claim: str
    response: str
    label: str
    cluster: str
    """What responses about one claim share."""
    claim_english: str | None = None

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
class LabelledSet:
    """Labelled responses and where they are from."""

    source: str
    """``bundled``, or the file's name, with a digest."""
    human: bool
    """Whether the user's own raters labelled them."""
    items: tuple[Labelled, ...]
    undecided: int = 0
    """Responses left out because raters were split evenly."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of their languages, sorted."""
        return tuple(sorted({item.language for item in self.items}))

    def of(self, language: str) -> tuple[Labelled, ...]:
        """Return those in *language*."""
        return tuple(item for item in self.items if item.language == language)


def bundled_labels(task: str) -> LabelledSet:
    """Return the held-out pairs that come along: a classifier that does has not learnt from them.

    They were written by a language model together with their labels; people's own are better.

    Args:
        task: a key of :data:`TASKS`.
    """
    raw = TASKS[task].bundled.read_bytes()
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


def read_labels(path: Path, task: str) -> LabelledSet:
    """Read labels of the user's own raters from a CSV file.

    Columns are ``language``, ``claim``, ``response`` and ``label`` (agree, disagree or neutral; of
    support: supported or unsupported), and may be ``claim_id``, ``claim_english`` and ``rater``.
    Where several raters labelled one response, most of them decide; where they are split evenly, it
    is left out and counted.

    Args:
        path: the file.
        task: a key of :data:`TASKS`.

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
            item = _item(row, TASKS[task].labels, where=where)
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


def _item(row: dict[str, str | None], labels: Sequence[str], *, where: str) -> Labelled:
    texts = {name: csv_text(row.get(name) or "").strip() for name in (*COLUMNS, *OPTIONAL)}
    for name in COLUMNS:
        if not texts[name]:
            msg = f"{where}: column {name!r} is empty; fill it or take the line out"
            raise DataError(msg)
    label = texts["label"].casefold()
    if label not in labels:
        hint = f"{did_you_mean(label, labels)} Known: {', '.join(labels)}"
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
    """Name a set so that another one has another name."""
    rows = sorted([i.language, i.claim, i.response, i.label] for i in items)
    return f"{name}@{content_key(rows).hex()[:12]}"
