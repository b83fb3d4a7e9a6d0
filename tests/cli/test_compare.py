"""``xling compare``, ``xling promote`` and ``xling gate --baseline`` on stored runs."""

from __future__ import annotations

import json
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.store.database import Database
from tests.runs import Asked, make_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Xling

METRICS = ("no_answer", "answer_length")


def _asked(flagged: int) -> list[Asked]:
    return [
        Asked(
            id=f"q{number}",
            language=language,
            question=f"{language} {number}?",
            text=None if language == "hi" and number < flagged else f"word {'and ' * (number % 3)}",
            stop_reason="content_filter" if language == "hi" and number < flagged else "stop",
        )
        for number in range(20)
        for language in ("en", "hi")
    ]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a good run, a bad one and one that was interrupted."""
    path = tmp_path_factory.mktemp("kept") / "store.sqlite"
    make = partial(make_run, path, metrics=METRICS)
    make(_asked(0), run_id="good")
    make(_asked(15), run_id="bad", model="model-2", created_at="2026-11-22T10:00:00")
    early = "2026-11-20T10:00:00"
    make(_asked(0)[:6], run_id="part", status="interrupted", created_at=early)
    return path


@pytest.fixture
def two(kept: Path, tmp_path: Path, xling: Xling, monkeypatch: pytest.MonkeyPatch) -> Xling:
    """The command on a copy of it, in a wide terminal."""
    monkeypatch.setenv("COLUMNS", "110")
    return xling.on(shutil.copy(kept, tmp_path / "store.sqlite"))


def test_a_table_of_changes(two: Xling) -> None:
    """What got worse is said to have, with its interval, q and n."""
    said = two("compare", "bad", "good", code=0)
    assert "run bad compared with run good of model-1" in said.out
    (line,) = [row for row in said.out.splitlines() if row.startswith("no_answer") and "hi" in row]
    assert "0.0%  75.0%  +75.0 pp worse" in line
    assert "< .001" in line
    assert "of 4 changes tested 1 worse, 0 better (q < .05)" in said.out
    assert "of 4 changes tested 0 worse, 1 better (q < .05)" in two("compare", "good", "bad").out


def test_json_has_every_number(two: Xling) -> None:
    """With p, q, Holm's p and the effect's size."""
    found = json.loads(two("compare", "bad", "good", "--json").out)
    rows = {(row["metric"], row["language"]): row for row in found["changes"]}
    row = rows["no_answer", "hi"]
    assert (0.0, 0.75, 0.75, 20, "risk_difference") == tuple(
        row[key] for key in ("then", "now", "change", "n", "effect")
    )
    assert row["worse"]
    assert row["found"]
    assert 0 < row["p"] < row["q"] <= row["p_holm"] < 0.05
    assert {"en", "hi"} == {row["language"] for row in found["changes"]}


def test_the_store_is_opened_once(two: Xling, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each metric of the baseline: all is read as the store is at one time."""
    opened: list[Database] = []
    as_usual = Database.__init__

    def noted(self: Database, *args: Any, **kwargs: Any) -> None:
        opened.append(self)
        as_usual(self, *args, **kwargs)

    monkeypatch.setattr(Database, "__init__", noted)
    two("compare", "bad", "good", code=0)
    assert 1 == len(opened)


def test_other_tests_say_the_same(two: Xling) -> None:
    """Silence in Hindi is found by all of them; none finds anything in English."""
    done = two("compare", "bad", "good", "--tests", "--margin=0.1")
    assert (
        "t (of shares the score test; gates use it), bootstrap over questions (BCa), flipping the"
        " signs of questions, and Wilcoxon's signed ranks." in " ".join(done.out.split())
    )
    assert 0 == done.code, done.err
    assert "Other tests" in done.out
    assert "no worse" in done.out
    found = json.loads(two("compare", "bad", "good", "--tests", "--margin=0.1", "--json").out)
    tests = {(c["metric"], c["language"]): c.get("tests") for c in found["changes"]}
    hindi, english = tests["no_answer", "hi"], tests["no_answer", "en"]
    assert all(hindi[p] < 0.001 for p in ("p_sign_flips", "p_wilcoxon")), hindi
    assert hindi["low"] > 0.4
    assert 1.0 == hindi["rank_biserial"]
    assert hindi["p_no_worse"] > 0.9
    assert english["p_sign_flips"] == 1.0
    assert "differences" not in found["changes"][0]


def test_incomplete_runs_are_told_of(two: Xling) -> None:
    """On both sides."""
    assert "run part is interrupted: only what it has is compared" in (
        two("compare", "part", "good").out
    )
    said = two("compare", "good", "part")
    assert "run part, to compare with, is interrupted" in said.out
    assert "part has only 3 of 20 questions, fewer than half" in said.out


def test_only_promote_moves_a_baseline(two: Xling) -> None:
    """It says what it replaces; the list has one run for each model and benchmark."""
    assert "No run is promoted" in two("promote", "--list").out
    first = two("promote", "good")
    assert (0, "model-1, culture: run good is the baseline, the first\n") == (first.code, first.out)
    assert "in place of good (20" in two("promote", "part", "--partial").out
    assert "model-2, culture: run bad is the baseline, the first" in two("promote", "latest").out
    listed = json.loads(two("promote", "--list", "--json").out)
    assert [("model-1", "culture", "part"), ("model-2", "culture", "bad")] == [
        (one["model"], one["benchmark"], one["run"]) for one in listed
    ]
    assert (
        "compared with promoted for model-2: culture bad" in two("compare", "good", "model-2").out
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["promote"], "name the run to promote, or say --list"),
        (["promote", "goood"], "Did you mean 'good'?"),
        (
            ["promote", "part"],
            "run part is no whole baseline: it is interrupted. Later runs would be compared with",
        ),
        (["promote", "good", "--benchmark", "cultur"], "Did you mean 'culture'? It has: culture"),
        (["promote", "good", "--list"], "--list changes nothing"),
        (["promote", "good", "--json"], "--json goes with --list"),
        (["compare", "good", "baad"], "no baseline 'baad'"),
        (["compare", "goood", "bad"], "Did you mean 'good'?"),
        (["compare", "bad", "good", "--margin=0.1"], "only with --tests"),
    ],
)
def test_mistakes_exit_with_4(two: Xling, arguments: list[str], said: str) -> None:
    """Each with the fix; nothing is promoted."""
    assert said in two(*arguments, code=4).err
    assert "No run is promoted" in two("promote", "--list").out


def test_an_incomplete_run_is_promoted_by_force(two: Xling) -> None:
    """Whoever says so knows."""
    said = two("promote", "part", "--force", "--benchmark", "culture")
    told = "model-1, culture: run part is the baseline, the first\nnote: it is interrupted\n"
    assert (0, told) == (said.code, said.out)


def test_gates_of_drops(two: Xling, tmp_path: Path) -> None:
    """With a baseline they are judged, without one said not to be; alone they need one."""
    path = tmp_path / "t.yaml"
    path.write_text("benchmarks:\n  culture:\n    no_answer: {max_drop: 0.1}\n", encoding="utf-8")
    alone = two("gate", "bad", "--thresholds", str(path), code=4)
    assert alone.err.rstrip().endswith("Its max_drop needs a --baseline")
    path.write_text(
        "defaults: {min_n: 10, on_inconclusive: warn}\nbenchmarks:\n  culture:\n"
        "    no_answer: {max_rate: 0.95, max_drop: 0.1}\n",
        encoding="utf-8",
    )
    without = two("gate", "bad", "--thresholds", str(path), code=0)
    assert "drops (max_drop) are not judged: no --baseline is named" in without.out
    judged = two("gate", "bad", "--thresholds", str(path), "--baseline", "good", code=1)
    assert "✗ no_answer drop hi" in judged.out
    assert "75.0 pp worse than good on 20 questions (drop's 95% interval" in judged.out
    half = two("gate", "good", "--thresholds", str(path), "--baseline", "part", "--json", code=1)
    verdicts = {one["case"]: one for one in json.loads(half.out)["verdicts"]}
    assert "error" == verdicts["no_answer-drop-hi"]["outcome"]
    assert "run part of model-1" == json.loads(half.out)["baseline"]


@pytest.mark.parametrize("columns", ["60", "80", "110"])
def test_tables_fit_the_terminal(two: Xling, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """What is needed least is left out; the change and its q stay."""
    monkeypatch.setenv("COLUMNS", columns)
    said = two("compare", "bad", "good").out
    (line,) = [row for row in said.splitlines() if row.startswith("no_answer") and " hi " in row]
    assert "+75.0 pp worse" in line
    assert "< .001" in line
    assert len(line) <= int(columns)
