"""What translation alone does to metrics, as a table (Found in Translation, Table 1)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.reports.matrix import language_label
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.groups import group_by
from pytest_xling.text.numbers import measured, with_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        row |= {"n": matched.n, "unscored": matched.unscored, "reason": matched.reason or None}
        rows.append(row)
    return rows


def noise_sheets(noises: Sequence[TranslationNoise]) -> list[Sheet]:
    """Return one table per metric and set of answers."""
    groups = group_by(noises, lambda noise: (noise.source, noise.metric))
    return [_sheet(group) for group in groups.values()]


def _sheet(group: Sequence[TranslationNoise]) -> Sheet:
    first = group[0]
    back = first.text_in == "english"
    columns: dict[str, Callable[[TranslationNoise], str]] = {
        "language": lambda noise: language_label(noise.language),
        f"{'round trip' if back else 'translated'} (95%)": lambda noise: measured(noise.matched),
    }
    if any(noise.mismatched is not None for noise in group):
        columns["another's (95%)"] = lambda noise: measured(noise.mismatched)
    columns |= {
        "costs": lambda noise: measured(noise.cost, interval=False),
        "n": lambda noise: str(noise.matched.n),
        "no\nvalue": lambda noise: str(noise.matched.unscored),
    }
    read = (
        "translated into the language and back"
        if back
        else "translated into the language, as this metric reads them (text_in=native)"
    )
    notes = [
        f"English answers {read}, scored beside themselves; another's: another question's.",
        *(
            f"no value in {', '.join(noise.language for noise in without)}: {reason}"
            for reason, without in group_by(group, lambda noise: noise.matched.reason).items()
            if reason
        ),
    ]
    return Sheet.of(f"{first.metric} of {first.source}", group, columns, notes=notes)
