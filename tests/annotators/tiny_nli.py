"""Make small random classifiers on the spot: the real libraries, no download."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BartConfig,
    BartForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
)

from pytest_xling.models.loading import quiet
from tests.encoders.tiny_models import SPECIAL, save_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from transformers import PretrainedConfig, PreTrainedModel

    from pytest_xling.keys import JsonValue

__all__ = ["MNLI", "TEXTS", "by_transformers", "make_bart", "make_nli", "set_config"]

MNLI = ("contradiction", "neutral", "entailment")
TEXTS = (
    "Hot water cures influenza, as everybody knows.",
    "There is no cure for it: drink water and rest.",
    "Nobody knows whether it helps; ask a doctor!",
    "El agua caliente no cura la gripe.",
    "热水不能治疗流感。",
    "गर्म पानी से फ्लू ठीक नहीं होता।",
)


def make_tokenizer(directory: Path, *, limit: int) -> int:
    """Write a tokenizer of pairs, its vocabulary from TEXTS; return the vocabulary's size."""
    normalizer, pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    known = normalizer.normalize_str(" ".join(TEXTS))
    words = {word for word, _ in pre_tokenizer.pre_tokenize_str(known)}
    letters = {*"abcdefghijklmnopqrstuvwxyz0123456789[]", *"".join(words)}
    # Not trained: which of two equally frequent pieces is taken, training leaves to chance.
    pieces = [*SPECIAL, *sorted(words | letters), *sorted(f"##{letter}" for letter in letters)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106  no password
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return save_tokenizer(tokenizer, directory, limit=limit)


def make_nli(
    directory: Path, labels: Sequence[str] = MNLI, *, seed: int = 3, positions: int = 64
) -> Path:
    """Write a random BERT with *labels*, and its tokenizer; this seed's gives all three."""
    directory.mkdir(parents=True, exist_ok=True)
    config = BertConfig(
        vocab_size=make_tokenizer(directory, limit=positions),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.3,  # so that texts differ as they do with a trained one
    )
    return save(directory, lambda: BertForSequenceClassification(config), config, labels, seed=seed)


def make_bart(directory: Path) -> Path:
    """Write a random BART, which reads premise and hypothesis and then decodes them."""
    directory.mkdir(parents=True, exist_ok=True)
    config = BartConfig(
        vocab_size=make_tokenizer(directory, limit=64),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        init_std=0.5,
    )
    return save(directory, lambda: BartForSequenceClassification(config), config, MNLI)


def save(
    directory: Path,
    make: Callable[[], PreTrainedModel],
    config: PretrainedConfig,
    labels: Sequence[str],
    *,
    seed: int = 0,
) -> Path:
    """Write a random model whose outputs are called *labels*."""
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(seed)
        make().save_pretrained(directory)
    return directory


def set_config(directory: Path, **settings: JsonValue) -> Path:
    """Write other settings into config.json; None takes one out."""
    path = directory / "config.json"
    config = {**json.loads(path.read_text(encoding="utf-8")), **settings}
    kept = {key: value for key, value in config.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")
    return directory


@cache
def _loaded(directory: Path) -> tuple[Any, Any]:
    """Return transformers' tokenizer and classifier."""
    with quiet():
        classifier: Any = AutoModelForSequenceClassification.from_pretrained(directory)
        return AutoTokenizer.from_pretrained(directory), classifier.eval()


def by_transformers(directory: Path, premise: str, hypothesis: str) -> dict[str, float]:
    """Return the probabilities transformers gives for one pair on its own, cut to its limit."""
    tokenizer, classifier = _loaded(directory)
    inputs = tokenizer(premise, hypothesis, truncation="only_first", return_tensors="pt")
    with torch.inference_mode():
        row = classifier(**inputs).logits[0].softmax(-1).tolist()
    return {classifier.config.id2label[place].lower(): value for place, value in enumerate(row)}
