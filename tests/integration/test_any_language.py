"""Languages outside the papers' table, and one of the project's own, from files to reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

ASKED = {
    "sv": "Varför jäser brödet när det gräddas i en het ugn, och varför blir det så mjukt inuti?",
    "am": "ዳቦ በጋለ ምድጃ ውስጥ ሲጋገር ለምን ይነፋል? ለምንስ ውስጡ ለስላሳ ይሆናል? እባክህ በዝርዝር አስረዳኝ።",
    "yue": "點解麵包擺入熱焗爐度焗嗰陣會發脹,而且入面會變得咁鬆軟㗎?",
    "x-elvish": "Mas i vassa tiuya ir nas lauca, ar manen nas musse mityave?",
}
OWN = "languages:\n  x-elvish: {name: Elvish, script: Latn}\n"


@pytest.fixture
def everywhere(project: Project) -> Project:
    """A project with a question in each of these languages beside the four of the others."""
    for code, question in ASKED.items():
        row = {"id": "q0000", "set": "agnostic", "category": "food", "source": "made up"}
        project.write_rows(f"benchmarks/bread/data/{code}.jsonl", [row | {"question": question}])
    project.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\n' + OWN)
    return project


@pytest.mark.slow
def test_swedish_and_amharic_are_asked_and_told(everywhere: Project) -> None:
    """Right answers pass; English ones to both are wrong, and the reason names the language."""
    outcome = everywhere.run("--model=scripted", "--langs=sv,Amharic")
    assert outcome.code == 0, outcome.out + outcome.err
    assert {"test_answer[q0000-sv]", "test_answer[q0000-am]"} <= outcome.cases.keys()
    script = everywhere.script(
        "rules:\n  - text: Bread rises because yeast makes gas in the warm dough all night.\n"
    )
    everywhere.run(script, "--langs=sv,am")
    wrong = {s.language: (s.value, s.reason) for s in everywhere.scores() if "wrong" in s.metric}
    assert {"sv": 1.0, "am": 1.0} == {code: value for code, (value, _) in wrong.items()}
    assert "expected Swedish (sv)" in str(wrong["sv"])
    assert "written in Latin letters" in str(wrong["am"])


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "xdist"])
def test_a_language_nobody_identifies_has_no_value_and_a_reason(
    everywhere: Project, workers: tuple[str, ...]
) -> None:
    """One that was not measured, and one of the project's own, also on workers."""
    outcome = everywhere.run("--model=scripted", "--langs=yue,elvish", *workers)
    assert {"test_answer[q0000-yue]", "test_answer[q0000-x-elvish]"} <= outcome.cases.keys()
    wrong = {s.language: (s.value, s.reason) for s in everywhere.scores() if "wrong" in s.metric}
    assert {"yue": None, "x-elvish": None} == {code: value for code, (value, _) in wrong.items()}
    assert "no identifier has been measured on Cantonese" in str(wrong["yue"])
    assert "declares no identifier for Elvish" in str(wrong["x-elvish"])


@pytest.mark.slow
def test_commands_show_a_run_in_a_language_they_do_not_know(everywhere: Project) -> None:
    """The benchmark that declares it may be gone."""
    everywhere.run("--model=scripted", "--langs=sv,x-elvish")
    everywhere.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\n')
    for command in (("show", "latest", "--verbose"), ("runs",), ("report", "latest", "-o", "r")):
        done = everywhere.xling(*command)
        assert done.returncode == 0, done.stdout + done.stderr
