"""CaLMQA's tables from a run (Arora et al., 2024): surface quality, length, textual indicators.

Languages are identified by the paper's rule, from the answers' texts: whatever rule the run's
``wrong_language`` went by, and whether it was scored with that at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pytest_xling.annotators.language_id import LanguageId
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.planning.subset import benchmark_meant, benchmarks_meant
from pytest_xling.stats.mean import describe
from pytest_xling.store.cases import read_cases
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import metric_steps
from pytest_xling.text.tokens import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.languages import Language
    from pytest_xling.store.scores import MetricStep

Row: TypeAlias = "dict[str, str | int | float | None]"

T = TypeVar("T")

ALL_LANGUAGES = "all"
ALL_SETS = "all"
ENGLISH = "en"
SURFACE_COLUMNS = (
    "model", "set", "language", "wrong_language", "repetition", "without_issues", "n",
)  # fmt: skip
LENGTH_COLUMNS = (
    "model", "set", "language", "mean", "median", "std", "n",
    "right_mean", "right_median", "right_std", "right_n",
)  # fmt: skip
INDICATOR_COLUMNS = ("model", "set", "indicator", "languages", "paper", "n", "ours", "ours_n")

LANGID_IN_TABLE_17 = frozenset(["fo", "ps"])
"""Languages for whose answers the second half of Table 17 asks langid, unlike Table 2."""


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
        ConfigError: the run was not scored with ``no_answer`` and ``repetition``, or *benchmark*
            is needed or unknown.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    needed = ("no_answer", "repetition")
    rows: dict[tuple[str, str], _Tally] = {}
    for answer in asked_answers(connection, run.run_id, needed, benchmark=benchmark):
        identifiable = find(answer.language).identifiable
        pooled = (ALL_LANGUAGES,) if identifiable else ()
        for language in (*pooled, answer.language):
            tally = rows.setdefault((answer.set, language), _Tally(identifiable=identifiable))
            tally.add(answer)
    return [
        {"model": run.model, "set": name, "language": language, **tally.percent()}
        for (name, language), tally in _sorted(rows.items())
    ]


def length_table(connection: Connection, run_id: str, *, benchmark: str | None = None) -> list[Row]:
    """Return Table 17: tokens of answers in o200k_base, by set and language.

    The paper's "All Data" is the row of the set ``specific`` and the language ``all``, which
    pools the answers in all languages. ``right_mean`` and so on are its second half: answers in
    the right language without repetitions; None where the run was not scored with ``no_answer``
    and ``repetition``. ``std`` divides by n - 1; it is None for one answer.

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
    answers = asked_answers(connection, run.run_id, ("answer_length",), benchmark=benchmark)
    by_place: dict[tuple[str, str], list[AskedAnswer]] = defaultdict(list)
    for answer in answers:
        by_place[answer.set, ALL_LANGUAGES].append(answer)
        by_place[answer.set, answer.language].append(answer)
    lengths = dict(zip(map(id, answers), _counted_lengths(answers), strict=True))
    rows: list[Row] = []
    for (name, language), here in _sorted(by_place.items()):
        row: Row = {"model": run.model, "set": name, "language": language}
        row |= _described([lengths[id(answer)] for answer in here])
        checked = any(answer.repetitive is not None for answer in here)
        right = [lengths[id(answer)] for answer in here if _is_right(answer)]
        rows.append(
            row
            | {
                f"right_{column}": value if checked else None
                for column, value in _described(right).items()
            }
        )
    return rows


def indicator_table(
    connection: Connection, run_id: str, *, benchmark: str | None = None
) -> list[Row]:
    """Return the indicators of App. C.2: in how many of a set's answers a text has certain words.

    ``paper`` is the share, in percent of all answers asked for, by the rules that give the printed
    figures: a part of a word is enough, and English questions count but for apologies. The paper
    prints apologies over both sets, names of languages and translation over ``specific``. ``ours``
    is the share by our metric of that kind, of the answers for which it has a value: whole words,
    no English questions; None where the run was not scored with it.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where the run has several.

    Raises:
        ConfigError: *benchmark* is needed or unknown.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    answers = asked_answers(connection, run.run_id, (), benchmark=benchmark)
    sets = {
        name: [a for a in answers if a.set == name] for name in sorted({a.set for a in answers})
    }
    if len(sets) > 1:
        sets[ALL_SETS] = answers
    return [
        {"model": run.model, "set": name, **_indicated(indicator, here)}
        for name, of_set in sets.items()
        for indicator in _INDICATORS
        if (here := [a for a in of_set if indicator.asked(find(a.language))])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAnswer:
    """One answer asked for, and what the run's metrics said of it."""

    set: str
    language: str
    text: str
    error: str
    """What stands in its place where there is none."""
    readings: Mapping[str, tuple[float | None, str]]
    seen: Mapping[str, Any]
    """Its language, as the annotator ``language_id`` gives it."""

    def flagged(self, metric: str) -> bool:
        """Whether the flag *metric* is raised."""
        return self.value(metric) == 1.0

    def value(self, metric: str) -> float | None:
        """What *metric* says; None also where the run was not scored with it."""
        value, _ = self.readings.get(metric, (None, ""))
        return value

    @property
    def repetitive(self) -> bool | None:
        """Whether it goes round in circles; None where nobody looked."""
        if not {"no_answer", "repetition"} <= self.readings.keys():
            return None
        return self.flagged("repetition")

    @property
    def wrong_language(self) -> bool:
        """Whether it is in another language than it should be, by the paper's rule."""
        return self.seen["language"] not in {None, self.language}


def asked_answers(
    connection: Connection, run_id: str, metrics: Sequence[str], *, benchmark: str | None
) -> list[AskedAnswer]:
    """Return the answers of the one benchmark that was scored with *metrics*, in case order."""
    scored = scored_with(connection, run_id, metrics, benchmark=benchmark)
    name = next(iter(scored.values())).benchmark
    cases = list(read_cases(connection, run_id, benchmark=name, scored=[*scored.values()]))
    seen: list[Any] = LanguageId().annotate([c.text for c in cases], [c.language for c in cases])
    return [
        AskedAnswer(
            set=case.metadata.get("set", ""),
            language=case.language,
            text=case.text,
            error=case.response.get("error") or "",
            readings=case.readings,
            seen=seen_in,
        )
        for case, seen_in in zip(cases, seen, strict=True)
    ]


def _counted_lengths(answers: Sequence[AskedAnswer]) -> list[float]:
    """Return the lengths of all answers asked for.

    Table 17's "All Data" counts API errors too, by the short word that stands for the answer in
    the authors' data (``OTHER``, ``SAFETY``, nothing): leaving them out would put Gemini's mean at
    416 instead of 266 tokens (printed: 265.6).
    """
    scored = [answer.value("answer_length") for answer in answers]
    errors = [a.error for a, value in zip(answers, scored, strict=True) if value is None]
    in_place = iter(encode(errors))
    return [float(len(next(in_place))) if value is None else value for value in scored]


def _is_right(answer: AskedAnswer) -> bool:
    """Tell whether the second half of Table 17 counts *answer*."""
    if not find(answer.language).identifiable or answer.flagged("no_answer"):
        return False
    by_langid = answer.language in LANGID_IN_TABLE_17
    detected = answer.seen["langid" if by_langid else "language"]
    return detected == answer.language and answer.repetitive is False


def _described(lengths: Sequence[float]) -> Row:
    described = describe(lengths)
    return {
        "mean": described.mean,
        "median": described.median,
        "std": described.std,
        "n": described.n,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indicator:
    """One of the paper's textual indicators, and our metric of that kind."""

    name: str
    languages: str
    asked: Callable[[Language], bool]
    """Whether answers to questions in this language count."""
    has: Callable[[AskedAnswer], bool]
    metric: str


def _apologises(answer: AskedAnswer) -> bool:
    text = answer.text.lower()
    return any(part in text for part in ("sorry", "apologize", "understand"))


_INDICATORS = (
    _Indicator(
        name="apology",
        languages="low-resource",
        asked=lambda language: language.resource_level == "low",
        has=_apologises,
        metric="apology",
    ),
    _Indicator(
        name="apology",
        languages="others but English",
        asked=lambda language: (
            language.resource_level in {"high", "mid"} and language.code != ENGLISH
        ),
        has=_apologises,
        metric="apology",
    ),
    _Indicator(
        name="language name",
        languages="all",
        asked=lambda _: True,
        has=lambda answer: find(answer.language).english_name in answer.text,
        metric="names_language",
    ),
    _Indicator(
        name="translation",
        languages="all",
        asked=lambda _: True,
        has=lambda answer: "translat" in answer.text.lower(),
        metric="offers_translation",
    ),
    _Indicator(
        name="emoji",
        languages="all",
        asked=lambda _: True,
        has=lambda answer: answer.flagged("emoji"),
        metric="emoji",
    ),
)


def _indicated(indicator: _Indicator, answers: Sequence[AskedAnswer]) -> Row:
    ours = [v for a in answers if (v := a.value(indicator.metric)) is not None]
    looked = indicator.name != "emoji" or ours
    return {
        "indicator": indicator.name,
        "languages": indicator.languages,
        "paper": 100 * sum(map(indicator.has, answers)) / len(answers) if looked else None,
        "n": len(answers),
        "ours": 100 * sum(ours) / len(ours) if ours else None,
        "ours_n": len(ours),
    }


class _Tally:
    """Counts the answers of one row."""

    def __init__(self, *, identifiable: bool) -> None:
        self._identifiable = identifiable
        self._raised: Counter[str] = Counter()

    def add(self, answer: AskedAnswer) -> None:
        """Count *answer*."""
        no_answer = answer.flagged("no_answer")
        self._raised["n"] += 1
        if no_answer or answer.wrong_language or answer.repetitive:
            self._raised["issues"] += 1
        # What the provider withheld may still come with a text; it is no answer all the same.
        if answer.wrong_language and not no_answer:
            self._raised["wrong_language"] += 1
        if answer.repetitive and not no_answer:
            self._raised["repetition"] += 1

    def percent(self) -> Row:
        """Return the row's numbers; percentages are not rounded."""
        raised, n = self._raised, self._raised["n"]
        decided = self._identifiable
        return {
            "wrong_language": 100 * raised["wrong_language"] / n if decided else None,
            "repetition": 100 * raised["repetition"] / n,
            "without_issues": 100 * (n - raised["issues"]) / n if decided else None,
            "n": n,
        }


def scored_with(
    connection: Connection, run_id: str, metrics: Sequence[str], *, benchmark: str | None
) -> dict[str, MetricStep]:
    """Return the steps of the one benchmark of the run that was scored with all *metrics*."""
    by_benchmark: dict[str, dict[str, MetricStep]] = {}
    for step in metric_steps(connection, run_id):
        by_benchmark.setdefault(step.benchmark, {})[step.metric] = step
    complete = {name for name, steps in by_benchmark.items() if set(metrics) <= steps.keys()}
    chosen = benchmark_meant(f"run {run_id!r}", by_benchmark, benchmark, having=complete)
    if chosen is None:
        missing = " and ".join(
            f"{name!r} lacks {', '.join(sorted(set(metrics) - by_benchmark[name].keys()))}"
            for name in benchmarks_meant(f"run {run_id!r}", by_benchmark, benchmark)
        )
        msg = (
            f"run {run_id!r} was not scored for this table, which needs {', '.join(metrics)}: "
            f"{missing or 'it has no scores'}. Name them in the test file's xling marker and run "
            "again: answers are kept, so nothing is asked twice"
        )
        raise ConfigError(msg)
    return by_benchmark[chosen]


def _sorted(items: Iterable[tuple[tuple[str, str], T]]) -> list[tuple[tuple[str, str], T]]:
    """Sort by set, then language, the pooled row last."""
    return sorted(items, key=lambda item: (item[0][0], item[0][1] == ALL_LANGUAGES, item[0][1]))
