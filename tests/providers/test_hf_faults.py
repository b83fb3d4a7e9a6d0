"""What may go wrong with the `hf` provider: memory, time, context, broken models, odd requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.errors import ConfigError, PermanentFault
from pytest_xling.providers.hf import HfProvider
from pytest_xling.records import Response

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from safetensors.torch import load_file, save_file  # noqa: E402  only where torch is
from transformers import LlamaForCausalLM  # noqa: E402

from tests.providers import asking as builders  # noqa: E402
from tests.providers import hf_models  # noqa: E402
from tests.providers.hf_asking import TEXTS, alone, answers, ask, asking, fault  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from pathlib import Path

    from torch import Tensor

    from pytest_xling.keys import JsonValue

    Forward = Callable[[Callable[[int], None]], None]


@pytest.fixture
def forward(monkeypatch: pytest.MonkeyPatch) -> Forward:
    """Have the model call a function with the number of rows before it computes."""
    plain: Any = LlamaForCausalLM.forward

    def patched(first: Callable[[int], None]) -> None:
        def computed(self: LlamaForCausalLM, input_ids: Tensor, **rest: object) -> object:
            first(len(input_ids))
            return plain(self, input_ids=input_ids, **rest)

        monkeypatch.setattr(LlamaForCausalLM, "forward", computed)

    return patched


def _reweighted(folder: Path, change: Callable[[MutableMapping[str, Tensor]], object]) -> Path:
    """Save a model whose weights are changed."""
    hf_models.llama(folder)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_a_template_that_takes_no_such_messages_is_a_fault(tmp_path: Path) -> None:
    """What the template says of it is passed on."""
    folder = hf_models.llama(tmp_path / "m", template="{{ raise_exception('only on Mondays') }}")
    assert "only on Mondays" in fault(folder, asking("Hi"))


def test_a_prompt_longer_than_the_context_is_a_fault(llama: Path) -> None:
    """It says how long the prompt is and what the model takes; its company is answered."""
    long, short = ask(llama, [asking("x" * 200), asking("Hi")])
    assert isinstance(short, Response)
    assert isinstance(long, PermanentFault)
    assert "201 tokens" in str(long)
    assert "128" in str(long)


def test_answers_end_where_the_context_does(gpt2: Path) -> None:
    """A long prompt beside a long answer: together they would pass the last learned position."""
    requests = [asking("y" * 58, max_tokens=50), asking("Hi", max_tokens=50)]
    long, short = answers(gpt2, requests)
    assert (5, "length") == (long.usage.completion_tokens, long.stop_reason)
    assert hf_models.reference(gpt2, "y" * 58, tokens=5) == long.text
    assert hf_models.reference(gpt2, "Hi", tokens=50) == short.text


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to"),
    ],
    ids=["cuda", "mps", "cpu"],
)
def test_out_of_memory_halves_the_batch(llama: Path, forward: Forward, error: RuntimeError) -> None:
    """A model that takes two rows at a time answers seven requests, the same as one by one."""
    sizes = []

    def tight(rows: int) -> None:
        sizes.append(rows)
        if rows > 2:
            raise error

    requests = [asking(f"Question {n}") for n in range(7)]
    expected = alone(llama, requests)
    forward(tight)
    assert expected == [answer.text for answer in answers(llama, requests)]
    assert [7, 3] == [size for size in sizes if size > 2]  # what was learned is kept


def test_out_of_memory_for_one_is_a_fault(llama: Path, forward: Forward) -> None:
    """It names the options that help."""

    def full(_rows: int) -> None:
        raise torch.OutOfMemoryError

    forward(full)
    for answer in ask(llama, [asking("Hi"), asking("Ho")]):
        assert isinstance(answer, PermanentFault)
        assert "--xling-max-tokens" in str(answer)


def test_what_breaks_leaves_nobody_waiting(llama: Path, forward: Forward) -> None:
    """An error nobody foresaw is a fault of all who wait, and the next ones are served."""
    errors = [IndexError("index out of range in self")]

    def broken_once(_rows: int) -> None:
        if errors:
            raise errors.pop()

    forward(broken_once)

    async def main() -> None:
        provider = HfProvider(str(llama), device="cpu")
        asked = (provider.generate(asking(text)) for text in TEXTS)
        first = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(fault, PermanentFault) for fault in first)
        assert "index out of range" in str(first[0])
        assert isinstance(await provider.generate(asking("Hi")), Response)
        await provider.aclose()

    asyncio.run(main())


def test_not_a_number_is_a_fault(tmp_path: Path) -> None:
    """A model that computes NaN says so instead of writing its first token for ever."""
    folder = _reweighted(tmp_path, lambda w: w["lm_head.weight"][7].fill_(float("nan")))
    assert "NaN" in fault(folder, asking("Hi"))
    assert "NaN" in fault(folder, asking("Hi", temperature=1.0, seed=1))


def test_a_model_with_weights_missing_is_not_made_up(tmp_path: Path) -> None:
    """The gap is not filled with random numbers, as transformers would."""
    folder = _reweighted(tmp_path, lambda weights: weights.pop("lm_head.weight"))
    assert "lm_head.weight" in fault(folder, asking("Hi"))


def test_an_answer_that_takes_too_long_is_a_fault(llama: Path) -> None:
    """The message says which option helps."""
    assert "--xling-timeout" in fault(llama, asking("Hi", max_tokens=100), timeout_s=0.0)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"temperature": -1}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"tempreature": 1}, "Did you mean 'temperature'"),
    ],
)
def test_parameters_that_make_no_sense_are_faults(
    llama: Path, params: dict[str, JsonValue], said: str
) -> None:
    """Nothing asked for is passed over in silence."""
    assert said in fault(llama, asking("Hi", **params))


@pytest.mark.parametrize("text", ["", "\ud83d", "a\x00b", "\udc80\x1b[31m", "😀" * 5])
def test_hostile_prompts_are_answered(llama: Path, text: str) -> None:
    """Empty, half characters, NUL, escape codes: an answer, and one that can be encoded."""
    (answer,) = answers(llama, [asking(text, temperature=1.0, seed=0, top_logprobs=3)])
    assert answer.text is not None
    answer.text.encode()
    HfProvider(str(llama)).identify(asking(text))


def test_the_loop_goes_on_and_cancelling_stops_the_model(tmp_path: Path) -> None:
    """A long answer blocks nobody and ends when nobody waits for it."""
    folder = hf_models.llama(tmp_path / "long", max_position_embeddings=1 << 16)
    hf_models.edit(folder / "generation_config.json", suppress_tokens=[2])

    async def main() -> None:
        provider = HfProvider(str(folder), device="cpu")
        await provider.generate(asking("Hi", max_tokens=1))
        task = asyncio.create_task(provider.generate(asking("Hi", max_tokens=50_000)))
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.generate(asking("Hi", max_tokens=1))
        stopped = asyncio.create_task(provider.generate(asking("Hi", max_tokens=50_000)))
        await asyncio.sleep(0.1)
        await provider.aclose()
        with pytest.raises(PermanentFault, match="stopped"):
            await stopped

    asyncio.run(main())


def test_a_file_that_is_no_model_is_a_fault_for_all(tmp_path: Path) -> None:
    """Loading is tried once; everybody is told."""
    folder = hf_models.llama(tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"not weights")
    found = ask(folder, [asking("Hi"), asking("Ho")])
    assert all("cannot be loaded" in str(answer) for answer in found)


def test_a_device_that_is_not_there_is_a_mistake(llama: Path) -> None:
    """The message says what is there."""
    with pytest.raises(ConfigError, match="--xling-device=auto"):
        builders.ask(HfProvider(str(llama), device="cuda:7"), asking("Hi"))
