"""Answers whose mechanisms of empathy people have labelled, to measure annotators on."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_xling.analysis.labelled import BUNDLED, LabelledSet, source_name
from pytest_xling.annotators.empathy.pair import BUNDLED_PAIRS, Pair
from pytest_xling.errors import ConfigError, DataError
from pytest_xling.files.strict_json import require_text
from pytest_xling.files.tables import table_rows
from pytest_xling.languages import find
from pytest_xling.records import Answer, Response, Sample
from pytest_xling.text.display import csv_text
from pytest_xling.text.empathy import MECHANISMS, PRESENCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_xling.text.empathy import Mechanism

__all__ = ["LabelledReply", "bundled_replies", "read_replies"]

_TEXTS: Final = ("language", "seeker", "response")
_PRESENT, _ABSENT = PRESENCES
_CELLS: Final = {"0": _ABSENT, "1": _PRESENT, "0.0": _ABSENT, "1.0": _PRESENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledReply:
    """A response to a post, and which mechanisms it has."""

    pair: Pair
    known: Mapping[str, str]
    """``present`` or ``absent`` by mechanism; not of one its raters were split about."""

    @property
    def language(self) -> str:
        """The language the response is in."""
        return self.pair.language

    @property
    def cluster(self) -> str:
        """What responses to one post share."""
        return " ".join(self.pair.seeker.split()).casefold()

    @property
    def answer(self) -> Answer:
        """The response as annotators see it."""
        sample = Sample(
            id="reply",
            benchmark="calibration",
            language=self.language,
            prompt={"question": self.pair.seeker},
        )
        return Answer(sample=sample, response=Response(text=self.pair.response, stop_reason="stop"))


def bundled_replies() -> LabelledSet[LabelledReply]:
    """Return the pairs of the split ``test`` that come along.

    They were written by a language model together with their labels; people's own are better.
    """
    raw = BUNDLED_PAIRS.read_bytes()
    rows = [json.loads(line) for line in raw.decode().splitlines() if line.strip()]
    items = tuple(
        LabelledReply(
            pair=Pair(seeker=row["seeker"], response=row["response"], language=row["language"]),
            known={mechanism: _CELLS[str(row[mechanism])] for mechanism in MECHANISMS},
        )
        for row in rows
        if row["split"] == "test"
    )
    return _labelled(BUNDLED, items, human=False)


def read_replies(path: Path) -> LabelledSet[LabelledReply]:
    """Read labels of the user's own raters: a CSV file, or one of the other formats of tables.

    Columns are ``language``, ``seeker`` (the post), ``response``, and ``emotional_reactions``,
    ``interpretations`` and ``explorations``, 0 or 1 each. Several raters' rows of one response are
    one item: what most of them say; where they are split evenly, a mechanism is left out.

    Raises:
        DataError: names file, line, column and fix.
    """
    ratings: defaultdict[Pair, dict[Mechanism, Counter[str]]] = defaultdict(
        lambda: {mechanism: Counter() for mechanism in MECHANISMS}
    )
    for place, row in table_rows(path, required=(*_TEXTS, *MECHANISMS)):
        where = str(place)
        language, seeker, response = (
            csv_text(require_text(row[key], where=where, key=key)).strip() for key in _TEXTS
        )
        try:
            code = find(language).code
        except ConfigError as error:
            msg = f"{where}: column 'language': {error}"
            raise DataError(msg) from error
        of = ratings[Pair(seeker=seeker, response=response, language=code)]
        for mechanism in MECHANISMS:
            label = _CELLS.get(str(row[mechanism]).strip())
            if label is None:
                cell = row[mechanism]
                msg = f"{where}: column {mechanism!r} must be 0 or 1, not {cell!r}; correct it"
                raise DataError(msg)
            of[mechanism][label] += 1
    items = tuple(
        LabelledReply(
            pair=pair,
            known={
                mechanism: _PRESENT if votes[_PRESENT] > votes[_ABSENT] else _ABSENT
                for mechanism, votes in of.items()
                if votes[_PRESENT] != votes[_ABSENT]
            },
        )
        for pair, of in ratings.items()
    )
    return _labelled(path.name, items, human=True)


def _labelled(
    name: str, items: tuple[LabelledReply, ...], *, human: bool
) -> LabelledSet[LabelledReply]:
    rows: Iterable[list[str]] = (
        [i.language, i.pair.seeker, i.pair.response, *(f"{k}={v}" for k, v in i.known.items())]
        for i in items
    )
    undecided = sum(len(MECHANISMS) - len(item.known) for item in items)
    return LabelledSet(
        source=source_name(name, rows),
        human=human,
        items=items,
        labels=PRESENCES,
        undecided=undecided,
    )
