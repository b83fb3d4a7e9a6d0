"""Labelled pairs of a claim and a response, from which the stance reader learns."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from pytest_xling.annotators.stance.pair import BUNDLED_PAIRS, Pair
from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.files.whole import read_utf8
from pytest_xling.keys import content_key
from pytest_xling.languages import find
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.text.stance import Stance

WRITTEN = Path(__file__).with_name("written.jsonl")
"""Pairs to train on alone: of each language its own claims."""

Split: TypeAlias = Literal["train", "held_out"]

_SPLITS = get_args(Split)
_REQUIRED = ("claim_id", "language", "claim", "response", "label")
_OPTIONAL = ("id", "split", "kind", "opposite")
_SURROGATE = re.compile("[\ud800-\udfff]")
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
    return [*read_pairs(BUNDLED_PAIRS), *read_pairs(WRITTEN)]


def read_pairs(path: Path) -> list[LabelledPair]:
    """Read JSON lines: ``claim_id``, ``language``, ``claim``, ``response``, ``label``.

    And, where wanted, ``split`` (``train``, the default, or ``held_out``), ``kind``, ``id`` and
    ``opposite``: a claim towards which the response takes the other stance.

    Raises:
        DataError: names file, line, key and fix.
    """
    text = read_utf8(path)
    pairs = [
        _pair(line, where=f"{path}:{number}")
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not pairs:
        msg = f"{path}: holds no pair; write one a line, with {', '.join(_REQUIRED)}"
        raise DataError(msg)
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
        [p.group, p.pair.language, p.pair.claim, p.pair.response, p.label, p.kind, p.opposite]
        for p in pairs
    )
    return content_key(rows).hex()


def _pair(line: str, *, where: str) -> LabelledPair:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        msg = f"{where}: not valid JSON: {error}; write one object a line"
        raise DataError(msg) from error
    if not isinstance(row, dict):
        msg = f"{where}: must be an object with {', '.join(_REQUIRED)}"
        raise DataError(msg)
    texts = {key: _text(row, key, where=where) for key in _REQUIRED}
    texts |= {key: _text(row, key, where=where) for key in _OPTIONAL if row.get(key) is not None}
    label = _one_of(texts["label"], STANCES, key="label", where=where)
    split: Split = _one_of(texts.get("split", "train"), _SPLITS, key="split", where=where)
    try:
        language = find(texts["language"]).code
    except ConfigError as error:
        msg = f"{where}: key 'language': {error}"
        raise DataError(msg) from error
    return LabelledPair(
        pair=Pair(claim=texts["claim"], response=texts["response"], language=language),
        label=label,
        claim_id=texts["claim_id"],
        split=split,
        kind=texts.get("kind", "plain"),
        opposite=texts.get("opposite", ""),
        where=where,
    )


def _text(row: dict[str, Any], key: str, *, where: str) -> str:
    if key not in row:
        unknown = [name for name in row if name not in (*_REQUIRED, *_OPTIONAL)]
        msg = f"{where}: key {key!r} is missing.{did_you_mean(key, unknown)} Add it"
        raise DataError(msg)
    value = row[key]
    if not isinstance(value, str) or not value.strip():
        msg = f"{where}: key {key!r} must be a text that is not empty, not {value!r}; write it"
        raise DataError(msg)
    if (surrogate := _SURROGATE.search(value)) is not None:
        msg = (
            f"{where}: key {key!r} holds half a character, \\u{ord(surrogate.group()):04x}, at "
            f"{surrogate.start()}; write it whole"
        )
        raise DataError(msg)
    return value


def _one_of(value: str, known: tuple[Any, ...], *, key: str, where: str) -> Any:  # noqa: ANN401
    """Return *value*, which must be among *known*: the literals of a type."""
    if value not in known:
        hint = f"{did_you_mean(value, known)} Known: {', '.join(known)}"
        msg = f"{where}: key {key!r}: unknown {value!r}.{hint}"
        raise DataError(msg)
    return value
