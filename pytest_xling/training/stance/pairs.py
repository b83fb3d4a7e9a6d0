"""Labelled pairs of a claim and a response, from which the stance reader learns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pytest_xling.annotators.stance import BUNDLED_PAIRS
from pytest_xling.errors import DataError
from pytest_xling.keys import content_key
from pytest_xling.text.answer_text import Pair
from pytest_xling.text.stance import STANCES
from pytest_xling.training.labelled import check_known, labelled_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.text.stance import Stance

WRITTEN = Path(__file__).with_name("written.jsonl")
ANSWERS = Path(__file__).with_name("answers.jsonl")
"""Pairs to train on alone, of each language its own claims: short responses, and long answers."""

Split: TypeAlias = Literal["train", "held_out"]

_REQUIRED = ("claim_id", "language", "claim", "response", "label")
_OPTIONAL = ("id", "split", "kind", "opposite")
# A claim and its negation are one claim to learn about: "sleep-01" and "sleep-01n".
_NEGATED = re.compile(r"(?<=[0-9])n$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """A claim, a response and the stance it takes."""

    pair: Pair
    label: Stance
    claim_id: str
    split: Split = "train"
    kind: str = "plain"
    """What makes it hard, such as ``negation``."""
    opposite: str = ""
    """A claim that whoever agrees with the pair's disagrees with; "" where none is known."""
    where: str = ""
    """File and line."""

    @property
    def group(self) -> str:
        """What a claim shares with its negation and its other languages."""
        return _NEGATED.sub("", self.claim_id)


def bundled_pairs() -> list[LabelledPair]:
    """Return all pairs that come along."""
    return [pair for path in (BUNDLED_PAIRS, WRITTEN, ANSWERS) for pair in read_pairs(path)]


def read_pairs(path: Path) -> list[LabelledPair]:
    """Read JSON lines: ``claim_id``, ``language``, ``claim``, ``response``, ``label``.

    And, where wanted, ``split`` (``train``, the default, or ``held_out``), ``kind``, ``id`` and
    ``opposite``: a claim towards which the response takes the other stance.

    Raises:
        DataError: names file, line, key and fix.
    """
    pairs = []
    for where, row in labelled_rows(path, texts=_REQUIRED, optional=_OPTIONAL):
        check_known(row["label"], STANCES, key="label", where=where)
        check_known(row.get("split", "train"), get_args(Split), key="split", where=where)
        pair = Pair(about=row["claim"], response=row["response"], language=row["language"])
        others = {key: row[key] for key in ("split", "kind", "opposite") if key in row}
        pairs.append(
            LabelledPair(
                pair=pair, label=row["label"], claim_id=row["claim_id"], where=where, **others
            )
        )
    return pairs


def check_apart(pairs: Sequence[LabelledPair]) -> None:
    """Raise DataError where a claim that is learnt is measured on, too."""
    learnt = {pair.group: pair.where for pair in pairs if pair.split == "train"}
    for pair in pairs:
        if pair.split == "held_out" and pair.group in learnt:
            msg = (
                f"{pair.where}: key 'claim_id': {pair.claim_id!r} is held out, but "
                f"{learnt[pair.group]} has the same claim to train on; give all pairs of a claim "
                "one 'split'"
            )
            raise DataError(msg)


def digest(pairs: Iterable[LabelledPair]) -> str:
    """Return a digest of what is learnt from *pairs*; their order does not matter."""
    rows = sorted(
        [p.group, p.pair.language, p.pair.about, p.pair.response, p.label, p.kind, p.opposite]
        for p in pairs
    )
    return content_key(rows).hex()
