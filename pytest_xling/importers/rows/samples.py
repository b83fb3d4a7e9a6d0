"""Make samples of rows, whatever table they are from, and check that they fit together."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.strict_json import parse, require_name, require_text
from pytest_xling.importers.rows.columns import KNOWN, NAMES
from pytest_xling.records import Sample
from pytest_xling.text.conversation import read_messages, read_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from pytest_xling.files.tables import Place
    from pytest_xling.importers.rows.columns import Row
    from pytest_xling.interfaces.importer import Pair
    from pytest_xling.keys import JsonValue

    _Known: TypeAlias = dict[tuple[tuple[str, str], ...], Mapping[str, str]]

T = TypeVar("T")
_SETS = ("agnostic", "specific")
_SURE = 0.8
"""How much a key has to be like one of ours to be a misspelling of it."""


@dataclass(slots=True, kw_only=True)
class Samples:
    """Makes the samples of a table or several; knows the rows before."""

    pair: Pair | None
    columns_named: bool
    """Whether prompts.yaml names the columns, so that none is a misspelling."""
    _places: dict[tuple[str, str], Place] = field(default_factory=dict)
    _shared: dict[str, tuple[str, Place]] = field(default_factory=dict)
    _counts: dict[str, tuple[int, Place]] = field(default_factory=dict)
    _metadata: _Known = field(default_factory=dict)

    def sample(self, row: Row) -> Sample:
        """Return the sample that *row* is.

        Raises:
            DataError: the row is wrong, or does not fit to those before.
        """
        where = str(row.place)
        self._counts[row.language] = row.number, row.place
        if not self.columns_named:
            _check_keys(row.fields, where=where)
        sample = self._sample(row, where)
        key = sample.language, sample.id
        if key in self._places:
            there = self._places[key]
            place = there.short if there.file == row.place.file else str(there)
            which = (
                f"id {sample.id!r}"
                if self.pair or {"id", "parallel_id"} & {*row.fields}
                else "this question"
            )
            msg = (
                f"{where}: {which} is already on {place}; give each question of a language its own "
                "id"
            )
            raise DataError(msg)
        self._places[key] = row.place
        # Gates pair by id and count by parallel_id, which is the id where none is given.
        shared = sample.parallel_id or sample.id
        other, elsewhere = self._shared.setdefault(sample.id, (shared, row.place))
        if shared != other:
            msg = (
                f"{where}: id {sample.id!r} has the parallel_id {shared!r} here and {other!r} in"
                f" {elsewhere}; versions of one question share both: give them the"
                " same parallel_id, or different questions an id each"
            )
            raise DataError(msg)
        return sample

    def check_lines(self) -> None:
        """Refuse languages with different numbers of rows where the same line makes a question.

        Raises:
            DataError: names the files, or the languages, and their numbers of rows.
        """
        if self.pair == "line" and len({number for number, _ in self._counts.values()}) > 1:
            counts = ", ".join(
                f"{place.file} ({language}): {number}"
                for language, (number, place) in self._counts.items()
            )
            msg = (
                f"`data: {{pair: line}}` takes as many rows in each language: {counts}; add "
                "what is missing, or give the rows ids"
            )
            raise DataError(msg)

    def _sample(self, row: Row, where: str) -> Sample:
        fields = row.fields
        wrong = _wrong(fields.pop("wrong"), where=where) if "wrong" in fields else ()
        messages = _read_samples("messages", fields, read_messages, where=where)
        turns = _read_samples("turns", fields, read_turns, where=where)
        if messages:
            asked = [message.content for message in messages if message.role == "user"]
            fields.setdefault("question", asked[-1] if asked else messages[-1].content)
        texts = {key: require_text(value, where=where, key=key) for key, value in fields.items()}
        for key in NAMES:
            if key in texts:
                require_name(texts[key], where=where, key=key)
        if "set" in texts:
            _check_set(texts["set"], where=where)
        if "question" not in texts and not row.own:
            msg = f"{where}: key 'question' is missing; every row needs one"
            raise DataError(msg)
        if texts.get("reference") in wrong:
            number = wrong.index(texts["reference"])
            msg = f"{where}: wrong[{number}] is the reference itself; an answer is one or the other"
            raise DataError(msg)
        prompt = {**row.own, **row.prompt}
        if "question" in texts:
            prompt["question"] = texts.pop("question")
        if "question_english" in texts:
            prompt["question_english"] = texts.pop("question_english")
            # A run keeps the metadata, not the prompt.
            texts.setdefault("english", prompt["question_english"])
        if "tool" in texts:  # for the metric tool_called, whether templates name it or not
            prompt["tool"] = texts.pop("tool")
        parallel_id, own_id = texts.pop("parallel_id", None), texts.pop("id", None)
        return Sample(
            id=self._id(row, where, own_id=own_id, parallel_id=parallel_id),
            system=texts.pop("system", ""),
            messages=messages,
            turns=turns,
            benchmark="",
            language=row.language,
            prompt=prompt,
            reference=texts.pop("reference", None),
            wrong=wrong,
            parallel_id=parallel_id,
            # Many rows say the same, and every process of a run keeps all of them.
            metadata=self._metadata.setdefault(tuple(texts.items()), texts),
        )

    def _id(self, row: Row, where: str, *, own_id: str | None, parallel_id: str | None) -> str:
        """Return what a question is called in all languages, as far as that is known."""
        if self.pair == "line":
            return f"q{row.number:04}"
        named = {"id": own_id, "parallel_id": parallel_id}
        if self.pair is not None:
            if (name := named[self.pair]) is None:
                msg = f"{where}: key {self.pair!r} is missing, by which `data: pair:` pairs rows"
                raise DataError(msg)
            return name
        text = row.text or str(row.fields.get("question", ""))
        return own_id or parallel_id or hashlib.sha256(text.encode()).hexdigest()[:10]


def _read_samples(
    key: str,
    fields: dict[str, JsonValue],
    read: Callable[[object], tuple[T, ...]],
    *,
    where: str,
) -> tuple[T, ...]:
    """Return a part of a conversation; of a table's cell that holds JSON, too."""
    if key not in fields:
        return ()
    value = fields.pop(key)
    if isinstance(value, list) and len(value) == 1 and str(value[0]).startswith("["):
        value = value[0]
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = parse(value, where=f"{where}: key {key!r}")
    try:
        return read(value)
    except ValueError as error:
        msg = f"{where}: key {key!r} {error}"
        raise DataError(msg) from error


def _wrong(value: JsonValue, *, where: str) -> tuple[str, ...]:
    """Return the wrong answers: a list of distinct texts with at least one.

    null is one that is not there in this language, and keeps the others in their places.
    """
    if not isinstance(value, list):
        msg = f'{where}: key \'wrong\' must be a list of texts, such as ["…", "…"]'
        raise DataError(msg)
    if not value:
        msg = f"{where}: key 'wrong' is an empty list; write a wrong answer, or leave the key out"
        raise DataError(msg)
    texts = tuple(
        "" if text is None else require_text(text, where=where, key=f"wrong[{number}]")
        for number, text in enumerate(value)
    )
    for number, text in enumerate(texts):
        if text and text in texts[:number]:
            msg = f"{where}: wrong[{number}] is wrong[{texts.index(text)}] again; keep one"
            raise DataError(msg)
    return texts


def _check_keys(row: Mapping[str, JsonValue], *, where: str) -> None:
    """Refuse a key that looks like a misspelling of one the row does not have."""
    absent = [key for key in KNOWN if key not in row]
    for key in row.keys() - {*KNOWN}:
        if suggestion := did_you_mean(key.strip().casefold(), absent, cutoff=_SURE):
            msg = f"{where}: unknown key {key!r}.{suggestion}"
            raise DataError(msg)
        require_name(key, where=where, key=key)


@lru_cache(maxsize=256)
def _near_set(name: str) -> str:
    return did_you_mean(name.casefold(), _SETS)


def _check_set(name: str, *, where: str) -> None:
    # Other sets are welcome, but a near miss would silently drop the row from the paper's tables.
    if name not in _SETS and (suggestion := _near_set(name)):
        msg = f"{where}: unknown set {name!r}.{suggestion}"
        raise DataError(msg)
