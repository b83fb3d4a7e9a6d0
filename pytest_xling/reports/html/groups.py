"""Averages over languages that share a script, or a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.reports.html.cells import estimated
from pytest_xling.reports.html.escaping import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Score
    from pytest_xling.reports.html.cells import MetricTraits
    from pytest_xling.store.queries import Place

__all__ = ["groups_of", "language_traits"]

_SCRIPTS: Final = {
    "Arab": "Arabic",
    "Beng": "Bengali",
    "Cyrl": "Cyrillic",
    "Deva": "Devanagari",
    "Grek": "Greek",
    "Gujr": "Gujarati",
    "Guru": "Gurmukhi",
    "Hans": "Chinese",
    "Hebr": "Hebrew",
    "Jpan": "Japanese",
    "Knda": "Kannada",
    "Kore": "Korean",
    "Latn": "Latin",
    "Mlym": "Malayalam",
    "Taml": "Tamil",
    "Telu": "Telugu",
}
_OTHERS: Final = "other families"
_FAMILIES: Final = {
    "Drav": "Dravidian",
    "IA": "Indo-Aryan and Persian",
    "Oth2": _OTHERS,
    "Rom": "Romance, German and Dutch",
    "Slav": "Slavic",
}
"""The groups of Found in Translation, Table 12, said as what is in them."""


def language_traits(code: str) -> dict[str, JsonValue]:
    """Return what a page has to know of a language; of one our table lacks, its code."""
    try:
        known = find(code)
    except ConfigError:
        return {"name": code, "native": "", "script": "", "family": "", "direction": "auto"}
    return {
        "name": known.english_name,
        "native": known.native_name,
        "script": _SCRIPTS.get(known.script, known.script),
        "family": _FAMILIES.get(known.family_group, known.family_group),
        "direction": known.direction,
    }


def groups_of(
    benchmark: str,
    metrics: Sequence[MetricTraits],
    scores: Mapping[Place, Sequence[Score]],
    *,
    languages: Mapping[str, Mapping[str, JsonValue]],
) -> dict[str, JsonValue]:
    """Return averages over scripts and over families; families only of languages that have one.

    All answers of a group count alike, and those to one question, in whatever language, as one
    cluster.
    """
    found: dict[str, JsonValue] = {}
    for trait in ("script", "family"):
        groups: dict[str, list[str]] = {}
        for code, traits in languages.items():
            if traits[trait]:
                groups.setdefault(str(traits[trait]), []).append(code)
        rows: list[JsonValue] = []
        for name, codes in sorted(groups.items(), key=_order):
            cells: dict[str, JsonValue] = {}
            for metric in metrics:
                pooled = [
                    score
                    for code in codes
                    for score in scores.get((benchmark, metric.name, code), ())
                ]
                if pooled:
                    cells[metric.name] = as_json(estimated(metric, pooled))
            rows.append({"name": name, "languages": codes, "cells": cells})
        found[trait] = rows
    return found


def _order(group: tuple[str, list[str]]) -> tuple[bool, int, str]:
    """Put large groups first and that of all others last."""
    name, codes = group
    return name == _OTHERS, -len(codes), name
