"""A model in memory: loads it, and puts batches through it.

Imported only once torch is.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessorList,
    M2M100Tokenizer,
    StoppingCriteriaList,
)

from pytest_xling.errors import PermanentFault
from pytest_xling.models.devices import choose_device, share_cores
from pytest_xling.models.loading import listed, load_model, loading, quiet_log
from pytest_xling.providers.hf.decoding import Drawing, Ending, Row
from pytest_xling.providers.hf.parameters import Parameters, Sampling
from pytest_xling.providers.hf.prompt import chat_tokens, plain_tokens, source_tokens
from pytest_xling.providers.hf.translation import Direction, Directions
from pytest_xling.records import Response, Usage
from pytest_xling.text.display import clean
from pytest_xling.text.thoughts import opening_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.providers.hf.files import ModelFiles
    from pytest_xling.records import Request

# What a model's generation_config.json may say of any answer. How tokens are drawn and how long an
# answer is, requests say; what would force a last token depends on the longest row of a batch.
_GENERATION_SETTINGS = (
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "decoder_start_token_id",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "encoder_repetition_penalty",
    "eos_token_id",
    "length_penalty",
    "no_repeat_ngram_size",
    "remove_invalid_values",
    "repetition_penalty",
    "suppress_tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request as the model takes it."""

    tokens: list[int]
    parameters: Parameters
    direction: Direction
    limit: int
    """Tokens the answer may have."""

    @property
    def beams(self) -> int:
        """Beams to search; only where nothing is drawn."""
        return 1 if self.parameters.sampling else self.parameters.num_beams

    @property
    def kind(self) -> tuple[object, ...]:
        """What all of a batch must share: the languages; with beams, their number and length."""
        beams = (self.beams, self.limit) if self.beams > 1 else (1,)
        return (self.direction, *beams)


def is_out_of_memory(error: RuntimeError) -> bool:
    """Tell whether memory ran out, of a GPU or of the machine."""
    message = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError) or any(
        text in message for text in ("out of memory", "not enough memory", "can't allocate memory")
    )


class HfModel:
    """A model with its tokenizer.

    Args:
        files: weights and all.
        device: ``auto``, ``cpu``, ``mps``, ``cuda`` or ``cuda:N``.

    Raises:
        ConfigError: there is no such device.
        PermanentFault: the model does not load.
    """

    def __init__(self, files: ModelFiles, *, device: str) -> None:
        share_cores()
        self._files = files
        self._device = torch.device(choose_device(device))
        self._tokenizer = _tokenizer(files)
        self._model = _model(files, self._device)
        self._directions = Directions(files, self._tokenizer) if files.translates else None
        text = self._model.config.get_text_config()
        self._context: int | None = getattr(text, "max_position_embeddings", None)
        self._sampling = _default_sampling(self._model.generation_config)
        own = self._model.generation_config
        ends = own.eos_token_id
        listed = [ends] if isinstance(ends, int) else list(ends or ())
        # A chat model's turn may end with a token that only its tokenizer names.
        listed.append(self._tokenizer.eos_token_id)
        self._ends = frozenset(token for token in listed if token is not None)
        self._pad = next(
            (t for t in (self._tokenizer.pad_token_id, own.pad_token_id) if t is not None),
            min(self._ends, default=0),
        )
        settings = {name: getattr(own, name, None) for name in _GENERATION_SETTINGS}
        settings |= {"eos_token_id": sorted(self._ends) or None, "pad_token_id": self._pad}
        self._model.generation_config = _generation_config(**settings)
        self._hidden = set(self._tokenizer.all_special_ids)
        self._hidden |= set(getattr(self._tokenizer, "id_to_lang_token", ()))
        self.version = (
            f"{files.name}{f'@{files.revision[:12]}' if files.revision else ''} "
            f"{str(self._model.dtype).removeprefix('torch.')} {self._device.type}"
        )

    @property
    def context(self) -> int | None:
        """Positions for a padded batch of prompts and answers together; None: no such limit."""
        return None if self._files.translates else self._context

    def prepare(self, request: Request) -> Prompt:
        """Return *request* in tokens.

        Raises:
            PermanentFault: too long, or not for this model.
        """
        parameters = Parameters.of(request)
        if parameters.by_default and self._sampling is not None:
            parameters = parameters.drawn(self._sampling)
        direction = Direction()
        if self._directions is not None:
            direction = self._directions(parameters.source_language, parameters.target_language)
            tokens = source_tokens(self._tokenizer, request.messages, direction)
        elif self._files.style == "chat":
            tokens = chat_tokens(self._tokenizer, request.messages)
        else:
            tokens = plain_tokens(self._tokenizer, request.messages)
        return Prompt(
            tokens=tokens,
            parameters=parameters,
            direction=direction,
            limit=min(parameters.max_tokens, self._room(len(tokens))),
        )

    def _room(self, length: int) -> int:
        """Return how many tokens an answer to a prompt of *length* tokens can have."""
        if self._context is None:
            return MAX_ANSWER
        if self._directions is not None:
            if length > self._context:
                msg = (
                    f"the text is {length} tokens long, and {self._files.name} reads "
                    f"{self._context} at most: translate it in smaller pieces"
                )
                raise PermanentFault(msg)
            return self._context - 2  # it begins with one token, or two with the language's
        if length >= self._context:
            msg = (
                f"the prompt is {length} tokens long, and {self._files.name} takes "
                f"{self._context}, the answer included (its context): shorten the prompt or use "
                "a model with a longer context"
            )
            raise PermanentFault(msg)
        return self._context - length

    def answer(
        self,
        prompts: Sequence[Prompt],
        *,
        cancelled: Sequence[Callable[[], bool]],
        timeout_s: float,
    ) -> list[Response | PermanentFault]:
        """Return an answer, or why there is none, for each of *prompts*, all of one kind.

        Raises:
            RuntimeError: memory ran out (:func:`is_out_of_memory`), or something broke.
        """
        rows = [
            Row(
                sampling=prompt.parameters.sampling,
                seed=prompt.parameters.seed,
                limit=prompt.limit,
                stop=prompt.parameters.stop,
                top_logprobs=prompt.parameters.top_logprobs,
                cancelled=is_cancelled,
            )
            for prompt, is_cancelled in zip(prompts, cancelled, strict=True)
        ]
        self._generate(prompts, rows, deadline=time.perf_counter() + timeout_s)
        answers = zip(prompts, rows, strict=True)
        return [self._response(prompt, row, timeout_s=timeout_s) for prompt, row in answers]

    def _generate(self, prompts: Sequence[Prompt], rows: Sequence[Row], *, deadline: float) -> None:
        """Put a batch through the model; *rows* then hold what came out."""
        first, translates = prompts[0], self._directions is not None
        forced = int(first.direction.begins_with is not None)
        longest = max(len(prompt.tokens) for prompt in prompts)
        ids, mask = [], []
        for tokens in (prompt.tokens for prompt in prompts):
            pads, ones = [self._pad] * (longest - len(tokens)), [1] * len(tokens)
            zeros = [0] * len(pads)
            # What is written goes on from the right end; an encoder was taught the other way.
            ids.append(tokens + pads if translates else pads + tokens)
            mask.append(ones + zeros if translates else zeros + ones)
        drawing = Drawing(rows, forced=forced)
        ending = Ending(
            rows, forced=forced, ends=self._ends, decode=self._decode, deadline=deadline
        )
        with quiet_log():
            generated = self._model.generate(
                torch.tensor(ids, device=self._device),
                attention_mask=torch.tensor(mask, device=self._device),
                generation_config=_generation_config(
                    do_sample=False,
                    num_beams=first.beams,
                    max_new_tokens=max(row.limit for row in rows) + forced,
                    forced_bos_token_id=first.direction.begins_with,
                ),
                logits_processor=LogitsProcessorList([drawing]),
                stopping_criteria=StoppingCriteriaList([ending]),
            )
        if first.beams > 1:
            start = 1 + forced if translates else longest
            for row, sequence in zip(rows, generated.tolist(), strict=True):
                self._take_beam(row, sequence[start:])

    def _take_beam(self, row: Row, tokens: list[int]) -> None:
        end = next((i for i, token in enumerate(tokens) if token in self._ends), None)
        row.tokens = tokens[:end]
        row.end = row.end or ("length" if end is None else "stop")

    def _response(self, prompt: Prompt, row: Row, *, timeout_s: float) -> Response | PermanentFault:
        match row.end:
            case "not_a_number":
                return PermanentFault(
                    f"{self._files.name} gives NaN in {self._model.dtype}: its weights are damaged "
                    "or do not fit this type; try another device or the weights in bfloat16"
                )
            case "late":
                return PermanentFault(
                    f"the answer took more than {timeout_s:g} s: raise --xling-timeout, or lower "
                    "--xling-max-tokens or --xling-max-connections (requests in a batch)"
                )
            case "cancelled":
                return PermanentFault("the answer was stopped")
        text = self._decode(row.tokens)
        stops = [position for stop in prompt.parameters.stop if (position := text.find(stop)) >= 0]
        text = text[: min(stops, default=len(text))].strip()
        if self._files.style == "chat":
            # Where the template begins the thoughts: a reply cut off in them has no other tag.
            end = self._decode(prompt.tokens[-_LONGEST_TAG:], bare=False)
            text = f"{opening_tag(end)}{text}"
        return Response(
            text=text,
            stop_reason="length" if row.end == "length" else "stop",
            usage=Usage(prompt_tokens=len(prompt.tokens), completion_tokens=len(row.tokens)),
            latency_s=row.seconds,
            model_version=self.version,
            first_token=tuple((self._decode([token], bare=False), p) for token, p in row.first),
        )

    def _decode(self, tokens: list[int], *, bare: bool = True) -> str:
        """Return *tokens* as text.

        Args:
            tokens: any; models have room for more than their tokenizers know.
            bare: whether to leave special tokens out.
        """
        known = [t for t in tokens if t < len(self._tokenizer) and not (bare and t in self._hidden)]
        return clean(str(self._tokenizer.decode(known, clean_up_tokenization_spaces=False)))

    def free(self) -> None:
        """Give back memory that is not in use."""
        gc.collect()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        elif self._device.type == "mps":
            torch.mps.empty_cache()

    def close(self) -> None:
        """Let the model go."""
        self._model = None
        if self._device.type != "cpu":
            self.free()


_LONGEST_TAG = 16
"""Tokens a tag at the end of a prompt may have, and the white space after it."""
MAX_ANSWER = 1 << 20
"""Tokens, for models that do not say how far they go."""


def _generation_config(**values: object) -> GenerationConfig:
    return GenerationConfig(**values)  # type: ignore[no-untyped-call]  # it has no annotations


def _default_sampling(config: Any) -> Sampling | None:  # noqa: ANN401  untyped
    """Return how a model wants its tokens drawn where a request does not say."""
    temperature = 1.0 if config.temperature is None else float(config.temperature)
    if not config.do_sample or temperature <= 0:
        return None
    return Sampling(
        temperature=temperature,
        top_p=1.0 if config.top_p is None else float(config.top_p),
        top_k=50 if config.top_k is None else int(config.top_k),  # transformers' own default
    )


def _tokenizer(files: ModelFiles) -> Any:  # noqa: ANN401  transformers gives it no one type
    # SMaLL-100 names a class of its own that is not in transformers.
    is_m2m100 = files.translates and files.family in {"m2m100", "small100"}
    kind: Any = M2M100Tokenizer if is_m2m100 else AutoTokenizer
    with loading(f"the tokenizer of hf:{files.name}", fault=PermanentFault):
        return kind.from_pretrained(files.path, local_files_only=True, trust_remote_code=False)


def _model(files: ModelFiles, device: torch.device) -> Any:  # noqa: ANN401  as above
    """Return the model on *device*, in the type its numbers are stored in."""
    kind: Any = AutoModelForSeq2SeqLM if files.translates else AutoModelForCausalLM
    with loading(f"the model of hf:{files.name}", fault=PermanentFault):
        model, missing = load_model(kind, files.path, dtype="auto")
    if missing:
        msg = (
            f"hf:{files.name} lacks {len(missing)} of its weights ({listed(missing)}), which would "
            "be filled with random numbers; name the model that was trained to generate text"
        )
        raise PermanentFault(msg)
    try:
        return model.to(device).eval()
    except RuntimeError as error:
        msg = f"hf:{files.name} does not go onto {device}: {error}"
        raise PermanentFault(msg) from error
