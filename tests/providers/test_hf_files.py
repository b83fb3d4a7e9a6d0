"""Where the `hf` provider finds a model, and what it refuses before anything is loaded."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json
from pytest_xling.models import loading
from pytest_xling.providers.hf import HfProvider
from pytest_xling.providers.hf import files as _hf_files

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from huggingface_hub import constants  # noqa: E402  comes with transformers
from transformers import BertConfig, BertForMaskedLM, BertModel, LlamaModel  # noqa: E402

from tests.providers import hf_models  # noqa: E402
from tests.providers.hf_asking import asking  # noqa: E402
from tests.servers.hf_hub import COMMIT, serving_hub  # noqa: E402

_ROOT = Path(__file__).parents[2]
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_REQUEST = asking("Hi")


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    """A model that completes."""
    return hf_models.llama(tmp_path / "llama")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The hub's cache, empty, and no network."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def _cache(hub: Path, model: Path) -> Path:
    """Put someone/tiny into the hub's cache, as its client lays it out."""
    place = hub / "models--someone--tiny"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(_COMMIT)
    shutil.copytree(model, place / "snapshots" / _COMMIT)
    return place / "snapshots" / _COMMIT


def _refusal(spec: object) -> str:
    with pytest.raises(ConfigError) as caught:
        HfProvider(str(spec)).check()
    return str(caught.value)


def test_a_directory_with_a_model_is_taken(llama: Path) -> None:
    """Without a template it completes; the name is the folder's, wherever that lies."""
    provider = HfProvider(str(llama))
    provider.check()
    assert "completion" == provider.style
    assert "llama" == provider.identify(_REQUEST)["model"]


def test_a_template_may_stand_in_either_file(llama: Path) -> None:
    """As transformers 4 saved it, in tokenizer_config.json, or as 5 does, in its own."""
    place = llama / "tokenizer_config.json"
    hf_models.edit(place, chat_template="{{ messages }}")
    assert "chat" == HfProvider(str(llama)).style
    hf_models.edit(place, chat_template=None)
    assert "completion" == HfProvider(str(llama)).style
    (llama / "chat_template.jinja").write_text("{{ messages }}")
    assert "chat" == HfProvider(str(llama)).style


@pytest.mark.parametrize("spec", ["", " ", "./nowhere", "/no/such/folder", "~/no-such", "a/b/c"])
def test_a_directory_that_is_not_there_is_named(spec: str) -> None:
    """What looks like a path is not looked for on the hub; without a name it says how one looks."""
    named = f"hf:{spec}: there is no such directory" if spec.strip() else "hf:DIRECTORY"
    assert named in _refusal(spec)


def test_a_directory_without_a_model(tmp_path: Path) -> None:
    """No config.json; an adapter says what to do with it; what is no JSON is named."""
    assert "no config.json" in _refusal(tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    assert "adapter" in _refusal(tmp_path)
    for text in ("{", "[]"):
        (tmp_path / "config.json").write_text(text)
        assert str(tmp_path / "config.json") in _refusal(tmp_path)


@pytest.mark.parametrize("kind", [BertModel, BertForMaskedLM])
def test_an_encoder_cannot_write(tmp_path: Path, kind: type) -> None:
    """It is told apart by its architecture, and the message says where encoders go."""
    sizes: dict[str, Any] = {"vocab_size": 20, "hidden_size": 8, "intermediate_size": 8}
    config = BertConfig(num_hidden_layers=1, num_attention_heads=2, **sizes)
    kind(config).save_pretrained(tmp_path)
    hf_models.save_tokenizer(tmp_path)
    said = _refusal(tmp_path)
    assert kind.__name__ in said
    assert "--xling-param=encoder" in said


def test_a_decoder_without_its_head_cannot_write_either(llama: Path) -> None:
    """Embedding models are often made so."""
    LlamaModel.from_pretrained(llama).save_pretrained(llama)
    assert "LlamaModel" in _refusal(llama)


def test_weights_or_tokenizer_missing(llama: Path) -> None:
    """Each is said, with the names looked for; a download that broke off has left no model."""
    weights = llama / "model.safetensors"
    for elsewhere in ("elsewhere.safetensors", "model-00001-of-00002.safetensors"):
        weights.rename(llama / elsewhere)
        assert "no weights" in (said := _refusal(llama))
        assert "model.safetensors" in said
        (llama / elsewhere).rename(weights)
    (llama / "tokenizer.json").unlink()
    assert "no tokenizer" in _refusal(llama)


def test_missing_packages_name_the_install(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the error says what to type, and which torch is small."""
    monkeypatch.setattr(loading, "find_spec", lambda _name: None)
    said = _refusal(llama)
    assert "pip install 'pytest-xling[torch]'" in said
    assert "torch==2.13.0" in said


def test_the_first_choice_of_weights_is_safetensors() -> None:
    """Of several formats one is taken, with all its parts and nothing that is no weights."""
    shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    others = ["pytorch_model.bin", "training_args.bin", "model.fp16.safetensors", "config.json"]
    weight_files = _hf_files.ModelFiles.weight_files
    assert shards == weight_files([*others, *reversed(shards)])
    assert [] == weight_files(["tf_model.h5", "pytorch_model.bin", "other/model.safetensors"])


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin"])
def test_pickled_weights_are_refused(llama: Path, name: str) -> None:
    """By us, before torch is asked: reading a pickle may run any code; the fix is named."""
    (llama / "model.safetensors").rename(llama / name)
    (llama / name.replace("00001", "00002")).touch()
    assert f"only {name}, a pickle" in (refusal := _refusal(llama))
    assert "save_pretrained" in refusal


def test_a_name_is_looked_for_in_the_hubs_cache(offline: Path, llama: Path) -> None:
    """Without a network a cached model runs; its commit stands in the key."""
    _cache(offline, llama)
    provider = HfProvider("someone/tiny")
    provider.check()
    assert "completion" == provider.style
    identity = provider.identify(_REQUEST)
    assert ("someone/tiny", _COMMIT) == (identity["model"], identity["revision"])
    assert "sha256" not in identity
    pinned = HfProvider(f"someone/tiny@{_COMMIT}")
    pinned.check()
    assert identity == pinned.identify(_REQUEST)


def test_a_name_that_is_nowhere(offline: Path, llama: Path) -> None:
    """Offline, what is not in the cache is said to be so, whole or in part."""
    assert "HF_HUB_OFFLINE" in _refusal("someone/tiny")
    snapshot = _cache(offline, llama)
    (snapshot / "model.safetensors").unlink()
    assert "hf download someone/tiny" in _refusal("someone/tiny")
    (snapshot / "pytorch_model.bin").write_bytes(b"")
    assert "only pytorch_model.bin, a pickle" in _refusal("someone/tiny")
    assert "no name the hub could have" in _refusal("not a name!")


_FROM_HUB = """
import sys
from pytest_xling.errors import ConfigError
from pytest_xling.providers.hf import HfProvider
from tests.providers import asking

for spec in sys.argv[1:]:
    provider = HfProvider(spec, device="cpu")
    try:
        provider.check()
        print("checked", flush=True)
        request = asking.request("Hi", params={"max_tokens": 4})
        print(asking.ask(provider, request)[0].model_version)
        print(provider.identify(request)["revision"])
    except ConfigError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_model_comes_from_the_hub_settings_first(llama: Path, tmp_path: Path) -> None:
    """The check downloads no weights, the first request does; then the network is not needed."""
    with serving_hub("someone/tiny", llama) as (address, asked):
        told = os.environ | {
            "HF_ENDPOINT": address,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "1",
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", _FROM_HUB, "someone/tiny", "someone/tiny", "someone/else"],
            capture_output=True,
            text=True,
            check=False,
            cwd=_ROOT,
            env=told,
        )
    found = ["checked", f"someone/tiny@{COMMIT[:12]} float32 cpu", COMMIT]
    assert "" == done.stderr
    assert [*found, *found] == done.stdout.splitlines()[:6]
    assert "no model of the hub's" in done.stdout.splitlines()[6]
    weights = [path for path in asked if path.endswith(".safetensors")]
    assert weights
    settings = asked.index(next(path for path in asked if path.endswith("tokenizer.json")))
    assert settings < asked.index(weights[0])


def test_the_fingerprint_covers_weights_configuration_and_tokenizer(llama: Path) -> None:
    """SHA-256 over the files, reckoned here again; other files do not count."""
    files = _hf_files.ModelFiles(path=llama, name="llama")
    names = ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json"]
    names += ["tokenizer_config.json"]
    hashes = {n: hashlib.sha256((llama / n).read_bytes()).hexdigest() for n in names}
    expected = hashlib.sha256(canonical_json(hashes).encode()).hexdigest()
    assert expected == _hf_files.digest(files)
    (llama / "training_args.bin").write_bytes(b"x")
    (llama / "README.md").write_text("x")
    assert expected == _hf_files.digest(files)
    (llama / "chat_template.jinja").write_text("x")
    assert expected != _hf_files.digest(files)


def test_the_fingerprint_of_a_large_model_is_kept(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until a file changes nothing is read again; a damaged or unwritable cache costs only time."""
    monkeypatch.setattr(_hf_files, "_KEEP_FROM", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = _hf_files.ModelFiles(path=llama, name="llama")
    first = _hf_files.digest(files)
    (seal,) = (tmp_path / "cache" / "pytest-xling").iterdir()
    hf_models.edit(seal, sha256="kept")
    assert "kept" == _hf_files.digest(files)
    for damaged in ("", "[]", '{"state": 1}'):
        seal.write_text(damaged)
        assert first == _hf_files.digest(files)
    (llama / "config.json").write_text((llama / "config.json").read_text() + " ")
    assert first != _hf_files.digest(files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(llama / "config.json"))
    assert first != _hf_files.digest(files)
