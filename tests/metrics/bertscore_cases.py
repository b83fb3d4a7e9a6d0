"""A small encoder and sets of answers, for the tests of BERTScore."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_xling.records import AnswerSet
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORDS = "drink water and rest see doctor if fever lasts three days 水 休息 पानी आराम ."


def make_model(folder: Path, *, broken: bool = False) -> None:
    """Write a small BERT with random weights into *folder*, whole words as tokens.

    Args:
        folder: exists.
        broken: whether it gives NaN.
    """
    import torch  # noqa: PLC0415  an extra
    from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: PLC0415  as above
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: PLC0415

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = {word: number for number, word in enumerate([*special, *WORDS.split()])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))  # noqa: S106  a token of text
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers does not annotate it
        tokenizer_object=tokenizer,
        pad_token="[PAD]",  # noqa: S106  as above
        unk_token="[UNK]",  # noqa: S106
        cls_token="[CLS]",  # noqa: S106
        sep_token="[SEP]",  # noqa: S106
        model_max_length=64,
    ).save_pretrained(folder)
    torch.manual_seed(1)
    model = BertModel(
        BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.5,
        )
    )
    if broken:
        model.embeddings.LayerNorm.bias.data.fill_(math.nan)
    model.save_pretrained(folder)


def repeats(texts: Sequence[str], *, language: str = "en", pivot: Sequence[str] = ()) -> AnswerSet:
    """Return a set of answers."""
    return AnswerSet(
        answers=tuple(annotated_answer(text, language) for text in texts),
        pivot=tuple(map(annotated_answer, pivot)),
    )
