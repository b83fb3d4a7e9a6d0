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
def test_they_are_asked_and_judged_as_far_as_they_can_be(everywhere: Project) -> None:
    """Right answers pass; English ones are wrong where somebody can tell; on workers, too.

    Commands show the run where the benchmark that declares a language is gone.
    """
    asked = "--langs=sv,Amharic,yue,elvish"
    outcome = everywhere.run("--model=scripted", asked, code=0)
    assert {f"test_answer[q0000-{code}]" for code in ASKED} <= outcome.cases.keys()
    script = everywhere.script(
        "rules:\n  - text: Bread rises because yeast makes gas in the warm dough all night.\n"
    )
    everywhere.run(script, asked, "-n2")
    wrong = {s.language: (s.value, s.reason) for s in everywhere.scores() if "wrong" in s.metric}
    assert {"sv": 1.0, "am": 1.0, "yue": None, "x-elvish": None} == {
        code: value for code, (value, _) in wrong.items()
    }
    for code, why in {
        "sv": "expected Swedish (sv)",
        "am": "written in Latin letters",
        "yue": "no identifier has been measured on Cantonese",
        "x-elvish": "declares no identifier for Elvish",
    }.items():
        assert why in wrong[code][1]
    everywhere.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\n')
    for command in (("show", "latest", "--verbose"), ("runs",), ("report", "latest", "-o", "r")):
        everywhere.xling(*command, code=0)
