"""CaLMQA's tables from a run (Arora et al., 2024): surface quality and answer length."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.languages import find
from pytest_xling.stats.mean import describe
from pytest_xling.store.queries import flag_counts, metric_steps, unscored_errors, values
from pytest_xling.store.runs import get_run
from pytest_xling.text.tokens import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from pytest_xling.store.queries import MetricStep

__all__ = [
    "ALL_LANGUAGES",
    "LENGTH_COLUMNS",
    "SURFACE_COLUMNS",
    "Row",
    "length_table",
    "surface_table",
]

Row: TypeAlias = "dict[str, str | int | float | None]"

T = TypeVar("T")

ALL_LANGUAGES = "all"
SURFACE_COLUMNS = (
    "model", "set", "language", "wrong_language", "repetition", "without_issues", "n",
)  # fmt: skip
LENGTH_COLUMNS = ("model", "set", "language", "mean", "median", "std", "n")


def surface_table(
    connection: Connection, run_id: str, *, benchmark: str | None = None
) -> list[Row]:
    """Return Table 2: rows by set and language, in percent of all answers that were asked for.

    An answer that is none (an API error, a filter, an empty text) is not without issues, but
    neither in a wrong language nor repetitive. The language ``all`` pools the answers in the
    languages that can be identified; for the others ``wrong_language`` and ``without_issues``
    are None.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where the run has several that were scored for this.

    Raises:
        ConfigError: the run was not scored with ``no_answer``, ``wrong_language`` and
            ``repetition``, or *benchmark* is needed or unknown.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    needed = ("no_answer", "wrong_language", "repetition")
    flags = _scored_with(connection, run.run_id, needed, benchmark=benchmark)
    tallies: dict[tuple[str, str], _Tally] = {}
    for counts in flag_counts(connection, run.run_id, flags):
        identifiable = _identifiable(counts.language)
        pooled = (ALL_LANGUAGES,) if identifiable else ()
        for language in (*pooled, counts.language):
            tally = tallies.setdefault((counts.set, language), _Tally(identifiable=identifiable))
            tally.add(*counts.flags, count=counts.count)
    return [
        {"model": run.model, "set": name, "language": language, **tally.percent()}
        for (name, language), tally in _sorted(tallies.items())
    ]


def length_table(connection: Connection, run_id: str, *, benchmark: str | None = None) -> list[Row]:
    """Return Table 17: tokens of answers in o200k_base, by set and language.

    The paper's "All Data" is the row of the set ``specific`` and the language ``all``, which
    pools the answers in all languages. ``std`` divides by n - 1; it is None for one answer.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where the run has several that were scored for this.

    Raises:
        ConfigError: the run was not scored with ``answer_length``, or *benchmark* is needed or
            unknown.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    (number,) = _scored_with(connection, run.run_id, ("answer_length",), benchmark=benchmark)
    lengths: dict[tuple[str, str], list[float]] = {}
    for (name, language), found in _counted_lengths(connection, run.run_id, number).items():
        lengths.setdefault((name, ALL_LANGUAGES), []).extend(found)
        lengths[name, language] = found
    rows: list[Row] = []
    for (name, language), found in _sorted(lengths.items()):
        described = describe(found)
        rows.append(
            {
                "model": run.model,
                "set": name,
                "language": language,
                "mean": described.mean,
                "median": described.median,
                "std": described.std,
                "n": described.n,
            }
        )
    return rows


def _counted_lengths(
    connection: Connection, run_id: str, number: MetricStep
) -> dict[tuple[str, str], list[float]]:
    """Return the lengths that count, by set and language: those of all answers asked for.

    Table 17's "All Data" counts API errors too, by the short word that stands for the answer in
    the authors' data (``OTHER``, ``SAFETY``, nothing): leaving them out would put Gemini's mean at
    416 instead of 266 tokens (printed: 265.6).
    """
    lengths = values(connection, run_id, number)
    for place, errors in unscored_errors(connection, run_id, number).items():
        lengths.setdefault(place, []).extend(float(len(tokens)) for tokens in encode(errors))
    return lengths


class _Tally:
    """Counts the answers of one row."""

    def __init__(self, *, identifiable: bool) -> None:
        self._identifiable = identifiable
        self._raised: Counter[str] = Counter()

    def add(self, no_answer: bool, wrong: bool, repetitive: bool, *, count: int) -> None:  # noqa: FBT001  flags as stored
        """Count *count* answers with these flags."""
        self._raised["n"] += count
        if no_answer or wrong or repetitive:
            self._raised["issues"] += count
        # What the provider withheld may still come with a text; it is no answer all the same.
        if wrong and not no_answer:
            self._raised["wrong_language"] += count
        if repetitive and not no_answer:
            self._raised["repetition"] += count

    def percent(self) -> Row:
        """Return the row's numbers; percentages are not rounded."""
        raised, n = self._raised, self._raised["n"]
        told = self._identifiable
        return {
            "wrong_language": 100 * raised["wrong_language"] / n if told else None,
            "repetition": 100 * raised["repetition"] / n,
            "without_issues": 100 * (n - raised["issues"]) / n if told else None,
            "n": n,
        }


def _scored_with(
    connection: Connection, run_id: str, metrics: Sequence[str], *, benchmark: str | None
) -> list[MetricStep]:
    """Return the steps of *metrics* for the one benchmark of the run that has them all."""
    by_benchmark: dict[str, dict[str, MetricStep]] = {}
    for step in metric_steps(connection, run_id):
        by_benchmark.setdefault(step.benchmark, {})[step.metric] = step
    if benchmark is not None and benchmark not in by_benchmark:
        msg = (
            f"run {run_id!r} has no benchmark {benchmark!r}."
            f"{did_you_mean(benchmark, by_benchmark)} It has: {', '.join(by_benchmark) or 'none'}"
        )
        raise ConfigError(msg)
    chosen = [benchmark] if benchmark is not None else list(by_benchmark)
    complete = [name for name in chosen if set(metrics) <= by_benchmark[name].keys()]
    if not complete:
        missing = " and ".join(
            f"{name!r} lacks {', '.join(sorted(set(metrics) - by_benchmark[name].keys()))}"
            for name in chosen
        )
        msg = (
            f"run {run_id!r} was not scored for this table, which needs {', '.join(metrics)}: "
            f"{missing or 'it has no scores'}. Name them in the test file's xling marker and run "
            "again: answers are kept, so nothing is asked twice"
        )
        raise ConfigError(msg)
    if len(complete) > 1:
        msg = f"run {run_id!r} has several benchmarks; name one with --benchmark: {complete}"
        raise ConfigError(msg)
    return [by_benchmark[complete[0]][metric] for metric in metrics]


def _identifiable(language: str) -> bool:
    return find(language).identifiable


def _sorted(items: Iterable[tuple[tuple[str, str], T]]) -> list[tuple[tuple[str, str], T]]:
    """Sort by set, then language, the pooled row last."""
    return sorted(items, key=lambda item: (item[0][0], item[0][1] == ALL_LANGUAGES, item[0][1]))
