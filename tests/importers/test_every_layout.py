"""What importers have in common, for every layout the registry has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling import registry
from pytest_xling.cli import main
from pytest_xling.errors import DataError
from pytest_xling.importers.rows import Rows
from pytest_xling.interfaces.importer import DataMap, Importer
from pytest_xling.planning.benchmark import importer_of
from tests.importers.foreign import FOREIGN

if TYPE_CHECKING:
    from pytest_xling.records import Sample

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = [
    ROOT / "benchmarks/culture/data",
    ROOT / "benchmarks/presupposition/data",
    ROOT / "../shared/data/calmqa",
    ROOT / "../shared/data/xlinghealth/LiveQA.xlsx",
    ROOT / "../shared/data/xlinghealth/MedicationQA.xlsx",
]
LAYOUTS = pytest.mark.parametrize("layout", registry.names("importer"))


def _read(path: Path) -> list[Sample]:
    importer = importer_of(path).mapped(DataMap(prompt=frozenset({"claim"})))
    return importer.read(path, benchmark="b", languages=importer.languages(path))


@LAYOUTS
def test_one_importer_recognises_it(layout: str, tmp_path: Path) -> None:
    """Tables are what no other one does."""
    path = FOREIGN[layout](tmp_path)
    importers: list[Importer] = [registry.load("importer", n)() for n in FOREIGN]
    claimed = {each.name for each in importers if each.recognises(path)}
    assert {layout} == (claimed - {"rows"} or claimed)
    assert layout == importer_of(path).name


@LAYOUTS
def test_samples_come_in_the_order_asked_for_and_once(layout: str, tmp_path: Path) -> None:
    """Language by language, in the name of the benchmark."""
    path = FOREIGN[layout](tmp_path)
    importer = importer_of(path)
    known = importer.languages(path)
    assert sorted(set(known)) == [*known]
    turned = [*known[::-1], *known]
    samples = importer.read(path, benchmark="b", languages=turned)
    assert [*known[::-1]] == [*dict.fromkeys(sample.language for sample in samples)]
    keys = [(sample.language, sample.id) for sample in samples]
    assert len(keys) == len(set(keys))
    assert {"b"} == {sample.benchmark for sample in samples}
    assert [] == importer.read(path, benchmark="b", languages=[])


@LAYOUTS
def test_a_language_without_questions_is_refused(layout: str, tmp_path: Path) -> None:
    """With those there are."""
    path = FOREIGN[layout](tmp_path)
    known = importer_of(path).languages(path)
    with pytest.raises(DataError, match=rf"There is data for: {', '.join(known)}$") as caught:
        importer_of(path).read(path, benchmark="b", languages=[*known, "fr"])
    assert "no question in 'fr'" in str(caught.value) or "fr.jsonl: no such" in str(caught.value)


def _check_import(path: Path, out: Path) -> None:
    """Every field of every sample is the same: so all content keys are."""
    assert 0 == main(["import", str(path), "--only=questions", "-o", str(out)])
    assert isinstance(importer_of(out), Rows)
    assert _read(path) == _read(out)


@LAYOUTS
def test_questions_are_the_same_when_imported(layout: str, tmp_path: Path) -> None:
    """Whatever a layout can hold."""
    _check_import(FOREIGN[layout](tmp_path), tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_published_questions_are_the_same_when_imported(path: Path, tmp_path: Path) -> None:
    """Of thousands, with all that is odd in them."""
    if not path.exists():
        pytest.skip("needs ../shared/data")
    _check_import(path, tmp_path / "out")
