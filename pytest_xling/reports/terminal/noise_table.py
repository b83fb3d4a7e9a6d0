"""What translation alone does to metrics, as a table (Found in Translation, Table 1)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.languages import find
from pytest_xling.reports.sheet import Sheet
from pytest_xling.text.numbers import measured, with_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.store.measurements import TranslationNoise

Row: TypeAlias = "dict[str, str | float | int | None]"

_MEANS = ("matched", "mismatched", "cost")


def noise_rows(noises: Sequence[TranslationNoise]) -> list[Row]:
    """Return one row per metric, language and set of answers, with plain numbers."""
    rows: list[Row] = []
    for noise in noises:
        row: Row = {
            key: value for key, value in asdict(noise).items() if key not in {*_MEANS, "created_at"}
        }
        for name in _MEANS:
            row |= with_ends(name, getattr(noise, name))
        matched = noise.matched
        of: Row = {"n": matched.n, "unscored": matched.unscored, "reason": matched.reason or None}
        rows.append(row | of)
    return rows


def noise_sheets(noises: Sequence[TranslationNoise]) -> list[Sheet]:
    """Return one table per metric and set of answers."""
    together: dict[tuple[str, str], list[TranslationNoise]] = {}
    for noise in noises:
        together.setdefault((noise.source, noise.metric), []).append(noise)
    return [_sheet(group) for group in together.values()]


def _sheet(group: Sequence[TranslationNoise]) -> Sheet:
    first = group[0]
    trip = "round trip" if first.text_in == "english" else "translated"
    columns = {
        "language": [f"{n.language} {find(n.language).english_name}" for n in group],
        f"{trip} (95%)": [measured(n.matched) for n in group],
    }
    if any(n.mismatched is not None for n in group):
        columns["another's (95%)"] = [measured(n.mismatched) for n in group]
    columns |= {
        "costs": [measured(n.cost, interval=False) for n in group],
        "n": [str(n.matched.n) for n in group],
        "no\nvalue": [str(n.matched.unscored) for n in group],
    }
    read = (
        "translated into the language and back"
        if first.text_in == "english"
        else "translated into the language, as this metric reads them (text_in=native)"
    )
    notes = [f"English answers {read}, scored beside themselves; another's: another question's."]
    reasons: dict[str, list[str]] = {}
    for noise in group:
        if noise.matched.reason:
            reasons.setdefault(noise.matched.reason, []).append(noise.language)
    notes += [f"no value in {', '.join(codes)}: {reason}" for reason, codes in reasons.items()]
    return Sheet(
        title=f"{first.metric} of {first.source}", columns=columns, left=1, notes=tuple(notes)
    )
