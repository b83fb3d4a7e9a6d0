"""``xling table categories --judged``: a judge sorts questions, over a real socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_xling.annotators.category import BUNDLED_QUESTIONS
from pytest_xling.text.categories import CATEGORIES
from tests.annotators.judges import says
from tests.runs import Asked, make_run

if TYPE_CHECKING:
    from tests.cli.conftest import Xling
    from tests.servers.openai_server import OpenaiServer

JUDGED: Final = ("--judged", "--xling-judge=openai:sorter")
LABELLED: Final = [json.loads(row) for row in BUNDLED_QUESTIONS.read_text("utf-8").splitlines()]
QUESTIONS: Final = {
    "en": ["What feeds a camel?", "Who built the pier?", "What is fried at fairs?", "Who sings?"],
    "hi": ["मेले में क्या तला जाता है?", "घाट किसने बनवाया?", "कौन गाता है?", "खीर में क्या पड़ता है?"],
    "sw": ["Nani anaimba?", "Nani alijenga gati?"],
}
SAID: Final = {
    **dict(zip(QUESTIONS["en"], ["other", "history", "food", "media"], strict=True)),
    **dict(zip(QUESTIONS["hi"], ["food", "history", "media", "food"], strict=True)),
    **dict(zip(QUESTIONS["sw"], ["media", "history"], strict=True)),
}
"""What the judge says of each question; it is right of all but the first."""


def answers_of(said: dict[str, str]) -> list[tuple[list[str], str]]:
    """Return how a server judges, labelled questions all as they are labelled."""
    known = {row["question"]: row["label"] for row in LABELLED} | said
    return [([text], says(word) if word in CATEGORIES else word) for text, word in known.items()]


@pytest.fixture(autouse=True)
def _knowing(judge: OpenaiServer) -> None:
    """Let the judge know the questions."""
    judge.answers = answers_of(SAID)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A run that asked each question twice."""
    asked = [
        Asked(
            id=f"{language}{number}",
            language=language,
            question=question,
            text=f"Answer {repeat}.",
            repeat=repeat,
        )
        for language, questions in QUESTIONS.items()
        for number, question in enumerate(questions)
        for repeat in (0, 1)
    ]
    path = tmp_path / "store.sqlite"
    make_run(path, asked, metrics=("no_answer",))
    return path


@pytest.fixture
def data(tmp_path: Path) -> str:
    """The same questions as data, each with its category."""
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder, {"other": "geography"})
    return f"{folder}/"


def write(folder: Path, known: dict[str, str]) -> None:
    """Write the questions with their categories: as the judge says, but for some."""
    for language, questions in QUESTIONS.items():
        rows = [
            {
                "id": f"{language}{number}",
                "set": "specific",
                "source": "made up",
                "question": question,
                "category": CATEGORIES.get(known.get(SAID[question], SAID[question]), "sports"),
            }
            for number, question in enumerate(questions)
        ]
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{language}.jsonl").write_text(text + "\n", encoding="utf-8")


def rows(xling: Xling, *arguments: str) -> list[dict[str, Any]]:
    """Return the rows of the table."""
    said = xling("table", "categories", *arguments, "--json", code=0)
    made: list[dict[str, Any]] = json.loads(said.out)
    return made


def labelled_in(*languages: str) -> int:
    """Return how many labelled questions come along in *languages*."""
    return sum(row["language"] in languages for row in LABELLED)


def test_of_a_run_each_question_is_asked_about_once(xling: Xling, judge: OpenaiServer) -> None:
    """Whatever the number of answers to it, and of tables; where it is unmeasured it says so."""
    made = rows(xling, "run-1", *JUDGED)
    assert [("en", "hi"), ("en", "sw"), ("hi", "sw")] == [(r["first"], r["second"]) for r in made]
    # √(¼·¼) of history and of media, √(¼·½) of food.
    assert pytest.approx(0.25 + 0.25 + 0.125**0.5) == made[0]["coefficient"]
    assert (4, 4, 4, None) == tuple(made[0][k] for k in ("n", "other_n", "categories", "kappa"))
    assert (
        "judge openai:sorter; nothing given to compare with; κ on labelled questions: en 1.00 "
        "(n=36), hi 1.00 (n=24); unmeasured in sw"
    ) == made[0]["source"]
    once = len(SAID) + labelled_in("en", "hi")
    assert once == judge.requests
    assert made == rows(xling, "latest", *JUDGED)
    text = xling("table", "categories", "run-1", *JUDGED).out
    assert "categories: judge openai:sorter; nothing given" in text
    assert once == judge.requests


def test_agreement_with_given_categories(xling: Xling, judge: OpenaiServer, data: str) -> None:
    """9 of 10 are equal; κ by hand, over all and by language."""
    made = rows(xling, data, *JUDGED)
    # Both: 3 food, 3 history, 3 media; one is other by the judge and geography in the data.
    kappa = (0.9 - 0.27) / (1 - 0.27)
    agrees = f"agrees with 10 given: 0.90 equal, κ={kappa:.2f} ("
    assert agrees in made[0]["source"]
    assert pytest.approx((0.75 - 3 / 16) / (1 - 3 / 16)) == made[0]["kappa"]
    assert 1.0 == made[0]["other_kappa"]
    assert len(SAID) + labelled_in("en", "hi") == judge.requests
    text = xling("table", "categories", data, *JUDGED).out
    assert "κ with those given, by language: en 0.69, hi 1.00, sw 1.00" in text
    assert "categories: given" in xling("table", "categories", data).out
    assert {"given"} == {row["source"] for row in rows(xling, data)}


def test_categories_of_another_scheme_are_not_compared(
    xling: Xling, judge: OpenaiServer, data: str
) -> None:
    """Not even those of the same name; the scheme's own names go with any case."""
    write(Path(data), {"other": "sports"})
    source = rows(xling, data, *JUDGED)[0]["source"]
    assert "; those given are of another scheme, as 'sports'; κ on labelled" in source
    assert judge.requests


def test_a_judge_that_invents_a_category(xling: Xling, judge: OpenaiServer, data: str) -> None:
    """Is asked once more; the question then has none, and counts as one it got wrong."""
    judge.answers = answers_of(SAID | {"Who sings?": says("sports")})
    made = rows(xling, data, *JUDGED)
    assert 3 == made[0]["n"]
    assert "agrees with 10 given: 0.80 equal" in made[0]["source"]
    assert "1 of 10 questions have none (the judge's reply cannot be read" in made[0]["source"]
    assert len(SAID) + 1 + labelled_in("en", "hi") == judge.requests


def test_a_judge_that_fails_in_the_middle(xling: Xling, judge: OpenaiServer) -> None:
    """Is an error, and no table of what it said; then only what is missing is asked."""
    judge.answers = answers_of(SAID | {"Who sings?": "[[401]]"})
    said = xling("table", "categories", "run-1", *JUDGED)
    assert (4, "") == (said.code, said.out)
    assert "401" in said.err
    judge.answers = answers_of(SAID)
    refused = judge.statuses["401"]
    rows(xling, "run-1", *JUDGED)
    assert refused
    assert len(SAID) + labelled_in("en", "hi") == judge.requests - refused


def test_one_category_and_none(xling: Xling, judge: OpenaiServer, data: str) -> None:
    """All in one category is no coefficient; no category at all is an error that says why."""
    blank = [Asked(id="a", language=code, question="", text="No.") for code in ("en", "hi")]
    make_run(xling.store, blank, metrics=("no_answer",), run_id="run-2")
    assert "there are none: no questions were asked" in (
        xling("table", "categories", "run-2", *JUDGED).err
    )
    assert 0 == judge.requests
    judge.answers = answers_of(dict.fromkeys(SAID, "food"))
    (row, *_) = rows(xling, "run-1", *JUDGED)
    assert (None, "all questions of the set are in one category") == (
        row["coefficient"],
        row["reason"],
    )
    judge.answers = answers_of(dict.fromkeys(SAID, "Well."))
    said = xling("table", "categories", data, *JUDGED, "--xling-param=category_llm.swap=1")
    assert "'category_llm' has no parameter 'swap'" in said.err
    params = "--xling-param=category_llm.max_tokens=99"  # another annotator: all is asked anew
    said = xling("table", "categories", data, *JUDGED, params)
    assert (4, "") == (said.code, said.out)
    assert "there are none; 10 of 10 questions have none (the judge's reply cannot" in said.err


def test_mistakes(xling: Xling, judge: OpenaiServer, data: str) -> None:
    """Are told before anybody is asked."""
    for arguments, message in {
        ("run-1", "--judged"): "--judged asks a judge: name one with --xling-judge=MODEL",
        ("run-1", JUDGED[1]): "--xling-judge means nothing without --judged",
        ("run-9", *JUDGED): "has no run 'run-9'",
        ("run-1", "--benchmark=x", *JUDGED): "has no benchmark 'x'",
        ("run-1", "--judged", "--xling-judge=transcript:a.jsonl"): "has only answers",
        ("run-1", *JUDGED, "--xling-max-cost=1"): "needs the price of 'openai:sorter'",
    }.items():
        said = xling("table", "categories", *arguments)
        assert (4, "") == (said.code, said.out)
        assert message in said.err
    assert "--judged means nothing to the table sets" in xling("table", "sets", "r", *JUDGED).err
    Path(data, "en.jsonl").write_text('{"id": "1"}\n', encoding="utf-8")
    assert "en.jsonl:1: " in xling("table", "categories", data, *JUDGED).err
    assert 0 == judge.requests


def test_labels_of_ones_own_go_first(xling: Xling, judge: OpenaiServer, tmp_path: Path) -> None:
    """``xling calibrate category`` measures on questions alone; the table says what it found."""
    lines = ["language,question,label,rater"]
    lines += [f"en,{question},{SAID[question]},ana" for question in QUESTIONS["en"][1:]]
    lines += ["en,What feeds a camel?,Geography,ana"]
    labels = tmp_path / "ours.csv"
    labels.write_text("\n".join(lines), encoding="utf-8")
    calibrated = ("calibrate", "category", JUDGED[1], f"--labels={labels}")
    measured = json.loads(xling(*calibrated, "--json", code=0).out)[-1]
    assert ("en", "all", 4, 0.75) == tuple(
        measured[key] for key in ("language", "label", "n", "accuracy")
    )
    assert "category_llm" in xling(*calibrated).out
    assert 4 == judge.requests
    source = rows(xling, "run-1", *JUDGED)[0]["source"]
    assert "κ on labelled questions: en 0.69 (n=4), hi 1.00 (n=24)" in source
    assert "asks a judge: name one with --xling-judge" in xling("calibrate", "category").err
