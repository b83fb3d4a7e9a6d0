"""``--xling-estimate`` for a provider that costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.project import TEST_FILE, Project, write_questions

if TYPE_CHECKING:
    from pathlib import Path


def _project(root: Path) -> Project:
    project = Project(root)
    project.write("pytest.ini", "[pytest]\n")
    project.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\n')
    project.write("benchmarks/bread/test_bread.py", TEST_FILE)
    write_questions(project)
    return project


def test_a_free_model_has_no_cost_even_with_a_price(tmp_path: Path) -> None:
    """Nothing is made, asked or reckoned in US dollars."""
    project = _project(tmp_path)
    done = project.run(
        "--model=scripted", "--langs=hi", "--xling-estimate", "--xling-price=scripted=1,2"
    )
    assert 0 == done.code, done.err
    assert "Asking this model is free." in done.out
    assert "US$" not in done.out
    assert not project.store.exists()
