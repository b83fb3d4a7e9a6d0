"""Measure how fast the surface metrics score the stored answers of CaLMQA, on one core.

    python perf/surface.py CALMQA_DIR

Answers are scored in batches of 256, as a run does; what several metrics need (tokens, the
language) is found once. Seconds are processor seconds of this process, all its threads together,
so that other work on the machine counts for little; each figure also stands as a multiple of what
tokenising alone takes in the same run. The last column is the clock on the wall.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling.languages import find
from pytest_xling.metrics.answer_length import AnswerLength
from pytest_xling.metrics.indicators import (
    Apology,
    Emoji,
    EnglishAnswer,
    NamesLanguage,
    OffersTranslation,
)
from pytest_xling.metrics.language_consistency import LanguageConsistency
from pytest_xling.metrics.no_answer import NoAnswer
from pytest_xling.metrics.repetition import Repetition
from pytest_xling.metrics.wrong_language import WrongLanguage
from pytest_xling.records import Annotation, Answer, Reading, Response, Sample
from pytest_xling.registry import load
from pytest_xling.text import langid, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_xling.interfaces.annotator import TextAnnotator
    from pytest_xling.interfaces.metric import Metric

BATCH = 256
DEMAND = 2_500
METRICS: tuple[Metric[Answer], ...] = (
    WrongLanguage(),
    Repetition(),
    LanguageConsistency(),
    AnswerLength(),
    NoAnswer(),
    Apology(),
    NamesLanguage(),
    OffersTranslation(),
    Emoji(),
    EnglishAnswer(),
)
ANNOTATORS: tuple[TextAnnotator, ...] = tuple(
    load("annotator", name)() for name in sorted({name for m in METRICS for name in m.needs})
)


def main() -> int:
    """Print the table; return 1 where all metrics together are slower than demanded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("calmqa", type=Path, help="a checkout of CaLMQA, or its datasets folder")
    parser.add_argument("--repeat", type=int, default=3, help="take the best of N (default: 3)")
    arguments = parser.parse_args()
    answers = list(_answers(arguments.calmqa))
    started = time.perf_counter()
    tokens.encode(["warm"])
    langid.identify(["warm"])
    loading = time.perf_counter() - started
    print(f"{len(answers)} answers; vocabulary and model loaded in {loading:.2f} s")
    batches = [answers[i : i + BATCH] for i in range(0, len(answers), BATCH)]
    annotated = [_annotate(batch) for batch in batches]
    rows = {"tokenising alone": _best(arguments.repeat, _tokenise, batches)}
    for annotator in ANNOTATORS:
        job = partial(_values, annotator)
        rows[f"annotator {annotator.name}"] = _best(arguments.repeat, job, batches)
    for metric in METRICS:
        rows[f"metric {metric.name}"] = _best(
            arguments.repeat, metric.score, annotated, first=_tokenise
        )
    rows["all together"] = _best(arguments.repeat, _score_all, batches)
    tokenising, _ = rows["tokenising alone"]
    print(f"{'':34}{'seconds':>9}{'answers/s':>12}{'x tokenising':>14}{'wall':>9}")
    for name, (seconds, wall) in rows.items():
        rate = len(answers) / seconds
        print(f"{name:34}{seconds:9.3f}{rate:12,.0f}{seconds / tokenising:14.2f}{wall:9.3f}")
    return 0 if len(answers) / rows["all together"][0] >= DEMAND else 1


def _answers(calmqa: Path) -> Iterator[Answer]:
    folder = calmqa / "datasets" if (calmqa / "datasets").is_dir() else calmqa
    files = sorted(folder.glob("dataset-*-*.json"))
    if not files:
        sys.exit(f"{folder} holds no dataset-*-*.json; give a checkout of CaLMQA")
    for file in files:
        for entry in json.loads(file.read_text(encoding="utf-8"))["entries"]:
            for stored in entry["answers"]:
                spoken = stored["language"]
                text = stored["translations"][spoken]["text"]
                if not text:
                    continue  # an API error of Gemini's
                yield Answer(
                    sample=Sample(
                        id=entry["question"]["name"],
                        benchmark="culture",
                        language=find(spoken).code,
                        prompt={},
                    ),
                    response=Response(text=text, stop_reason="stop"),
                )


def _tokenise(batch: list[Answer]) -> None:
    tokens.forget()  # each answer comes once in a run
    tokens.encode([answer.text for answer in batch])


def _values(annotator: TextAnnotator, batch: list[Answer]) -> list[Any]:
    texts = [answer.text for answer in batch]
    return annotator.annotate(texts, [answer.language for answer in batch])


def _annotate(batch: list[Answer]) -> list[Answer]:
    found = {annotator.name: _values(annotator, batch) for annotator in ANNOTATORS}
    return [
        Answer(
            sample=answer.sample,
            response=answer.response,
            annotations={
                name: Annotation(kind=name, value=values[i], signature="")
                for name, values in found.items()
            },
        )
        for i, answer in enumerate(batch)
    ]


def _score_all(batch: list[Answer]) -> list[list[Reading]]:
    tokens.forget()
    annotated = _annotate(batch)
    return [metric.score(annotated) for metric in METRICS]


def _best(
    repeat: int,
    job: Callable[[list[Answer]], object],
    batches: list[list[Answer]],
    *,
    first: Callable[[list[Answer]], object] | None = None,
) -> tuple[float, float]:
    """Return the least processor and wall seconds of *job* over all batches, without *first*'s."""
    best = (float("inf"), float("inf"))
    for _ in range(repeat):
        seconds = wall = 0.0
        for batch in batches:
            if first is not None:
                first(batch)
            on_processor, on_wall = time.process_time(), time.perf_counter()
            job(batch)
            seconds += time.process_time() - on_processor
            wall += time.perf_counter() - on_wall
        best = min(best, (seconds, wall))
    return best


if __name__ == "__main__":
    sys.exit(main())
