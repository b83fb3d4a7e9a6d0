"""Translation models of the `hf` provider: told their languages as transformers would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.engine.models import check_translates
from pytest_xling.errors import ConfigError
from pytest_xling.providers.hf import HfProvider
from pytest_xling.providers.hf.files import ModelFiles
from pytest_xling.providers.hf.translation import opus_pair, opus_targets
from pytest_xling.records import Request, Response

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from transformers import (  # noqa: E402  only where torch is
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    M2M100Tokenizer,
    T5Config,
    T5ForConditionalGeneration,
)

from tests.providers import hf_models  # noqa: E402
from tests.providers.hf_asking import answers, ask, asking, fault  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.keys import JsonValue

_TEXTS = ["the cat sat on the mat", "water", "a dog ran", "el gato come pan y agua en la casa"]
_LABELS = (">>fra<<", ">>spa<<", ">>hin<<", ">>cmn_Hant<<", ">>cmn_Hans<<", ">>yue<<")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One model of each family."""
    base = tmp_path_factory.mktemp("translators")
    return {
        "nllb": hf_models.nllb(base / "nllb"),
        "m2m100": hf_models.m2m100(base / "m2m100"),
        "small100": hf_models.m2m100(base / "small100", tokenizer_class="SMALL100Tokenizer"),
        "mbart50": hf_models.mbart50(base / "mbart50"),
        "opus": hf_models.marian(base / "opus-mt-en-es", source="en", target="es"),
        "opus-multi": hf_models.marian(
            base / "opus-mt-en-mul", source="en", target="mul", labels=_LABELS
        ),
    }


def _request(text: str, source: str = "en", target: str = "es", **params: JsonValue) -> Request:
    languages = {"source_language": source, "target_language": target}
    return asking(text, **{"max_tokens": 10, **languages, **params})


def _texts(folder: Path, requests: Sequence[Request]) -> list[str | None]:
    return [answer.text for answer in answers(folder, requests)]


def _reference(
    folder: Path,
    tokenizer: Any,  # noqa: ANN401  of any family
    text: str,
    *,
    code: str,
    num_beams: int,
) -> str:
    """Return what transformers' own generate makes of one sentence, unpadded."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    model.generation_config.forced_eos_token_id = None
    start = 2 if code else 1
    made = model.generate(
        **tokenizer(text, return_tensors="pt"),
        forced_bos_token_id=tokenizer.convert_tokens_to_ids(code) if code else None,
        max_new_tokens=9 + start,
        num_beams=num_beams,
    )
    hidden = {*tokenizer.all_special_ids, *getattr(tokenizer, "id_to_lang_token", ())}
    kept = [t for t in made[0, start:].tolist() if t < len(tokenizer) and t not in hidden]
    return str(tokenizer.decode(kept)).strip()


_FAMILIES: dict[str, tuple[Any, str, dict[str, str], str, str]] = {
    "nllb": (AutoTokenizer, "hi", {"src_lang": "hin_Deva"}, "", "spa_Latn"),
    "m2m100": (M2M100Tokenizer, "hi", {"src_lang": "hi"}, "", "__es__"),
    "mbart50": (AutoTokenizer, "hi", {"src_lang": "hi_IN"}, "", "es_XX"),
    # Its card: the encoder is given the target's code, the decoder none.
    "small100": (M2M100Tokenizer, "hi", {"src_lang": "es"}, "", ""),
    # The pair needs no code; where there are several targets a label goes first.
    "opus": (AutoTokenizer, "en", {}, "", ""),
    "opus-multi": (AutoTokenizer, "en", {}, ">>spa<< ", ""),
}
"""Tokenizers, source languages, and what begins a text and its translation into Spanish."""


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses:UserWarning")
@pytest.mark.parametrize("family", _FAMILIES)
@pytest.mark.parametrize("num_beams", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_translation_is_that_of_transformers(
    folders: dict[str, Path], family: str, num_beams: int
) -> None:
    """Source and target codes are the family's; a batch gives what each sentence alone gives."""
    folder, (kind, source, options, label, code) = folders[family], _FAMILIES[family]
    tokenizer = kind.from_pretrained(folder, **options)
    expected = [
        _reference(folder, tokenizer, f"{label}{text}", code=code, num_beams=num_beams)
        for text in _TEXTS
    ]
    requests = [_request(text, source, num_beams=num_beams) for text in _TEXTS]
    assert expected == _texts(folder, requests)
    assert any(expected)


@pytest.mark.slow
def test_pairs_of_languages_do_not_mix(folders: dict[str, Path]) -> None:
    """Requests for several pairs, asked at once, are each told their own languages."""
    pairs = [("en", "es"), ("hi", "es"), ("en", "zh"), ("zh", "en")]
    requests = [_request(text, *pair) for text in _TEXTS[:2] for pair in pairs]
    together = _texts(folders["nllb"], requests)
    assert [_texts(folders["nllb"], [each])[0] for each in requests] == together
    assert len(set(together)) > 4


def test_sampling_has_a_seed_of_its_own_in_each_row(folders: dict[str, Path]) -> None:
    """What is drawn for a sentence does not depend on those beside it."""
    drawn = [_request(text, temperature=0.7, top_p=0.95, seed=7) for text in _TEXTS]
    company = [_request(f"{text} .") for text in _TEXTS]
    together = _texts(folders["nllb"], [*company, *drawn])[4:]
    assert [_texts(folders["nllb"], [each])[0] for each in drawn] == together
    others = [_request(text, temperature=0.7, top_p=0.95, seed=8) for text in _TEXTS]
    assert _texts(folders["nllb"], others) != together


@pytest.mark.parametrize(
    ("family", "source", "target", "said"),
    [
        ("nllb", "to", "en", "cannot read Tongan (to)"),
        ("nllb", "en", "aa", "cannot write Afar (aa)"),
        ("m2m100", "te", "en", "cannot read Telugu (te)"),
        ("small100", "en", "te", "cannot write Telugu (te)"),
        ("opus", "fr", "es", "cannot read French (fr). It can: en."),
        ("opus", "en", "fr", "cannot write French (fr). It can: es."),
        ("opus-multi", "en", "de", "It can: es, fr, hi, zh."),
    ],
)
def test_what_a_translator_lacks_is_named(
    folders: dict[str, Path], family: str, source: str, target: str, said: str
) -> None:
    """By its files alone, before it is asked, and where it is asked nevertheless."""
    provider = HfProvider(str(folders[family]), device="cpu")
    assert said in provider.why_not(source, target)
    with pytest.raises(ConfigError, match="--xling-translator: hf:"):
        check_translates(provider, [(source, target)])
    assert said in fault(folders[family], _request("water", source, target))


@pytest.mark.parametrize(
    ("family", "pair"),
    [
        ("nllb", ("hi", "en")),
        ("mbart50", ("hi", "en")),
        ("opus", ("en", "es")),
        ("opus-multi", ("en", "hi")),
    ],
)
def test_what_a_translator_can_is_known_before_it_is_asked(
    folders: dict[str, Path], family: str, pair: tuple[str, str]
) -> None:
    """Neither weights nor tokenizer are loaded."""
    provider = HfProvider(str(folders[family]), device="cpu")
    assert "" == provider.why_not(*pair)
    check_translates(provider, [pair])


def test_a_language_that_is_not_given_is_a_fault(folders: dict[str, Path]) -> None:
    """It names the parameter."""
    assert "source_language" in fault(folders["nllb"], _request("water", source=""))
    assert "target_language" in fault(folders["nllb"], _request("water", target=""))


def test_a_text_longer_than_the_model_reads_is_afault(folders: dict[str, Path]) -> None:
    """It is never cut silently; the others of its batch are translated."""
    long, short = ask(folders["nllb"], [_request("water " * 50), _request("water")])
    assert isinstance(short, Response)
    assert "reads 64 at most" in str(long)


def test_a_text_cannot_choose_the_language(folders: dict[str, Path]) -> None:
    """A label or a language's code inside the text is text."""
    for name, hostile in (
        ("opus-multi", ">>fra<< water"),
        ("opus", ">>fra<< water"),
        ("nllb", "fra_Latn water"),
    ):
        plain, label = answers(folders[name], [_request("water"), _request(hostile)])
        assert label.usage.prompt_tokens > plain.usage.prompt_tokens + 3


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "\udc80", "\x00", "水" * 20, "..."])
def test_hostile_sentences_are_translated(folders: dict[str, Path], text: str) -> None:
    """Whatever the sentence, every family gives text that can be encoded."""
    for folder in folders.values():
        for answer in _texts(folder, [_request(text), _request(text, temperature=5.0, seed=1)]):
            assert answer is not None
            answer.encode()


def test_other_sequence_to_sequence_models_are_refused(tmp_path: Path) -> None:
    """T5 has no codes of languages that we know."""
    config = T5Config(vocab_size=20, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    T5ForConditionalGeneration(config).save_pretrained(tmp_path / "t5")
    with pytest.raises(ConfigError, match=r"'t5'.*NLLB-200"):
        HfProvider(str(tmp_path / "t5")).check()


def _files(folder: Path, name: str, config: str, tokenizer: str = "{}") -> ModelFiles:
    folder.mkdir()
    (folder / "config.json").write_text(config)
    (folder / "tokenizer_config.json").write_text(tokenizer)
    return ModelFiles(path=folder, name=name)


@pytest.mark.parametrize(
    ("config", "tokenizer", "family"),
    [
        ('{"model_type": "m2m_100"}', '{"tokenizer_class": "NllbTokenizerFast"}', "nllb"),
        ('{"model_type": "m2m_100"}', "{}", "nllb"),
        ('{"model_type": "nllb-moe"}', "{}", "nllb"),
        (
            '{"model_type": "m2m_100", "encoder_layers": 12, "decoder_layers": 3}',
            '{"tokenizer_class": "M2M100Tokenizer"}',
            "small100",
        ),
        ('{"model_type": "mbart"}', '{"tokenizer_class": "MBart50TokenizerFast"}', "mbart50"),
        ('{"model_type": "marian"}', "{}", "opus"),
    ],
)
def test_families_are_told_apart_by_their_files(
    tmp_path: Path, config: str, tokenizer: str, family: str
) -> None:
    """NLLB, M2M-100 and SMaLL-100 share one type of model."""
    files = _files(tmp_path / "m", "m", config, tokenizer)
    assert family == files.family
    assert "translation" == files.style


@pytest.mark.parametrize(
    ("name", "tokenizer", "reads", "writes"),
    [
        ("x", '{"source_lang": "hin", "target_lang": "eng"}', {"hi"}, {"en"}),
        ("Helsinki-NLP/opus-mt-hi-en", "{}", {"hi"}, {"en"}),
        ("opus-mt-tc-big-dra-en", "{}", {"kn", "ml", "ta", "te"}, {"en"}),
        ("opus-mt-ROMANCE-en", "{}", {"es", "fr", "it", "pt", "ro"}, {"en"}),
        ("opus-mt-zh_cn+zh-de", "{}", {"zh"}, {"de"}),
        ("my-own", "{}", set(), set()),
    ],
)
def test_the_pair_of_an_opus_model(
    tmp_path: Path, name: str, tokenizer: str, reads: set[str], writes: set[str]
) -> None:
    """From its files, or else from its name; groups of languages are those of ISO 639-5."""
    files = _files(tmp_path / "m", name, '{"model_type": "marian"}', tokenizer)
    assert (frozenset(reads), frozenset(writes)) == opus_pair(files)


def test_the_label_of_our_own_script_goes_first() -> None:
    """Labels may be of two letters or three, with a script or a region, or of others' languages."""
    labels = [">>zho_Hant<<", ">>cmn_Hans<<", ">>zho<<", ">>pt_br<<", ">>pt<<", ">>swh<<", ">>xx<<"]
    assert {"zh": ">>zho<<", "pt": ">>pt<<", "sw": ">>swh<<"} == opus_targets(["▁a", *labels])
    assert {"zh": ">>cmn_Hans<<"} == opus_targets([">>cmn_Hant<<", ">>cmn_Hans<<"])
    assert {} == opus_targets(["▁a", "</s>"])
