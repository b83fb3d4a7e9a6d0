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
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else _long_number(text)
        msg = f"{path}{line}: is not JSON ({error}); save the labels again"
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
        has = f"has version {read.get('version')!r} of the format, and this is for {VERSION}"
        raise _damaged(path, has, fix="use the pytest-xling its page was made with")
    named = {key: _text(read, key, where=path) for key in _REVIEW_KEYS}
    rater = _text(read, "rater", where=path).strip()
    if not rater:
        raise _damaged(path, "key 'rater' is empty", fix="write who labelled")
    items = read.get("items")
    if not isinstance(items, list):
        raise _damaged(path, "key 'items' must be a list")
    ratings: dict[str, Rating] = {}
    for number, item in enumerate(items):
        rating = _rating(item, where=f"{path}: items[{number}]")
        if before := ratings.get(rating.case_id):
            twice = f"case {rating.case_id!r} is there twice, first at "
            twice += before.where.removeprefix(f"{path}: ")
            raise _damaged(rating.where, twice, fix="keep one")
        ratings[rating.case_id] = rating
    return Rated(source=str(path), rater=rater, ratings=tuple(ratings.values()), **named)


def _rating(item: object, *, where: str) -> Rating:
    if not isinstance(item, dict):
        raise _damaged(where, "must be an object")
    for key in ("label", "judge"):
        if not isinstance(item.get(key), str | None):
            must = f"key {key!r} must be a text or null, not {item[key]!r}"
            raise _damaged(where, must)
    label = item.get("label")
    return Rating(
        case_id=_text(item, "case", where=where),
        label=label,
        cannot_tell=label is None and item.get("cannot_tell") is True,
        reason=_text(item, "reason", where=where) if item.get("reason") else "",
        saw_judge=item.get("saw_judge") is True,
        judge=item.get("judge"),
        has_judge="judge" in item,
        digest=_text(item, "digest", where=where) if "digest" in item else "",
        where=where,
    )


def _damaged(where: object, what: str, *, fix: str = "save the labels again") -> DataError:
    return DataError(f"{where}: {what}; {fix}")


def _text(read: dict[str, Any], key: str, *, where: object) -> str:
    value = read.get(key)
    if not isinstance(value, str):
        what = "is missing" if key not in read else f"must be a text, not {value!r}"
        raise _damaged(where, f"key {key!r} {what}")
    return clean(value)


def _label_studio(tasks: list[dict[str, Any]], *, path: Path) -> list[Rated]:
    """Read an export: each annotation is by a rater of its own."""
    by_rater: dict[str, dict[str, Rating]] = {}
    first: dict[str, str] = {}
    for number, task in enumerate(tasks):
        where = f"{path}: task [{number}]"
        data, annotations = task.get("data"), task.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            fix = "export from Label Studio in the format JSON, not JSON-MIN or CSV"
            raise _damaged(where, "has no 'data' and 'annotations'", fix=fix)
        shared = [
            key for key in (*_REVIEW_KEYS, "case", "digest") if key != "digest" or key in data
        ]
        named = {key: _text(data, key, where=f"{where}: data") for key in shared}
        item = {key: named.pop(key) for key in ("case", "digest") if key in named}
        for key, value in named.items():
            if first.setdefault(key, value) != value:
                others = f"is of the {key} {value!r}, and tasks before it of {first[key]!r}"
                raise _damaged(where, others, fix="export the tasks of one review")
        for annotation in annotations:
            if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
                continue
            rater = _rater(annotation.get("completed_by"), where=where)
            ratings = by_rater.setdefault(rater, {})
            if item["case"] in ratings:
                twice = f"{rater} has labelled case {item['case']!r} twice"
                raise _damaged(where, twice, fix="delete one of the annotations")
            said = item | _annotation(annotation, where=where)
            ratings[item["case"]] = _rating(said, where=where)
    if not by_rater:
        raise _damaged(path, "no task has an annotation", fix="label some and export again")
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
    raise _damaged(
        where, "an annotation does not say who made it ('completed_by')", fix="export again"
    )


def _annotation(annotation: dict[str, Any], *, where: str) -> dict[str, Any]:
    """Return what an annotation says, as the page saves it."""
    result = annotation.get("result")
    values: dict[str, Any] = {
        part["from_name"]: part["value"]
        for part in (result if isinstance(result, list) else ())
        if isinstance(part, dict) and isinstance(part.get("value"), dict) and "from_name" in part
    }
    chosen = values.get(LABEL, {}).get("choices")
    if chosen and not (isinstance(chosen, list) and [str] == [*map(type, chosen)]):
        several = f"the control {LABEL!r} has {chosen!r}, and one label is wanted"
        raise _damaged(where, several, fix="choose one")
    label = clean(chosen[0]) if chosen else None
    reasons = values.get(REASON, {}).get("text") or []
    reasons = [reasons] if isinstance(reasons, str) else reasons
    return {
        "label": None if label == CANNOT_TELL else label,
        "cannot_tell": label == CANNOT_TELL,
        "reason": "\n".join(map(str, reasons)),
    }


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
        for key in _REVIEW_KEYS:
            mine, theirs = getattr(first, key), getattr(other, key)
            if mine != theirs:
                differs = f"is of the {key} {theirs!r}, and {first.source} of {mine!r}"
                raise _damaged(other.source, differs, fix="compare labels of one review")
        same = raters.setdefault(other.rater.casefold(), other)
        if same is other:
            continue
        ratings = {rating.case_id: rating for rating in same.ratings}
        for rating in other.ratings:
            before = ratings.setdefault(rating.case_id, rating)
            if before is rating or (rating.label is None and not rating.cannot_tell):
                continue
            if before.label is not None and rating.label is not None:
                both = (
                    f"is of the rater {other.rater!r}, and so is {same.source}: both have case "
                    f"{rating.case_id!r}"
                )
                fix = "leave one out, or if they are two people, write another 'rater' into one"
                raise _damaged(other.source, both, fix=fix)
            if before.label is None:
                ratings[rating.case_id] = rating
        raters[other.rater.casefold()] = replace(same, ratings=tuple(ratings.values()))
    return [*raters.values()]


def check_ratings(
    rated: Sequence[Rated], population: Population, scheme: Scheme, *, digests: Mapping[str, str]
) -> None:
    """Check that each rating is of an answer of the run, judged as the file says, with a label.

    Raises:
        DataError: names file, place and fix.
    """
    for rater_file in rated:
        for rating in rater_file.ratings:
            if fault := _fault(rating, rater_file, population, scheme, digests=digests):
                msg = f"{rating.where}: {fault}"
                raise DataError(msg)
        if not any(rating.label is not None for rating in rater_file.ratings):
            nothing = f"{rater_file.rater} has labelled nothing"
            raise _damaged(rater_file.source, nothing, fix="label some answers first")


def _fault(
    rating: Rating,
    of: Rated,
    population: Population,
    scheme: Scheme,
    *,
    digests: Mapping[str, str],
) -> str:
    """Say what is wrong with a rating; a run's name is soon used again for another run."""
    answer = population.items.get(rating.case_id)
    case, run = f"case {rating.case_id!r}", f"run {of.run!r}"
    if answer is None:
        return (
            f"{case} is not among the answers of {run} that were scored with {of.metric!r}."
            f"{did_you_mean(rating.case_id, population.items)} "
            "Name the store the review was made from with --xling-store"
        )
    if rating.label is not None and rating.label not in scheme.labels:
        return (
            f"unknown label {rating.label!r}.{did_you_mean(rating.label, scheme.labels)} "
            f"Known: {', '.join(scheme.labels)}"
        )
    if rating.has_judge and rating.judge != answer.label:
        return (
            f"{case} had the label {rating.judge!r} when it was reviewed, and in this store's {run}"
            f" it has {answer.label!r}: the review is of another run called so; name its store with"
            " --xling-store"
        )
    if rating.digest == digests[rating.case_id]:
        return ""
    if rating.digest:
        return (
            f"{case} was labelled of another answer than this store's {run} has: the review is of"
            " another run called so. Name its store with --xling-store, or label this run's"
            " answers: xling review"
        )
    again = (
        "make the page again with the same options of xling review, load this file there, save it"
        if rating.has_judge
        else "write the tasks again (xling review --label-studio) and take over their 'digest'"
    )
    return (
        f"{case} has no digest of the answer that was labelled, which may be another than {run} "
        f"has: the review is by an earlier pytest-xling. To go on with its labels {again}"
    )
