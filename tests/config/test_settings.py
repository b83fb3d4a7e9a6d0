"""Settings are settled by precedence, and every mistake names its place."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.config.options import OPTIONS
from pytest_xling.config.settings import Settings, locate_thresholds, resolve
from pytest_xling.config.thresholds import ThresholdFile, read
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES = {"hi": "hi", "hindi": "hi", "zh": "zh", "he": "he", "iw": "he", "no": "no"}


def _code(name: str) -> str:
    if name not in CODES:
        msg = f"unknown language {name!r}."
        raise ConfigError(msg)
    return CODES[name]


def _nothing(_: str) -> object:
    return None


def _file(folder: Path, run: str) -> ThresholdFile:
    path = folder / "thresholds.yaml"
    path.write_text(f"run:\n  {run}\n", encoding="utf-8")
    return read(path, benchmarks=(), metrics={}, language_code=_code)


def _resolve(
    folder: Path,
    *,
    cli: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    ini: Mapping[str, object] | None = None,
    file: ThresholdFile | None = None,
) -> Settings:
    return resolve(
        {"xling_model": "m"} | dict(cli or {}),
        environ or {},
        dict(ini or {}).get,
        thresholds_file=file,
        rootdir=folder / "root",
        language_code=_code,
        cwd=folder,
    )


def test_defaults(tmp_path: Path) -> None:
    """With only a model, everything else has its documented default."""
    expected = Settings(
        model="m",
        languages="all",
        data={},
        thresholds=None,
        store=tmp_path / "root/.xling/store.sqlite",
        run_name=None,
        samples=None,
        temperatures=None,
        limit=None,
        seed=0,
        max_connections=None,
        max_cost_usd=None,
        price=None,
        max_tokens=2048,
        timeout_s=120.0,
        patience_s=120.0,
        estimate=False,
        device="auto",
        judge=None,
        translator=None,
        text_in="native",
        encoder="embedded",
        parameters={},
    )
    assert expected == _resolve(tmp_path)


def test_precedence(tmp_path: Path) -> None:
    """Command line, then environment, then ini, then thresholds.yaml, then the default."""
    file = _file(tmp_path, "limit: 4")
    places: dict[str, Any] = {
        "cli": {"xling_limit": "1"},
        "environ": {"XLING_LIMIT": "2"},
        "ini": {"xling_limit": 3},
        "file": file,
    }
    limits = []
    while True:
        limits.append(_resolve(tmp_path, **places).limit)
        if not places:
            break
        places.pop(next(iter(places)))
    assert [1, 2, 3, 4, None] == limits


def test_every_option_from_every_place(tmp_path: Path) -> None:
    """Each option can be given on the command line, in the environment and in an ini file."""
    (tmp_path / "root").mkdir()
    for folder in (tmp_path, tmp_path / "root"):
        (folder / "d").mkdir()
        (folder / "t.yaml").touch()
    texts = {
        "model": "gpt",
        "langs": "hindi,iw,hi",
        "data": "culture=d",
        "thresholds": "t.yaml",
        "store": "s.sqlite",
        "run-name": "r",
        "samples": "3",
        "temperatures": "1,0.5",
        "limit": "7",
        "seed": "5",
        "max-connections": "9",
        "max-cost": "1.5",
        "price": "1,2",
        "max-tokens": "64",
        "timeout": "2.5",
        "patience": "9.5",
        "estimate": "1",
        "device": "cuda:0",
        "judge": "openai:gpt-4o",
        "judge-price": "3,4",
        "translator": "hf:nllb",
        "translator-price": "5,6",
        "text-in": "english",
        "encoder": "labse",
        "stance": "nli:xnli",
        "param": "bertscore.idf=true",
        "stop-early": "Pocock",
        "baseline": "base.json",
        "report": "report.html",
        "github": "on",
        "update-thresholds": "Force",
    }
    assert {entry.name for entry in OPTIONS} == set(texts)

    def expected(base: Path) -> Settings:
        return Settings(
            model="gpt",
            languages=("hi", "he"),
            data={"culture": base / "d"},
            thresholds=base / "t.yaml",
            store=base / "s.sqlite",
            run_name="r",
            samples=3,
            temperatures=(0.5, 1.0),
            limit=7,
            seed=5,
            max_connections=9,
            max_cost_usd=1.5,
            price=(1.0, 2.0),
            max_tokens=64,
            timeout_s=2.5,
            patience_s=9.5,
            estimate=True,
            device="cuda:0",
            judge="openai:gpt-4o",
            judge_price=(3.0, 4.0),
            translator="hf:nllb",
            translator_price=(5.0, 6.0),
            text_in="english",
            encoder="labse",
            stance="nli:xnli",
            parameters={"bertscore.idf": True},
            stop_early="pocock:10",
            baseline="base.json",
            report=base / "report.html",
            github="on",
            update_thresholds="force",
        )

    raw: dict[str, Any] = {entry.dest: texts[entry.name] for entry in OPTIONS}
    raw |= {"xling_data": [texts["data"]], "xling_estimate": True}
    raw |= {"xling_param": [texts["param"]]}
    environ = {entry.env: texts[entry.name] for entry in OPTIONS}
    ini = raw | {"xling_samples": 3, "xling_max_cost": 1.5, "xling_timeout": 2.5}  # as pytest has
    nothing: dict[str, Any] = {"xling_model": None}
    assert expected(tmp_path) == _resolve(tmp_path, cli=raw)
    assert expected(tmp_path) == _resolve(tmp_path, cli=nothing, environ=environ)
    assert expected(tmp_path / "root") == _resolve(tmp_path, cli=nothing, ini=ini)


def test_run_block(tmp_path: Path) -> None:
    """The run block of thresholds.yaml takes YAML's own numbers and lists."""
    file = _file(
        tmp_path,
        "langs: [hindi, no]\n  temperatures: [1, 0.5]\n  samples: 2\n  price: [1, 2.5]\n"
        "  timeout: 3\n  max_tokens: 9\n  max_cost: 0.5\n  max_connections: 4\n  seed: 8",
    )
    settings = _resolve(tmp_path, file=file)
    assert ("hi", "no") == settings.languages
    assert (0.5, 1.0) == settings.temperatures
    assert (2, (1.0, 2.5), 3.0, 9) == (
        settings.samples,
        settings.price,
        settings.timeout_s,
        settings.max_tokens,
    )
    assert (0.5, 4, 8) == (settings.max_cost_usd, settings.max_connections, settings.seed)


def test_empty_means_not_given(tmp_path: Path) -> None:
    """CI sets absent variables to the empty text, pytest gives absent ini keys as one."""
    settings = _resolve(
        tmp_path,
        cli={"xling_data": [], "xling_estimate": False},
        environ={"XLING_LANGS": "", "XLING_SAMPLES": ""},
        ini={"xling_samples": "2", "xling_langs": "", "xling_data": []},
    )
    assert ("all", 2, {}, False) == (
        settings.languages,
        settings.samples,
        settings.data,
        settings.estimate,
    )


def test_several_data_paths_in_the_environment(tmp_path: Path) -> None:
    """They are separated as in PATH, and one place's data replaces another's."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    environ = {"XLING_DATA": os.pathsep.join(["x=a", "y=b"])}
    expected = {"x": tmp_path / "a", "y": tmp_path / "b"}
    assert expected == _resolve(tmp_path, environ=environ).data
    cli = {"xling_data": ["z=a"]}
    assert {"z": tmp_path / "a"} == _resolve(tmp_path, cli=cli, environ=environ).data


@pytest.mark.parametrize(
    ("place", "given", "expected"),
    [
        ("cli", {"xling_model": None}, "no model is given; say --xling-model=MODEL"),
        ("cli", {"xling_temperatures": "3"}, "--xling-temperatures: temperature 3 is out of range"),
        ("cli", {"xling_langs": ""}, "--xling-langs: no language is given"),
        ("cli", {"xling_langs": "hi,xx"}, "--xling-langs: unknown language 'xx'."),
        ("cli", {"xling_data": ["a=gone"]}, "--xling-data: no file or directory"),
        ("cli", {"xling_data": ["a=.", "a=.."]}, "--xling-data: 'a' is given twice"),
        ("cli", {"xling_data": ["a"]}, "--xling-data: 'a' is not NAME=PATH"),
        ("cli", {"xling_thresholds": "gone.yaml"}, "--xling-thresholds: no file"),
        ("environ", {"XLING_LANGS": "xx"}, "XLING_LANGS: unknown language 'xx'."),
        ("environ", {"XLING_SAMPLES": "0"}, "XLING_SAMPLES: 0 is out of range"),
        ("environ", {"XLING_ESTIMATE": "perhaps"}, "XLING_ESTIMATE: 'perhaps' is neither"),
        (
            "environ",
            {"XLING_LANG": "hi"},
            "XLING_LANG means nothing here. Did you mean 'XLING_LANGS'?",
        ),
        ("environ", {"XLING_": ""}, "XLING_ means nothing here."),
        ("ini", {"xling_limit": -1}, "ini xling_limit: -1 is out of range"),
        ("ini", {"xling_device": "tpu"}, "ini xling_device: 'tpu' is not a device"),
    ],
)
def test_mistakes_name_their_place(
    tmp_path: Path, place: str, given: Mapping[str, Any], expected: str
) -> None:
    """The message starts from where the mistake is to be mended."""
    places: dict[str, Any] = {place: given}
    with pytest.raises(ConfigError) as caught:
        _resolve(tmp_path, **places)
    assert expected in str(caught.value)


def test_ini_value_of_the_wrong_type(tmp_path: Path) -> None:
    """What pytest itself says of an ini value is passed on as our error."""

    def getini(name: str) -> object:
        return int("three") if name == "xling_samples" else None

    with pytest.raises(ConfigError, match="ini xling_samples: invalid literal"):
        resolve(
            {"xling_model": "m"},
            {},
            getini,
            thresholds_file=None,
            rootdir=tmp_path,
            language_code=_code,
        )


def test_foreign_variables_are_left_alone(tmp_path: Path) -> None:
    """Only names that start like ours are looked at."""
    environ = {"LANGS": "hi", "MY_XLING_MODEL": "x", "XLING_TEST_FAST": "1", "XLING_CI_X": "1"}
    assert "all" == _resolve(tmp_path, environ=environ).languages


def test_thresholds_in_the_root_directory_are_found(tmp_path: Path) -> None:
    """A thresholds.yaml in the root directory is used without being named, if there is one."""
    root = tmp_path / "root"
    root.mkdir()
    assert locate_thresholds({}, {}, _nothing, rootdir=root) is None
    (root / "thresholds.yaml").touch()
    assert root / "thresholds.yaml" == locate_thresholds({}, {}, _nothing, rootdir=root)
    assert root / "thresholds.yaml" == _resolve(tmp_path).thresholds


def test_record_is_json(tmp_path: Path) -> None:
    """A run's record can hold the settings, every field of them."""
    settings = _resolve(tmp_path, cli={"xling_langs": "hi,zh", "xling_data": ["a=."]})
    kept = json.loads(json.dumps(settings.as_json()))
    assert set(Settings.__slots__) == set(kept)
    assert (["hi", "zh"], {"a": str(tmp_path)}) == (kept["languages"], kept["data"])


def test_relative_to_where_the_command_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without cwd, the working directory counts for the command line."""
    monkeypatch.chdir(tmp_path)
    settings = resolve(
        {"xling_model": "m", "xling_store": "s"},
        {},
        _nothing,
        thresholds_file=None,
        rootdir=tmp_path / "root",
        language_code=_code,
    )
    assert Path.cwd() / "s" == settings.store


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("reports/r.html", r"--xling-report: no folder '.*reports'; make it"),
        (".", r"--xling-report: '.*' is a folder; name a file in it"),
    ],
)
def test_a_report_needs_its_folder(tmp_path: Path, named: str, expected: str) -> None:
    """Where the report could not be written in the end, nothing begins."""
    with pytest.raises(ConfigError, match=expected):
        _resolve(tmp_path, cli={"xling_report": named})
