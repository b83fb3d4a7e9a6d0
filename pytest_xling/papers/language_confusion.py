"""Language confusion, as Marchisio et al. (2024) count it: line- and word-level pass rates."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.papers.recipe import (
    ALL,
    Recipe,
    count,
    fixed,
    harmonic_mean,
    language,
    records,
    scored_with,
)
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.groups import group_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_xling.analysis.loaded_run import LoadedRun
    from pytest_xling.papers.recipe import Row

COLUMNS: Final = (
    "model", "setting", "language", "lpr", "wpr", "lcpr", "n", "left_out", "sources",
)  # fmt: skip
LINE: Final = "wrong_line"
WORD: Final = "english_words"
NOTE: Final = (
    "LPR: answers without a wrong line, in %; WPR: of these, answers without English words; LCPR: "
    "their harmonic mean"
)


def pass_rates(
    run: LoadedRun, *, benchmark: str | None = None, field: str = "source"
) -> Iterator[Row]:
    """Yield the pass rates by setting and language, in percent.

    ``lpr`` is the share of answers without a wrong line, of those with a line that could be looked
    at (``n``; the others are ``left_out``); ``wpr`` the share without English words of those
    without a wrong line, in languages where English words can be told; ``lcpr`` is their harmonic
    mean. A language's rates are means over the sources of its questions, those of the language
    ``all`` means over the languages. The setting is ``monolingual`` where questions are in the
    language of their answers, else ``crosslingual``.

    Args:
        run: as it was read.
        benchmark: as for all recipes.
        field: what has the source of a question in the metadata of the samples; questions without
            it are one source.

    Raises:
        ConfigError: also where the run was not scored with ``wrong_line``.
    """
    scored = scored_with(run, (LINE, WORD), benchmark=benchmark)
    if LINE not in scored.metrics:
        msg = (
            f"benchmark {scored.benchmark!r} of run {run.run_id!r} was scored with {WORD!r} and "
            f"not with {LINE!r}. Name that in the test file's xling marker and run again: answers "
            "are kept"
        )
        raise ConfigError(msg)
    answers = scored.answers
    line, word = answers[LINE], answers[WORD]
    alone = scored.field("asked_in").fillna(answers["language"]) == answers["language"]
    rates = ["lpr", "wpr"]
    answers = answers.assign(
        setting=alone.map({True: "monolingual", False: "crosslingual"}),
        source=scored.field(field, ""),
        lpr=(100.0 * (line == 0)).where(line.notna()),
        wpr=(100.0 * (word == 0)).where(word.notna() & (line == 0)),
    )
    place = ["setting", "language"]
    by_source = answers.groupby([*place, "source"])[rates].mean()
    known = answers.groupby(place)["lpr"].count()
    by_language = (
        by_source.groupby(place)
        .mean()
        .assign(
            n=known,
            left_out=answers.groupby(place).size() - known,
            sources=by_source.groupby(place).size(),
        )
    )
    together = {"lpr": "mean", "wpr": "mean", "n": "sum", "left_out": "sum", "sources": "max"}
    every = by_language.groupby("setting").agg(together).assign(language=ALL)
    for setting in sorted(every.index, reverse=True):
        for of in (every.loc[[setting]], by_language.loc[[setting]]):
            for row in records(of.reset_index(), COLUMNS):
                yield row | {"model": run.model, "lcpr": harmonic_mean(row["lpr"], row["wpr"])}


def _sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out the rows of one run, a sheet for each setting."""
    cells = {
        "language": language,
        **{rate.upper(): fixed(rate, 1) for rate in ("lpr", "wpr", "lcpr")},
        "n": count("n"),
        "left out": count("left_out"),
        "sources": count("sources"),
    }
    return [
        Sheet.of(str(setting), of_setting, cells, notes=[NOTE])
        for setting, of_setting in group_by(rows, itemgetter("setting")).items()
    ]


TABLES: Final[Mapping[str, Recipe]] = {
    "confusion": Recipe(
        about="answers without lines, and without words, in another language: LPR, WPR, LCPR",
        rows=pass_rates,
        columns=COLUMNS,
        sheets=_sheets,
    ),
}
