"""The answers stored in a clone of the Language Confusion Benchmark, as rows of a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.datasets.lcb.layout import questions, row_of, sample_id, sets_beside, setting_of
from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.files.strict_json import require_text
from pytest_xling.files.tables import table_rows
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_xling.files.tables import Place
    from pytest_xling.keys import JsonValue

_COLUMNS: Final = ("model", "completion", "task", "source", "language")
_NEXT_QUESTION: Final = "\nQ:"
"""Where a base model goes on with a question of its own; the benchmark's code cuts there, too."""


def transcript_rows(path: Path, *, answers_by: str | None = None) -> list[dict[str, JsonValue]]:
    """Return the stored answers of one model, in the file's order.

    A row has ``sample_id``, ``language``, ``text``, ``stop_reason`` and ``model``, as the provider
    ``transcript`` reads them. A question of the test sets without an answer gets a row that says
    so (``asked`` is false), by which a run leaves it out and counts it.

    Args:
        path: a clone, its ``outputs`` folder, or a CSV file with the columns of such an output.
            Its column ``id`` is the number of the prompt in its dataset and language, from 0;
            without it the rows are in that order.
        answers_by: the model's name as in the column ``model``, in any case; may be left out where
            there is one only.

    Raises:
        ConfigError: no such model, or there are several; lists those there are.
        DataError: names the file, the line, the column and the fix.
    """
    by_model: dict[str, dict[tuple[str, str], tuple[Place, str]]] = {}
    for file in _files(path):
        numbers: dict[tuple[str, str, str, str], int] = {}
        for place, cells in table_rows(file, required=_COLUMNS):
            model = require_text(cells["model"], where=str(place), key="model").strip()
            setting = setting_of(str(cells["task"]), place)
            source, language = row_of(cells, place)
            at = (model, setting, source, language)
            numbers[at] = numbers.get(at, -1) + 1
            question = sample_id(setting, source, str(cells.get("id", numbers[at])).strip())
            answers = by_model.setdefault(model, {})
            if (question, language) in answers:
                other = answers[question, language][0]
                msg = (
                    f"{place}: the answer of {model!r} to {question!r} in {language!r} is already "
                    f"at {other}; keep one"
                )
                raise DataError(msg)
            answers[question, language] = (place, _text(str(cells["completion"])))
    model = _model(answers_by, by_model, path=path)
    answers = by_model[model]
    rows: list[dict[str, JsonValue]] = [
        {
            "sample_id": question,
            "language": language,
            "text": text,
            "stop_reason": "stop",
            "model": model,
        }
        for (question, language), (_, text) in answers.items()
    ]
    clone = sets_beside(path)
    rows += [
        {
            "sample_id": question.id,
            "language": question.language,
            "text": None,
            "model": model,
            "asked": False,
        }
        for question in (questions(clone) if clone else ())
        if (question.id, question.language) not in answers
    ]
    return rows


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    for folder in (path / "outputs", path):
        if files := sorted(folder.glob("*.csv")):
            return files
    msg = (
        f"{path}: no outputs of the Language Confusion Benchmark; name a clone of "
        "github.com/for-ai/language-confusion, or a CSV file such as its outputs/command-r.csv"
    )
    raise DataError(msg)


def _text(completion: str) -> str:
    text = clean(completion.partition(_NEXT_QUESTION)[0])
    return text if text.strip() else ""


def _model(answers_by: str | None, known: Iterable[str], *, path: Path) -> str:
    """Return the stored name that *answers_by* means."""
    names = sorted(known)
    if answers_by is None:
        if len(names) == 1:
            return names[0]
        msg = f"{path}: name one model with --answers-by. There are answers by: {', '.join(names)}"
        raise ConfigError(msg)
    wanted = answers_by.strip().casefold()
    for name in names:
        if name.casefold() == wanted:
            return name
    suggestion = did_you_mean(wanted, [name.casefold() for name in names])
    msg = f"{path}: no answers by {answers_by!r} here.{suggestion} There are answers by: "
    raise ConfigError(msg + ", ".join(names))
