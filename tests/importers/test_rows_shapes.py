"""Tables in the shapes of published benchmarks; their texts are made up for these tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from pytest_xling.config.option import Sources
from pytest_xling.config.settings import settle
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.planning.benchmark import open_benchmark
from pytest_xling.planning.plan import plan

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.planning.benchmark import Benchmark
    from pytest_xling.planning.plan import Case

HINDI = "दुकान में पाँच सेब थे और दो बिक गए; कितने बचे?"
SPANISH = "En la tienda había cinco manzanas y se vendieron dos; ¿cuántas quedan?"
SWAHILI = "Dukani kulikuwa na matofaa matano, mawili yakauzwa; yamebaki mangapi?"
OPTIONS = ("2", "3", "5", "7")
CHOICE = "{question}\\nA. {option_a}\\nB. {option_b}\\nC. {option_c}\\nD. {option_d}"


def _open(folder: Path, prompts: str, **data: Path) -> Benchmark:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prompts.yaml").write_text(prompts, encoding="utf-8")
    return open_benchmark(folder, data=data)


def _cases(benchmark: Benchmark, langs: str = "all") -> list[Case]:
    cli = {"xling_model": "scripted", "xling_langs": langs}
    settings = settle(
        Sources(
            cli=cli,
            environ={},
            rootdir=benchmark.folder,
            cwd=benchmark.folder,
            language_code=lambda name: find(name).code,
        )
    )
    return plan(benchmark, settings)


def _asked(benchmark: Benchmark, case: Case) -> str:
    return benchmark.prompts.messages(case.sample, "chat")[0].content


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)


def test_the_shape_of_mgsm(tmp_path: Path) -> None:
    """TSV without a head and without quoting; the n-th rows are one question."""
    folder = tmp_path / "sums"
    for code, text in (("hi", HINDI), ("es", SPANISH)):
        _write(folder / "tsv" / f"mgsm_{code}.tsv", f'{text}\t3\n"{text}\t4\n')
    benchmark = _open(
        folder,
        'chat: "{question}"\n'
        "data: {file: 'tsv/mgsm_{language}.tsv', header: false, quotes: false, question: 1,\n"
        "  reference: 2, pair: line}\n",
    )
    assert ("es", "hi") == benchmark.languages()
    cases = _cases(benchmark)
    assert ["q0001-es", "q0001-hi", "q0002-es", "q0002-hi"] == [case.id for case in cases]
    assert ["3", "3", "4", "4"] == [case.sample.reference for case in cases]
    assert [f'"{HINDI}'] == [_asked(benchmark, case) for case in cases[3:]]
    _write(folder / "tsv" / "mgsm_es.tsv", f"{SPANISH}\t3\n")
    with pytest.raises(ConfigError, match=r"mgsm_es\.tsv \(es\): 1, .*mgsm_hi\.tsv \(hi\): 2; add"):
        _cases(benchmark)


def test_the_shape_of_belebele(tmp_path: Path) -> None:
    """JSONL called like FLORES' languages; two columns make the id, and a passage is asked with."""
    folder = tmp_path / "reading"
    for code, text in (("hin_Deva", HINDI), ("spa_Latn", SPANISH)):
        rows = [
            {
                "link": "https://example.org/shop",
                "question_number": number,
                "flores_passage": f"{text} {number}",
                "question": text,
                **{f"mc_answer{n}": option for n, option in enumerate(OPTIONS, start=1)},
                "correct_answer_num": "2",
                "dialect": code,
                "ds": "2023-05-03",
            }
            for number in (1, 2)
        ]
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        _write(folder / "data" / f"{code}.jsonl", lines)
    benchmark = _open(
        folder,
        'chat: "{flores_passage}\\n{question}\\n1. {mc_answer1} 2. {mc_answer2}"\n'
        "data: {id: [link, question_number], reference: correct_answer_num}\n",
    )
    assert ("es", "hi") == benchmark.languages()
    cases = _cases(benchmark)
    assert 2 == len({case.sample.id for case in cases})
    assert f"{SPANISH} 1\n{SPANISH}\n1. 2 2. 3" == _asked(benchmark, cases[0])
    assert {"2"} == {case.sample.reference for case in cases}
    assert {"question", "flores_passage", "mc_answer1", "mc_answer2"} == {*cases[0].sample.prompt}
    assert {} == cases[0].sample.metadata


def _choice(text: str, **more: object) -> dict[str, Any]:
    options = dict(zip(("option_a", "option_b", "option_c", "option_d"), OPTIONS, strict=True))
    return {"question": text, **options, **more}


def test_the_shape_of_global_mmlu(tmp_path: Path) -> None:
    """Parquet in folders called like languages; the letter is the reference."""
    folder = tmp_path / "exam"
    for code, text in (("hi", HINDI), ("es", SPANISH)):
        row = _choice(
            text,
            sample_id="shop_keeping/test/0",
            subject="shop_keeping",
            answer="B",
            reference=None,
            cultural_sensitivity_label="CA",
            is_annotated=True,
        )
        _parquet(folder / "g" / code / "test-00000-of-00001.parquet", [row])
    benchmark = _open(
        folder,
        f'chat: "{CHOICE}"\n'
        "data:\n"
        "  file: g/{language}/test-00000-of-00001.parquet\n"
        "  id: sample_id\n"
        "  set: subject\n"
        "  reference: answer\n"
        "  label: cultural_sensitivity_label\n"
        "  annotated: is_annotated\n",
    )
    first, second = _cases(benchmark)
    assert (first.sample.id, "es", "hi") == (second.sample.id, *benchmark.languages())
    assert first.sample.id.startswith("shop_keeping_test_0_")
    assert f"{SPANISH}\nA. 2\nB. 3\nC. 5\nD. 7" == _asked(benchmark, first)
    metadata = {"set": "shop_keeping", "label": "CA", "annotated": "true"}
    assert ("B", metadata) == (first.sample.reference, first.sample.metadata)
    # A copy of it elsewhere, of one language, is read by the same columns.
    place = folder / "g" / "hi" / "test-00000-of-00001.parquet"
    with pytest.raises(ConfigError, match=r"00000-of-00001\.parquet: row 1: column 'language' "):
        _cases(_open(folder, (folder / "prompts.yaml").read_text(), exam=place))
    place = place.rename(tmp_path / "hin_Deva.parquet")
    cases = _cases(_open(folder, (folder / "prompts.yaml").read_text(), exam=place))
    assert ["hi"] == [case.sample.language for case in cases]


def test_the_shape_of_include(tmp_path: Path) -> None:
    """Parquet in folders called like languages in English; the right option goes by its number."""
    folder = tmp_path / "exam"
    for name, text in (("Hindi", HINDI), ("Swahili", SWAHILI)):
        row = _choice(text, language=name, country="–", domain="Shops", answer=1)
        _parquet(folder / name / "test.parquet", [row])
    benchmark = _open(
        folder,
        f'chat: "{CHOICE}"\n'
        "data: {file: '{language}/test.parquet', reference: answer, category: domain}\n",
    )
    assert ("hi", "sw") == benchmark.languages()
    first, second = _cases(benchmark)
    assert {"1"} == {first.sample.reference, second.sample.reference}
    assert {"category": "Shops"} == first.sample.metadata
    assert first.sample.id != second.sample.id


def test_a_hubs_data_set_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is one, too; its subsets are called like languages."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    hub = tmp_path / "exam" / "hub"
    configs = []
    for code, text in (("hi", HINDI), ("SW_KE", SWAHILI)):
        _parquet(hub / code / "test.parquet", [_choice(text, sample_id="s/1", answer="B")])
        configs.append(
            f"- config_name: {code}\n"
            f"  data_files:\n  - split: test\n    path: {code}/test.parquet\n"
        )
    _write(hub / "README.md", f"---\nconfigs:\n{''.join(configs)}---\n")
    benchmark = _open(
        tmp_path / "exam",
        f'chat: "{CHOICE}"\n'
        "data: {hub: hub, subset: '{language}', split: test, id: sample_id, reference: answer}\n",
    )
    assert ("hi", "sw") == benchmark.languages()
    first, second = _cases(benchmark)
    assert (first.sample.id, "B") == (second.sample.id, second.sample.reference)
    assert f"{SWAHILI}\nA. 2\nB. 3\nC. 5\nD. 7" == _asked(benchmark, second)
    assert ["no revision is named" in line for line in benchmark.notices(["hi"])] == [True]
    said = "data.hub: .*exam/hub cannot be read: .*check hub, subset, split and revision"
    wrong = (tmp_path / "exam" / "prompts.yaml").read_text().replace("split: test", "split: dev")
    with pytest.raises(ConfigError, match=said):
        _cases(_open(tmp_path / "exam", wrong))


@pytest.mark.parametrize("split", ["", "test"])
def test_a_data_set_on_disk(tmp_path: Path, split: str) -> None:
    """As save_to_disk writes it, with splits or without; Arrow alone reads it."""
    datasets = pytest.importorskip("datasets")
    rows = [{"question": HINDI, "lang": "hin_Deva"}, {"question": SPANISH, "lang": "spa"}]
    saved = datasets.Dataset.from_list(rows)
    if split:
        saved = datasets.DatasetDict({split: saved})
    saved.save_to_disk(tmp_path / "shop" / "saved")
    named = f", split: {split}" if split else ""
    prompts = f'chat: "{{question}}"\ndata: {{file: saved, language: lang{named}}}\n'
    benchmark = _open(tmp_path / "shop", prompts)
    assert ("es", "hi") == benchmark.languages()
    assert [SPANISH, HINDI] == [
        case.sample.prompt["question"]
        for case in sorted(_cases(benchmark), key=lambda c: c.sample.language)
    ]
    if split:
        with pytest.raises(ConfigError, match="has the splits test; say which"):
            _open(tmp_path / "shop", prompts.replace(named, "")).languages()
