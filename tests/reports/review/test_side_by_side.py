"""Several models' answers side by side: what is drawn, and the page they are rated on."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.analysis.ratings import parse_predictors, read_ratings
from pytest_xling.errors import ConfigError
from pytest_xling.reports.review import document
from pytest_xling.reports.review.document import review_page
from pytest_xling.reports.review.side_by_side import draw_side_by_side
from pytest_xling.store.database import Database
from pytest_xling.store.runs import get_run
from tests.reports.review.answers import (
    COMPARED,
    HOSTILE,
    page_data,
    put_compared,
    reviewed,
    saved_ratings,
)
from tests.runs import put_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.reports.review.document import Review
    from tests.reports.review.conftest import Rater


def draw(store: Path, runs: Sequence[str] = tuple(COMPARED), **options: Any) -> Review:
    """Draw questions from *store*: six in all languages, unless *options* say otherwise."""
    usual: dict[str, Any] = {"benchmark": None, "languages": (), "size": 6, "seed": 0}
    with closing(Database(store, create=False)) as database, database.read() as connection:
        records = [get_run(connection, run) for run in runs]
        return draw_side_by_side(connection, records, **usual | options)


def write(folder: Path, review: Review) -> Path:
    """Write the page of *review* and return its path."""
    path = folder / "r.html"
    path.write_text(review_page(review), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three models' answers to the same questions in two languages."""
    return put_compared(tmp_path / "s.sqlite", languages=("hi", "ar"))


def test_no_model_is_named(tmp_path: Path, store: Path) -> None:
    """Nor its run: neither as raters see the page, nor in its source."""
    page = write(tmp_path, draw(store))
    for name in (*COMPARED, *COMPARED.values(), "gpt", "claude", "opus", "mixtral"):
        assert name not in page.read_text(encoding="utf-8")
    (item, *_) = page_data(page)["items"]
    assert 3 == len({answer["model"] for answer in item["answers"]})
    assert all(re.fullmatch("model-[0-9a-f]{6}", each["model"]) for each in item["answers"])


def test_answers_are_shuffled_for_each_question(tmp_path: Path) -> None:
    """By the seed, not by the order of the runs; each model is as often at each place."""
    store = put_compared(tmp_path / "s.sqlite", questions=60)
    review = draw(store, size=60)
    items = review.document["items"]
    orders = {item["case"]: tuple(each["model"] for each in item["answers"]) for item in items}
    places = Counter(place for order in orders.values() for place in enumerate(order))
    assert [20] * 9 == list(places.values())
    assert 6 == len(set(orders.values()))
    assert items == draw(store, [*reversed(COMPARED)], size=60).document["items"]
    other = draw(store, size=60, seed=1)
    assert review.document["id"] != other.document["id"]
    assert any(
        orders[item["case"]] != tuple(each["model"] for each in item["answers"])
        for item in other.document["items"]
    )
    assert 1 == page_data(write(tmp_path, other))["seed"]


def test_questions_are_drawn_from_languages_and_sets(store: Path) -> None:
    """Evenly; with reference and set as the samples have them."""
    review = draw(store, size=4)
    assert {
        ("ar", "agnostic"): (3, 1),
        ("ar", "specific"): (3, 1),
        ("hi", "agnostic"): (3, 1),
        ("hi", "specific"): (3, 1),
    } == review.strata
    items = review.document["items"]
    assert 4 == len(items)
    assert all(bool(item["reference"]) == (item["set"] == "agnostic") for item in items)
    hindi = draw(store, languages=["hi"]).document["items"]
    assert {"hi"} == {item["language"] for item in hindi}


def test_what_a_run_did_not_answer_is_left_out(tmp_path: Path) -> None:
    """And counted: no text, or never asked."""
    store = put_compared(tmp_path / "s.sqlite", questions=4)
    told = [
        reviewed(
            id=f"q{number:02}",
            language="hi",
            readings={"answer_length": (1.0, "")},
            question=item["question"],
            text=None if number == 0 else "नहीं।",
            benchmark="culture",
        )
        for number, item in enumerate(
            sorted(draw(store, size=4).document["items"], key=lambda item: str(item["case"]))[:3]
        )
    ]
    put_run(store, told, run_id="run-4", model="model-4")
    review = draw(store, [*COMPARED, "run-4"])
    items = review.document["items"]
    assert {"q01-hi", "q02-hi"} == {item["case"] for item in items}
    assert 2 == review.left_out
    assert {4} == {len(item["answers"]) for item in items}


def test_one_run_alone(store: Path) -> None:
    """Has its answers rated."""
    items = draw(store, ["20261121-opus"]).document["items"]
    assert {1} == {len(item["answers"]) for item in items}


def test_texts_are_data(tmp_path: Path) -> None:
    """Whatever models wrote."""
    page = write(tmp_path, draw(put_compared(tmp_path / "s.sqlite", text=HOSTILE)))
    assert 2 == page.read_text(encoding="utf-8").count("<script")
    assert all(
        answer["text"].endswith(HOSTILE)
        for item in page_data(page)["items"]
        for answer in item["answers"]
    )


@pytest.mark.parametrize("asks", ["labels", "ratings"])
def test_the_parts_of_a_page_share_no_name(asks: str) -> None:
    """They are one scope, in which the later of two functions would silently win."""
    folder = Path(document.__file__).parent
    names = Counter(
        name
        for part in ("kept", "showing", asks, "review")
        for name in re.findall(
            r"^(?:async )?(?:function|const|let) (\w+)",
            (folder / f"{part}.js").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    assert names["blank"]
    assert [] == [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize(
    ("runs", "options", "told"),
    [
        (["latest", "20261121-mixtral"], {}, "run '20261121-mixtral' is named twice"),
        (["latest"], {"benchmark": "cultur"}, "Did you mean 'culture'?"),
        (["latest"], {"languages": ["zh"]}, "no question was answered in 'zh'"),
        (["latest", "other"], {}, "no benchmark in common"),
        (["both"], {}, "name one with --benchmark: culture, other"),
        (["both", "latest"], {}, "asks one question in run 'both' and another in"),
        (["empty"], {}, "no question of 'other' was answered in each"),
        (["latest"], {"size": 3}, "cannot hold one of each of 4 strata"),
    ],
)
def test_what_is_refused(store: Path, runs: list[str], options: dict[str, Any], told: str) -> None:
    """Says what is wrong and what would be right."""
    readings: dict[str, tuple[float | None, str]] = {"answer_length": (1.0, "")}
    one = reviewed(id="q00", language="hi", readings=readings, question="?", benchmark="culture")
    other = reviewed(id="q99", language="hi", readings=readings, benchmark="other")
    nothing = reviewed(id="q99", language="hi", readings=readings, benchmark="other", text=None)
    put_run(store, [one, other], run_id="both")
    put_run(store, [other], run_id="other")
    put_run(store, [nothing], run_id="empty")
    runs = ["20261121-mixtral" if run == "latest" else run for run in runs]
    with pytest.raises(ConfigError, match=re.escape(told)):
        draw(store, runs, **options)


@pytest.fixture
def page(tmp_path: Path, store: Path) -> Path:
    """The page on three models' answers."""
    return write(tmp_path, draw(store))


def test_ratings_are_saved(tmp_path: Path, page: Path, rater: Rater) -> None:
    """By keys alone, in rows that `xling ratings` reads; ranks change places."""
    rater.open(page)
    assert 3 == rater.page.locator("article").count()
    rater.page.fill("#rater", "आना")
    rater.press("Escape", *"4lfob", *"a2llfffob", *"a5lfooob", "r")
    rater.page.keyboard.type("अच्छा 1 b")
    rater.press("Escape", "w")
    rater.page.keyboard.type("1 a")
    rater.page.check("#rank-2-1")
    assert rater.page.is_checked("#rank-0-3")
    assert "1 of 6 rated" == rater.page.inner_text("#count")
    rater.press("n", "3")
    with rater.page.expect_download() as download:
        rater.page.click("#save")
    assert "ratings-culture-आना.jsonl" == download.value.suggested_filename
    rater.is_told("Begun, but not complete: 1.")
    path = tmp_path / "a.jsonl"
    download.value.save_as(path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    data = page_data(page)
    mimicked = saved_ratings(data, "आना")
    assert [list(row) for row in mimicked[:6]] == [list(row) for row in rows]
    for key in (
        *("review", "question", "language", "set", "annotator", "model", "position", "seed"),
        "digest",
    ):
        assert [row[key] for row in mimicked[:6]] == [row[key] for row in rows]
    said = ("rating", "correct_language", "factual", "omissions", "rank", "text", "rank_reason")
    assert [
        (4, "yes", "none", "none", 3, "", "1 a"),
        (2, "partly", "major", "none", 2, "", "1 a"),
        (5, "yes", "none", "major", 1, "अच्छा 1 b", "1 a"),
        (3, None, None, None, None, "", ""),
    ] == [tuple(row[key] for key in said) for row in rows[:4]]
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:3]))
    ratings = read_ratings([path], predictors=parse_predictors("model"))
    assert [4, 2, 5] == [rating.value for rating in ratings]


def test_ratings_are_kept_and_loaded_elsewhere(
    tmp_path: Path,
    page: Path,
    rater: Rater,
    browser: Any,  # noqa: ANN401  playwright's
) -> None:
    """With all that was said; what is wrong in a file is passed over, and others' refused."""
    data = page_data(page)
    rows = saved_ratings(data, "Ana")
    rows[0]["rating"], rows[1]["factual"], rows[2]["rank"] = 6, "no", "<b>"
    saved = tmp_path / "a.jsonl"
    saved.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    rater.open(page)
    rater.page.set_input_files("#load", saved)
    rater.is_told("Loaded 5 ratings of Ana")
    rater.page.reload()
    rater.is_told("This browser has kept 5 of your ratings.")
    assert "अच्छा" == rater.page.input_value("#text-0")
    assert 0 == rater.page.locator("article:first-of-type input[name=rating-0]:checked").count()
    other = browser.new_context()
    rater.page = other.new_page()
    rater.open(page)
    for wrong, said in (
        ({"review": "0"}, "holds the ratings of another review (benchmark culture)"),
        ({"review": None}, "is no file of ratings"),
    ):
        saved.write_text("".join(json.dumps(row | wrong) + "\n" for row in rows))
        rater.page.set_input_files("#load", saved)
        rater.is_told(said)
    other.close()


def test_arabic_is_read_from_the_right(page: Path, rater: Rater) -> None:
    """Question and answers."""
    rater.open(page)
    rater.page.select_option("#language", "ar")
    directions = "all => all.map(one => getComputedStyle(one).direction)"
    assert {"rtl"} == set(rater.page.eval_on_selector_all(".text", directions))
    rater.page.select_option("#language", "hi")
    assert {"ltr"} == set(rater.page.eval_on_selector_all(".text", directions))
