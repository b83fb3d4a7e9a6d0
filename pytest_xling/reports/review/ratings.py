"""What raters said: read from files the page saved or Label Studio exported, and checked."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.whole import read_utf8
from pytest_xling.reports.review.document import VERSION
from pytest_xling.reports.review.label_studio import CANNOT_TELL, LABEL, REASON
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_xling.reports.review.population import Population
    from pytest_xling.reports.review.scheme import Scheme

LABELS_FORMAT: Final = "xling-review-labels"
_REVIEW_KEYS: Final = ("run", "benchmark", "metric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What a rater said of one answer."""

    case_id: str
    label: str | None
    """None where it was not labelled, or the rater cannot tell."""
    cannot_tell: bool = False
    reason: str = ""
    saw_judge: bool = False
    """Whether the rater had seen the judge's label before."""
    judge: str | None = None
    """The judge's label as the file has it."""
    has_judge: bool = False
    """Whether the file says what the judge's label was."""
    digest: str = ""
    """Of the answer that was shown; "" where the file has none."""
    where: str = ""
    """In the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """All that one rater said in one file."""

    source: str
    """The file."""
    rater: str
    run: str
    benchmark: str
    metric: str
    ratings: tuple[Rating, ...]


def read_ratings(path: Path) -> list[Rated]:
    """Read one file: of one rater if the page saved it, of some from Label Studio.

    Raises:
        DataError: names the file, the place and the fix.
    """
    text = read_utf8(path, fix="save the labels again")
    try:
        read = json.loads(text)
    except (RecursionError, ValueError) as error:  # the latter for thousands of digits, too
        at = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else _long_number(text)
        msg = f"{path}{at}: is not JSON ({error}); save the labels again"
        raise DataError(msg) from error
    if isinstance(read, dict) and read.get("format") == LABELS_FORMAT:
        return [_page(read, path=path)]
    if isinstance(read, list) and all(isinstance(task, dict) for task in read) and read:
        return _label_studio(read, path=path)
    msg = (
        f"{path}: holds no labels; give a file that a review's page has saved (“Save labels”), or "
        "an export of Label Studio in the format JSON"
    )
    raise DataError(msg)


def _long_number(text: str) -> str:
    """Return the line of a number that is too long for Python, as ``:3``; "" without one."""
    long = re.search(rf"[0-9]{{{sys.get_int_max_str_digits() + 1}}}", text)
    return f":{text.count(chr(10), 0, long.start()) + 1}" if long else ""


def _page(read: dict[str, Any], *, path: Path) -> Rated:
    if read.get("version") != VERSION:
        msg = (
            f"{path}: has version {read.get('version')!r} of the format, and this is for {VERSION};"
            " use the pytest-xling its page was made with"
        )
        raise DataError(msg)
    named = {key: _text(read, key, where=f"{path}") for key in ("rater", *_REVIEW_KEYS)}
    if not named["rater"].strip():
        msg = f"{path}: key 'rater' is empty; write who labelled"
        raise DataError(msg)
    items = read.get("items")
    if not isinstance(items, list):
        msg = f"{path}: key 'items' must be a list; save the labels again"
        raise DataError(msg)
    ratings = [_rating(item, where=f"{path}: items[{n}]") for n, item in enumerate(items)]
    _check_once(ratings, path=path)
    return Rated(
        source=str(path),
        rater=named["rater"].strip(),
        run=named["run"],
        benchmark=named["benchmark"],
        metric=named["metric"],
        ratings=tuple(ratings),
    )


def _rating(item: object, *, where: str) -> Rating:
    if not isinstance(item, dict):
        msg = f"{where}: must be an object; save the labels again"
        raise DataError(msg)
    label = item.get("label")
    if label is not None and not isinstance(label, str):
        msg = f"{where}: key 'label' must be a text or null, not {label!r}"
        raise DataError(msg)
    judge = item.get("judge")
    if judge is not None and not isinstance(judge, str):
        msg = f"{where}: key 'judge' must be a text or null, not {judge!r}"
        raise DataError(msg)
    return Rating(
        case_id=_text(item, "case", where=where),
        label=label,
        cannot_tell=label is None and item.get("cannot_tell") is True,
        reason=_text(item, "reason", where=where) if item.get("reason") else "",
        saw_judge=item.get("saw_judge") is True,
        judge=judge,
        has_judge="judge" in item,
        digest=_text(item, "digest", where=where) if "digest" in item else "",
        where=where,
    )


def _text(read: dict[str, Any], key: str, *, where: str) -> str:
    value = read.get(key)
    if not isinstance(value, str):
        what = "is missing" if key not in read else f"must be a text, not {value!r}"
        msg = f"{where}: key {key!r} {what}; save the labels again"
        raise DataError(msg)
    return clean(value)


def _check_once(ratings: Sequence[Rating], *, path: Path) -> None:
    seen: dict[str, Rating] = {}
    for rating in ratings:
        if rating.case_id in seen:
            msg = (
                f"{rating.where}: case {rating.case_id!r} is there twice, first at "
                f"{seen[rating.case_id].where.removeprefix(f'{path}: ')}; keep one"
            )
            raise DataError(msg)
        seen[rating.case_id] = rating


def _label_studio(tasks: list[dict[str, Any]], *, path: Path) -> list[Rated]:
    """Read an export: each annotation is by a rater of its own."""
    by_rater: dict[str, dict[str, Rating]] = {}
    first: dict[str, str] = {}
    for number, task in enumerate(tasks):
        where = f"{path}: task [{number}]"
        data, annotations = task.get("data"), task.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            msg = (
                f"{where}: has no 'data' and 'annotations'; export from Label Studio in the format "
                "JSON, not JSON-MIN or CSV"
            )
            raise DataError(msg)
        named = {key: _text(data, key, where=f"{where}: data") for key in _REVIEW_KEYS}
        case = _text(data, "case", where=f"{where}: data")
        digest = _text(data, "digest", where=f"{where}: data") if "digest" in data else ""
        for key, value in named.items():
            if first.setdefault(key, value) != value:
                msg = (
                    f"{where}: is of the {key} {value!r}, and tasks before it of {first[key]!r}; "
                    "export the tasks of one review"
                )
                raise DataError(msg)
        for annotation in annotations:
            if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
                continue
            rater = _rater(annotation.get("completed_by"), where=where)
            ratings = by_rater.setdefault(rater, {})
            if case in ratings:
                msg = (
                    f"{where}: {rater} has labelled case {case!r} twice; delete one of the "
                    "annotations"
                )
                raise DataError(msg)
            ratings[case] = _annotation(annotation, case=case, digest=digest, where=where)
    if not by_rater:
        msg = f"{path}: no task has an annotation; label some and export again"
        raise DataError(msg)
    return [
        Rated(source=str(path), rater=rater, ratings=tuple(ratings.values()), **first)
        for rater, ratings in by_rater.items()
    ]


def _rater(name: object, *, where: str) -> str:
    if isinstance(name, dict):
        name = name.get("email") or name.get("id")
    if isinstance(name, str) and name.strip():
        return clean(name.strip())
    if isinstance(name, int):
        return f"label-studio-{name}"
    msg = f"{where}: an annotation does not say who made it ('completed_by'); export again"
    raise DataError(msg)


def _annotation(annotation: dict[str, Any], *, case: str, digest: str, where: str) -> Rating:
    result = annotation.get("result")
    values: dict[str, Any] = {
        part["from_name"]: part["value"]
        for part in (result if isinstance(result, list) else ())
        if isinstance(part, dict) and isinstance(part.get("value"), dict) and "from_name" in part
    }
    label = _single_choice(values.get(LABEL, {}).get("choices"), where=where)
    reasons = values.get(REASON, {}).get("text")
    reasons = [reasons] if isinstance(reasons, str) else reasons or []
    cannot_tell = label == CANNOT_TELL
    return Rating(
        case_id=case,
        label=None if cannot_tell else label,
        cannot_tell=cannot_tell,
        reason=clean("\n".join(map(str, reasons))),
        digest=digest,
        where=where,
    )


def _single_choice(choices: object, *, where: str) -> str | None:
    if choices is None or choices == []:
        return None
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], str):
        return clean(choices[0])
    msg = f"{where}: the control {LABEL!r} has {choices!r}, and one label is wanted; choose one"
    raise DataError(msg)


def put_together(rated: Sequence[Rated]) -> list[Rated]:
    """Return what each rater said in all files: of one run, benchmark and metric, each case once.

    A page holds what was left open or could not be told, too, and so may a later one. A label there
    is what counts.

    Raises:
        DataError: they are of several, or two of a rater's files have a label of one case; names
            both files and the fix.
    """
    first = rated[0]
    raters: dict[str, Rated] = {}
    for other in rated:
        for key in ("run", "benchmark", "metric"):
            mine, theirs = getattr(first, key), getattr(other, key)
            if mine != theirs:
                msg = (
                    f"{other.source}: is of the {key} {theirs!r}, and {first.source} of {mine!r}; "
                    "compare labels of one review"
                )
                raise DataError(msg)
        same = raters.get(other.rater.casefold())
        if same is None:
            raters[other.rater.casefold()] = other
            continue
        ratings = {rating.case_id: rating for rating in same.ratings}
        for rating in other.ratings:
            before = ratings.setdefault(rating.case_id, rating)
            if before is rating or (rating.label is None and not rating.cannot_tell):
                continue
            if before.label is not None and rating.label is not None:
                msg = (
                    f"{other.source}: is of the rater {other.rater!r}, and so is {same.source}: "
                    f"both have case {rating.case_id!r}; leave one out, or if they are two people, "
                    "write another 'rater' into one"
                )
                raise DataError(msg)
            if before.label is None:
                ratings[rating.case_id] = rating
        raters[other.rater.casefold()] = replace(same, ratings=tuple(ratings.values()))
    return [*raters.values()]


def check_ratings(
    rated: Sequence[Rated], population: Population, scheme: Scheme, *, digests: Mapping[str, str]
) -> None:
    """Check that each rating is of an answer of the run, judged as the file says, with a label.

    Args:
        rated: by each rater.
        population: the run's answers.
        scheme: what was asked.
        digests: of the run's answers, by case.

    Raises:
        DataError: names file, place and fix.
    """
    for rater_file in rated:
        for rating in rater_file.ratings:
            _check(rating, rater_file, population, scheme)
            _check_answer(rating, rater_file, digests[rating.case_id])
        if not any(rating.label is not None for rating in rater_file.ratings):
            who = f"{rater_file.source}: {rater_file.rater}"
            msg = f"{who} has labelled nothing; label some answers first"
            raise DataError(msg)


def _check(rating: Rating, of: Rated, population: Population, scheme: Scheme) -> None:
    answer = population.items.get(rating.case_id)
    if answer is None:
        msg = (
            f"{rating.where}: case {rating.case_id!r} is not among the answers of run {of.run!r} "
            f"that were scored with {of.metric!r}.{did_you_mean(rating.case_id, population.items)} "
            "Name the store the review was made from with --xling-store"
        )
        raise DataError(msg)
    if rating.label is not None and rating.label not in scheme.labels:
        msg = (
            f"{rating.where}: unknown label {rating.label!r}."
            f"{did_you_mean(rating.label, scheme.labels)} Known: {', '.join(scheme.labels)}"
        )
        raise DataError(msg)
    if rating.has_judge and rating.judge != answer.label:
        msg = (
            f"{rating.where}: case {rating.case_id!r} had the label {rating.judge!r} when it was"
            f" reviewed, and in this store's run {of.run!r} it has {answer.label!r}: the review is"
            " of another run called so; name its store with --xling-store"
        )
        raise DataError(msg)


def _check_answer(rating: Rating, of: Rated, stored: str) -> None:
    """Check that what was labelled is the answer that the run has: a name is soon used again."""
    if rating.digest == stored:
        return
    if rating.digest:
        msg = (
            f"{rating.where}: case {rating.case_id!r} was labelled of another answer than this "
            f"store's run {of.run!r} has: the review is of another run called so. Name its store "
            "with --xling-store, or label this run's answers: xling review"
        )
        raise DataError(msg)
    again = (
        "make the page again with the same options of xling review, load this file there, save it"
        if rating.has_judge
        else "write the tasks again (xling review --label-studio) and take over their 'digest'"
    )
    msg = (
        f"{rating.where}: case {rating.case_id!r} has no digest of the answer that was labelled, "
        f"which may be another than run {of.run!r} has: the review is by an earlier pytest-xling. "
        f"To go on with its labels {again}"
    )
    raise DataError(msg)
