"""Benchmarks beside everything else a test suite has, and what pytest itself can do with them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.integration.project import write_questions

if TYPE_CHECKING:
    from tests.integration.project import Project

ORDINARY = """
import pytest

@pytest.fixture(scope="module")
def numbers():
    return [1, 2, 3]

@pytest.mark.parametrize("number", [1, 2])
def test_plain(numbers, number):
    assert number in numbers

class TestPlain:
    def test_method(self, tmp_path):
        assert tmp_path.is_dir()

@pytest.mark.xfail(strict=True)
def test_expected():
    assert False

def test_broken():
    assert 1 == 2, "an ordinary failure"
"""
CLASSES = """
import pytest

@pytest.fixture(params=["short", "long"])
def size(request):
    return request.param

@pytest.fixture
def limit(size):
    return {"short": 5, "long": 10_000}[size]

@pytest.mark.xling(metrics=["no_answer", "answer_length"])
class TestAnswers:
    def test_something(self, xling_case):
        xling_case.check("no_answer")

    @pytest.mark.slow
    @pytest.mark.parametrize("factor", [1, 2])
    def test_length(self, xling_case, limit, factor, record_property):
        record_property("mine", xling_case.sample.language)
        length = xling_case.readings["answer_length"].value
        assert 0 < length <= limit * factor
        assert xling_case.response.text.startswith(("Why", "¿"))

    def test_gates(self, xling_gate):
        xling_gate.check()
"""
THRESHOLDS = """
defaults: {min_n: 1}
benchmarks:
  bread: {wrong_language: {max_rate: 0.98}}
  cakes: {no_answer: {max_rate: 0.9}}
"""


@pytest.fixture
def mixed(project: Project) -> Project:
    """Ordinary tests, a benchmark of functions and one of methods, in English and Spanish."""
    write_questions(project, count=2, languages=("en", "es"))
    for path in (project.benchmark / "data").glob("*.jsonl"):
        text = path.read_text(encoding="utf-8")
        if path.stem in {"en", "es"}:
            project.write(f"benchmarks/cakes/data/{path.name}", text.replace("q000", "cake"))
        else:
            path.unlink()
    project.write("benchmarks/cakes/prompts.yaml", 'chat: "{question}"\n')
    project.write("benchmarks/cakes/test_cakes.py", CLASSES)
    project.write("tests/test_plain.py", ORDINARY)
    project.write("thresholds.yaml", THRESHOLDS)
    project.write(
        "pytest.ini", "[pytest]\nmarkers = slow: takes long\naddopts = --strict-markers\n"
    )
    return project


@pytest.mark.slow
def test_all_of_it_in_one_run(mixed: Project) -> None:
    """Two benchmarks and ordinary tests: each keeps its outcome; an answer is shared by its tests.

    Methods, other fixtures, other parameters and properties of the user's own go together with
    xling_case, wherever pytest puts its id.
    """
    outcome = mixed.run("--model=scripted", "-n2", "-v", code=1)
    answers = [f"{n}-{language}" for n in (0, 1) for language in ("en", "es")]
    lengths = {
        f"test_length[{size}-cake{answer}-{factor}]": how
        for size, how in (("short", "failed"), ("long", "passed"))
        for answer in answers
        for factor in (1, 2)
    }
    first_wave = {
        **{f"test_answer[q000{answer}]": "passed" for answer in answers},
        **{f"test_something[cake{answer}]": "passed" for answer in answers},
        **lengths,
        "test_plain[1]": "passed",
        "test_plain[2]": "passed",
        "test_method": "passed",
        "test_expected": "skipped",
        "test_broken": "failed",
    }
    gates = {
        **{f"test_gate[wrong_language-{language}]": "passed" for language in ("en", "es")},
        **{f"test_gates[no_answer-{language}]": "passed" for language in ("en", "es")},
    }
    assert first_wave | gates == outcome.cases
    assert set(gates) == set([*outcome.cases][-len(gates) :])
    assert outcome.properties("test_length[long-cake1-es-2]")["mine"] == "es"
    found = Counter((answer.benchmark, answer.language) for answer in mixed.answers())
    assert {("bread", "en"): 2, ("bread", "es"): 2, ("cakes", "en"): 2, ("cakes", "es"): 2} == found
    assert {"no_answer", "answer_length"} == {
        score.metric for score in mixed.scores() if score.sample_id.startswith("cake")
    }
    # Whatever looks at a sample runs where its answers are.
    for sample in ("q0000", "q0001", "cake0", "cake1"):
        pattern = rf"^\[(gw\d)\] .*::test_\w+\[.*{sample}-"
        assert len(set(re.findall(pattern, outcome.out, flags=re.MULTILINE))) == 1


@pytest.mark.slow
def test_what_ordinary_tests_record_stays_with_them(mixed: Project) -> None:
    """As whoever reads it when the session ends expects; cases let go of what was reported."""
    mixed.write(
        "tests/test_noted.py", "def test_noted(record_property): record_property('mine', 1)\n"
    )
    mixed.write(
        "conftest.py",
        "def pytest_sessionfinish(session):\n"
        "    print('kept:', {item.name: item.user_properties for item in session.items})\n",
    )
    outcome = mixed.run("--model=scripted", "-k", "test_noted or test_something and cake0-en")
    assert "kept: {'test_something[cake0-en]': [], 'test_noted': [('mine', 1)]}" in outcome.out


@pytest.mark.slow
def test_markers_and_keywords_select(mixed: Project) -> None:
    """``-m xling`` is every benchmark, ``-m "not xling"`` none; what is left out is not asked."""
    benchmarks = mixed.run("--model=scripted", "-m", "xling and not slow", code=0)
    assert {"test_answer", "test_gate", "test_something", "test_gates"} == {
        name.partition("[")[0] for name in benchmarks.cases
    }
    assert len(mixed.answers()) == 8
    slow = mixed.run("--model=scripted", "-m", "slow", "-k", "long and cake1-es")
    assert {"test_length[long-cake1-es-1]", "test_length[long-cake1-es-2]"} == set(slow.cases)
    assert ["cake1-es"] == [answer.case_id for answer in mixed.answers()]
    assert slow.code == 3  # cakes has a limit, and none of its gates was selected
    assert "no gate of cakes was judged" in slow.out
    ordinary = mixed.run("--model=scripted", "-m", "not xling", "--deselect=tests/test_plain.py")
    assert ordinary.code == 5, ordinary.out  # pytest's "no tests collected"
    assert [] == mixed.answers()


def test_tests_that_cannot_be_scored_are_collection_errors(mixed: Project) -> None:
    """Each message says where and what to write; nothing is asked, of other benchmarks either."""
    marked = {
        "benchmarks/bread/test_bare.py": "pytest.mark.xling",
        "benchmarks/bread/test_none.py": "pytest.mark.xling(metrics=[])",
        "benchmarks/bread/test_unmarked.py": "[]",
        "tests/test_elsewhere.py": "pytest.mark.xling(metrics=['no_answer'])",
    }
    body = "def test_wrong(xling_case): xling_case.check('no_answer')\n"
    for path, marker in marked.items():
        mixed.write(path, f"import pytest\npytestmark = {marker}\n{body}")
    said = mixed.refused("--model=scripted", "-n0")
    for path in [*marked][:3]:
        assert f"{path}::test_wrong: nothing to score: limit metrics of bread" in said
    assert f"{mixed.root / 'tests'} is not a benchmark" in said
