"""Tiny models with random weights, saved as `save_pretrained` does: no hub, no network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sentencepiece
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianConfig,
    MarianMTModel,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    NllbTokenizer,
    PreTrainedTokenizerFast,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


torch.set_num_threads(1)  # tests run side by side

# More than the tokenizer knows, as real models have: tokens that no text stands for.
VOCABULARY = 270
SPECIAL = ["<pad>", "<s>", "</s>", "<|user|>", "<|model|>"]

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}"
    "{{ raise_exception('no system turns') }}{% endif %}"
    "<|{{ m.role.replace('assistant', 'model') }}|>{{ m.content }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<|model|>{% endif %}"
)

SENTENCES = [
    "the cat sat on the mat .",
    "a dog ran in the park !",
    "water is good for you , drink it .",
    "sleep well and eat well .",
    "el gato come pan y agua .",
    "¿ qué es la salud ?",
]


def byte_tokenizer(*, template: str | None) -> PreTrainedTokenizerFast:
    """Return a tokenizer with one token per byte; the text begins with `<s>`."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*SPECIAL, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    pad, begin, end, *others = SPECIAL
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # it has no annotations
        tokenizer_object=tokenizer,
        pad_token=pad,
        bos_token=begin,
        eos_token=end,
        additional_special_tokens=others,
        chat_template=template,
    )


def llama(folder: Path, *, template: str | None = None, seed: int = 0, **config: Any) -> Path:
    """Save a Llama of two layers; its context is 128 tokens."""
    torch.manual_seed(seed)
    values: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "initializer_range": 0.5,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        **config,
    }
    LlamaForCausalLM(LlamaConfig(**values)).save_pretrained(folder)
    byte_tokenizer(template=template).save_pretrained(folder)
    return folder


def gpt2(folder: Path) -> Path:
    """Save a GPT-2 of two layers: learned positions, 64 of them, and no pad token."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        initializer_range=0.5,
        bos_token_id=1,
        eos_token_id=2,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer = byte_tokenizer(template=None)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(folder)
    return folder


def edit(file: Path, **values: object) -> None:
    """Set *values* in a JSON file; it may not be there yet."""
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(before | values), encoding="utf-8")


# Of translators: one layer on each side, and 64 tokens at most.
_TRANSLATOR: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
    "init_std": 0.5,
}


def _translator(kind: type, config: type, folder: Path, size: int, *, text: int) -> Path:
    """Save a model with *size* tokens, of which those from *text* on stand for no text."""
    special = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
    model = kind(config(vocab_size=size, **_TRANSLATOR, **special))
    # Most tokens stand for languages; a translation should be of the others.
    with torch.no_grad():
        model.get_input_embeddings().weight[text:] *= 0.3
    model.save_pretrained(folder)
    return folder


def _pieces(folder: Path, *special: str) -> list[str]:
    """Save a model of pieces, and return *special* and the names of its pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "text.txt"
    text.write_text("\n".join(SENTENCES * 20), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.Train(
        input=str(text),
        model_prefix=str(folder / "pieces"),
        vocab_size=60,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    text.unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "pieces.model"))
    return [*special, *(pieces.IdToPiece(i) for i in range(3, pieces.GetPieceSize()))]


def m2m100(folder: Path, *, tokenizer_class: str = "M2M100Tokenizer") -> Path:
    """Save an M2M-100 with all its languages."""
    torch.manual_seed(0)
    names = _pieces(folder, "<s>", "<pad>", "</s>", "<unk>")
    edit(folder / "vocab.json", **{name: i for i, name in enumerate(names)})
    tokenizer = M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "pieces.model"))
    tokenizer.save_pretrained(folder)
    edit(folder / "tokenizer_config.json", tokenizer_class=tokenizer_class)
    size = len(names) + len(tokenizer.lang_token_to_id) + 8
    kinds = M2M100ForConditionalGeneration, M2M100Config
    return _translator(*kinds, folder, size, text=len(names))


def _letters(*special: str) -> list[str]:
    letters = {letter for text in SENTENCES for letter in text if letter != " "}
    return [*special, "▁", *sorted(letters)]


def nllb(folder: Path) -> Path:
    """Save an NLLB-200 with all its languages."""
    torch.manual_seed(0)
    names = _letters("<s>", "<pad>", "</s>", "<unk>")
    tokenizer = NllbTokenizer(vocab={name: i for i, name in enumerate(names)}, merges=[])
    tokenizer.save_pretrained(folder)
    kinds = M2M100ForConditionalGeneration, M2M100Config
    return _translator(*kinds, folder, len(tokenizer), text=len(names))


def mbart50(folder: Path) -> Path:
    """Save an mBART-50 with all its languages."""
    torch.manual_seed(0)
    names = _letters("<unk>", "<s>", "</s>")
    tokenizer = MBart50Tokenizer(vocab=[(name, -float(i)) for i, name in enumerate(names)])
    tokenizer.save_pretrained(folder)
    kinds = MBartForConditionalGeneration, MBartConfig
    return _translator(*kinds, folder, len(tokenizer), text=len(names) + 1)


def marian(folder: Path, *, source: str, target: str, labels: Sequence[str] = ()) -> Path:
    """Save an Opus-MT model."""
    torch.manual_seed(0)
    names = [*_pieces(folder, "</s>", "<unk>", *labels), "<pad>"]
    edit(folder / "vocab.json", **{name: i for i, name in enumerate(names)})
    for side in ("source.spm", "target.spm"):
        (folder / side).write_bytes((folder / "pieces.model").read_bytes())
    edit(
        folder / "tokenizer_config.json",
        tokenizer_class="MarianTokenizer",
        source_lang=source,
        target_lang=target,
        model_max_length=64,
    )
    pad = len(names) - 1
    special = {"pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad}
    values = _TRANSLATOR | special | {"vocab_size": len(names), "forced_eos_token_id": 0}
    model = MarianMTModel(MarianConfig(**values))
    model.generation_config.bad_words_ids = [[pad]]
    model.save_pretrained(folder)
    return folder


def reference(folder: Path, prompt: str, *, tokens: int, **options: Any) -> str:
    """Return what transformers' own generate answers to one prompt, unpadded."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    ids = tokenizer(prompt, return_tensors="pt", **options)["input_ids"]
    made = model.generate(
        ids, do_sample=False, max_new_tokens=tokens, pad_token_id=0, attention_mask=ids * 0 + 1
    )
    known = [token for token in made[0, ids.shape[1] :].tolist() if token < len(tokenizer)]
    return str(tokenizer.decode(known, skip_special_tokens=True)).strip()


def save_tokenizer(folder: Path) -> None:
    """Save a tokenizer without a template."""
    byte_tokenizer(template=None).save_pretrained(folder)
