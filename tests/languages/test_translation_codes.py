"""The translators' codes, against the lists that transformers ships and our own aliases."""

from __future__ import annotations

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.languages import (
    codes,
    find,
    languages_named,
    translation_code,
    translation_languages,
)


def _of_transformers(family: str) -> set[str]:
    pytest.importorskip("sentencepiece")
    if family == "nllb":
        nllb = pytest.importorskip("transformers.models.nllb.tokenization_nllb")
        return set(nllb.FAIRSEQ_LANGUAGE_CODES)
    if family == "mbart50":
        mbart = pytest.importorskip("transformers.models.mbart50.tokenization_mbart50")
        return set(mbart.FAIRSEQ_LANGUAGE_CODES)
    m2m100 = pytest.importorskip("transformers.models.m2m_100.tokenization_m2m_100")
    return set(m2m100.FAIRSEQ_LANGUAGE_CODES["m2m100"])


@pytest.mark.parametrize("family", ["nllb", "m2m100", "mbart50"])
def test_every_code_is_one_the_tokenizer_has_and_none_is_forgotten(family: str) -> None:
    """What transformers lists under a code or alias of ours is in the table, once, and no more."""
    listed = _of_transformers(family)
    ours = {code: translation_code(family, code) for code in translation_languages(family)}  # type: ignore[arg-type]  # a literal
    given = [code for code in ours.values() if code is not None]
    assert set(given) <= listed
    assert len(set(given)) == len(given)
    for language, code in ours.items():
        if code is not None:
            assert find(language).english_name.startswith(find(code[:3].rstrip("_")).english_name)
    shared = {"twi_Latn", "ns"}  # goes by aka_Latn; is no tag
    for code in listed - shared - set(given):
        assert ours[find(find(code).base).code] is not None, code


def test_scripts_are_those_our_data_is_written_in() -> None:
    """NLLB's codes name a script: ours, where one language has several."""
    named = {"Hang": "Kore", "Hans": "Hans"}
    for language in codes():
        if code := translation_code("nllb", language):
            script = code.partition("_")[2]
            assert named.get(script, script) == find(language).script, language


@pytest.mark.parametrize(
    ("code", "nllb", "m2m100", "mbart50"),
    [
        ("hi", "hin_Deva", "hi", "hi_IN"),
        ("zh", "zho_Hans", "zh", "zh_CN"),
        ("es", "spa_Latn", "es", "es_XX"),
        ("en", "eng_Latn", "en", "en_XX"),
        ("sw", "swh_Latn", "sw", "sw_KE"),
        ("fa", "pes_Arab", "fa", "fa_IR"),
        ("te", "tel_Telu", None, "te_IN"),
        ("fj", "fij_Latn", None, None),
        ("to", None, None, None),
    ],
)
def test_codes_typed_in_again_by_hand(
    code: str, nllb: str | None, m2m100: str | None, mbart50: str | None
) -> None:
    """From the papers' tables."""
    assert (nllb, m2m100, mbart50) == (
        translation_code("nllb", code),
        translation_code("m2m100", code),
        translation_code("mbart50", code),
    )


def test_how_many_languages_each_family_has() -> None:
    """Of our 51; Afar, Balochi, Hiligaynon and Tongan have no translator of these."""
    have = [set(translation_languages(f)) for f in ("nllb", "m2m100", "mbart50")]
    assert [47, 41, 32] == [len(each & set(codes())) for each in have]
    assert [201, 99, 52] == [len(each) for each in have]
    assert {"aa", "bal", "hil", "to"} == set(codes()) - set(translation_languages("nllb"))


def test_other_spellings_and_unknown_languages() -> None:
    """Aliases do; what is no language is a mistake."""
    assert "hin_Deva" == translation_code("nllb", "Hindi")
    with pytest.raises(ConfigError, match="gibberish"):
        translation_code("nllb", "gibberish")


def test_languages_without_a_code_have_none_and_regional_ones_their_base() -> None:
    """No family has Klingon; Brazil's Portuguese is Portuguese, Taiwan's Chinese has its own."""
    assert translation_code("nllb", "tlh") is None
    assert "por_Latn" == translation_code("nllb", "pt-BR")
    assert ("zho_Hant", "zho_Hans") == (
        translation_code("nllb", "zh-TW"),
        translation_code("nllb", "zh"),
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hi", {"hi"}),
        ("hin", {"hi"}),
        ("cmn_Hans", {"zh"}),
        ("es_AR", {"es"}),
        ("inc", {"bn", "gu", "hi", "pa", "ur"}),
        ("ROMANCE", {"es", "fr", "it", "pt", "ro"}),
        ("fr+es", {"es", "fr"}),
        ("bat", set()),
        ("", set()),
    ],
)
def test_what_opus_models_mean_by_a_name(name: str, expected: set[str]) -> None:
    """Codes of two and three letters, regions, groups of ISO 639-5, and several at once."""
    assert expected == languages_named(name)


def test_groups_hold_only_languages_of_ours() -> None:
    """The widest group has nearly all of them."""
    assert set(codes()) - {"aa", "bal"} == languages_named("mul")
    for group in ("ine", "afa", "map", "dra", "sla", "nic"):
        assert languages_named(group) <= set(codes())
